//! The registry of outputs that do not have their name yet: an interrupt removes them.

use std::{
    collections::HashSet,
    ffi::{OsStr, OsString},
    fs::{self, File, Permissions},
    io::{self, ErrorKind},
    os::unix::{
        ffi::OsStrExt,
        fs::{MetadataExt, PermissionsExt},
    },
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::directory::parent;
use crate::{
    error::{Error, ONE_NAME},
    of_process::OfProcess,
    secret::random,
};

/// The drafts of this process that exist now, for [`abandon_all`].
static LIVE: OfProcess<Mutex<Live>> =
    OfProcess::new(Mutex::new(Live { closed: false, paths: Vec::new(), trees: Vec::new(), own: None }));

#[derive(Default)]
pub(super) struct Live {
    pub(super) closed: bool,
    pub(super) paths: Vec<PathBuf>,
    /// Hidden directories.
    pub(super) trees: Vec<PathBuf>,
    /// Device and inode of every file that was written, if [`keep_own`] was called.
    own: Option<HashSet<(u64, u64)>>,
}

impl Live {
    /// # Errors
    /// [`Error::BadOutput`] if the file at `path` was written by this process and must not be replaced.
    pub(super) fn may_replace(&self, path: &Path) -> Result<(), Error> {
        let Some(own) = &self.own else { return Ok(()) };
        match fs::symlink_metadata(path) {
            Ok(there) if own.contains(&(there.dev(), there.ino())) => {
                Err(Error::BadOutput { path: path.into(), why: ONE_NAME })
            }
            _ => Ok(()),
        }
    }

    /// Records a file that has its name now.
    pub(super) fn wrote(&mut self, file: &File) {
        if let (Some(own), Ok(meta)) = (&mut self.own, file.metadata()) {
            own.insert((meta.dev(), meta.ino()));
        }
    }
}

/// From now on, no output replaces a file that this process wrote, not even with `force`: for programs that write many
/// files, each of them once. On a file system that ignores case, or if two paths lead to the same directory, one output
/// could otherwise replace another, and a text would be lost.
///
/// ```
/// use sealwright_file::{Error, Output, OutputOptions, output::keep_own};
///
/// keep_own();
/// let directory = tempfile::tempdir()?;
/// std::fs::create_dir(directory.path().join("a"))?;
/// std::os::unix::fs::symlink("a", directory.path().join("b"))?;
/// let write = |path| {
///     let output = Output::derived(&directory.path().join(path), OutputOptions { force: true, ..OutputOptions::default() })?;
///     output.write_all_of(&mut &b"a text"[..])
/// };
/// write("a/text")?;
/// assert!(matches!(write("b/text"), Err(Error::BadOutput { .. }))); // it is the same file
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn keep_own() {
    live().own.get_or_insert_default();
}

pub(super) fn live() -> MutexGuard<'static, Live> {
    LIVE.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every file and directory that is still being written, and prevents new ones: for a program that must end at
/// once. Outputs that have their name already are kept.
///
/// ```
/// use sealwright_file::output::abandon_all;
///
/// // In a thread that waits for SIGINT, say: no unfinished file stays behind.
/// abandon_all();
/// ```
pub fn abandon_all() {
    let mut live = live();
    live.closed = true;
    for path in live.paths.drain(..) {
        let _ = fs::remove_file(path);
    }
    live.trees.drain(..).for_each(|path| abandon(&path));
}

/// Whether [`abandon_all`] was called. Errors that follow from it are not reported.
pub(crate) fn is_abandoned() -> bool {
    live().closed
}

/// Removes a tree that other threads may still be filling under the name `hidden`.
fn abandon(hidden: &Path) {
    // Renamed first: those threads then cannot create anything more in it, so that the removal terminates.
    let away = hidden_name(hidden).ok().filter(|away| fs::rename(hidden, away).is_ok());
    let path = away.as_deref().unwrap_or(hidden);
    for _ in 0..1000 {
        match remove(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {}
            _ => return,
        }
    }
}

/// Removes a tree, even if modes of its directories forbid that, or if it is nested more deeply than the process can
/// have open descriptors.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    // If this fails, removal is attempted all the same.
    let _ = flatten(path);
    fs::remove_dir_all(path)
}

