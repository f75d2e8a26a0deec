//! What metrics are told of names and certificates.

use std::sync::{Arc, Mutex, PoisonError};

/// What the metrics ask of the names.
#[derive(Default)]
pub(crate) struct NamesGauge {
    current: Option<Box<dyn Fn() -> Option<Gauged> + Send + Sync>>,
    last: Arc<Mutex<Gauged>>,
}

/// What they are told.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Gauged {
    /// Numbers that belong to names or are used up.
    pub(crate) numbers: u32,
    /// What names and certificates take, about.
    pub(crate) bytes: u64,
    /// When the relay's certificate expires, and the first list of revoked ones is out of date, in seconds since 1970.
    pub(crate) certificate_until: Option<u64>,
    pub(crate) revocations_until: Option<u64>,
}

impl NamesGauge {
    /// `current` tells nothing once there is no control plane any more.
    pub(super) fn new(
        current: impl Fn() -> Option<Gauged> + Send + Sync + 'static,
        last: &Arc<Mutex<Gauged>>,
    ) -> NamesGauge {
        NamesGauge { current: Some(Box::new(current)), last: last.clone() }
    }

    /// What is current, or was last: sessions live on while the relay drains.
    pub(crate) fn read(&self) -> Gauged {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(now) = self.current.as_ref().and_then(|current| current()) {
            *last = now;
        }
        *last
    }
}
