//! Whether a key has one nonce twice.

use alloc::vec::Vec;

use subtle::{Choice, ConditionallySelectable};
use zeroize::Zeroize;

use super::BatchMessage;

/// The first message with a key and nonce that a later one has too, and the next such one.
///
/// The time depends on the nonces and on how long the keys are. Messages with equal nonces, all of them where each connection counts
/// from 0, are ordered by their keys, in a network of comparisons that is the same for all keys.
pub(super) fn twice(messages: &[BatchMessage<'_>]) -> Option<(usize, usize)> {
    let mut order: Vec<_> = messages.iter().enumerate().map(|(i, m)| (m.nonce, m.key.len(), i)).collect();
    order.sort_unstable();
    let mut found = None;
    for same in order.chunk_by(|a, b| a.0 == b.0 && a.1 == b.1).filter(|same| same.len() > 1) {
        let mut entries: Vec<_> = same.iter().map(|&(_, _, i)| Entry::new(messages[i].key, i)).collect();
        sort(&mut entries);
        for pair in entries.windows(2).filter(|pair| pair[0].same_key(&pair[1])) {
            let pair = (pair[0].message(), pair[1].message());
            found = Some(found.map_or(pair, |before| pair.min(before)));
        }
        entries.iter_mut().for_each(|entry| entry.0.zeroize());
    }
    found
}

/// A key of 16 or 32 bytes as words, the least significant last, and below them the number of its message.
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

    /// In a time that says nothing but the answer.
    fn same_key(&self, other: &Self) -> bool {
        let differing = self.0[..4].iter().zip(&other.0).fold(0, |all, (a, b)| all | (a ^ b));
        differing == 0
    }

    /// Whether it is less, by the borrow of its difference.
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

/// Orders entries: Batcher's merging network for any number of them (Knuth, "The Art of Computer Programming", volume 3, 5.2.2,
/// algorithm M).
fn sort(entries: &mut [Entry]) {
    let n = entries.len();
    let mut run = 1;
    while run < n {
        let mut step = run;
        while step > 0 {
            for start in (step % run..n - step).step_by(2 * step) {
                for i in start..(start + step).min(n - step) {
                    if i / (2 * run) == (i + step) / (2 * run) {
                        exchange(entries, i, i + step);
                    }
                }
            }
            step /= 2;
        }
        run *= 2;
    }
}

/// Puts the lesser of two entries first.
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
        for n in [2, 3, 17, 100] {
            let keys: Vec<[u8; 32]> = (0..n).map(|i| [i as u8; 32]).collect();
            let message = |(nonce, key)| BatchMessage { key, nonce: [nonce; 12], ad: &[], text: &mut [], tag: [0; 16] };
            let mut messages: Vec<_> = keys.iter().map(|key| message((7, &key[..]))).collect();
            assert_eq!(twice(&messages), None);
            // A key of another length, and one with another nonce, are others.
            messages.push(message((7, &keys[1][..16])));
            messages.push(message((8, &keys[1][..])));
            assert_eq!(twice(&messages), None);
            messages
                .extend([(7, &keys[n - 1][..]), (8, &keys[1][..]), (7, &keys[0][..]), (7, &keys[0][..])].map(message));
            assert_eq!(twice(&messages), Some((0, n + 4)));
        }
    }
}
