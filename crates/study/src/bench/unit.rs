//! A lower bound for the time of a mode on this processor: its AES rounds, and its carry-less products if it hashes
//! with them, on registers only. No kernel of the mode can be faster.

use std::{hint::black_box, io, time::Duration};

use sealwright::{
    Block, Isa,
    simd::{Kernel, Reg, Simd},
};
use sealwright_measure::{Candidate, Clock, clock::ThreadCpu};

/// The AES rounds and carry-less products of a message.
pub(super) struct Unit {
    blocks: Blocks,
    rounds: usize,
    products: bool,
}

/// The blocks that AES encrypts for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Blocks {
    /// Blocks of the text, and one or two others; they are hashed if the mode hashes.
    pub(super) text: usize,
    /// Blocks from which the message's own keys are derived; they are not hashed.
    pub(super) keys: usize,
}

impl Unit {
    /// Its name as a candidate of a comparison.
    pub(super) const NAME: &'static str = "rounds";

    /// For a cipher with this number of `rounds`, and with `products` if the mode hashes like GCM. `None` if the best
    /// level has no AES instructions.
    pub(super) fn new(blocks: Blocks, rounds: usize, products: bool) -> Option<Unit> {
        Isa::best().run(Asked).then_some(Unit { blocks, rounds, products })
    }

    /// Executes the rounds of `blocks` blocks, with carry-less products if requested.
    fn pass(&self, blocks: u64, products: bool) {
        if blocks == 0 {
            return;
        }
        black_box(match (self.rounds, products) {
            (10, false) => Isa::best().run(Mixed::<10, false> { blocks }),
            (_, false) => Isa::best().run(Mixed::<14, false> { blocks }),
            (10, true) => Isa::best().run(Mixed::<10, true> { blocks }),
            (_, true) => Isa::best().run(Mixed::<14, true> { blocks }),
        });
    }
}

impl Candidate for Unit {
    fn name(&self) -> &str {
        Unit::NAME
    }

    fn run(&mut self, iterations: u64) -> io::Result<Duration> {
        // The blocks of all messages are processed together, so that no time is lost where a message ends within a
        // batch
        let Blocks { text, keys } = self.blocks;
        let start = ThreadCpu.now();
        self.pass(iterations * text as u64, self.products);
        self.pass(iterations * keys as u64, false);
        Ok(ThreadCpu.now() - start)
    }
}

/// Asks whether a level has AES instructions.
struct Asked;

impl Kernel for Asked {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, _: S) -> bool {
        S::AES
    }
}

/// Number of registers processed together: more than the rounds that a processor has in flight (eight on Zen 5). With
/// those for the products, at most 16 registers are used.
const WIDTH: usize = 10;

/// `ROUNDS` rounds of `blocks` blocks, [`WIDTH`] registers at a time. With `PRODUCTS` there are three products for
/// each register, as in Karatsuba multiplication: of the low halves, of the high halves, and of their sums.
struct Mixed<const ROUNDS: usize, const PRODUCTS: bool> {
    blocks: u64,
}

impl<const ROUNDS: usize, const PRODUCTS: bool> Kernel for Mixed<ROUNDS, PRODUCTS> {
    type Output = Block;

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) -> Block {
        const { assert!(ROUNDS == 10 || ROUNDS == 14, "the products are spread over so many rounds") };
        let key = simd.splat(&black_box([0x5a; 16]));
        let mut state = [simd.zero(); WIDTH];
        for (n, x) in state.iter_mut().enumerate() {
            *x = simd.splat_word(n as u32);
        }
        let mut products = [key; 3];
        for _ in 0..self.blocks.div_ceil((WIDTH * S::Reg::BLOCKS) as u64) {
            // The thirty products are spread evenly over the rounds
            if const { !PRODUCTS } {
                for _ in 0..ROUNDS / 2 {
                    two_rounds::<S, 0>(&mut state, &mut products, key);
                }
            } else if const { ROUNDS == 10 } {
                for _ in 0..5 {
                    two_rounds::<S, 6>(&mut state, &mut products, key);
                }
            } else {
                for _ in 0..5 {
                    two_rounds::<S, 4>(&mut state, &mut products, key);
                }
                for _ in 0..2 {
                    two_rounds::<S, 5>(&mut state, &mut products, key);
                }
            }
        }
        state.into_iter().chain(products).fold(simd.zero(), |sum, x| sum ^ x).first_block()
    }
}

/// Two rounds with `P` products between them.
#[inline(always)]
fn two_rounds<S: Simd, const P: usize>(state: &mut [S::Reg; WIDTH], products: &mut [S::Reg; 3], key: S::Reg) {
    for x in state.iter_mut() {
        *x = x.aesenc(key);
    }
    for i in 0..P {
        products[i % 3] = products[i % 3].clmul::<0x01>(key);
    }
    for x in state.iter_mut() {
        *x = x.aesenc(key);
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
            assert!(Unit::new(Blocks { text: 2, keys: 0 }, 10, true).is_none());
            return;
        }
        let meter = Meter::quick().rounds(3, 3).budget(Duration::from_millis(20));
        for products in [false, true] {
            let blocks = Blocks { text: 1 << 16, keys: 4 };
            let (mut unit, mut idle) = (Unit::new(blocks, 14, products).unwrap(), Work::new("idle", || {}));
            let found = meter.compare(&mut [&mut unit, &mut idle], &mut |_| {}).unwrap();
            assert!(found.trial(Unit::NAME).unwrap().interval.median > found.trial("idle").unwrap().interval.median);
        }
    }
}
