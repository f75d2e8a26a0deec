//! Replay windows: a ring of bits (RFC 6479), here with blocks of one byte, so that eight bytes suffice for packets that
//! are late by up to 56. Blocks that leave the ring can be kept in a [`Past`], which is consulted for late packets only,
//! and written once per eight packets.

use core::fmt;

/// By how many packets one may be late at least. An older one is refused, because a table cannot tell whether it came
/// before.
///
/// ```
/// use sealwright_session::{Plan, ReplayWindow, table};
///
/// let narrow = Plan::new("gcm-on64".parse()?, 10);
/// let wide = narrow.clone().replay_window(ReplayWindow::Wide);
/// assert_eq!(table(wide)?.memory().record - table(narrow)?.memory().record, 128);
/// assert_eq!(ReplayWindow::of_packets(1080), Some(ReplayWindow::Wide));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplayWindow {
    /// 56 packets, which the records of every scheme hold.
    Narrow,
    /// 1,080 packets, in 128 more bytes per client.
    Wide,
}

impl ReplayWindow {
    /// All windows.
    pub const ALL: &[ReplayWindow] = &[ReplayWindow::Narrow, ReplayWindow::Wide];

    /// The number of packets.
    pub const fn packets(self) -> u32 {
        match self {
            ReplayWindow::Narrow => 56,
            ReplayWindow::Wide => 1080,
        }
    }

    /// The window of exactly so many packets.
    pub fn of_packets(packets: u32) -> Option<ReplayWindow> {
        ReplayWindow::ALL.iter().copied().find(|window| window.packets() == packets)
    }
}

impl fmt::Display for ReplayWindow {
    /// The number of packets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.packets().fmt(f)
    }
}

/// The packets received of a stream numbered from 1. The ring's `N` bytes represent the highest number, the `8 (N - 1)`
/// before it, and those after it in the same byte. Older numbers count as received.
pub(crate) trait Ring {
    /// The initial state: only number 0 counts as received.
    fn new() -> Self;
    /// Whether packet `n` is new, where `highest` is the highest number received.
    fn is_new(&self, highest: u32, n: u32) -> bool;
    /// Marks packet `n`, which is new, and returns the highest number received.
    fn mark(&mut self, highest: u32, n: u32) -> u32;
}

/// The blocks that left a ring, 1,024 numbers. Its contents before the first block leaves do not matter.
pub(crate) type Past = [u8; PAST_BYTES];

/// Length of a past in bytes.
const PAST_BYTES: usize = 128;
const _: () = assert!(ReplayWindow::Wide.packets() - ReplayWindow::Narrow.packets() == 8 * PAST_BYTES as u32);

/// A ring of `N` bytes with a past: a window of `8 (N - 1 + PAST_BYTES)` numbers.
pub(crate) trait RingWithPast<const N: usize>: Ring {
    /// Like [`Ring::is_new`].
    fn is_new_or_past(&self, past: &Past, highest: u32, n: u32) -> bool;
    /// Like [`Ring::mark`].
    fn mark_with_past(&mut self, past: &mut Past, highest: u32, n: u32) -> u32;
}

impl<const N: usize> RingWithPast<N> for [u8; N] {
    #[inline]
    fn is_new_or_past(&self, past: &Past, highest: u32, n: u32) -> bool {
        let behind = (highest / 8).saturating_sub(n / 8) as usize;
        let bit = 1 << (n % 8);
        if n > highest {
            true
        } else if behind < N {
            self[(n / 8) as usize % N] & bit == 0
        } else {
            behind < N + PAST_BYTES && past[(n / 8) as usize % PAST_BYTES] & bit == 0
        }
    }

