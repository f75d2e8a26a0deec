//! A directory before it has its name: filled under a hidden one, then named in one step.

use std::{
    fs::{self, DirBuilder, File, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::{
    directory::{sync_directory, sync_directory_of},
    draft::{hidden_name, live},
};
use crate::error::Error;

/// A tree under a hidden name. Dropped without [`DraftTree::commit`], it is gone.
pub(crate) struct DraftTree {
    /// A directory in which the tree has its name.
    hidden: PathBuf,
}

impl DraftTree {
    pub(crate) fn create(target: &Path) -> Result<DraftTree, Error> {
        let hidden = hidden_name(target)?;
        // The registry is held while the directory appears: an interrupt in between must not miss it.
        let mut live = live();
        if live.closed {
            return Err(Error::Interrupted);
        }
        DirBuilder::new().mode(0o700).create(&hidden).map_err(failed("create", target))?;
        live.trees.push(hidden.clone());
        Ok(DraftTree { hidden })
    }

    /// The hidden directory.
    pub(crate) fn hidden(&self) -> &Path {
        &self.hidden
    }

    /// Gives the tree its name, and its outermost directory the mode `mode`, if there is one to give.
    pub(crate) fn commit(self, target: &Path, mode: Option<u32>, sync: bool) -> Result<(), Error> {
        let inside = self.hidden.join(target.file_name().unwrap_or_default());
        let root = File::open(&inside).map_err(failed("open", target))?;
        {
            // An interrupt takes all drafts or finds this one named.
            let mut live = live();
            if live.closed {
                return Err(Error::Interrupted);
            }
            match renameat_with(CWD, &inside, CWD, target, RenameFlags::NOREPLACE) {
                Ok(()) => {}
                Err(rustix::io::Errno::EXIST) => return Err(Error::Exists(target.into())),
                Err(error) => return Err(failed("name", target)(error.into())),
            }
            let _ = fs::remove_dir(&self.hidden);
            live.trees.retain(|path| *path != self.hidden);
        }
        if let Some(mode) = mode {
            root.set_permissions(Permissions::from_mode(mode)).map_err(failed("set the mode of", target))?;
        }
        if sync {
            sync_directory(&root, target)?;
            sync_directory_of(target)?;
        }
        Ok(())
    }
}

impl Drop for DraftTree {
    fn drop(&mut self) {
        // Held until it is gone: an interrupt in between would end the program with half of it left.
        let mut live = live();
        if live.trees.contains(&self.hidden) {
            let _ = remove(&self.hidden);
            live.trees.retain(|path| *path != self.hidden);
        }
    }
}

/// Removes a tree that others may still be filling, who know it by this name.
pub(super) fn abandon(hidden: &Path) {
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
fn remove(path: &Path) -> io::Result<()> {
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

fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    Error::io(doing, path.display().to_string())
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
