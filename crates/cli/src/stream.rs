//! The standard streams, and the files of a task: opened as late as possible, refused as early as possible.

use std::{
    io::{self, IsTerminal},
    path::Path,
};

use sealwright_file as file;
use sealwright_file::{Input, Output, Summary, remove_input};
use sealwright_terminal::CommandError;

use crate::{
    args::{FileArgs, KeySourceArgs},
    error::file_error,
    plan::{FileTask, Place, Plan, no_output},
    secret,
};

/// Refuses one stream with two uses, and bytes on a terminal unless `-o -` insists.
pub(crate) fn refuse_conflicts(plan: &Plan, files: &FileArgs, key: &KeySourceArgs) -> Result<(), CommandError> {
    if secret::takes_stdin(key) && plan.tasks.iter().any(|task| task.input == Place::Stream) {
        return Err(CommandError::usage("standard input cannot be both the key and the text")
            .hint("name the input, or use another file descriptor for the key"));
    }
    if files.output.is_none() && plan.tasks.iter().any(|task| task.output == Place::Stream) {
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

/// The input of a task.
pub(crate) fn input(task: &FileTask) -> Result<Input, CommandError> {
    let opened = match (&task.input, &task.found) {
        (_, Some(found)) => found.open(),
        (Place::Stream | Place::Inside(_), _) => Input::stdin(),
        (Place::File(path), _) => Input::open(path),
    };
    opened.map_err(file_error)
}

/// Removes the input of a task that is done, where that is asked for.
pub(crate) fn remove(task: &FileTask, args: &FileArgs, done: &Summary) -> Result<(), CommandError> {
    let removed = match (&task.input, &task.found) {
        _ if !args.remove => Ok(()),
        (_, Some(found)) => found.remove(done),
        (Place::File(path), _) => remove_input(path, done),
        _ => Ok(()),
    };
    removed.map_err(file_error)
}

/// The output of a task.
pub(crate) fn output(task: &FileTask, args: &FileArgs, preserve: bool) -> Result<Output, CommandError> {
    let opened = match &task.output {
        Place::Stream => Output::stdout(),
        Place::File(path) if is_named(path, args) => Output::file(path, place(args, preserve)),
        Place::File(path) => Output::derived(path, place(args, preserve)),
        Place::Inside(_) => return Err(no_output(&task.input)),
    };
    opened.map_err(file_error)
}

/// Whether an output was named with `-o`. All other names are derived from those of inputs.
fn is_named(path: &Path, args: &FileArgs) -> bool {
    args.output.as_deref() == Some(path)
}

/// Finds out whether an output can be written, and whether it will be a regular file.
pub(crate) fn check_output(path: &Path, args: &FileArgs) -> Result<bool, CommandError> {
    let checked = match is_named(path, args) {
        true => Output::check(path, place(args, false)),
        false => Output::check_derived(path, place(args, false)).map(|()| true),
    };
    checked.map_err(file_error)
}

/// How an output takes its place.
pub(crate) fn place(args: &FileArgs, preserve: bool) -> file::Place {
    file::Place { force: args.force, preserve, sync: !args.no_sync }
}
