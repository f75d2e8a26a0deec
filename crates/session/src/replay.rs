//! Which packets were seen: a ring of bits (RFC 6479), here with blocks of a byte, so that a window of 56 packets takes
//! eight bytes.

/// The packets that were seen of a stream numbered from 1: the ring's `N` bytes stand for the `8 (N - 1)` numbers up to
/// the highest, and for those beyond it in the same byte. Older ones count as seen.
pub(crate) trait Ring {
    /// Nothing seen but number 0.
    fn new() -> Self;
    /// Whether packet `n` is new, the highest number seen being `highest`.
    fn is_new(&self, highest: u32, n: u32) -> bool;
    /// Marks packet `n`, which is new, and returns the highest number seen.
    fn mark(&mut self, highest: u32, n: u32) -> u32;
}

impl<const N: usize> Ring for [u8; N] {
    fn new() -> Self {
        const { assert!(N.is_power_of_two() && N > 1) };
        let mut ring = [0xff; N];
        ring[0] = 1;
        ring
    }

    #[inline]
    fn is_new(&self, highest: u32, n: u32) -> bool {
        if n > highest {
            return true;
        }
        if highest - n >= 8 * (N as u32 - 1) {
            return false;
        }
        self[(n / 8) as usize % N] & (1 << (n % 8)) == 0
    }

    #[inline]
    fn mark(&mut self, highest: u32, n: u32) -> u32 {
        if n > highest {
            // What lies between the two is not seen yet.
            let blocks = (n / 8 - highest / 8).min(N as u32);
            for i in 0..blocks {
                self[((n / 8 - i) as usize) % N] = 0;
            }
        }
        self[(n / 8) as usize % N] |= 1 << (n % 8);
        highest.max(n)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::Ring;

    fn agrees<const N: usize>(numbers: &[u32]) {
        let (mut ring, mut highest, mut seen) = (<[u8; N]>::new(), 0, HashSet::from([0]));
        for &n in numbers {
            let old = highest >= n && highest - n >= 8 * (N as u32 - 1);
            let new = !old && !seen.contains(&n);
            assert_eq!(ring.is_new(highest, n), new, "{n} after {highest}");
            if new {
                highest = ring.mark(highest, n);
                seen.insert(n);
            }
        }
    }

    proptest! {
        #[test]
        fn the_ring_knows_what_a_set_knows(steps in prop::collection::vec((0u32..4, 0u32..200), 1..300)) {
            let mut at = 100u32;
            let numbers: Vec<u32> = steps.iter().map(|&(way, by)| {
                at = if way == 0 { at.saturating_sub(by) } else { at.saturating_add(by / 16) };
                at
            }).collect();
            agrees::<8>(&numbers);
            agrees::<16>(&numbers);
        }
    }

    #[test]
    fn ends_of_the_numbers() {
        agrees::<8>(&[0, 1, 1, 0, 56, 2, 1, u32::MAX, u32::MAX, u32::MAX - 1, u32::MAX - 55, u32::MAX - 56, 3]);
        agrees::<16>(&[u32::MAX, u32::MAX - 119, u32::MAX - 120, 120]);
    }
}
