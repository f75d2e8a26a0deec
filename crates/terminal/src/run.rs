//! Runs a program: parses the command line, runs the verb, prints its error and returns the exit code.

use std::ffi::OsString;

use clap::Parser;

use crate::{
    error::{self, CommandError},
    exit::Exit,
    level,
    streams::say,
    usage,
};

/// Parses `words` and runs `verb` with the arguments. If that fails, prints the error after the name `program`.
pub fn run<A: Parser>(
    program: &'static str,
    words: &[OsString],
    verb: impl FnOnce(&A) -> Result<Exit, CommandError>,
) -> Exit {
    error::set_program(program);
    let words = &usage::without_help_of_help::<A>(words);
    match A::try_parse_from(words) {
        Ok(args) => level::check().and_then(|()| verb(&args)).unwrap_or_else(|error| {
            say(&error);
            error.exit()
        }),
        Err(error) => usage::explain::<A>(&error, words),
    }
}
