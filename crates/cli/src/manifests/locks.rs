//! Locks on directories with manifests, so that no other program seals into them or changes their keys at the same
//! time.

use std::{io, path::Path};

use rustix::{
    io::Errno,
    process::{Resource, Rlimit, getrlimit, setrlimit},
};
use sealwright_file::{DirectoryLock, Error, Interrupt};
use sealwright_terminal::CommandError;

use crate::identity;

/// The locks that are held, each with the identity of its directory.
#[derive(Debug, Default)]
pub(crate) struct Locks(Vec<((u64, u64), DirectoryLock)>);

impl Locks {
    /// Waits for the locks on all these directories; a directory with several names is locked once. All programs lock
    /// in the order of the directories' identities: in the order of their names, two programs could deadlock. Returns
    /// for each directory why it could not be locked. A directory that cannot be opened needs no lock, unless the
    /// reason is that too many files are open.
    pub(crate) fn wait_for(&mut self, directories: &[impl AsRef<Path>]) -> Vec<Option<CommandError>> {
        allow_all();
        let known = directories.iter().map(AsRef::as_ref).enumerate();
        let mut order: Vec<_> =
            known.filter_map(|(i, directory)| Some((identity::directory(directory)?, i, directory))).collect();
        order.sort();
        let mut refused = vec![None; directories.len()];
        let mut last: Option<((u64, u64), usize)> = None;
        for (id, i, directory) in order {
            match last.filter(|(tried, _)| *tried == id) {
                // Its lock is not waited for twice.
                Some((_, before)) => refused[i] = refused[before].clone(),
                None if self.0.iter().any(|(held, _)| *held == id) => {}
                None => match DirectoryLock::wait(directory, &Interrupt::default()) {
                    Ok(None) => refused[i] = Some(is_held(directory)),
                    Ok(Some(lock)) => self.0.push((id, lock)),
                    Err(Error::Io { error, .. }) if is_of_limit(&error) => refused[i] = Some(too_many(directory)),
                    Err(_) => {}
                },
            }
            last = Some((id, i));
        }
        refused
    }
}

/// Raises the limit on open files to the maximum: each lock takes a descriptor.
fn allow_all() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // If this fails, so does the first lock without a descriptor.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

/// Whether the limit on open files is reached. Without the lock, the directory would be changed as if no other program
/// did.
fn is_of_limit(error: &io::Error) -> bool {
    [Errno::MFILE, Errno::NFILE].iter().any(|limit| error.raw_os_error() == Some(limit.raw_os_error()))
}

fn too_many(directory: &Path) -> CommandError {
    CommandError::failed("cannot be locked: too many files are open")
        .about(directory)
        .hint("`ulimit -n` shows the limit; name fewer directories at a time")
}

/// The error for a lock that another program holds: if both sealed into the directory, each manifest would lack the
/// other's files.
fn is_held(directory: &Path) -> CommandError {
    CommandError::failed("another program seals into this directory or changes its keys")
        .about(directory)
        .hint("wait until it is done, and try again; under `flock`, lock a file elsewhere, not this directory")
}
