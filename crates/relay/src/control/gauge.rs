//! What metrics are told of names and certificates.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::control::server::{Current, Inner};

/// What the metrics ask of the names.
#[derive(Default)]
pub(crate) struct NamesGauge {
    inner: Weak<Inner>,
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

impl Gauged {
    fn of(current: &Current) -> Gauged {
        let Current { names, tls, .. } = current;
        Gauged {
            numbers: names.used(),
            bytes: names.bytes(),
            certificate_until: Some(tls.certificate_until()),
            revocations_until: tls.revocations_until(),
        }
    }
}

impl NamesGauge {
    pub(super) fn new(inner: &Arc<Inner>, last: &Arc<Mutex<Gauged>>) -> NamesGauge {
        NamesGauge { inner: Arc::downgrade(inner), last: last.clone() }
    }

    /// What is current, or was last where there is no control plane any more: sessions live on while the relay drains.
    pub(crate) fn read(&self) -> Gauged {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(inner) = self.inner.upgrade() {
            *last = Gauged::of(&inner.current());
        }
        *last
    }
}
