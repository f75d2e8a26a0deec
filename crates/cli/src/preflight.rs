//! What can be known before the work: checked before a passphrase is asked for and before anything is written.

use std::{fs, path::Path};

use sealwright_file::{Input, KeySource, Output};
use sealwright_terminal::CommandError;

use crate::{
    args::{FileArgs, KeySourceArgs},
    error::file_error,
    plan::{Direction, FileTask, Place, Plan},
    stream,
};

/// Takes the tasks that cannot succeed out of the plan and notes why.
pub(crate) fn check(plan: &mut Plan, args: &FileArgs, key: &KeySourceArgs, direction: Direction) {
    for task in std::mem::take(&mut plan.tasks) {
        let checked = input(&task, args.remove, key, direction).and_then(|()| output(&task, args, plan));
        match checked {
            Ok(()) => plan.tasks.push(task),
            Err(error) => plan.failures.push(error),
        }
    }
}

/// A regular file can be opened for reading; a sealed one takes the kind of key that was given. Anything else may give
/// its bytes only once and is left alone.
fn input(task: &FileTask, remove: bool, key: &KeySourceArgs, direction: Direction) -> Result<(), CommandError> {
    let Place::File(path) = &task.input else { return Ok(()) };
    let meta = fs::symlink_metadata(path).map_err(|error| CommandError::io(path, &error))?;
    if remove && meta.is_symlink() {
        return Err(CommandError::failed("is a symbolic link: --remove would leave the text")
            .about(path)
            .hint("name the file itself, or leave out --remove"));
    }
    if !fs::metadata(path).is_ok_and(|meta| meta.is_file()) {
        return match remove {
            true => Err(CommandError::failed("--remove removes regular files only").about(path)),
            false => Ok(()),
        };
    }
    let named = |error| file_error(error).about_unless_named(path);
    let mut input = Input::open(path).map_err(named)?;
    if direction == Direction::Open {
        kind_of_key(&input.preamble().map_err(named)?.source, key).map_err(|error| error.about(path))?;
    }
    Ok(())
}

/// Whether a key of this kind can be the right one.
fn kind_of_key(source: &KeySource, key: &KeySourceArgs) -> Result<(), CommandError> {
    let given = if key.key_file.is_some() || key.key_fd.is_some() { "a raw key" } else { "a passphrase" };
    match source.wants() {
        wanted if wanted == given => Ok(()),
        wanted => Err(file_error(sealwright_file::Error::KeyKind { wanted, given })),
    }
}

fn output(task: &FileTask, args: &FileArgs, plan: &Plan) -> Result<(), CommandError> {
    let Place::File(path) = &task.output else { return Ok(()) };
    let is_file = Output::check(path, stream::place(args, false)).map_err(file_error)?;
    if args.remove && !is_file {
        return Err(CommandError::failed("--remove needs an output that is a file on a disk").about(path));
    }
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) if !plan.directories.contains_key(parent) => directory(parent, path),
        _ => Ok(()),
    }
}

/// The output can only be created in a directory that exists.
fn directory(parent: &Path, path: &Path) -> Result<(), CommandError> {
    let error = match fs::metadata(parent) {
        Ok(meta) if meta.is_dir() => return Ok(()),
        Ok(_) => std::io::ErrorKind::NotADirectory.into(),
        Err(error) => error,
    };
    let what = format_args!("cannot create: {}", sealwright_terminal::os_message(&error)).to_string();
    Err(CommandError::failed(what).about(path))
}
