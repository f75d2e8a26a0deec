//! The processor's AES rounds by themselves, on registers alone: what no mode of AES goes beyond.

use std::{hint::black_box, io, time::Duration};

use sealwright::{
    Block, Isa,
    simd::{Kernel, Reg, Simd},
};
use sealwright_measure::{Candidate, Clock, clock::ThreadCpu};

/// The rounds that messages of `bytes` bytes need.
pub(super) struct Unit {
    bytes: usize,
    rounds: usize,
}

impl Unit {
    /// Its name in a comparison.
    pub(super) const NAME: &'static str = "rounds";

    /// For a cipher of so many rounds; none where the best level has no instructions for them.
    pub(super) fn new(bytes: usize, rounds: usize) -> Option<Unit> {
        Isa::best().run(Asked).then_some(Unit { bytes, rounds })
    }
}

impl Candidate for Unit {
    fn name(&self) -> &str {
        Unit::NAME
    }

    fn run(&mut self, iterations: u64) -> io::Result<Duration> {
        // The blocks of all messages in one go: what a batch leaves open at a message's end is not the unit's doing.
        let blocks = iterations * self.bytes.div_ceil(16) as u64;
        let start = ThreadCpu.now();
        black_box(match self.rounds {
            10 => Isa::best().run(Rounds::<10> { blocks }),
            _ => Isa::best().run(Rounds::<14> { blocks }),
        });
        Ok(ThreadCpu.now() - start)
    }
}

/// Whether a level has the rounds as instructions.
struct Asked;

impl Kernel for Asked {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, _: S) -> bool {
        S::AES
    }
}

/// `R` rounds of so many blocks.
struct Rounds<const R: usize> {
    blocks: u64,
}

impl<const R: usize> Kernel for Rounds<R> {
    type Output = Block;

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) -> Block {
        // As many as hide a round's latency, and still find room beside the key in 16 registers.
        const SIDE_BY_SIDE: usize = 12;
        let key = simd.splat(&black_box([0x5a; 16]));
        let mut state = [simd.zero(); SIDE_BY_SIDE];
        for (n, x) in state.iter_mut().enumerate() {
            *x = simd.splat_word(n as u32);
        }
        for _ in 0..self.blocks.div_ceil((SIDE_BY_SIDE * S::Reg::BLOCKS) as u64) {
            for _ in 1..R {
                for x in &mut state {
                    *x = x.aesenc(key);
                }
            }
            for x in &mut state {
                *x = x.aesenclast(key);
            }
        }
        state.into_iter().fold(simd.zero(), |sum, x| sum ^ x).first_block()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwright_measure::{Meter, Work};

    use super::*;

    #[test]
    fn more_rounds_take_more_time_where_there_are_any() {
        if !Isa::best().run(Asked) {
            assert!(Unit::new(16, 10).is_none());
            return;
        }
        let (mut unit, mut idle) = (Unit::new(1 << 20, 14).unwrap(), Work::new("idle", || {}));
        let meter = Meter::quick().rounds(3, 3).budget(Duration::from_millis(20));
        let found = meter.compare(&mut [&mut unit, &mut idle], &mut |_| {}).unwrap();
        assert!(found.trial(Unit::NAME).unwrap().interval.median > found.trial("idle").unwrap().interval.median);
    }
}
