//! Directories: made and synced.

use std::{
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::DirBuilderExt,
    path::Path,
};

use rustix::io::Errno;

use crate::error::Error;

/// The directory that `path` is in.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Makes sure that the name `path` outlives a power cut.
///
/// # Errors
/// What the system says, unless it is that this file system cannot sync directories.
pub(crate) fn sync_directory_of(path: &Path) -> Result<(), Error> {
    let directory = File::open(parent(path)).map_err(failed(path))?;
    sync_directory(&directory, path)
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> Error {
    Error::io("sync the directory of", path.display().to_string())
}

/// The same for a directory that is open: its mode may forbid to open it again.
pub(crate) fn sync_directory(directory: &File, path: &Path) -> Result<(), Error> {
    match directory.sync_all().map_err(|error| (Errno::from_io_error(&error), error)) {
        Ok(()) | Err((Some(Errno::INVAL | Errno::NOTSUP | Errno::NOSYS), _)) => Ok(()),
        Err((_, error)) => Err(failed(path)(error)),
    }
}

/// Makes the directory `path` with the permission bits `mode`, less the umask, and those above it that are missing. With
/// `sync` their names outlive a power cut once this returns.
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
        Ok(()) if sync => sync_directory_of(path),
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists || !fs::metadata(path).is_ok_and(|m| m.is_dir()) => {
            Err(Error::Io { doing: "create", place: path.display().to_string(), source: error })
        }
        _ => Ok(()),
    }
}
