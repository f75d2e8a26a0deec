//! What belongs to the process that made it: a forked child has a copy, but neither the threads nor a claim to the nonces that come next.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::{exceptions::PyRuntimeError, prelude::*};

/// The process that made something.
pub(crate) struct Maker(sealwright_fork::Maker);

impl Maker {
    pub(crate) fn this() -> Maker {
        Maker(sealwright_fork::Maker::this())
    }

    pub(crate) fn is_forked(&self) -> bool {
        self.0.is_forked()
    }

    /// A number that is no other process's of those that are forked from each other; never 0.
    pub(crate) fn number(&self) -> u64 {
        self.0.number()
    }

    /// # Errors
    /// In a forked child.
    pub(crate) fn refuse_forked(&self, why: &'static str) -> PyResult<()> {
        if self.is_forked() { Err(PyRuntimeError::new_err(why)) } else { Ok(()) }
    }
}

/// A state that counts, for one thread at a time of one process. Parent and child would count on from the same number, and seal two texts
/// under one nonce.
pub(crate) struct Counted<T> {
    state: Mutex<T>,
    maker: Maker,
}

impl<T> Counted<T> {
    pub(crate) fn new(state: T) -> Self {
        Counted { state: Mutex::new(state), maker: Maker::this() }
    }

    /// # Errors
    /// In a forked child, where the mutex may be locked for ever: it is not touched there.
    pub(crate) fn lock(&self) -> PyResult<MutexGuard<'_, T>> {
        self.maker.refuse_forked(
            "this was made by the process that this one was forked from, which counts its messages; make one with another key here",
        )?;
        Ok(self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