/// Moves every directory below `top` directly into it, with a mode that permits its removal.
fn flatten(top: &Path) -> io::Result<()> {
    let open_up = |path: &Path| fs::set_permissions(path, Permissions::from_mode(0o700));
    let mut names = (0u64..).map(|n| top.join(n.to_string())).filter(|name| fs::symlink_metadata(name).is_err());
    let mut left = vec![top.to_owned()];
    while let Some(directory) = left.pop() {
        open_up(&directory)?;
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                let mut path = entry.path();
                // A directory that is not writable cannot be moved.
                open_up(&path)?;
                if directory != top
                    && let Some(up) = names.next()
                {
                    fs::rename(&path, &up)?;
                    path = up;
                }
                left.push(path);
            }
        }
    }
    Ok(())
}

/// A fresh hidden name beside `target`.
pub(crate) fn hidden_name(target: &Path) -> Result<PathBuf, Error> {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let name = target.file_name().ok_or_else(|| Error::Io {
        doing: "create",
        place: target.display().to_string(),
        source: ErrorKind::InvalidFilename.into(),
    })?;
    let mut fresh = [0; 6];
    random(&mut fresh)?;
    let mut hidden = OsString::from(".");
    // Names can have 255 bytes; this leaves room for the dots and the letters. A UTF-8 character is not split, because
    // some file systems refuse that.
    let name = name.as_bytes();
    let mut len = name.len().min(240);
    while name.get(len).is_some_and(|byte| byte & 0xc0 == 0x80) && len > 237 {
        len -= 1;
    }
    hidden.push(OsStr::from_bytes(&name[..len]));
    hidden.push(".");
    hidden.push(fresh.iter().map(|byte| char::from(LETTERS[usize::from(byte & 31)])).collect::<String>());
    Ok(parent(target).join(hidden))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{
        os::fd::OwnedFd,
        sync::atomic::{AtomicBool, Ordering},
        thread,
    };

    use rustix::fs::{Mode, OFlags, fchmod, mkdirat, openat};

    use super::*;

    #[test]
    fn a_hidden_name_ends_between_characters() {
        for (name, kept) in [("n".repeat(250), 240), (format!("a{}", "日".repeat(80)), 238), ("é".repeat(120), 240)] {
            let hidden = hidden_name(Path::new(&name)).unwrap();
            let hidden = hidden.file_name().unwrap().to_str().expect("a text stays one");
            assert_eq!(hidden.len(), 1 + kept + 1 + 6, "{hidden}");
            assert!(hidden[1..].starts_with(&name[..kept]), "{hidden}");
        }
    }

    /// A regression: `remove_dir_all` uses a descriptor and a stack frame for each level. If these did not suffice, the
    /// tree was left.
    #[test]
    fn a_tree_of_any_depth_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let hidden = directory.path().join(".d.abcdef");
        fs::create_dir(&hidden).unwrap();
        let mut at = OwnedFd::from(File::open(&hidden).unwrap());
        for n in 0..5000 {
            // Names that `flatten` gives to the directories that it moves.
            let name = (n % 10).to_string();
            mkdirat(&at, &name, Mode::RWXU).unwrap();
            let next = openat(&at, &name, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
            openat(&next, "f", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).unwrap();
            if n % 7 == 6 {
                fchmod(&at, Mode::empty()).unwrap();
            }
            at = next;
        }
        remove(&hidden).unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_tree_that_is_being_filled_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let hidden = directory.path().join(".d.abcdef");
        let (started, ended) = (AtomicBool::new(false), AtomicBool::new(false));
        fs::create_dir_all(hidden.join("d/sub")).unwrap();
        thread::scope(|scope| {
            for hand in 0..4 {
                let (hidden, started, ended) = (&hidden, &started, &ended);
                scope.spawn(move || {
                    for i in 0.. {
                        let written = fs::write(hidden.join(format!("d/sub/{hand}-{i}")), "secret");
                        started.fetch_or(i == 20, Ordering::Relaxed);
                        if written.is_err() || ended.load(Ordering::Relaxed) {
                            break;
                        }
                    }
                });
            }
            while !started.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            abandon(&hidden);
            let left = fs::read_dir(directory.path()).unwrap().count();
            ended.store(true, Ordering::Relaxed);
            assert_eq!(left, 0);
        });
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
