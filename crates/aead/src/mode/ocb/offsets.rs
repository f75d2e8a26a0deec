//! OCB's offsets: the values stored with a key, and the sequence along a text.
//!
//! The offset of block i is that of the block before xor L_ntz(i), where ntz counts trailing zero bits: offsets follow
//! the Gray code. After every multiple of 64 blocks, the next 63 offsets differ from the one reached by the same values
//! each time. [`Offsets`] stores these values, so that a whole register of offsets takes one xor.

use core::fmt;

use crate::{
    block::{BlockCipher, Masks, encrypt_block},
    simd::{Block, Isa, Reg, Simd},
};

/// The values from which a key's offsets are computed (RFC 7253, 4.1).
#[derive(Clone)]
#[repr(align(64))]
pub(super) struct Offsets {
    /// At i - 1: the offset of block i, relative to the start of the run.
    rows: [Block; 64],
    /// L_0, L_1, ...
    counted: [Block; 16],
    /// L_*, for a partial last block.
    pub(super) star: Block,
    /// L_$, for the tag.
    pub(super) dollar: Block,
    /// Zeros in place of padding, which would copy stack contents, round keys among them, to the heap, where no wiping
    /// would reach them.
    rest: [Block; 2],
}
wipe_on_drop!(Offsets {
    rows: [[0; 16]; 64],
    counted: [[0; 16]; 16],
    star: [0; 16],
    dollar: [0; 16],
    rest: [[0; 16]; 2]
});
const _: () = assert!(size_of::<Offsets>() == 84 * 16);

impl fmt::Debug for Offsets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offsets").finish_non_exhaustive()
    }
}

/// Multiplies by x in GF(2^128), the first bit being the highest.
fn double(block: &Block) -> Block {
    let x = u128::from_be_bytes(*block);
    let carry = 0u128.wrapping_sub(x >> 127);
    ((x << 1) ^ (carry & 0x87)).to_be_bytes()
}

fn xor(x: &Block, y: &Block) -> Block {
    (u128::from_ne_bytes(*x) ^ u128::from_ne_bytes(*y)).to_ne_bytes()
}

impl Offsets {
    /// Not computed yet; [`Offsets::fill`] does that.
    pub(super) const EMPTY: Offsets =
        Offsets { rows: [[0; 16]; 64], counted: [[0; 16]; 16], star: [0; 16], dollar: [0; 16], rest: [[0; 16]; 2] };

    /// Computes the values for the key of `cipher`.
    pub(super) fn fill<C: BlockCipher>(&mut self, isa: Isa, cipher: &C) {
        self.star = encrypt_block(isa, cipher, &[0; 16]);
        self.dollar = double(&self.star);
        let mut l = self.dollar;
        for counted in &mut self.counted {
            l = double(&l);
            *counted = l;
        }
        // The second half of each power of two mirrors the first in the Gray code: so no value depends on the one
        // before it.
        for bit in 0..6 {
            let half = 1 << bit;
            for i in half..2 * half {
                let mirror = 2 * half - 1 - i;
                let before = if mirror == 0 { [0; 16] } else { self.rows[mirror - 1] };
                self.rows[i - 1] = xor(&before, &self.counted[bit]);
            }
        }
    }

    /// L_`n`.
    #[inline(always)]
    fn l(&self, n: u32) -> Block {
        match self.counted.get(n as usize) {
            Some(l) => *l,
            None => self.far(n),
        }
    }

    /// The offset of block `n` of a text; `base` is the offset of the last block before it whose number is a multiple
    /// of 64.
    #[cfg(feature = "pieces")]
    #[inline(always)]
    pub(super) fn of(&self, base: &Block, n: u64) -> Block {
        match n % 64 {
            0 => xor(&xor(base, &self.counted[5]), &self.l(n.trailing_zeros())),
            within => xor(base, &self.rows[within as usize - 1]),
        }
    }

    /// The rows from `at` on, as many as fit in a register, relative to the start of the run.
    #[cfg(feature = "pieces")]
    #[inline(always)]
    pub(super) fn row<S: Simd>(&self, simd: S, at: usize) -> S::Reg {
        simd.load_partial(self.rows[at..(at + S::Reg::BLOCKS).min(64)].as_flattened())
    }

    /// L_`n` for an `n` that is not stored: needed once in at least 2^16 blocks.
    #[cold]
    fn far(&self, n: u32) -> Block {
        (15..n).fold(self.counted[15], |l, _| double(&l))
    }
}

/// The offsets along a text or associated data, batch by batch.
pub(super) struct Walk<'a, S: Simd> {
    simd: S,
    offsets: &'a Offsets,
    /// The offset of the last block of the previous batch, in every lane.
    base: S::Reg,
    /// The number of blocks in all previous batches.
    blocks: u64,
}

impl<'a, S: Simd> Walk<'a, S> {
    /// Starts from the offset `base`, which is in every lane.
    #[inline(always)]
    pub(super) fn new(simd: S, offsets: &'a Offsets, base: S::Reg) -> Self {
        Walk { simd, offsets, base, blocks: 0 }
    }

    /// Starts after `blocks` blocks, a multiple of 64. `base` is the offset of the last of them, in every lane.
    #[cfg(feature = "pieces")]
    #[inline(always)]
    pub(super) fn from(simd: S, offsets: &'a Offsets, base: S::Reg, blocks: u64) -> Self {
        Walk { simd, offsets, base, blocks }
    }

    /// The offsets of the next batch.
    #[inline(always)]
    pub(super) fn batch<const W: usize>(&mut self) -> Batch<'a, S, W> {
        const { assert!((W * S::Reg::BLOCKS).is_power_of_two() && W * S::Reg::BLOCKS <= 64) }
        let base = self.base;
        let size = W * S::Reg::BLOCKS;
        self.blocks += size as u64;
        // The batch's last offset: the offset before it, xor L_n for the number of blocks.
        let (before, counted) =
            (self.offsets.l(size.trailing_zeros() - 1), self.offsets.l(self.blocks.trailing_zeros()));
        self.base = base ^ self.simd.splat(&before) ^ self.simd.splat(&counted);
        let rows = &self.offsets.rows;
        let last = base ^ self.simd.load(rows[size - S::Reg::BLOCKS..].as_flattened());
        Batch { rows, base, last: last.replace_last(self.base) }
    }

    /// The offsets of register `i` after the last batch, if less than a batch follows.
    #[inline(always)]
    pub(super) fn row(&self, i: usize) -> S::Reg {
        self.base ^ self.simd.load(self.offsets.rows[i * S::Reg::BLOCKS..].as_flattened())
    }

    /// The offset of the block that is `blocks` after the last batch, in every lane.
    #[inline(always)]
    pub(super) fn after(&self, blocks: usize) -> S::Reg {
        match blocks.checked_sub(1) {
            Some(i) => self.base ^ self.simd.splat(&self.offsets.rows[i]),
            None => self.base,
        }
    }
}

/// The offsets of a batch, as masks for the cipher.
pub(super) struct Batch<'a, S: Simd, const W: usize> {
    rows: &'a [Block; 64],
    base: S::Reg,
    last: S::Reg,
}

impl<S: Simd, const W: usize> Masks<S> for Batch<'_, S, W> {
    #[inline(always)]
    fn with(&self, simd: S, i: usize, key: S::Reg) -> S::Reg {
        if i == W - 1 {
            return self.last ^ key;
        }
        (self.base ^ key) ^ simd.load(self.rows[i * S::Reg::BLOCKS..].as_flattened())
    }
}
