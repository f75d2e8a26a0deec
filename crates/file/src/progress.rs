//! How far a job has come, whether it should stop, and how many workers it may use. Nothing here draws on a terminal.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{error::Error, pool::threads_here};

/// Receives the progress of a job, from several threads at once.
///
/// ```
/// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
///
/// use sealwright_file::{Input, Key, Output, Progress, Sealing, Shared, Work};
///
/// #[derive(Default)]
/// struct Counter(AtomicU64);
/// impl Progress for Counter {
///     fn advance(&self, bytes: u64) {
///         self.0.fetch_add(bytes, Ordering::Relaxed); // or draw a bar
///     }
/// }
/// let counter = Arc::new(Counter::default());
/// let work = Work::default().progress(counter.clone());
/// let key = Key::generate(sealwright_file::Suite::Aes256Gcm)?;
/// Sealing::new(&key).work(work).seal(Input::bytes(b"a text", "text"), Output::writer(Shared::default(), "sealed"))?;
/// assert_eq!(counter.0.load(Ordering::Relaxed), 6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Progress: Send + Sync {
    /// A job of `bytes` of input begins; `None` when the length is not known, as with pipes.
    fn begin(&self, bytes: Option<u64>) {
        let _ = bytes;
    }

    /// `bytes` more bytes of input were sealed or opened and written.
    fn advance(&self, bytes: u64);
}

/// Ignores all progress.
///
/// ```
/// use std::sync::Arc;
///
/// use sealwright_file::{Quiet, Work};
///
/// let work = Work::default().threads(1).progress(Arc::new(Quiet));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Progress for Quiet {
    fn advance(&self, _: u64) {}
}

/// A flag that every worker checks between spans. Clones share the flag.
///
/// ```
/// use sealwright_file::{Error, Input, Interrupt, Key, Output, Sealing, Shared, Work};
///
/// let interrupt = Interrupt::default();
/// let work = Work::default().interrupt(interrupt.clone());
/// interrupt.raise(); // from another thread: the user pressed a key
/// let key = Key::generate(sealwright_file::Suite::Aes256Gcm)?;
/// let sealed = Sealing::new(&key).work(work).seal(Input::bytes(b"a text", "text"), Output::writer(Shared::default(), "sealed"));
/// assert!(matches!(sealed, Err(Error::Interrupted)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks every job that holds a clone to stop and leave nothing behind.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the flag was raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// # Errors
    /// [`Error::Interrupted`] if the flag was raised.
    pub fn check(&self) -> Result<(), Error> {
        if self.is_raised() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// How a job may run. Memory grows with `threads` (about 1 MiB each; 4 MiB for pipes), never with the file.
///
/// ```
/// use sealwright_file::{Key, Opening, Work};
///
/// let key = Key::generate(sealwright_file::Suite::Aes256Gcm)?;
/// let opening = Opening::new(&key).work(Work::default().threads(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Work {
    /// Maximum number of spans (1 MiB each) that are sealed or opened at once. The threads come from rayon's global
    /// pool, or from the pool of [`pooled`](crate::pooled).
    pub threads: usize,
    /// Asks the job to stop.
    pub interrupt: Interrupt,
    /// Receives the progress of the job.
    pub progress: Arc<dyn Progress>,
}

impl Default for Work {
    /// As many threads as the current pool has, or as there are cores; no interrupt, no progress reports.
    fn default() -> Self {
        Work { threads: threads_here(), interrupt: Interrupt::default(), progress: Arc::new(Quiet) }
    }
}

impl Work {
    /// Sets how many spans are sealed or opened at once.
    pub fn threads(self, threads: usize) -> Self {
        Work { threads, ..self }
    }

    /// Sets what asks the job to stop.
    pub fn interrupt(self, interrupt: Interrupt) -> Self {
        Work { interrupt, ..self }
    }

    /// Sets what receives the progress of the job.
    pub fn progress(self, progress: Arc<dyn Progress>) -> Self {
        Work { progress, ..self }
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
