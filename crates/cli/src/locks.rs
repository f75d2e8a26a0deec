//! Locks on directories with manifests: nobody else seals into them or changes their keys meanwhile.

use std::path::Path;

use sealwright_file::{DirectoryLock, Interrupt};
use sealwright_terminal::CommandError;

use crate::identity;

/// The locks that are held, each with what tells the directory from others.
#[derive(Debug, Default)]
pub(crate) struct Locks(Vec<((u64, u64), DirectoryLock)>);

impl Locks {
    /// Waits for the locks on all these directories, and takes them; one that has another name here is taken once.
    /// Everybody does so in one order: in that of their names, two could wait for each other. Returns for each
    /// directory why its lock is not to be had. One that cannot be opened has none.
    pub(crate) fn wait_for(&mut self, directories: &[impl AsRef<Path>]) -> Vec<Option<CommandError>> {
        let known = directories.iter().map(AsRef::as_ref).enumerate();
        let mut order: Vec<_> =
            known.filter_map(|(i, directory)| Some((identity::directory(directory)?, i, directory))).collect();
        order.sort();
        let mut refused = vec![None; directories.len()];
        let mut last: Option<((u64, u64), usize)> = None;
        for (id, i, directory) in order {
            match last.filter(|(tried, _)| *tried == id) {
                // It is not waited for twice.
                Some((_, before)) => refused[i] = refused[before].clone(),
                None if self.0.iter().any(|(held, _)| *held == id) => {}
                None => match DirectoryLock::wait(directory, &Interrupt::default()) {
                    Ok(None) => refused[i] = Some(is_held(directory)),
                    Ok(Some(lock)) => self.0.push((id, lock)),
                    Err(_) => {}
                },
            }
            last = Some((id, i));
        }
        refused
    }
}

/// Not gone on with: of two that seal into a directory, each would replace what the other one lists.
fn is_held(directory: &Path) -> CommandError {
    CommandError::failed("another program seals into this directory or changes its keys")
        .about(directory)
        .hint("wait until it is done, and try again; under `flock`, lock a file elsewhere, not this directory")
}
