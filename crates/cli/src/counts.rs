//! The counters that workers update while they seal and open.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// The counters of one run.
pub(crate) struct Counts {
    pub(crate) started: Instant,
    pub(crate) bytes: AtomicU64,
    /// Files that are done, and files that failed.
    pub(crate) files: AtomicUsize,
    pub(crate) failed: AtomicUsize,
    /// The total length of all inputs in bytes, unless one is a pipe.
    pub(crate) total_bytes: Option<u64>,
    pub(crate) total_files: usize,
    pub(crate) running: Mutex<Vec<Arc<Current>>>,
}

/// A file that is in progress.
pub(crate) struct Current {
    pub(crate) name: String,
    pub(crate) total: Option<u64>,
    pub(crate) bytes: AtomicU64,
}

impl Current {
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Counts {
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The number of files that are finished, successfully or not.
    pub(crate) fn ended(&self) -> usize {
        self.files.load(Ordering::Relaxed) + self.failed.load(Ordering::Relaxed)
    }

    /// The file that was begun last and is not finished.
    pub(crate) fn current(&self) -> Option<Arc<Current>> {
        lock(&self.running).last().cloned()
    }

    /// The counters as JSON.
    pub(crate) fn json(&self, finished: bool) -> serde_json::Value {
        let seconds = self.elapsed().as_secs_f64();
        serde_json::json!({
            "seconds": (seconds * 1000.0).round() / 1000.0,
            "files": self.files.load(Ordering::Relaxed),
            "failed_files": self.failed.load(Ordering::Relaxed),
            "total_files": self.total_files,
            "bytes": self.bytes(),
            "total_bytes": self.total_bytes,
            "bytes_per_second": (self.bytes() as f64 / seconds.max(1e-9)).round() as u64,
            "current": self.current().map(|current| current.name.clone()),
            "finished": finished,
        })
    }
}

/// Locks, ignoring poisoning: the counters are valid even if another thread has panicked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
