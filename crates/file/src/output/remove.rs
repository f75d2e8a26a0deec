//! Removing an input after its output is safely on disk.

use std::{ffi::OsStr, os::fd::AsFd, path::Path};

use rustix::{
    fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat, unlinkat},
    io::Errno,
};

use super::directory::parent;
use crate::{
    error::Error,
    file_id::{FileId, Summary},
};

/// Removes the input of a job that is done: `seal --remove`. A file that was found in a directory is removed by
/// [`Found::remove`](crate::Found::remove).
///
/// ```
/// use sealwright_file::{Input, Key, Output, OutputOptions, Sealing, remove_input};
///
/// let directory = tempfile::tempdir()?;
/// let (from, to) = (directory.path().join("text"), directory.path().join("text.seal"));
/// std::fs::write(&from, "a text")?;
/// let key = Key::generate(sealwright_file::Suite::Aes256Gcm)?;
/// let done = Sealing::new(&key).seal(Input::open(&from)?, Output::file(&to, OutputOptions::default())?)?;
/// remove_input(&from, &done)?; // only now, and only if it is still what was read
/// assert!(!from.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::NotDurable`] if the output is not a synced file; [`Error::Link`] if `path` is a symbolic link;
/// [`Error::Replaced`] if `path` is no longer the file that was read, or was written since; what the system says.
pub fn remove_input(path: &Path, done: &Summary) -> Result<(), Error> {
    let name = path.file_name().ok_or_else(|| Error::Replaced(path.into()))?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = openat(CWD, parent(path), flags, Mode::empty()).map_err(failed(path))?;
    remove_from(directory, name, path, done)
}

/// Removes `name` from an open directory, so that the directory cannot be exchanged between the check and the removal.
/// `path` names the file in errors.
pub(crate) fn remove_from(directory: impl AsFd, name: &OsStr, path: &Path, done: &Summary) -> Result<(), Error> {
    if !done.durable {
        return Err(Error::NotDurable(path.into()));
    }
    let stat = statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed(path))?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
        return Err(Error::Link(path.into()));
    }
    if !done.input.is_some_and(|read| read.is_still(&FileId::of_stat(&stat))) {
        return Err(Error::Replaced(path.into()));
    }
    unlinkat(&directory, name, AtFlags::empty()).map_err(failed(path))
}

fn failed(path: &Path) -> impl FnOnce(Errno) -> Error {
    let failed = Error::io("remove", path.display().to_string());
    move |error| failed(error.into())
}
