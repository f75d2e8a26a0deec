//! The registry of outputs that do not have their name yet: an interrupt removes them.

use std::{
    collections::HashSet,
    fs::{self, File},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::hidden_tree::HiddenTree;
use crate::{
    error::{Error, OutputFault},
    of_process::OfProcess,
};

/// The drafts of this process that exist now, for [`abandon_all`].
static LIVE: OfProcess<Mutex<Live>> =
    OfProcess::new(Mutex::new(Live { closed: false, paths: Vec::new(), trees: Vec::new(), own: None }));

#[derive(Default)]
pub(super) struct Live {
    pub(super) closed: bool,
    pub(super) paths: Vec<PathBuf>,
    pub(super) trees: Vec<HiddenTree>,
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
                Err(Error::BadOutput { path: path.into(), why: OutputFault::OwnOutput })
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
///     let output = Output::derived(&directory.path().join(path), OutputOptions::default().force(true))?;
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
    live.trees.drain(..).for_each(HiddenTree::abandon);
}

/// Whether [`abandon_all`] was called. Errors that follow from it are not reported.
pub(crate) fn is_abandoned() -> bool {
    live().closed
}
