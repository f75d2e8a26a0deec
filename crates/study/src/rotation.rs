//! Timed work on messages in memory. Small messages rotate over a window, so that none is read just after it was
//! written, and nonces are generated beforehand.

use std::{hint::black_box, io, time::Duration};

use sealwright_measure::{Candidate, Clock, Placed, clock::ThreadCpu, random::Random};

/// Size in bytes of the window over which small messages rotate. It fits into every first-level cache.
pub(crate) const WINDOW: usize = 32 * 1024;
/// The maximum number of messages in the window, and the number of seeds and nonces.
pub(crate) const MESSAGES: usize = 256;
/// Messages start on cache lines, for all implementations alike.
const LINE: usize = 64;

/// What a candidate does with a message of the window.
pub(crate) trait Work {
    /// What it returns.
    type Output;

    /// Works on the text of message number `message`.
    fn apply(&mut self, message: usize, text: &mut [u8]) -> Self::Output;

    /// Moves the memory that it reads besides the text, if there is any.
    fn renew(&mut self, _random: &mut Random) {}
}

impl<R, F: FnMut(usize, &mut [u8]) -> R> Work for F {
    type Output = R;

    fn apply(&mut self, message: usize, text: &mut [u8]) -> R {
        self(message, text)
    }
}

/// A candidate that works on the messages in the window. Each message may first be restored from a copy, which is
/// timed.
pub(crate) struct Timed<W> {
    name: String,
    bytes: usize,
    memory: Placed,
    source: Option<Placed>,
    work: W,
}

/// Distance from one message to the next in bytes.
pub(crate) fn stride(bytes: usize) -> usize {
    bytes.next_multiple_of(LINE)
}

/// Number of messages in the window.
pub(crate) fn messages(bytes: usize) -> usize {
    (WINDOW / stride(bytes)).clamp(1, MESSAGES)
}

/// Memory of `length` bytes of `value`. The meter moves it before every round, so its first address does not matter.
pub(crate) fn placed(length: usize, value: u8) -> Placed {
    Placed::new(length, value, &mut Random::new(1))
}

impl<R, F: FnMut(usize, &mut [u8]) -> R> Timed<F> {
    /// Messages of `bytes` bytes; `work` receives the number of the message and its text. It reads no other memory
    /// whose place matters: see [`Timed::of`].
    pub(crate) fn new(name: impl Into<String>, bytes: usize, work: F) -> Timed<F> {
        Timed::of(name, bytes, work)
    }
}

impl<W: Work> Timed<W> {
    /// Messages of `bytes` bytes, for work with memory of its own.
    pub(crate) fn of(name: impl Into<String>, bytes: usize, work: W) -> Timed<W> {
        let memory = placed(stride(bytes) * messages(bytes), 0x5a);
        Timed { name: name.into(), bytes, memory, source: None, work }
    }

    /// Restores each message from `source` before the work. In `source`, messages follow each other without gaps.
    pub(crate) fn restored(self, source: &[u8]) -> Timed<W> {
        let mut copy = placed(source.len(), 0);
        copy.copy_from_slice(source);
        Timed { source: Some(copy), ..self }
    }
}

impl<W: Work> Candidate for Timed<W> {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&mut self, iterations: u64) -> io::Result<Duration> {
        let (messages, stride) = (messages(self.bytes), stride(self.bytes));
        let mut slot = 0;
        let clock = ThreadCpu.now();
        for _ in 0..iterations {
            let text = &mut self.memory[slot * stride..][..self.bytes];
            if let Some(source) = &self.source {
                text.copy_from_slice(&source[slot * self.bytes..][..self.bytes]);
            }
            black_box(self.work.apply(slot, black_box(text)));
            slot = if slot + 1 == messages { 0 } else { slot + 1 };
        }
        Ok(ThreadCpu.now() - clock)
    }

    fn renew(&mut self, random: &mut Random) -> io::Result<bool> {
        self.memory.renew(random);
        self.source.iter_mut().for_each(|source| source.renew(random));
        self.work.renew(random);
        Ok(true)
    }
}

/// A nonce for each message, generated beforehand.
pub(crate) fn nonces() -> Vec<[u8; 12]> {
    (0..MESSAGES as u64)
        .map(|i| std::array::from_fn(|at| if at < 4 { 7 } else { (i >> (8 * (11 - at))) as u8 }))
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_message_of_the_window_has_its_turn() {
        let mut seen = vec![0; messages(1024)];
        let source: Vec<u8> = (0..1024 * messages(1024)).map(|i| (i / 1024) as u8).collect();
        let work = |i: usize, text: &mut [u8]| {
            assert!(text.iter().all(|&byte| byte == i as u8), "message {i} was not restored");
            text.fill(0xff);
            seen[i] += 1;
        };
        Timed::new("window", 1024, work).restored(&source).run(2 * messages(1024) as u64).unwrap();
        assert!(seen.len() == 32 && seen.iter().all(|&turns| turns == 2), "{seen:?}");
        assert_eq!((messages(16), messages(1 << 20)), (256, 1));
    }

    /// Whatever is read while the clock runs is moved.
    #[test]
    fn all_memory_is_moved() {
        struct Counting<'a>(&'a mut u32);
        impl Work for Counting<'_> {
            type Output = ();

            fn apply(&mut self, _: usize, _: &mut [u8]) {}

            fn renew(&mut self, _: &mut Random) {
                *self.0 += 1;
            }
        }
        let (mut moved, mut random) = (0, Random::new(3));
        let mut timed = Timed::of("counting", 1024, Counting(&mut moved)).restored(&[7; 32 * 1024]);
        let mut places = std::collections::HashSet::new();
        for _ in 0..32 {
            assert!(timed.renew(&mut random).unwrap());
            let source = timed.source.as_ref().unwrap();
            assert!(source.len() == 32 * 1024 && source.iter().all(|&byte| byte == 7));
            assert_eq!(source.as_ptr().addr() % LINE, 0);
            places.insert(source.as_ptr().addr() % 4096);
        }
        drop(timed);
        assert!(moved == 32 && places.len() > 12, "{moved}, {places:?}");
    }
}
