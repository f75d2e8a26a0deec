//! GHASH (SP 800-38D, 6.4), the universal hash of GCM, computed by one of several strategies.
//!
//! The hash of the blocks X(1) .. X(n) is X(1) h^n + .. + X(n) h in GF(2^128). A strategy processes them in **groups**
//! of at most [`Ghash::GROUP`] blocks: it multiplies registers by the powers of h that belong to their distance from
//! the end of the group, adds the products, and reduces them when the group is closed.
//!
//! [`Clmul`] is the constant-time strategy of every suite. The strategy is a type parameter of
//! [`Gcm`](crate::mode::gcm::Gcm):
//!
//! ```
//! use sealwright::{Aead, Isa, block::aes::Aes256, ghash::Clmul, mode::gcm::{Gcm, TagLen}};
//!
//! let isa = Isa::best();
//! // Fewer powers of h: a smaller key, for short messages.
//! let aead = Gcm::<_, Clmul<44>>::new(isa, Aes256::new(isa, &[7; 32]), TagLen::T16);
//! let mut text = *b"attack at dawn";
//! let tag = aead.seal_in_place(&[1; 12], b"header", &mut text)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "research")]
mod bitwise;
mod clmul;
mod field;
mod fill;
#[cfg(feature = "sessions")]
mod lanes;
#[cfg(feature = "research")]
mod serial;
#[cfg(feature = "research")]
mod table;

#[cfg(feature = "research")]
pub use bitwise::Bitwise;
pub use clmul::Clmul;
pub(crate) use clmul::{FEW, SOME};
#[cfg(feature = "sessions")]
pub(crate) use lanes::{LaneKeys, LanePowers};
#[cfg(feature = "research")]
pub use serial::Serial;
#[cfg(feature = "research")]
pub use table::{Table4k_vartime, Table8k_vartime, Table64k_vartime, Table256_vartime};

use crate::{
    sealed::Sealed,
    simd::{Block, Isa, Reg, Simd},
};

/// A strategy of computing GHASH under one key `h`.
///
/// ```
/// use sealwright::{Isa, ghash::{Clmul, Ghash}};
///
/// let h = [7; 16]; // the encryption of the zero block
/// let key = <Clmul>::new(Isa::best(), &h);
/// assert!(<Clmul>::CONSTANT_TIME);
/// assert_eq!(<Clmul>::STATE_BYTES, size_of_val(&key));
/// ```
pub trait Ghash: Sealed + Send + Sync + Sized {
    /// Bytes stored for a key.
    const STATE_BYTES: usize;
    /// Whether time and memory accesses are the same for every key and text.
    const CONSTANT_TIME: bool;
    /// The most blocks in a group.
    const GROUP: usize;
    /// A hash in progress.
    type Sum<R: Reg>: Copy;
    /// The part of the key by which a run of blocks is multiplied.
    type Key<'a>: Copy
    where
        Self: 'a;

    /// Prepares the key `h`, which is the encryption of the zero block.
    fn new(isa: Isa, h: &Block) -> Self;

    /// The hash of the empty string.
    fn start<S: Simd>(&self, simd: S) -> Self::Sum<S::Reg>;
    /// The key for `count` blocks, the first of which is `left` blocks before the end of the group.
    fn key(&self, left: usize, count: usize) -> Self::Key<'_>;
    /// Adds the first `count` blocks of two registers, which are the blocks from `at` on of those that `key` is for.
    /// Lanes after them must be zero.
    fn pair<S: Simd>(
        simd: S,
        key: Self::Key<'_>,
        sum: &mut Self::Sum<S::Reg>,
        at: usize,
        pair: [S::Reg; 2],
        count: usize,
    );
    /// The same for one register.
    fn single<S: Simd>(
        simd: S,
        key: Self::Key<'_>,
        sum: &mut Self::Sum<S::Reg>,
        at: usize,
        register: S::Reg,
        count: usize,
    );
    /// Ties registers of a cipher to the hash ([`Simd::order_barrier`]).
    fn order_barrier<S: Simd>(simd: S, sum: &mut Self::Sum<S::Reg>, blocks: [&mut S::Reg; 2]);
    /// The key for exactly `count` blocks, the first of which is `left` blocks before the end of the group: the window
    /// may extend at most eight blocks beyond the end.
    fn window(&self, left: usize, count: usize) -> Self::Key<'_>;
    /// Adds the hash so far to the start of the open group of `blocks` blocks: [`Ghash::finish_open`] then returns the
    /// hash of everything.
    fn enter<S: Simd>(&self, simd: S, sum: &mut Self::Sum<S::Reg>, blocks: usize);
    /// Whether [`Ghash::turn`] is implemented, for groups of 64 blocks.
    const LANES: bool = false;
    /// Closes a group of 64 blocks in each lane separately, and adds the result to the start of the next group, which
    /// `key` is for.
    #[inline(always)]
    fn turn<S: Simd>(_: S, _: Self::Key<'_>, _: &mut Self::Sum<S::Reg>) {}
    /// The hash of the open group and of what was added to it by [`Ghash::enter`], in the first lane.
    fn finish_open<S: Simd>(simd: S, sum: &Self::Sum<S::Reg>) -> S::Reg;
    /// Closes a group of `blocks` blocks.
    fn close<S: Simd>(&self, simd: S, sum: &mut Self::Sum<S::Reg>, blocks: usize);
    /// The hash when no group is open, in the first lane.
    fn finish<S: Simd>(&self, simd: S, sum: &Self::Sum<S::Reg>) -> S::Reg;
}
