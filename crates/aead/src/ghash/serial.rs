//! Strategies that process one block at a time in plain code.

use super::Ghash;
use crate::simd::{Block, Reg};

/// A strategy that processes one block at a time in plain code, for callers that have the whole text.
///
/// ```
/// use sealwright::{Isa, ghash::{Bitwise, Ghash, Serial, Table4k_vartime}};
///
/// // Two strategies, one hash; the one with a table leaks its key to whoever watches the cache.
/// let (isa, h) = (Isa::best(), [7; 16]);
/// let bitwise = Bitwise::new(isa, &h).hash(b"header", b"text");
/// assert_eq!(bitwise, Table4k_vartime::new(isa, &h).hash(b"header", b"text"));
/// ```
pub trait Serial: Ghash {
    /// `x` times h.
    fn times(&self, x: u128) -> u128;

    /// The hash of `ad` and `text`, each padded with zeros to whole blocks, and of both lengths in bits.
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

/// Implements [`Ghash`] for a strategy that processes one block at a time: `$multiply(self, x)` is x times h.
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
            for block in $crate::ghash::serial::blocks(pair, count).as_chunks::<16>().0.iter().take(count) {
                *sum = key.$multiply(*sum ^ u128::from_be_bytes(*block));
            }
        }
        #[inline(always)]
        fn single<S: $crate::simd::Simd>(simd: S, key: &Self, sum: &mut u128, at: usize, one: S::Reg, count: usize) {
            Self::pair(simd, key, sum, at, [one; 2], count);
        }
        #[inline(always)]
        fn order_barrier<S: $crate::simd::Simd>(_: S, _: &mut u128, _: [&mut S::Reg; 2]) {}
        #[inline(always)]
        fn window(&self, _: usize, _: usize) -> &Self {
            self
        }
        #[inline(always)]
        fn enter<S: $crate::simd::Simd>(&self, _: S, _: &mut u128, _: usize) {}
        #[inline(always)]
        fn finish_open<S: $crate::simd::Simd>(simd: S, sum: &u128) -> S::Reg {
            simd.first(&sum.to_be_bytes())
        }
        #[inline(always)]
        fn close<S: $crate::simd::Simd>(&self, _: S, _: &mut u128, _: usize) {}
        #[inline(always)]
        fn finish<S: $crate::simd::Simd>(&self, simd: S, sum: &u128) -> S::Reg {
            simd.first(&sum.to_be_bytes())
        }
    };
}
pub(super) use serial;

/// The bytes of two registers; the second is not stored if all `count` blocks are in the first.
#[inline(always)]
pub(super) fn blocks<R: Reg>(pair: [R; 2], count: usize) -> [u8; 128] {
    let mut bytes = [0; 128];
    pair[0].store(&mut bytes);
    if count > R::BLOCKS {
        pair[1].store(&mut bytes[R::BYTES..]);
    }
    bytes
}

/// `element` times the polynomial variable: in GHASH's bit order the first bit is the constant term.
#[inline(always)]
pub(super) const fn times_x(element: u128) -> u128 {
    let carry = 0u128.wrapping_sub(element & 1);
    (element >> 1) ^ (carry & (0xe1 << 120))
}
