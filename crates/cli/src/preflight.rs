//! Checks that are possible before the work: before a passphrase is asked for and before anything is written.

use std::{fs, os::unix::fs::FileTypeExt, path::Path};

use sealwright_file::{Error, KeyKind, KeySource};
use sealwright_terminal::{CommandError, Exit};

use crate::{
    args::{FileArgs, KeySourceArgs},
    error::file_error,
    keys::secret,
    names::Direction,
    plan::{FileTask, Place, Plan},
    stream,
};

/// Removes tasks that cannot succeed from the plan and records why.
pub(crate) fn check(plan: &mut Plan, args: &FileArgs, given: Given, direction: Direction) {
    for task in std::mem::take(&mut plan.tasks) {
        let checked = input(&task, args.remove, given, direction).and_then(|()| output(&task, args, plan, direction));
        match checked {
            Ok(()) => plan.tasks.push(task),
            Err(error) => plan.failures.push(error),
        }
    }
}

/// Checks that a regular file can be opened for reading, and that a sealed one takes a key of the given kinds. Other
/// inputs may be readable only once and are not examined.
fn input(task: &FileTask, remove: bool, given: Given, direction: Direction) -> Result<(), CommandError> {
    let Place::File(path) = &task.input else { return Ok(()) };
    let meta = fs::symlink_metadata(path).map_err(|error| CommandError::io(path, &error))?;
    if remove && meta.is_symlink() {
        return Err(CommandError::failed("is a symbolic link: --remove would not remove the text")
            .about(path)
            .hint("name the file itself, or leave out --remove"));
    }
    if !task.tree && !fs::metadata(path).is_ok_and(|meta| meta.is_file()) {
        return match remove {
            true => Err(CommandError::failed("--remove removes regular files only").about(path)),
            false => Ok(()),
        };
    }
    let named = |error| file_error(error).about_unless_named(path);
    if task.tree {
        return Ok(());
    }
    let mut input = stream::input(task)?;
    if direction == Direction::Open {
        given.fits(&input.preamble().map_err(named)?.source).map_err(|error| error.about(path))?;
    }
    Ok(())
}

/// The kinds of keys that were given.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Given {
    raw: bool,
    passphrase: bool,
    pair: bool,
}

impl Given {
    pub(crate) fn new(key: &KeySourceArgs, pair: bool) -> Given {
        // An identity file may contain a raw key.
        let raw = !key.key_file.is_empty() || key.key_fd.is_some() || pair;
        Given { raw, passphrase: secret::passphrase_named(key), pair }
    }

    /// Checks that a key of these kinds could open the file.
    fn fits(self, source: &KeySource) -> Result<(), CommandError> {
        let fits = match source {
            KeySource::Raw => self.raw,
            KeySource::Passphrase { .. } => self.passphrase,
            KeySource::Recipients(slots) => slots.iter().any(|slot| match slot.kind().key_kind() {
                Some(KeyKind::Raw) => self.raw,
                Some(KeyKind::Passphrase) => self.passphrase,
                Some(KeyKind::Secret) => self.pair,
                _ => false,
            }),
            _ => true,
        };
        if fits {
            return Ok(());
        }
        let given = match self {
            Given { pair: true, .. } => KeyKind::Secret,
            Given { raw: true, .. } => KeyKind::Raw,
            _ => KeyKind::Passphrase,
        };
        Err(match source.key_kind() {
            Some(wanted) => file_error(Error::KeyKind { wanted, given }),
            None => CommandError::new(Exit::WrongKey, format_args!("one of its keys is needed, not {given}"))
                .hint("`sealwright inspect` shows which of --identity, --key-file and --passphrase it needs"),
        })
    }
}

fn output(task: &FileTask, args: &FileArgs, plan: &Plan, direction: Direction) -> Result<(), CommandError> {
    let Place::File(path) = &task.output else { return Ok(()) };
    // `--force` would not help: a sealed file cannot be opened from a block device.
    if direction == Direction::Seal && fs::metadata(path).is_ok_and(|meta| meta.file_type().is_block_device()) {
        return Err(file_error(Error::EndlessOutput(path.clone())));
    }
    let is_file = stream::check_output(path, args)?;
    if args.remove && !is_file {
        return Err(CommandError::failed("--remove needs an output that is a file on a disk").about(path));
    }
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) if !plan.directories.contains_key(parent) => directory(parent, path),
        _ => Ok(()),
    }
}

/// Checks that the output's directory exists.
fn directory(parent: &Path, path: &Path) -> Result<(), CommandError> {
    let error = match fs::metadata(parent) {
        Ok(meta) if meta.is_dir() => return Ok(()),
        Ok(_) => std::io::ErrorKind::NotADirectory.into(),
        Err(error) => error,
    };
    let what = format_args!("cannot create: {}", sealwright_terminal::os_message(&error)).to_string();
    Err(CommandError::failed(what).about(path))
}
