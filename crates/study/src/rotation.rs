//! What is timed in memory: small messages rotate over a window, so that none is read just after it was written, and nonces were
//! written before.

use std::{hint::black_box, io, time::Duration};

use sealwright_measure::{Candidate, Clock, Placed, clock::ThreadCpu, random::Random};

/// Bytes that small messages rotate over, so that none is read just after it was written.
const WINDOW: usize = 32 * 1024;
/// Most messages in the window; so many seeds and nonces there are.
pub(crate) const MESSAGES: usize = 256;
/// Messages start on cache lines.
const LINE: usize = 64;

/// Work on messages in a window; each may be restored from another first, which is timed.
pub(crate) struct Timed<F> {
    name: String,
    bytes: usize,
    memory: Placed,
    source: Option<Vec<u8>>,
    work: F,
}

/// Bytes from a message to the next.
fn stride(bytes: usize) -> usize {
    bytes.next_multiple_of(LINE)
}

/// Messages in the window.
pub(crate) fn messages(bytes: usize) -> usize {
    (WINDOW / stride(bytes)).clamp(1, MESSAGES)
}

impl<R, F: FnMut(usize, &mut [u8]) -> R> Timed<F> {
    /// Messages of so many bytes; `work` gets the message's number and text.
    pub(crate) fn new(name: impl Into<String>, bytes: usize, work: F) -> Timed<F> {
        // The meter moves it before every round, so where it begins does not matter
        let memory = Placed::new(stride(bytes) * messages(bytes), 0x5a, &mut Random::new(1));
        Timed { name: name.into(), bytes, memory, source: None, work }
    }

    /// Copies the message of the same number out of `source` before each work; messages stand there side by side.
    pub(crate) fn restored(self, source: Vec<u8>) -> Timed<F> {
        Timed { source: Some(source), ..self }
    }
}

impl<R, F: FnMut(usize, &mut [u8]) -> R> Candidate for Timed<F> {
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
            black_box((self.work)(slot, black_box(text)));
            slot = if slot + 1 == messages { 0 } else { slot + 1 };
        }
        Ok(ThreadCpu.now() - clock)
    }

    fn renew(&mut self, random: &mut Random) -> io::Result<bool> {
        self.memory.renew(random);
        Ok(true)
    }
}

/// A nonce for each message, written beforehand.
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
        Timed::new("window", 1024, work).restored(source).run(2 * messages(1024) as u64).unwrap();
        assert!(seen.len() == 32 && seen.iter().all(|&turns| turns == 2), "{seen:?}");
        assert_eq!((messages(16), messages(1 << 20)), (256, 1));
    }
}
