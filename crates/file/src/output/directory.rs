//! Creating directories, and syncing them.

use std::{
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::DirBuilderExt,
    path::Path,
};

use rustix::{fs::syncfs, io::Errno};

use crate::error::Error;

/// The directory that contains `path`.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The directory of a new name that must survive a power failure. It is opened before the file gets that name, so that
/// after the naming nothing can fail for lack of permission or descriptors.
pub(crate) enum Above {
    Directory(File),
    /// The directory can be written but not read, and so not opened. The whole file system is synced instead.
    Unreadable,
}

impl Above {
    /// The directory that contains `path`.
    ///
    /// # Errors
    /// System errors, except that the directory cannot be read.
    pub(crate) fn of(path: &Path) -> Result<Above, Error> {
        match File::open(parent(path)) {
            Ok(directory) => Ok(Above::Directory(directory)),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(Above::Unreadable),
            Err(error) => Err(failed(path)(error)),
        }
    }

    /// Ensures that the name `path`, which `file` has now, survives a power failure.
    ///
    /// # Errors
    /// System errors, except that the file system cannot sync directories.
    pub(crate) fn sync(&self, file: &File, path: &Path) -> Result<(), Error> {
        match self {
            Above::Directory(directory) => sync_directory(directory, path),
            Above::Unreadable => syncfs(file).map_err(|error| failed(path)(error.into())),
        }
    }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> Error {
    Error::io("sync the directory of", path.display().to_string())
}

/// The same for an open directory, whose mode may not permit opening it again.
pub(crate) fn sync_directory(directory: &File, path: &Path) -> Result<(), Error> {
    match directory.sync_all().map_err(|error| (Errno::from_io_error(&error), error)) {
        Ok(()) | Err((Some(Errno::INVAL | Errno::NOTSUP | Errno::NOSYS), _)) => Ok(()),
        Err((_, error)) => Err(failed(path)(error)),
    }
}

/// Creates the directory `path`, and its parents if they are missing, with the permission bits `mode`, less the umask.
/// With `sync`, their names survive a power failure once this returns.
///
/// ```
/// use sealwright_file::output::create_directory;
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("2026/11");
/// create_directory(&path, 0o700, true)?;
/// assert!(path.is_dir());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// What the system says.
pub fn create_directory(path: &Path, mode: u32, sync: bool) -> Result<(), Error> {
    if path.is_dir() {
        return Ok(());
    }
    let above = parent(path);
    if above != path && above != Path::new(".") {
        create_directory(above, 0o777, sync)?;
    }
    match DirBuilder::new().mode(mode).create(path) {
        Ok(()) if sync => Above::of(path)?.sync(&File::open(path).map_err(failed(path))?, path),
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists || !fs::metadata(path).is_ok_and(|m| m.is_dir()) => {
            Err(Error::Io { doing: "create", place: path.display().to_string(), error })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_name_is_synced_also_where_its_directory_may_not_be_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        let file = File::create_new(&path).unwrap();
        for above in [Above::of(&path).unwrap(), Above::Unreadable] {
            above.sync(&file, &path).unwrap();
        }
        let error = Above::of(&directory.path().join("b/c")).err().unwrap();
        assert!(error.to_string().starts_with("cannot sync the directory of "), "{error}");
    }
}
