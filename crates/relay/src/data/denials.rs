//! Who spoke to whom and may not, until somebody logs it: a few at a time, whatever is tried.

use std::sync::{Mutex, PoisonError};

use crate::address::Address;

/// How many are kept. The rest is counted alone.
const KEPT: usize = 32;

/// Pairs of sender and receiver, each once.
#[derive(Debug, Default)]
pub(crate) struct Denials(Mutex<Vec<(Address, Address)>>);

impl Denials {
    pub(crate) fn note(&self, from: Address, to: Address) {
        let mut pairs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if pairs.len() < KEPT && !pairs.contains(&(from, to)) {
            pairs.push((from, to));
        }
    }

    /// Takes all that were noted since the last time.
    pub(crate) fn take(&self) -> Vec<(Address, Address)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
