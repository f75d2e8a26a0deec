//! How far a job has come, whether it should stop, and how many workers it may use. Nothing here draws on a terminal.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::error::Error;

/// Told how a job goes, by several threads at once.
pub trait Progress: Send + Sync {
    /// A job of `bytes` of input begins; `None` when the length is not known, as with pipes.
    fn begin(&self, bytes: Option<u64>) {
        let _ = bytes;
    }

    /// So many more bytes of input were sealed or opened and written.
    fn advance(&self, bytes: u64);
}

/// Progress that nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Progress for Quiet {
    fn advance(&self, _: u64) {}
}

/// A flag that every worker looks at between spans. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks every job that holds a clone to stop and leave nothing behind.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// # Errors
    /// [`Error::Interrupted`] if somebody asked.
    pub fn check(&self) -> Result<(), Error> {
        if self.is_raised() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// How a job may run. Memory grows with `threads` (about 1 MiB each; 4 MiB for pipes), never with the file.
#[derive(Clone)]
pub struct Work {
    /// Spans in the works at once; rayon's global pool does them.
    pub threads: usize,
    /// Asks the job to stop.
    pub interrupt: Interrupt,
    /// Watches the job.
    pub progress: Arc<dyn Progress>,
}

impl Default for Work {
    /// As many threads as rayon has, no interrupt, nobody watching.
    fn default() -> Self {
        Work { threads: rayon::current_num_threads(), interrupt: Interrupt::default(), progress: Arc::new(Quiet) }
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work")
            .field("threads", &self.threads)
            .field("interrupt", &self.interrupt)
            .finish_non_exhaustive()
    }
}
