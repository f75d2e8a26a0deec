//! The standard streams, and the files of a job: opened as late as possible, refused as early as possible.

use std::io::{self, IsTerminal, Write};

use sealwright_file as file;
use sealwright_file::{Input, Output};

use crate::{
    args::{FileArgs, KeyArgs},
    failure::{Failure, plain},
    jobs::{Job, Place, Plan},
    secret,
};

/// Refuses one stream with two uses, and bytes on a terminal unless `-o -` insists.
pub(crate) fn refuse_conflicts(plan: &Plan, files: &FileArgs, key: &KeyArgs) -> Result<(), Failure> {
    if secret::takes_stdin(key) && plan.jobs.iter().any(|job| job.input == Place::Stream) {
        return Err(Failure::usage("standard input cannot be both the key and the text")
            .hint("name the input, or use another file descriptor for the key"));
    }
    if files.output.is_none() && plan.jobs.iter().any(|job| job.output == Place::Stream) {
        refuse_terminal("-o")?;
    }
    Ok(())
}

/// Bytes on a terminal help nobody and may reprogram it.
pub(crate) fn refuse_terminal(option: &str) -> Result<(), Failure> {
    if !io::stdout().is_terminal() {
        return Ok(());
    }
    Err(Failure::usage("standard output is a terminal")
        .hint(format_args!("{option} FILE writes to a file, {option} - writes to the terminal all the same")))
}

/// The input of a job.
pub(crate) fn input(job: &Job) -> Result<Input, Failure> {
    Ok(match &job.input {
        Place::Stream => Input::stdin()?,
        Place::File(path) => Input::open(path)?,
    })
}

/// The output of a job.
pub(crate) fn output(job: &Job, args: &FileArgs, preserve: bool) -> Result<Output, Failure> {
    let place = file::Place { force: args.force, preserve, sync: !args.no_sync };
    Ok(match &job.output {
        Place::Stream => Output::stdout()?,
        Place::File(path) => Output::file(path, place)?,
    })
}

/// Prints what a verb has to tell. A reader that has seen enough (`| head`) is no failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::failed(format_args!("standard output: cannot write: {}", plain(&error))))
        }
        _ => Ok(()),
    }
}

/// Prints a line of a long run, which ends when nobody reads it any more.
pub(crate) fn print_or_leave(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        other => {
            other.map_err(|error| Failure::failed(format_args!("standard output: cannot write: {}", plain(&error))))
        }
    }
}
