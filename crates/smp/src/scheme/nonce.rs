//! The nonce auditor: checks in every run that no nonce is used twice under the key, and records the first that is.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::hex::hex;

/// Two transfers under one key and nonce.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Collision {
    /// Number of the later transfer, counting encrypted transfers only.
    pub transfer: u64,
    /// Its sender and receiver.
    pub pair: (usize, usize),
    /// Sender and receiver that began the run of consecutive counters with this nonce.
    pub with: (usize, usize),
    /// The nonce, in hexadecimal.
    pub nonce: String,
}

/// The nonces of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NonceAudit {
    /// Nonces used.
    pub used: u64,
    /// Nonces that had been used before.
    pub repeated: u64,
    /// The first of them.
    pub first: Option<Collision>,
    #[serde(skip)]
    ranges: BTreeMap<(u32, u64), Range>,
}

/// Consecutive counters used under one prefix: from the counter in the map's key up to, but not including, `end`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Range {
    end: u64,
    pair: (usize, usize),
}

impl NonceAudit {
    /// Records the use of a nonce. Consecutive counters share an entry, which keeps the map small.
    pub(crate) fn note(&mut self, nonce: &[u8; 12], pair: (usize, usize)) {
        self.used += 1;
        let [a, b, c, d, rest @ ..] = *nonce;
        let (prefix, counter) = (u32::from_be_bytes([a, b, c, d]), u64::from_be_bytes(rest));
        let before = self.ranges.range_mut(..=(prefix, counter)).next_back().filter(|((p, _), _)| *p == prefix);
        match before {
            Some((_, range)) if counter < range.end => {
                self.repeated += 1;
                if self.first.is_none() {
                    self.first = Some(Collision { transfer: self.used, pair, with: range.pair, nonce: hex(nonce) });
                }
            }
            Some((_, range)) if counter == range.end => range.end += 1,
            _ => {
                self.ranges.insert((prefix, counter), Range { end: counter + 1, pair });
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn nonce(prefix: u8, counter: u64) -> [u8; 12] {
        let mut nonce = [prefix; 12];
        nonce[4..].copy_from_slice(&counter.to_be_bytes());
        nonce
    }

    proptest! {
        #[test]
        fn counts_what_a_set_counts(uses in proptest::collection::vec((0..3u8, 0..40u64), 0..200)) {
            let (mut audit, mut set) = (NonceAudit::default(), HashSet::new());
            let mut repeated = 0;
            for (prefix, counter) in uses {
                repeated += u64::from(!set.insert((prefix, counter)));
                audit.note(&nonce(prefix, counter), (0, 1));
            }
            prop_assert_eq!(audit.repeated, repeated);
            prop_assert_eq!(audit.first.is_some(), repeated > 0);
        }
    }
}