    #[inline]
    fn mark_with_past(&mut self, past: &mut Past, highest: u32, n: u32) -> u32 {
        let (from, to) = (highest / 8, n / 8);
        if n <= highest && (from - to) as usize >= N {
            past[to as usize % PAST_BYTES] |= 1 << (n % 8);
            return highest;
        }
        // Blocks that leave the ring move to the past, the newest first; blocks that the jump skipped are zero.
        for step in 0..to.saturating_sub(from).min(PAST_BYTES as u32) {
            let Some(block) = to.checked_sub(N as u32 + step) else { break };
            past[block as usize % PAST_BYTES] = if block > from { 0 } else { self[block as usize % N] };
        }
        self.mark(highest, n)
    }
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
        if highest - n > 8 * (N as u32 - 1) {
            return false;
        }
        self[(n / 8) as usize % N] & (1 << (n % 8)) == 0
    }

    #[inline]
    fn mark(&mut self, highest: u32, n: u32) -> u32 {
        if n > highest {
            // Numbers that the jump skips were not received: clear their blocks.
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

    use super::{PAST_BYTES, Past, Ring, RingWithPast};

    fn agrees<const N: usize>(numbers: &[u32]) {
        let (mut ring, mut highest, mut seen) = (<[u8; N]>::new(), 0, HashSet::from([0]));
        for &n in numbers {
            let old = highest >= n && highest - n > 8 * (N as u32 - 1);
            let new = !old && !seen.contains(&n);
            assert_eq!(ring.is_new(highest, n), new, "{n} after {highest}");
            if new {
                highest = ring.mark(highest, n);
                seen.insert(n);
            }
        }
    }

    fn agrees_with_past<const N: usize>(numbers: &[u32]) {
        // What is in the past at first must not matter
        for filler in [0, 0xff] {
            let mut past: Past = [filler; PAST_BYTES];
            let (mut ring, mut highest, mut seen) = (<[u8; N]>::new(), 0u32, HashSet::from([0]));
            for &n in numbers {
                let behind = (highest / 8).saturating_sub(n / 8);
                let new = (n > highest || behind < (N + PAST_BYTES) as u32) && !seen.contains(&n);
                assert_eq!(ring.is_new_or_past(&past, highest, n), new, "{n} after {highest}");
                if new {
                    highest = ring.mark_with_past(&mut past, highest, n);
                    seen.insert(n);
                }
            }
        }
    }

    #[test]
    fn every_packet_of_the_last_1024_is_taken_once_in_any_order() {
        let numbers: Vec<u32> = (0..20).flat_map(|run| (1..=1024).rev().map(move |n| run * 1024 + n)).collect();
        let (mut ring, mut past, mut highest) = (<[u8; 8]>::new(), [0; PAST_BYTES], 0);
        for n in numbers {
            assert!(ring.is_new_or_past(&past, highest, n), "{n} after {highest}");
            highest = ring.mark_with_past(&mut past, highest, n);
            assert!(!ring.is_new_or_past(&past, highest, n), "{n} twice");
        }
        let ends = [u32::MAX, u32::MAX - 1079, u32::MAX - 1080, u32::MAX - 63, 3];
        agrees_with_past::<8>(&ends);
    }

    proptest! {
        #[test]
        fn the_ring_and_its_past_know_what_a_set_knows(steps in prop::collection::vec((0u32..4, 0u32..3000), 1..300)) {
            let mut at = 100u32;
            let numbers: Vec<u32> = steps.iter().map(|&(way, by)| {
                at = if way == 0 { at.saturating_sub(by) } else { at.saturating_add(by >> (3 * way)) };
                at
            }).collect();
            agrees_with_past::<8>(&numbers);
            agrees_with_past::<16>(&numbers);
        }

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
        let (mut ring, late) = (<[u8; 8]>::new(), 1);
        let highest = ring.mark(0, late + 57);
        assert!(!ring.is_new(highest, late) && ring.is_new(highest, late + 1), "late by 56 and no more");
        agrees::<8>(&[0, 1, 1, 0, 56, 2, 1, u32::MAX, u32::MAX, u32::MAX - 1, u32::MAX - 55, u32::MAX - 56, 3]);
        agrees::<16>(&[u32::MAX, u32::MAX - 119, u32::MAX - 120, 120]);
    }
}
