//! Counter blocks of long texts, computed by one xor with a table for every four blocks.

use crate::simd::{Block, Reg, Simd};

/// Registers of half a batch.
pub(super) const HALF: usize = 8;

/// Counter block `i` of a message has the number `i` + 2. This is its last byte; [`Counters::carry`] adds the carry out
/// of it.
#[repr(C, align(64))]
struct Numbers([Block; 256]);
static NUMBERS: Numbers = {
    let mut numbers = [[0; 16]; 256];
    let mut i = 0;
    while i < 256 {
        numbers[i][15] = (i + 2) as u8;
        i += 1;
    }
    Numbers(numbers)
};

/// The counter blocks of a message with a nonce of 96 bits, already xored with the first round key.
pub(super) struct Counters<R> {
    /// Nonce and higher bytes of the counter, xor the round key.
    pub(super) base: R,
    /// How many blocks of the table are used.
    pub(super) at: usize,
    /// The higher bytes.
    pub(super) high: u32,
    /// The first counter block, xored with the first round key. It accompanies the last half, after the text: in the
    /// last lane of the first `last` registers.
    pub(super) first: R,
    pub(super) last: usize,
    /// The number of halves before that one.
    pub(super) left: usize,
}

impl<R: Reg> Counters<R> {
    /// The counter blocks of the next half.
    #[inline(always)]
    pub(super) fn half<S: Simd<Reg = R>>(&mut self, simd: S) -> [R; HALF] {
        let mut blocks = [self.base; HALF];
        let numbers = &NUMBERS.0[self.at..self.at + HALF * R::BLOCKS];
        for (i, block) in blocks.iter_mut().enumerate() {
            *block = *block ^ simd.load(numbers[i * R::BLOCKS..].as_flattened());
        }
        self.at += HALF * R::BLOCKS;
        if self.at == NUMBERS.0.len() {
            self.carry(simd, &mut blocks[HALF - 1]);
        }
        if self.left == 0 {
            match self.last {
                2 => blocks[1] = blocks[1].replace_last(self.first),
                4 => blocks[3] = blocks[3].replace_last(self.first),
                6 => blocks[5] = blocks[5].replace_last(self.first),
                8 => blocks[7] = blocks[7].replace_last(self.first),
                _ => {}
            }
        }
        self.left = self.left.wrapping_sub(1);
        blocks
    }

    /// Adds the carry after the last byte has wrapped, which happens first in the last two blocks of the table.
    #[inline(always)]
    fn carry<S: Simd<Reg = R>>(&mut self, simd: S, last: &mut R) {
        let changed = (self.high ^ self.high.wrapping_add(1)) << 8;
        let mut block = [0; 16];
        block[12..].copy_from_slice(&changed.to_be_bytes());
        let changed = simd.splat(&block);
        *last = last.replace_lane(R::BLOCKS - 2, *last ^ changed).replace_lane(R::BLOCKS - 1, *last ^ changed);
        self.base = self.base ^ changed;
        self.high = self.high.wrapping_add(1);
        self.at = 0;
    }
}
