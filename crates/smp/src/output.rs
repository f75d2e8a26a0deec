//! Output files that get their name when they are complete. Until then they are registered, so that an interrupted
//! program can remove them.

use std::{
    fs,
    io::{self, Write},
    mem,
    ops::Deref,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use tempfile::{Builder, NamedTempFile, TempDir};

/// Paths of all temporary files and folders.
static LISTED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn listed() -> MutexGuard<'static, Vec<PathBuf>> {
    LISTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A temporary file or folder, removed when this is dropped or when the program is interrupted.
#[derive(Debug)]
pub struct ForAWhile<T> {
    // Field order matters: the file is removed before its path is taken off the list
    kept: T,
    entry: Entry,
}

/// A path on the list.
#[derive(Debug)]
struct Entry(PathBuf);

impl Drop for Entry {
    fn drop(&mut self) {
        listed().retain(|path| *path != self.0);
    }
}

impl<T> ForAWhile<T> {
    /// Creates it and puts it on the list, under the list's lock: `remove_unfinished` cannot come in between.
    fn new(make: impl FnOnce() -> io::Result<T>, path: impl FnOnce(&T) -> &Path) -> io::Result<ForAWhile<T>> {
        let mut list = listed();
        let kept = make()?;
        let path = path(&kept).to_owned();
        list.push(path.clone());
        Ok(ForAWhile { kept, entry: Entry(path) })
    }

    /// Ends its temporary state with `end`, for example by renaming it.
    pub fn end<R>(self, end: impl FnOnce(T) -> R) -> R {
        let ForAWhile { kept, entry } = self;
        let ended = end(kept);
        drop(entry);
        ended
    }
}

impl<T> Deref for ForAWhile<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.kept
    }
}

impl<T: Write> Write for ForAWhile<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.kept.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.kept.flush()
    }
}

/// An empty file in the folder of `path`, to be renamed to `path` when it is complete: see [`within`].
///
/// # Errors
/// When there is no such folder, or the file cannot be made in it.
pub fn beside(path: &Path) -> io::Result<ForAWhile<NamedTempFile>> {
    within(path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new(".")))
}

/// An empty file in `folder`, to be renamed when it is complete. Its permissions follow the umask, because results and
/// traces are not secret.
///
/// # Errors
/// When there is no such folder, or the file cannot be made in it.
pub fn within(folder: &Path) -> io::Result<ForAWhile<NamedTempFile>> {
    folder.metadata()?;
    let mut builder = Builder::new();
    builder.prefix(".smp-");
    #[cfg(unix)]
    {
        use std::{fs::Permissions, os::unix::fs::PermissionsExt};
        builder.permissions(Permissions::from_mode(0o666)); // the umask takes its share
    }
    ForAWhile::new(|| builder.tempfile_in(folder), NamedTempFile::path)
}

/// A temporary folder: within another one, or in the system's folder for temporary files.
///
/// # Errors
/// When it cannot be made.
pub fn folder(within: Option<&Path>) -> io::Result<ForAWhile<TempDir>> {
    let mut builder = Builder::new();
    builder.prefix("sealwright-");
    ForAWhile::new(|| within.map_or_else(|| builder.tempdir(), |within| builder.tempdir_in(within)), TempDir::path)
}

/// Removes all temporary files and folders. Only for a program that is about to end: afterwards no more can be created,
/// and attempts block.
pub fn remove_unfinished() {
    let list = listed();
    for path in list.iter() {
        // It may have been removed or renamed already
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
    }
    mem::forget(list);
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn it_can_be_read_by_others_as_the_umask_allows() {
        let folder = tempfile::tempdir().unwrap();
        let (path, plain) = (folder.path().join("whole"), folder.path().join("plain"));
        fs::write(&plain, "").unwrap();
        beside(&path).unwrap().end(|file| file.persist(&path)).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&path), mode(&plain));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
    }

    #[test]
    fn what_has_its_name_or_is_gone_is_listed_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let of_this = || listed().iter().filter(|path| path.starts_with(folder.path())).count();
        let (whole, dropped) = (within(folder.path()).unwrap(), within(folder.path()).unwrap());
        let inner = super::folder(Some(folder.path())).unwrap();
        assert_eq!(of_this(), 3);
        whole.end(|file| file.persist(folder.path().join("whole"))).unwrap();
        drop((dropped, inner));
        assert_eq!(of_this(), 0);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_is_not_there_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let error = beside(&folder.path().join("none/whole")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
