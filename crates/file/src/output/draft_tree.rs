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
    live::{hidden_name, live, remove},
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

fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    Error::io(doing, path.display().to_string())
}
