//! Locks on directories with manifests: nobody else seals into them or changes their keys meanwhile.

use std::{io, path::Path};

use rustix::{
    io::Errno,
    process::{Resource, Rlimit, getrlimit, setrlimit},
};
use sealwright_file::{DirectoryLock, Error, Interrupt};
use sealwright_terminal::CommandError;

use crate::identity;

/// The locks that are held, each with what tells the directory from others.
#[derive(Debug, Default)]
pub(crate) struct Locks(Vec<((u64, u64), DirectoryLock)>);

impl Locks {
    /// Waits for the locks on all these directories, and takes them; one that has another name here is taken once.
    /// Everybody does so in one order: in that of their names, two could wait for each other. Returns for each
    /// directory why its lock is not to be had. One that cannot be opened has none, unless too many files are open.
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
                // It is not waited for twice.
                Some((_, before)) => refused[i] = refused[before].clone(),
                None if self.0.iter().any(|(held, _)| *held == id) => {}
                None => match DirectoryLock::wait(directory, &Interrupt::default()) {
                    Ok(None) => refused[i] = Some(is_held(directory)),
                    Ok(Some(lock)) => self.0.push((id, lock)),
                    Err(Error::Io { source, .. }) if is_of_limit(&source) => refused[i] = Some(too_many(directory)),
                    Err(_) => {}
                },
            }
            last = Some((id, i));
        }
        refused
    }
}

/// Lets as many files be open as the system allows: each lock is one, beside those that are worked on.
fn allow_all() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // Where that fails, so does the lock that has no place.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

/// Whether as many files are open as may be. Without the lock, the directory would be worked on as if nobody else did.
fn is_of_limit(error: &io::Error) -> bool {
    [Errno::MFILE, Errno::NFILE].iter().any(|limit| error.raw_os_error() == Some(limit.raw_os_error()))
}

fn too_many(directory: &Path) -> CommandError {
    CommandError::failed("cannot be locked: too many files are open")
        .about(directory)
        .hint("`ulimit -n` shows the limit; name fewer directories at a time")
}

/// Not gone on with: of two that seal into a directory, each would replace what the other one lists.
fn is_held(directory: &Path) -> CommandError {
    CommandError::failed("another program seals into this directory or changes its keys")
        .about(directory)
        .hint("wait until it is done, and try again; under `flock`, lock a file elsewhere, not this directory")
}
