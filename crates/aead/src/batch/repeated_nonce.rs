//! Checks whether a nonce is used twice under one key.

use alloc::vec::Vec;

use subtle::{Choice, ConditionallySelectable};

use super::BatchMessage;
use crate::simd::{unknown, verdict};

/// Memory for the nonces of a batch and for keys that have a nonce in common. It holds keys only during a call.
#[derive(Default)]
pub(super) struct Nonces {
    order: Vec<u128>,
    entries: Vec<Entry>,
}

impl Nonces {
    /// The first message whose key and nonce a later message has too, and the next such message.
    ///
    /// The time depends on the nonces and on the lengths of keys. Keys of messages with equal nonces (which are all
    /// messages, if each connection counts from 0) are compared in pairs if they are few; otherwise they are sorted by
    /// a network of comparisons that is the same for all keys.
    ///
    /// # Panics
    /// If there are more than 2^32 messages.
    pub(super) fn twice(&mut self, messages: &[BatchMessage<'_>]) -> Option<(usize, usize)> {
        // Common case: one connection, which counts.
        if messages.iter().map(above).is_sorted_by(|a, b| a < b) {
            return None;
        }
        assert!(messages.len() as u64 <= 1 << 32, "a batch has at most 2^32 messages");
        self.order.clear();
        self.order.extend(messages.iter().zip(0..).map(|(message, number)| above(message) | number));
        self.order.sort_unstable();
        let mut found = None;
        for same in self.order.chunk_by(|a, b| a >> 32 == b >> 32).filter(|same| same.len() > 1) {
            for len in [16, 32] {
                let numbers = same.iter().map(|nonce| *nonce as u32 as usize);
                // Reserved first, so that keys are not moved and leave no copies.
                self.entries.reserve(same.len());
                self.entries
                    .extend(numbers.filter(|i| messages[*i].key.len() == len).map(|i| Entry::new(messages[i].key, i)));
                if self.entries.len() > FEW || !all_differ(&self.entries) {
                    sort(&mut self.entries);
                    for pair in self.entries.windows(2).filter(|pair| pair[0].same_key(&pair[1])) {
                        let pair = (pair[0].message(), pair[1].message());
                        found = Some(found.map_or(pair, |before| pair.min(before)));
                    }
                }
                self.entries.fill(Entry([0; 5]));
                zeroize::optimization_barrier(&self.entries[..]);
                self.entries.clear();
            }
        }
        found
    }
}

/// A message's nonce as a number, the last byte lowest, with room below it for the message's index.
fn above(message: &BatchMessage<'_>) -> u128 {
    let mut nonce = [0; 16];
    nonce[..12].copy_from_slice(&message.nonce);
    u128::from_be_bytes(nonce)
}

/// A key of 16 or 32 bytes as words, the least significant last, followed by the index of its message.
#[derive(Clone, Copy)]
struct Entry([u64; 5]);

impl Entry {
    fn new(key: &[u8], message: usize) -> Self {
        let mut words = [0; 5];
        for (word, bytes) in words.iter_mut().zip(key.as_chunks().0) {
            *word = u64::from_ne_bytes(*bytes);
        }
        words[4] = message as u64;
        Entry(words)
    }

    fn message(&self) -> usize {
        self.0[4] as usize
    }

    /// The bits in which the keys differ, combined over all words.
    #[inline]
    fn differing(&self, other: &Self) -> u64 {
        let [[a, b, c, d, _], [e, f, g, h, _]] = [self.0, other.0];
        (a ^ e) | (b ^ f) | (c ^ g) | (d ^ h)
    }

    /// Constant time: it reveals nothing but the result.
    fn same_key(&self, other: &Self) -> bool {
        verdict(unknown(self.differing(other)) == 0)
    }

