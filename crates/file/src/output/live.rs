//! What is being written and has no name yet: an interrupt takes it.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, Permissions},
    io::{self, ErrorKind},
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::directory::parent;
use crate::{error::Error, of_process::OfProcess, secret::random};

/// Drafts of this process that exist now, for [`abandon_all`].
static LIVE: OfProcess<Mutex<Live>> =
    OfProcess::new(Mutex::new(Live { closed: false, paths: Vec::new(), trees: Vec::new() }));

#[derive(Default)]
pub(super) struct Live {
    pub(super) closed: bool,
    pub(super) paths: Vec<PathBuf>,
    /// Hidden directories.
    pub(super) trees: Vec<PathBuf>,
}

pub(super) fn live() -> MutexGuard<'static, Live> {
    LIVE.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every file and every directory that is still being written, and lets no new one begin: what a program does when it is told to
/// end at once. Names that were given already stay.
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

/// Whether [`abandon_all`] took what was being written. Errors that come of it are none to tell.
pub(crate) fn is_abandoned() -> bool {
    live().closed
}

/// Removes a tree that others may still be filling, who know it by this name.
fn abandon(hidden: &Path) {
    // Under another name nothing new is begun in it, so that removing it comes to an end.
    let away = hidden_name(hidden).ok().filter(|away| fs::rename(hidden, away).is_ok());
    let path = away.as_deref().unwrap_or(hidden);
    for _ in 0..1000 {
        match remove(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {}
            _ => return,
        }
    }
}

/// Removes a tree, in which directories may have got modes that forbid it.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(path);
            fs::remove_dir_all(path)
        }
        other => other,
    }
}

fn open_up(directory: &Path) {
    let _ = fs::set_permissions(directory, Permissions::from_mode(0o700));
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
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
    // A name may have 255 bytes; ours must leave room for the dots and the letters.
    hidden.push(OsStr::from_bytes(&name.as_bytes()[..name.len().min(240)]));
    hidden.push(".");
    hidden.push(fresh.iter().map(|byte| char::from(LETTERS[usize::from(byte & 31)])).collect::<String>());
    Ok(parent(target).join(hidden))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{
        sync::atomic::{AtomicBool, Ordering},
        thread,
    };

    use super::*;

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
