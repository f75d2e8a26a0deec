//! Objects that belong to the process that made them: a forked child has a copy, but not the threads, and must not use
//! the next nonces.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::{exceptions::PyRuntimeError, prelude::*, sync::MutexExt};

use crate::buffer::DETACH;

/// The process that made something.
pub(crate) struct Maker(sealwright_fork::Maker);

impl Maker {
    pub(crate) fn this() -> Maker {
        Maker(sealwright_fork::Maker::this())
    }

    pub(crate) fn is_forked(&self) -> bool {
        self.0.is_forked()
    }

    /// A number, never 0, that differs between all processes forked from each other.
    pub(crate) fn number(&self) -> u64 {
        self.0.number()
    }

    /// # Errors
    /// In a forked child.
    pub(crate) fn refuse_forked(&self, why: &'static str) -> PyResult<()> {
        if self.is_forked() { Err(PyRuntimeError::new_err(why)) } else { Ok(()) }
    }
}

/// A counting state for one thread of one process at a time. Parent and child would continue from the same number and
/// seal two texts under one nonce.
pub(crate) struct Counted<T> {
    state: Mutex<T>,
    maker: Maker,
}

impl<T> Counted<T> {
    pub(crate) fn new(state: T) -> Self {
        Counted { state: Mutex::new(state), maker: Maker::this() }
    }

    /// # Errors
    /// In a forked child, where the mutex may be locked for ever; it is not touched there.
    pub(crate) fn refuse_forked(&self) -> PyResult<()> {
        self.maker.refuse_forked(
            "this was made by the process that this one was forked from, which counts its messages; make one with another key here",
        )
    }

    /// The mutex is awaited without the interpreter lock, because another thread may hold it for a long call.
    ///
    /// # Errors
    /// In a forked child.
    pub(crate) fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, T>> {
        self.refuse_forked()?;
        Ok(self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T: Send> Counted<T> {
    /// Runs `work`, without the interpreter lock if there are many bytes. The mutex is released before that lock is
    /// taken back.
    ///
    /// # Errors
    /// In a forked child.
    pub(crate) fn with<R: Send>(
        &self,
        py: Python<'_>,
        bytes: usize,
        work: impl FnOnce(&mut T) -> R + Send,
    ) -> PyResult<R> {
        if bytes < DETACH {
            return Ok(work(&mut *self.lock(py)?));
        }
        self.refuse_forked()?;
        Ok(py.detach(|| work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))))
    }
}
