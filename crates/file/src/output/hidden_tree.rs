//! Hidden directories, and their removal. They may lie in a directory where other users can rename entries, so nothing
//! is removed by a path that could lead elsewhere by now: only what is in the open directory, and no link is followed.

use std::{
    ffi::{CStr, CString},
    fs::{self, DirBuilder, File, Permissions},
    io,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, CWD, Dir, Mode, OFlags, fchmod, openat, renameat, statat, unlinkat},
    io::Errno,
};

use super::hidden_name::hidden_name;

/// How directories are opened.
const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A hidden directory that this process created.
#[derive(Debug)]
pub(super) struct HiddenTree {
    path: PathBuf,
    /// The directory itself, whatever has its name now.
    directory: File,
}

impl HiddenTree {
    pub(super) fn create(path: PathBuf) -> io::Result<HiddenTree> {
        DirBuilder::new().mode(0o700).create(&path)?;
        let directory = open_empty(&path).inspect_err(|_| drop(fs::remove_dir(&path)))?;
        Ok(HiddenTree { path, directory })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the tree, even if modes of its directories forbid that, or if it is nested more deeply than the process
    /// can have open descriptors.
    pub(super) fn remove(&self) -> io::Result<()> {
        // Once more, should a call fail: nobody tries again.
        empty(&self.directory).or_else(|_| empty(&self.directory))?;
        let removed = fs::remove_dir(&self.path);
        // If its name was given to something else, that stays.
        if removed.is_err() && !self.has_its_name() { Ok(()) } else { removed }
    }

    /// Removes the tree while other threads may still be filling it.
    pub(super) fn abandon(mut self) {
        // Renamed first: those threads then cannot create anything more in it, so that the removal terminates.
        if let Ok(away) = hidden_name(&self.path)
            && self.has_its_name()
            && fs::rename(&self.path, &away).is_ok()
        {
            self.path = away;
        }
        for _ in 0..1000 {
            if self.remove().is_ok() {
                return;
            }
        }
    }

    /// Whether its name still leads to it.
    fn has_its_name(&self) -> bool {
        let [there, own] = [fs::symlink_metadata(&self.path), self.directory.metadata()];
        there.is_ok_and(|there| own.is_ok_and(|own| (there.dev(), there.ino()) == (own.dev(), own.ino())))
    }
}

/// Opens a directory that was just created. Another one could have been put in its place already. There is nothing to
/// lose in one that is empty.
fn open_empty(path: &Path) -> io::Result<File> {
    let directory = File::from(openat(CWD, path, DIRECTORY | OFlags::RDONLY, Mode::empty())?);
    for entry in Dir::read_from(&directory)? {
        if ![c".", c".."].contains(&entry?.file_name()) {
            return Err(Errno::EXIST.into());
        }
    }
    Ok(directory)
}

/// Removes all that is in `top`. Every directory below it is first moved directly into it.
fn empty(top: &File) -> io::Result<()> {
    let is_free = |name: &CString| statat(top, name, AtFlags::SYMLINK_NOFOLLOW).is_err();
    let mut names = (0u64..).filter_map(|n| CString::new(n.to_string()).ok()).filter(is_free);
    let mut left = Vec::new();
    remove_files(top, |name| {
        left.push(name.to_owned());
        Ok(())
    })?;
    while let Some(name) = left.pop() {
        let directory = open_up(top, &name)?;
        remove_files(&directory, |inner| {
            // A directory that is not writable cannot be moved.
            open_up(&directory, inner)?;
            let up = names.next().ok_or(Errno::EXIST)?;
            renameat(&directory, inner, top, &up)?;
            left.push(up);
            Ok(())
        })?;
        unlinkat(top, &name, AtFlags::REMOVEDIR)?;
    }
    Ok(())
}

/// Removes all that is in `directory`, except for directories, whose names `inner` gets.
fn remove_files(directory: impl AsFd, mut inner: impl FnMut(&CStr) -> io::Result<()>) -> io::Result<()> {
    for entry in Dir::read_from(&directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if [c".", c".."].contains(&name) {
            continue;
        }
        match unlinkat(&directory, name, AtFlags::empty()) {
            Err(Errno::ISDIR | Errno::PERM) => inner(name)?,
            Err(Errno::NOENT) => {}
            other => other?,
        }
    }
    Ok(())
}

/// Opens the directory `name` in `at`, with a mode that permits its removal.
fn open_up(at: impl AsFd, name: &CStr) -> io::Result<OwnedFd> {
    let directory = match openat(&at, name, DIRECTORY | OFlags::RDONLY, Mode::empty()) {
        Err(Errno::ACCESS) => {
            // A directory that cannot be read has a descriptor of this kind only, by which /proc leads to it.
            let unread = openat(&at, name, DIRECTORY | OFlags::PATH, Mode::empty())?;
            let path = format!("/proc/self/fd/{}", unread.as_raw_fd());
            fs::set_permissions(path, Permissions::from_mode(0o700))?;
            openat(&unread, c".", DIRECTORY | OFlags::RDONLY, Mode::empty())?
        }
        other => other?,
    };
    fchmod(&directory, Mode::RWXU)?;
    Ok(directory)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{
        sync::atomic::{AtomicBool, Ordering},
        thread,
    };

    use rustix::fs::mkdirat;

    use super::*;

    /// A regression: `remove_dir_all` uses a descriptor and a stack frame for each level. If these did not suffice, the
    /// tree was left.
    #[test]
    fn a_tree_of_any_depth_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let hidden = directory.path().join(".d.abcdef");
        let tree = HiddenTree::create(hidden.clone()).unwrap();
        let mut at = OwnedFd::from(File::open(&hidden).unwrap());
        for n in 0..5000 {
            // Names that `empty` gives to the directories that it moves.
            let name = (n % 10).to_string();
            mkdirat(&at, &name, Mode::RWXU).unwrap();
            let next = openat(&at, &name, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
            openat(&next, "f", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).unwrap();
            if n % 7 == 6 {
                fchmod(&at, Mode::empty()).unwrap();
            }
            at = next;
        }
        tree.remove().unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_tree_that_is_being_filled_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let hidden = directory.path().join(".d.abcdef");
        let (started, ended) = (AtomicBool::new(false), AtomicBool::new(false));
        let tree = HiddenTree::create(hidden.clone()).unwrap();
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
            tree.abandon();
            let left = fs::read_dir(directory.path()).unwrap().count();
            ended.store(true, Ordering::Relaxed);
            assert_eq!(left, 0);
        });
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
