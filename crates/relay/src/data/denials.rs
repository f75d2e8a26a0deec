//! Pairs of sender and receiver that the policy keeps apart, kept until they are logged: a bounded number, whatever is
//! tried.

use std::sync::{Mutex, PoisonError};

use crate::address::Address;

/// The most pairs that are kept. Further denials are only counted.
const MAX_PAIRS: usize = 32;

/// Pairs of sender and receiver, each once.
#[derive(Debug, Default)]
pub(crate) struct Denials(Mutex<Vec<(Address, Address)>>);

impl Denials {
    pub(crate) fn note(&self, from: Address, to: Address) {
        let mut pairs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if pairs.len() < MAX_PAIRS && !pairs.contains(&(from, to)) {
            pairs.push((from, to));
        }
    }

    /// Takes the pairs noted since the last call.
    pub(crate) fn take(&self) -> Vec<(Address, Address)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_are_kept_each_once_until_they_are_taken() {
        let (denials, to) = (Denials::default(), Address { session: 1, generation: 1 });
        for round in 0..3 {
            for session in 0..MAX_PAIRS as u32 + 10 {
                denials.note(Address { session, generation: round }, to);
                denials.note(Address { session, generation: round }, to);
            }
            let first = |session| (Address { session, generation: round }, to);
            assert_eq!(denials.take(), (0..MAX_PAIRS as u32).map(first).collect::<Vec<_>>());
        }
        assert_eq!(denials.take(), []);
    }
}
