//! Advisory locks, so that only one program at a time changes a file or a directory.

use std::{
    fs::File,
    io,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};

use crate::{error::Error, progress::Interrupt};

/// How long to wait for a lock that another program holds.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// The interval between attempts.
pub(crate) const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// Waits for the lock on `file`, which is held until `file` is closed. Returns `false` if another program still holds
/// it at `until`. On a file system without locks this returns `true` at once.
pub(crate) fn lock(file: &File, until: Instant, interrupt: &Interrupt) -> io::Result<bool> {
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) if Instant::now() < until => {
                interrupt.check()?;
                thread::sleep(LOCK_RETRY_INTERVAL);
            }
            Err(Errno::WOULDBLOCK) => return Ok(false),
            Err(Errno::INTR) => {}
            Ok(()) | Err(_) => return Ok(true),
        }
    }
}

/// An advisory lock on a directory with a [manifest](crate::FileList), held until it is dropped. Without it, two
/// programs that seal into one directory at once would each write a manifest without the other's files.
///
/// ```
/// use sealwright_file::{DirectoryLock, Interrupt};
///
/// let directory = tempfile::tempdir()?;
/// let lock = DirectoryLock::wait(directory.path(), &Interrupt::default())?;
/// assert!(lock.is_some()); // nobody else had it
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DirectoryLock {
    _directory: File,
}

impl DirectoryLock {
    /// Waits for the lock, for ten seconds at most; `None` if another program still holds it then.
    ///
    /// # Errors
    /// When the directory cannot be opened; [`Error::Interrupted`].
    pub fn wait(directory: &Path, interrupt: &Interrupt) -> Result<Option<DirectoryLock>, Error> {
        let name = directory.display().to_string();
        let file = File::open(directory).map_err(Error::io("open", name.clone()))?;
        match lock(&file, Instant::now() + LOCK_TIMEOUT, interrupt) {
            Ok(held) => Ok(held.then_some(DirectoryLock { _directory: file })),
            Err(error) => Err(error.downcast().unwrap_or_else(Error::io("lock", name))),
        }
    }
}
