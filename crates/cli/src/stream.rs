//! Standard streams, and the files of tasks: refused as early, and opened as late, as possible.

use std::{
    io::{self, IsTerminal},
    path::{Path, PathBuf},
};

use sealwright_file as file;
use sealwright_file::{Input, Output, Summary, remove_input};
use sealwright_terminal::CommandError;

use crate::{
    args::FileArgs,
    error::file_error,
    names::leads_to_stdin,
    plan::{FileTask, Place, Plan, no_output},
};

/// Refuses a standard stream with two uses, and binary output on a terminal unless `-o -` is given. `in_use` are files
/// other than the text.
pub(crate) fn refuse_conflicts(plan: &Plan, files: &FileArgs, in_use: &[PathBuf]) -> Result<(), CommandError> {
    refuse_two_uses(plan.tasks.iter().any(|task| task.input == Place::Stream), in_use)?;
    if files.output.is_none() && plan.tasks.iter().any(|task| task.output == Place::Stream) {
        refuse_terminal("-o")?;
    }
    Ok(())
}

/// Refuses standard input with two uses: the second reader would find it empty, and an empty text would be sealed.
pub(crate) fn refuse_two_uses(is_text: bool, in_use: &[PathBuf]) -> Result<(), CommandError> {
    let uses = in_use.iter().filter(|path| leads_to_stdin(path)).count();
    match (is_text, uses) {
        (_, 0) | (false, 1) => Ok(()),
        (true, _) => Err(CommandError::usage("standard input cannot be both the text and a key or associated data")
            .hint("name the input, or use another file or descriptor for the key")),
        _ => Err(CommandError::usage("standard input cannot be used for more than one key or associated data")
            .hint("use other files or descriptors")),
    }
}

/// Refuses binary output on a terminal, where it is useless and may contain control sequences.
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

/// Removes the input of a completed task if requested.
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

/// Refuses an output that is the file `input`, which is being read.
pub(crate) fn refuse_input(output: &Output, input: &Path) -> Result<(), CommandError> {
    Input::open(input).and_then(|input| output.differs_from(input.identity())).map_err(file_error)
}

/// Whether an output was named with `-o`. All other names are derived from inputs.
fn is_named(path: &Path, args: &FileArgs) -> bool {
    args.output.as_deref() == Some(path)
}

/// Checks whether an output can be written; returns whether it will be a regular file.
pub(crate) fn check_output(path: &Path, args: &FileArgs) -> Result<bool, CommandError> {
    let checked = match is_named(path, args) {
        true => Output::check(path, place(args, false)),
        false => Output::check_derived(path, place(args, false)).map(|()| true),
    };
    checked.map_err(file_error)
}

/// The options of an output file.
pub(crate) fn place(args: &FileArgs, preserve: bool) -> file::OutputOptions {
    file::OutputOptions::default().force(args.force).preserve(preserve).sync(!args.no_sync)
}
