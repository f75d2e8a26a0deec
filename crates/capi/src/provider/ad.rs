//! Associated data, which are kept until the text comes: the kernels take them whole.

use std::{collections::TryReserveError, ops::Deref, sync::Arc};

/// The next message gets memory of up to so many bytes; more of it is freed.
const KEPT: usize = 4096;

/// A clone shares them until it gets more: to copy a context takes no memory for them, and so cannot fail for want of it.
#[derive(Clone, Default)]
pub(super) struct Ad(Arc<Vec<u8>>);

impl Deref for Ad {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Ad {
    /// A program decides how many there are, and must not be ended if there is no memory for them.
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
