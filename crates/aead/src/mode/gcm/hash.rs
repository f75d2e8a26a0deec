//! GHASH in groups, as used by the kernels of GCM and GCM-SIV.

use crate::{
    ghash::Ghash,
    simd::{Reg, Simd},
};

/// GHASH in progress.
pub(in crate::mode) struct Hash<'a, G: Ghash, S: Simd> {
    pub(super) simd: S,
    pub(super) ghash: &'a G,
    pub(in crate::mode) sum: G::Sum<S::Reg>,
    /// Blocks in the group.
    group: usize,
    /// Blocks still missing in the group.
    pub(super) left: usize,
}

impl<'a, G: Ghash, S: Simd> Hash<'a, G, S> {
    #[inline(always)]
    pub(in crate::mode) fn new(simd: S, ghash: &'a G) -> Self {
        Hash { simd, ghash, sum: ghash.start(simd), group: 0, left: 0 }
    }

    /// Opens a group of `blocks` blocks.
    #[inline(always)]
    pub(in crate::mode) fn open(&mut self, blocks: usize) {
        (self.group, self.left) = (blocks, blocks);
    }

    /// Closes the group.
    #[inline(always)]
    pub(in crate::mode) fn close(&mut self) {
        self.ghash.close(self.simd, &mut self.sum, self.group);
    }

    /// Adds the hash so far to the open group, which then ends the hash.
    #[inline(always)]
    pub(super) fn enter_open(&mut self) {
        self.ghash.enter(self.simd, &mut self.sum, self.group);
    }

    /// Adds two registers, of which only the first `count` blocks are used.
    #[inline(always)]
    pub(in crate::mode) fn pair(&mut self, pair: [S::Reg; 2], count: usize) {
        G::pair(self.simd, self.ghash.key(self.left, count), &mut self.sum, 0, pair, count);
        self.left -= count;
    }

    /// Adds the first `count` blocks of one register.
    #[inline(always)]
    pub(in crate::mode) fn single(&mut self, register: S::Reg, count: usize) {
        G::single(self.simd, self.ghash.key(self.left, count), &mut self.sum, 0, register, count);
        self.left -= count;
    }

    /// Adds bytes within a group; the last block is padded with zeros. `REVERSED` reverses the bytes of each block.
    #[inline(always)]
    pub(in crate::mode) fn bytes<const REVERSED: bool>(&mut self, bytes: &[u8]) {
        // Whole registers are loaded without a mask, because Zen 5 does not prefetch for masked loads.
        let mut pairs = bytes.chunks_exact(2 * S::Reg::BYTES);
        for pair in &mut pairs {
            let (low, high) = pair.split_at(S::Reg::BYTES);
            let (low, high) = (self.simd.load(low), self.simd.load(high));
            self.pair([turned::<_, REVERSED>(low), turned::<_, REVERSED>(high)], 2 * S::Reg::BLOCKS);
        }
        let rest = pairs.remainder();
        if rest.len() > S::Reg::BYTES {
            let (low, high) = rest.split_at(S::Reg::BYTES);
            let (low, high) = (self.simd.load(low), self.simd.load_partial(high));
            self.pair([turned::<_, REVERSED>(low), turned::<_, REVERSED>(high)], rest.len().div_ceil(16));
        } else if !rest.is_empty() {
            self.single(turned::<_, REVERSED>(self.simd.load_partial(rest)), rest.len().div_ceil(16));
        }
    }

    /// Opens a group before a batch, if none is open. `to_hash` blocks remain, including this batch. The last group
    /// takes all that remain; the others end with a batch.
    #[inline(always)]
    pub(in crate::mode) fn enter<const W: usize>(&mut self, to_hash: usize) {
        if self.left == 0 {
            let batch = W * S::Reg::BLOCKS;
            self.open(if to_hash <= G::GROUP { to_hash } else { (G::GROUP - 3) / batch * batch });
        }
    }

    /// Closes the group after a batch, if it is complete.
    #[inline(always)]
    pub(in crate::mode) fn leave(&mut self) {
        if self.left == 0 {
            self.close();
        }
    }

    /// Adds bytes in groups of their own.
    #[inline(always)]
    pub(in crate::mode) fn all(&mut self, bytes: &[u8]) {
        for group in bytes.chunks(G::GROUP.saturating_mul(16).min(bytes.len().max(1))) {
            self.open(group.len().div_ceil(16));
            self.bytes::<false>(group);
            self.close();
        }
    }
}

/// `register`, with the bytes of each block reversed if `REVERSED`.
#[inline(always)]
fn turned<R: Reg, const REVERSED: bool>(register: R) -> R {
    if REVERSED { register.reverse_bytes() } else { register }
}
