//! A file that was found by going through a directory: opened, and later removed, without following links.

use std::{
    ffi::OsStr,
    fs::File,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat},
    io::Errno,
};

use crate::{error::Error, file_id::Summary, input::Input, output::remove_from};

/// A file that was found by walking a directory.
///
/// Some time can pass before the file is opened, for instance while a passphrase is typed. Meanwhile somebody who can
/// write to the directory could replace a subdirectory by a symbolic link, so that files from elsewhere would be read
/// and removed. Therefore no link below the directory is followed, and the file must be a regular one. A file that was
/// saved again in the meantime is read in its new state; only a file that was read is removed.
///
/// ```
/// use std::path::Path;
///
/// use sealwright_file::{Error, Found};
///
/// let directory = tempfile::tempdir()?;
/// let (sub, path) = (directory.path().join("sub"), directory.path().join("sub/text"));
/// std::fs::create_dir(&sub)?;
/// std::fs::write(&path, "a text")?;
/// let found = Found::new(directory.path(), Path::new("sub/text"));
/// assert_eq!(found.open()?.len(), Some(6));
///
/// std::fs::rename(&sub, directory.path().join("moved"))?;
/// std::os::unix::fs::symlink("moved", &sub)?;
/// assert!(matches!(found.open(), Err(Error::Moved(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    directory: PathBuf,
    below: PathBuf,
}

impl Found {
    /// The file at `below` in `directory`. Links in `directory` itself are followed, because the user named it.
    pub fn new(directory: &Path, below: &Path) -> Found {
        Found { directory: directory.into(), below: below.into() }
    }

    /// The directory in which it was found.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where it is.
    pub fn path(&self) -> PathBuf {
        self.directory.join(&self.below)
    }

    /// Opens it.
    ///
    /// # Errors
    /// [`Error::Moved`] if it is no longer a regular file, or is reached through a symbolic link; system errors.
    pub fn open(&self) -> Result<Input, Error> {
        Input::file(self.file()?, self.path().display().to_string())
    }

    /// Opens it as a [`File`].
    pub(crate) fn file(&self) -> Result<File, Error> {
        let (parent, name) = self.parent("open")?;
        let file = regular(parent, name).map_err(|error| self.failed("open", error))?;
        let meta = file.metadata().map_err(Error::io("read", self.path().display().to_string()))?;
        if meta.is_file() { Ok(file) } else { Err(Error::Moved(self.path())) }
    }

    /// Removes it when it is sealed, as [`remove_input`](crate::remove_input) does.
    ///
    /// # Errors
    /// Those of [`remove_input`](crate::remove_input); [`Error::Moved`] if it is reached through a symbolic link.
    pub fn remove(&self, done: &Summary) -> Result<(), Error> {
        let (parent, name) = self.parent("remove")?;
        remove_from(parent, name, &self.path(), done)
    }

    /// Opens the directory that contains the file, one path component at a time; returns it and the file's name in it.
    fn parent(&self, doing: &'static str) -> Result<(OwnedFd, &OsStr), Error> {
        let name = self.below.file_name().ok_or_else(|| Error::Moved(self.path()))?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut at = openat(CWD, &self.directory, flags, Mode::empty()).map_err(|error| self.failed(doing, error))?;
        for part in self.below.parent().into_iter().flatten() {
            let next = openat(&at, part, flags | OFlags::NOFOLLOW, Mode::empty());
            at = next.map_err(|error| self.failed(doing, error))?;
        }
        Ok((at, name))
    }

    fn failed(&self, doing: &'static str, error: Errno) -> Error {
        match error {
            // The errors that the system returns for a symbolic link with `O_NOFOLLOW`.
            Errno::LOOP | Errno::NOTDIR => Error::Moved(self.path()),
            other => Error::Io { doing, place: self.path().display().to_string(), error: other.into() },
        }
    }
}

/// Opens a file that must be a regular one. Symbolic links are not followed, and opening a named pipe does not block.
/// If a client of a file server has a lease on the file, this waits until it is released.
pub(crate) fn regular(directory: impl AsFd, name: impl AsRef<Path>) -> Result<File, Errno> {
    let (directory, name) = (directory.as_fd(), name.as_ref());
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = openat(directory, name, flags | OFlags::NONBLOCK, Mode::empty());
    let is_file = || {
        let stat = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
        stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
    };
    match opened {
        Err(Errno::AGAIN) if is_file() => openat(directory, name, flags, Mode::empty()).map(File::from),
        opened => opened.map(File::from),
    }
}
