//! Associated data, which are collected until the text arrives, because the kernels need them as a whole.

use std::{collections::TryReserveError, ops::Deref, sync::Arc};

/// Up to this many bytes of memory are kept for the next message; a larger buffer is freed.
const KEPT: usize = 4096;

/// A clone shares the data until it gets more: copying a context allocates no memory for them, and so cannot fail for
/// lack of it.
#[derive(Clone, Default)]
pub(super) struct Ad(Arc<Vec<u8>>);

impl Deref for Ad {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Ad {
    /// The program decides how long they are, and must not be aborted if there is not enough memory.
    pub(super) fn add(&mut self, more: &[u8]) -> Result<(), TryReserveError> {
        if let Some(own) = Arc::get_mut(&mut self.0) {
            own.try_reserve(more.len())?;
            own.extend_from_slice(more);
            return Ok(());
        }
        let mut own = Vec::new();
        own.try_reserve(self.len().saturating_add(more.len()))?;
        own.extend_from_slice(self);
        own.extend_from_slice(more);
        self.0 = Arc::new(own);
        Ok(())
    }

    pub(super) fn clear(&mut self) {
        match Arc::get_mut(&mut self.0) {
            Some(own) if own.capacity() <= KEPT => own.clear(),
            _ => *self = Ad::default(),
        }
    }
}
