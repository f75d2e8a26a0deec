//! Counters of the control plane.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of the control plane.
#[derive(Debug, Default)]
pub(crate) struct ControlStats {
    /// Handshakes that succeeded.
    pub(crate) handshakes: AtomicU64,
    /// Handshakes that failed.
    pub(crate) failed: AtomicU64,
    /// Control connections refused by the rate limiter.
    pub(crate) refused: AtomicU64,
    /// Sessions opened.
    pub(crate) opened: AtomicU64,
    /// Requests that were refused.
    pub(crate) denied: AtomicU64,
}

/// Counts one.
pub(crate) fn one(count: &AtomicU64) {
    count.fetch_add(1, Ordering::Relaxed);
}
