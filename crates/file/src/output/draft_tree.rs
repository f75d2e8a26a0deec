//! Output directories before they have their name: filled under a hidden name, then renamed atomically.

use std::{
    fs::{self, DirBuilder, File, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, RenameFlags, renameat_with},
    io::Errno,
};

use super::{
    directory::{Above, sync_directory},
    hidden_name::hidden_name,
    hidden_tree::HiddenTree,
    live::live,
};
use crate::error::Error;

/// A directory tree under a hidden name. If it is dropped without [`DraftTree::commit`], it is removed.
pub(crate) struct DraftTree {
    /// A hidden directory that contains the tree under its final name.
    hidden: PathBuf,
}

impl DraftTree {
    pub(crate) fn create(target: &Path) -> Result<DraftTree, Error> {
        let hidden = hidden_name(target)?;
        // The registry stays locked until the directory is in it, so that an interrupt cannot miss the directory.
        let mut live = live();
        if live.closed {
            return Err(Error::Interrupted);
        }
        live.trees.push(HiddenTree::create(hidden.clone()).map_err(failed("create", target))?);
        Ok(DraftTree { hidden })
    }

    /// The hidden directory.
    pub(crate) fn hidden(&self) -> &Path {
        &self.hidden
    }

    /// Gives the tree its name and, if `mode` is given, its outermost directory that mode.
    pub(crate) fn commit(self, target: &Path, mode: Option<u32>, sync: bool) -> Result<(), Error> {
        let inside = self.hidden.join(target.file_name().unwrap_or_default());
        let root = File::open(&inside).map_err(failed("open", target))?;
        let above = sync.then(|| Above::of(target)).transpose()?;
        {
            // An interrupt either removes this tree before it has its name, or finds it named.
            let mut live = live();
            if live.closed {
                return Err(Error::Interrupted);
            }
            match rename_new(&inside, target) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(Error::Exists(target.into())),
                other => other.map_err(failed("name", target))?,
            }
            let _ = fs::remove_dir(&self.hidden);
            live.trees.retain(|tree| tree.path() != self.hidden);
        }
        if let Some(mode) = mode {
            root.set_permissions(Permissions::from_mode(mode)).map_err(failed("set the mode of", target))?;
        }
        match above {
            Some(above) => sync_directory(&root, target).and_then(|()| above.sync(&root, target)),
            None => Ok(()),
        }
    }
}

impl Drop for DraftTree {
    fn drop(&mut self) {
        // The registry stays locked until the tree is removed: otherwise an interrupt could end the process while half
        // of it is left.
        let mut live = live();
        if let Some(at) = live.trees.iter().position(|tree| tree.path() == self.hidden) {
            let _ = live.trees.swap_remove(at).remove();
        }
    }
}

/// Renames a directory without replacing: atomically if the file system supports that, otherwise by first creating an
/// empty directory of the new name.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
        other => return Ok(other?),
    }
    rename_to_taken(from, to)
}

/// The fallback of `rename_new`.
fn rename_to_taken(from: &Path, to: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(to)?;
    // `rename` replaces an empty directory, but no other.
    fs::rename(from, to).inspect_err(|_| drop(fs::remove_dir(to)))
}

fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    Error::io(doing, path.display().to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_directory_takes_no_name_that_is_taken() {
        let directory = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| directory.path().join(name));
        let failed = || rename_to_taken(&from, &to).unwrap_err().kind();
        // A failed attempt leaves nothing behind.
        assert_eq!((failed(), to.exists()), (io::ErrorKind::NotFound, false));
        fs::create_dir(&from).unwrap();
        fs::write(from.join("file"), "text").unwrap();
        fs::write(&to, "a file").unwrap();
        assert_eq!(failed(), io::ErrorKind::AlreadyExists);
        fs::remove_file(&to).unwrap();
        fs::create_dir(&to).unwrap();
        assert_eq!(failed(), io::ErrorKind::AlreadyExists);
        fs::remove_dir(&to).unwrap();
        rename_to_taken(&from, &to).unwrap();
        assert_eq!(fs::read(to.join("file")).unwrap(), b"text");
    }

    /// An attack: somebody who may rename what is in the directory puts a link, or another directory, in the place of
    /// the hidden one.
    #[test]
    fn what_was_put_in_the_place_of_the_hidden_directory_is_left_alone() {
        for is_link in [true, false] {
            let directory = tempfile::tempdir().unwrap();
            let [moved, victim] = ["moved", "victim"].map(|name| directory.path().join(name));
            fs::create_dir_all(victim.join("a/b")).unwrap();
            fs::write(victim.join("a/b/file"), "text").unwrap();
            let all = ["", "a", "a/b"];
            for name in all {
                fs::set_permissions(victim.join(name), Permissions::from_mode(0o755)).unwrap();
            }
            let draft = DraftTree::create(&directory.path().join("tree")).unwrap();
            let hidden = draft.hidden().to_owned();
            fs::create_dir_all(hidden.join("tree/sub")).unwrap();
            fs::write(hidden.join("tree/sub/file"), "secret").unwrap();
            // Nor is a link below it followed.
            symlink(&victim, hidden.join("tree/link")).unwrap();
            fs::rename(&hidden, &moved).unwrap();
            let victim = if is_link {
                symlink(&victim, &hidden).unwrap();
                victim
            } else {
                fs::rename(&victim, &hidden).unwrap();
                hidden
            };
            drop(draft);
            for name in all {
                assert_eq!(fs::metadata(victim.join(name)).unwrap().permissions().mode() & 0o777, 0o755, "{name}");
            }
            assert_eq!(fs::read(victim.join("a/b/file")).unwrap(), b"text");
            assert_eq!(fs::read_dir(&victim).unwrap().count(), 1);
            // What was unpacked is removed where it is now.
            assert_eq!(fs::read_dir(&moved).unwrap().count(), 0);
        }
    }
}