    /// Whether it is less, determined by the borrow of the subtraction.
    #[inline]
    fn less(&self, other: &Self) -> Choice {
        let mut borrow = false;
        for (a, b) in self.0.iter().zip(&other.0).rev() {
            let (difference, one) = a.overflowing_sub(*b);
            borrow = one | difference.overflowing_sub(u64::from(borrow)).1;
        }
        Choice::from(u8::from(borrow))
    }
}

/// Up to this many keys, comparing all pairs is faster than sorting.
const FEW: usize = 128;

/// Whether all keys differ, in constant time: it reveals nothing but the result.
fn all_differ(entries: &[Entry]) -> bool {
    let mut all = u64::MAX;
    for (i, a) in entries.iter().enumerate() {
        for b in &entries[..i] {
            // The highest bit of a number or of its negative is set, unless the number is 0.
            let differing = a.differing(b);
            all &= differing | differing.wrapping_neg();
        }
    }
    verdict(unknown(all >> 63) == 1)
}

/// Sorts entries, with Batcher's merge-exchange network for any number of them (Knuth, "The Art of Computer
/// Programming", volume 3, 5.2.2, algorithm M).
fn sort(entries: &mut [Entry]) {
    let n = entries.len();
    let mut run = 1;
    while run < n {
        let mut step = run;
        while step > 0 {
            for start in (step % run..n - step).step_by(2 * step) {
                for i in start..(start + step).min(n - step) {
                    // Whether both are in the same pair of runs, whose lengths are powers of two.
                    if i ^ (i + step) < 2 * run {
                        exchange(entries, i, i + step);
                    }
                }
            }
            step /= 2;
        }
        run *= 2;
    }
}

/// Puts the smaller of two entries first.
#[inline]
fn exchange(entries: &mut [Entry], i: usize, j: usize) {
    let [mut a, mut b] = [entries[i], entries[j]];
    let swap = b.less(&a);
    for (a, b) in a.0.iter_mut().zip(&mut b.0) {
        u64::conditional_swap(a, b, swap);
    }
    (entries[i], entries[j]) = (a, b);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Words that look drawn at random.
    fn words(seed: u64) -> impl Iterator<Item = u64> {
        let next = |state: &u64| Some(state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1));
        core::iter::successors(Some(seed), next).map(|state| state ^ (state >> 29))
    }

    #[test]
    fn any_number_of_entries_is_ordered() {
        for n in 0..200 {
            let mut words = words(n as u64);
            // Few values of the higher words, so that all words decide.
            let mut entries: Vec<_> = (0..n).map(|_| Entry([(); 5].map(|()| words.next().unwrap() % 3))).collect();
            if n % 2 == 0 {
                entries.iter_mut().for_each(|entry| entry.0[0] <<= 63);
            }
            let mut expected: Vec<_> = entries.iter().map(|entry| entry.0).collect();
            expected.sort_unstable();
            sort(&mut entries);
            assert_eq!(entries.iter().map(|entry| entry.0).collect::<Vec<_>>(), expected, "{n}");
        }
    }

    #[test]
    fn the_first_key_with_one_nonce_twice_is_found_among_any_number() {
        let mut nonces = Nonces::default();
        for n in [300, 2, 3, FEW, 17, 100] {
            let keys: Vec<[u8; 32]> =
                (0..n).map(|i| [[i as u8, (i >> 8) as u8]; 16].concat().try_into().unwrap()).collect();
            let message = |(nonce, key)| BatchMessage { key, nonce: [nonce; 12], ad: &[], text: &mut [], tag: [0; 16] };
            let mut messages: Vec<_> = keys.iter().map(|key| message((7, &key[..]))).collect();
            assert_eq!(nonces.twice(&messages), None);
            // A key of another length, and one with another nonce, are others.
            messages.push(message((7, &keys[1][..16])));
            messages.push(message((8, &keys[1][..])));
            assert_eq!(nonces.twice(&messages), None);
            messages
                .extend([(7, &keys[n - 1][..]), (8, &keys[1][..]), (7, &keys[0][..]), (7, &keys[0][..])].map(message));
            assert_eq!(nonces.twice(&messages), Some((0, n + 4)));
        }
    }
}
