//! Names and certificates as the metrics show them.

use std::sync::{Arc, Mutex, PoisonError};

/// Reads the state of names for the metrics.
#[derive(Default)]
pub(crate) struct NamesGauge {
    current: Option<Box<dyn Fn() -> Option<Gauged> + Send + Sync>>,
    last: Arc<Mutex<Gauged>>,
}

/// What the metrics show.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Gauged {
    /// Numbers that belong to names or are used up.
    pub(crate) numbers: u32,
    /// Estimated memory of names and certificates.
    pub(crate) bytes: u64,
    /// When the relay's certificate, and when the first revocation list expires, in seconds since 1970.
    pub(crate) certificate_until: Option<u64>,
    pub(crate) revocations_until: Option<u64>,
}

impl NamesGauge {
    /// `current` returns `None` once the control plane has ended.
    pub(super) fn new(
        current: impl Fn() -> Option<Gauged> + Send + Sync + 'static,
        last: &Arc<Mutex<Gauged>>,
    ) -> NamesGauge {
        NamesGauge { current: Some(Box::new(current)), last: last.clone() }
    }

    /// The current values, or the last known ones: sessions live on while the relay drains.
    pub(crate) fn read(&self) -> Gauged {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(now) = self.current.as_ref().and_then(|current| current()) {
            *last = now;
        }
        *last
    }
}
