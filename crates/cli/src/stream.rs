//! The standard streams, and the files of a job: opened as late as possible, refused as early as possible.

use std::io::{self, IsTerminal};

use sealwright_file as file;
use sealwright_file::{Input, Output};
use sealwright_terminal::CommandError;

use crate::{
    args::{FileArgs, KeySourceArgs},
    error::file_error,
    jobs::{Job, Place, Plan},
    secret,
};

/// Refuses one stream with two uses, and bytes on a terminal unless `-o -` insists.
pub(crate) fn refuse_conflicts(plan: &Plan, files: &FileArgs, key: &KeySourceArgs) -> Result<(), CommandError> {
    if secret::takes_stdin(key) && plan.jobs.iter().any(|job| job.input == Place::Stream) {
        return Err(CommandError::usage("standard input cannot be both the key and the text")
            .hint("name the input, or use another file descriptor for the key"));
    }
    if files.output.is_none() && plan.jobs.iter().any(|job| job.output == Place::Stream) {
        refuse_terminal("-o")?;
    }
    Ok(())
}

/// Bytes on a terminal help nobody and may reprogram it.
pub(crate) fn refuse_terminal(option: &str) -> Result<(), CommandError> {
    if !io::stdout().is_terminal() {
        return Ok(());
    }
    Err(CommandError::usage("standard output is a terminal")
        .hint(format_args!("{option} FILE writes to a file, {option} - writes to the terminal all the same")))
}

/// The input of a job.
pub(crate) fn input(job: &Job) -> Result<Input, CommandError> {
    let opened = match &job.input {
        Place::Stream => Input::stdin(),
        Place::File(path) => Input::open(path),
    };
    opened.map_err(file_error)
}

/// The output of a job.
pub(crate) fn output(job: &Job, args: &FileArgs, preserve: bool) -> Result<Output, CommandError> {
    let place = file::Place { force: args.force, preserve, sync: !args.no_sync };
    let opened = match &job.output {
        Place::Stream => Output::stdout(),
        Place::File(path) => Output::file(path, place),
    };
    opened.map_err(file_error)
}
