//! The messages of a bench in memory. Small messages rotate over a window, so that none is read just after it was
//! written.
//!
//! If one small buffer were sealed over and over, the masked or wide stores of one message would collide with the
//! loads of the next one (store forwarding fails). That costs some libraries half their speed and does not happen with
//! real traffic.

use sealwright_measure::{Placed, random::Random};

use super::peer::sealing::RefusedError;
use crate::rotation::{MESSAGES, WINDOW, stride};

/// Messages of equal length, each a text with room for its tag. Each starts on a cache line; the window's address is
/// random.
#[derive(Debug)]
pub(super) struct Window {
    memory: Placed,
    stride: usize,
    length: usize,
    messages: usize,
}

/// An iterator over consecutive messages.
#[derive(Debug)]
pub(super) struct Several<'a> {
    places: std::iter::Take<std::slice::ChunksExactMut<'a, u8>>,
    length: usize,
}

impl<'a> Iterator for Several<'a> {
    type Item = &'a mut [u8];

    fn next(&mut self) -> Option<&'a mut [u8]> {
        self.places.next().map(|place| &mut place[..self.length])
    }
}

impl Window {
    /// Fills `share` of the window with messages of `length` bytes, tag included. The number is a multiple of
    /// `at_once`, and at least that.
    pub(super) fn new(length: usize, share: Share, at_once: usize, random: &mut Random) -> Window {
        let stride = stride(length);
        let room = match share {
            Share::Whole => WINDOW,
            Share::Half => WINDOW / 2,
        };
        let at_once = at_once.max(1);
        // The end of the window must not cut a batch
        let messages = (room / stride / at_once * at_once).clamp(at_once, MESSAGES);
        Window { memory: Placed::new(stride * messages, 0, random), stride, length, messages }
    }

    /// The number of messages.
    pub(super) fn messages(&self) -> usize {
        self.messages
    }

    /// Message `i`, with its tag.
    pub(super) fn message(&mut self, i: usize) -> &mut [u8] {
        let start = i * self.stride;
        &mut self.memory[start..start + self.length]
    }

    /// `count` messages, starting with message `i`.
    pub(super) fn some(&mut self, i: usize, count: usize) -> Several<'_> {
        let places = self.memory[i * self.stride..].chunks_exact_mut(self.stride).take(count);
        Several { places, length: self.length }
    }

    /// Copies message `i` of `source` over message `i` of this window, and returns it.
    pub(super) fn restore(&mut self, i: usize, source: &Window) -> &mut [u8] {
        let start = i * source.stride;
        let message = self.message(i);
        message.copy_from_slice(&source.memory[start..start + source.length]);
        message
    }

    /// Calls `each` with every message and its number.
    pub(super) fn fill(
        &mut self,
        mut each: impl FnMut(usize, &mut [u8]) -> Result<(), RefusedError>,
    ) -> Result<(), RefusedError> {
        (0..self.messages).try_for_each(|i| each(i, self.message(i)))
    }
}

/// The share of the window that a set of messages takes. Opening needs a second set to restore messages from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    Whole,
    Half,
}

/// Nonces that are counters. They are written long before they are read: a nonce incremented in place just before each
/// message would stall the wide load that reads it.
#[derive(Clone, Debug)]
pub(super) struct Nonces {
    length: usize,
    /// Distance between nonces: aligned, and no more than necessary.
    stride: usize,
    all: Vec<u8>,
}

impl Nonces {
    /// [`MESSAGES`] nonces of `length` bytes.
    pub(super) fn new(length: usize) -> Nonces {
        let stride = length.next_power_of_two().max(16);
        let mut all = vec![0; stride * MESSAGES];
        for (i, nonce) in all.chunks_mut(stride).enumerate() {
            let count = (i as u64).to_be_bytes();
            let digits = length.min(count.len());
            nonce[length - digits..length].copy_from_slice(&count[count.len() - digits..]);
        }
        Nonces { length, stride, all }
    }

    /// Nonce `i`, modulo their number.
    pub(super) fn nonce(&self, i: usize) -> &[u8] {
        &self.all[i % MESSAGES * self.stride..][..self.length]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn small_messages_rotate_over_the_window_on_lines_of_their_own() {
        for (length, whole, half) in [(80, 256, 128), (1516, 21, 10), (8208, 3, 1), (1 << 20, 1, 1)] {
            let mut window = Window::new(length, Share::Whole, 1, &mut Random::new(1));
            assert_eq!(window.messages(), whole, "{length}");
            assert_eq!(Window::new(length, Share::Half, 1, &mut Random::new(1)).messages(), half, "{length}");
            for at_once in [16, 32] {
                let batches = Window::new(length, Share::Whole, at_once, &mut Random::new(1)).messages();
                assert!(batches.is_multiple_of(at_once) && batches <= whole.max(at_once), "{length}: {batches}");
            }
            let mut starts = HashSet::new();
            for i in 0..window.messages() {
                let message = window.message(i);
                assert_eq!((message.len(), message.as_ptr().addr() % 64), (length, 0));
                message.fill(i as u8);
                starts.insert(message.as_ptr());
            }
            assert_eq!(starts.len(), whole);
            // No message overlaps another
            for i in 0..window.messages() {
                assert!(window.message(i).iter().all(|&byte| byte == i as u8));
            }
        }
    }

    #[test]
    fn restoring_brings_back_each_message() {
        let mut source = Window::new(100, Share::Half, 1, &mut Random::new(1));
        let paint = |window: &mut Window, colour: fn(usize) -> u8| {
            (0..window.messages()).for_each(|i| window.message(i).fill(colour(i)));
        };
        paint(&mut source, |i| i as u8);
        let mut window = Window::new(100, Share::Half, 1, &mut Random::new(1));
        paint(&mut window, |_| 0xee);
        assert!(window.restore(3, &source).iter().all(|&byte| byte == 3));
        assert!(window.message(4).iter().all(|&byte| byte == 0xee));
    }

    #[test]
    fn nonces_count() {
        for length in [1, 8, 12, 15, 16, 55] {
            let nonces = Nonces::new(length);
            let all: HashSet<_> = (0..MESSAGES).map(|i| nonces.nonce(i).to_vec()).collect();
            assert_eq!((all.len(), nonces.nonce(0).len()), (MESSAGES, length));
            assert_eq!(nonces.nonce(7)[length - 1], 7);
            assert_eq!(nonces.nonce(MESSAGES), nonces.nonce(0));
        }
    }
}
