//! GHASH (SP 800-38D, 6.4): the universal hash of GCM, by several strategies.
//!
//! The blocks X(1) .. X(n) hash to X(1) h^n + .. + X(n) h in GF(2^128). A strategy takes them in **groups** of at most
//! [`Ghash::GROUP`]: it adds registers, each with the powers of h for its place before the group's end, and closes it.

mod bitwise;
mod clmul;
mod table;

pub use bitwise::Bitwise;
pub use clmul::Clmul;
pub(crate) use clmul::LaneKeys;
pub use table::{Table4k_vartime, Table8k_vartime, Table64k_vartime, Table256_vartime};

use crate::{
    aead::Block,
    simd::{Isa, Reg, Simd},
};

/// A strategy of computing GHASH under one key `h`.
pub trait Ghash: Send + Sync + Sized {
    /// Bytes kept for a key.
    const STATE_BYTES: usize;
    /// Whether time and memory accesses are the same for every key and text.
    const CONSTANT_TIME: bool;
    /// The most blocks of a group.
    const GROUP: usize;
    /// A hash under way.
    type Sum<R: Reg>: Copy;
    /// The part of the key that a run of blocks meets.
    type Key<'a>: Copy
    where
        Self: 'a;

    /// Prepares the key `h`, which is the encryption of the zero block.
    fn new(isa: Isa, h: &Block) -> Self;

    /// The hash of nothing.
    fn start<S: Simd>(&self, simd: S) -> Self::Sum<S::Reg>;
    /// The key for `count` blocks, of which the first stands `left` blocks before the group's end.
    fn key(&self, left: usize, count: usize) -> Self::Key<'_>;
    /// Adds the first `count` blocks of two registers, the blocks from `at` on of those that `key` is for. Lanes behind
    /// them must be zero.
    fn pair<S: Simd>(
        simd: S,
        key: Self::Key<'_>,
        sum: &mut Self::Sum<S::Reg>,
        at: usize,
        pair: [S::Reg; 2],
        count: usize,
    );
    /// Adds the first `count` blocks of one register, likewise.
    fn single<S: Simd>(
        simd: S,
        key: Self::Key<'_>,
        sum: &mut Self::Sum<S::Reg>,
        at: usize,
        register: S::Reg,
        count: usize,
    );
    /// Ties registers of a cipher to the hash ([`Simd::tie`]).
    fn tie<S: Simd>(simd: S, sum: &mut Self::Sum<S::Reg>, blocks: [&mut S::Reg; 2]);
    /// Closes a group of `blocks` blocks.
    fn close<S: Simd>(&self, simd: S, sum: &mut Self::Sum<S::Reg>, blocks: usize);
    /// The hash, outside a group, in the first lane.
    fn finish<S: Simd>(&self, simd: S, sum: &Self::Sum<S::Reg>) -> S::Reg;
}

/// A strategy that takes one block after the other in plain code, wherever a whole text is at hand.
pub trait Serial: Ghash {
    /// `x` times h.
    fn times(&self, x: u128) -> u128;

    /// The hash of `ad` and `text`, each filled up with zero to whole blocks, and of both lengths in bits.
    fn hash(&self, ad: &[u8], text: &[u8]) -> Block {
        let mut sum = 0;
        for part in [ad, text] {
            let (blocks, rest) = part.as_chunks::<16>();
            for block in blocks {
                sum = self.times(sum ^ u128::from_be_bytes(*block));
            }
            if !rest.is_empty() {
                let mut last = [0; 16];
                last[..rest.len()].copy_from_slice(rest);
                sum = self.times(sum ^ u128::from_be_bytes(last));
            }
        }
        let lengths = ((ad.len() as u128 * 8) << 64) | (text.len() as u128 * 8);
        self.times(sum ^ lengths).to_be_bytes()
    }
}

/// What [`Ghash`] asks, for strategies that take one block after the other: `$multiply(self, x)` is x times h.
macro_rules! serial {
    ($multiply:ident) => {
        const GROUP: usize = usize::MAX;
        type Sum<R: $crate::simd::Reg> = u128;
        type Key<'a> = &'a Self;

        #[inline(always)]
        fn start<S: $crate::simd::Simd>(&self, _: S) -> u128 {
            0
        }
        #[inline(always)]
        fn key(&self, _: usize, _: usize) -> &Self {
            self
        }
        #[inline(always)]
        fn pair<S: $crate::simd::Simd>(_: S, key: &Self, sum: &mut u128, _: usize, pair: [S::Reg; 2], count: usize) {
            for block in $crate::ghash::blocks(pair, count).as_chunks::<16>().0.iter().take(count) {
                *sum = key.$multiply(*sum ^ u128::from_be_bytes(*block));
            }
        }
        #[inline(always)]
        fn single<S: $crate::simd::Simd>(simd: S, key: &Self, sum: &mut u128, at: usize, one: S::Reg, count: usize) {
            Self::pair(simd, key, sum, at, [one; 2], count);
        }
        #[inline(always)]
        fn tie<S: $crate::simd::Simd>(_: S, _: &mut u128, _: [&mut S::Reg; 2]) {}
        #[inline(always)]
        fn close<S: $crate::simd::Simd>(&self, _: S, _: &mut u128, _: usize) {}
        #[inline(always)]
        fn finish<S: $crate::simd::Simd>(&self, simd: S, sum: &u128) -> S::Reg {
            simd.first(&sum.to_be_bytes())
        }
    };
}
use serial;

/// The bytes of two registers; the second need not be stored where `count` blocks are all in the first.
#[inline(always)]
fn blocks<R: Reg>(pair: [R; 2], count: usize) -> [u8; 128] {
    let mut bytes = [0; 128];
    pair[0].store(&mut bytes);
    if count > R::BLOCKS {
        pair[1].store(&mut bytes[R::BYTES..]);
    }
    bytes
}

/// x times the polynomial variable: in GHASH's order of bits the first bit is the constant term.
#[inline(always)]
const fn times_x(element: u128) -> u128 {
    let carry = 0u128.wrapping_sub(element & 1);
    (element >> 1) ^ (carry & (0xe1 << 120))
}
