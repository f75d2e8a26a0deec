//! Block ciphers over batches of registers.

pub mod aes;
#[cfg(feature = "sessions")]
pub mod aes2s;
#[cfg(feature = "sessions")]
pub(crate) mod multi_key;
mod round_keys;
#[cfg(feature = "serpent")]
pub mod serpent;

pub use round_keys::{Expanded, InverseKeys, OnTheFly, RoundKeys};

use crate::{
    sealed::Sealed,
    simd::{Block, Isa, Kernel, Reg, Simd},
};

/// Encrypts batches of 16-byte blocks.
pub trait BlockCipher: Sealed + Send + Sync {
    /// Bytes of key material that a client of this cipher keeps.
    const STATE_BYTES: usize;
    /// This cipher as a level without AES instructions runs it: one type for all sizes of key.
    type Sliced: BlockCipher;

    /// Prepares the cipher for a message at a level without AES instructions.
    fn sliced<S: Simd>(&self, simd: S) -> Self::Sliced;

    /// Encrypts every block of `blocks`, doing the steps of `work` between the rounds, or as many as pay: the caller does
    /// what is left.
    fn encrypt_interleaved<S: Simd, const W: usize, B: Interleave<S>>(
        &self,
        simd: S,
        blocks: &mut [S::Reg; W],
        work: &mut B,
    );

    /// Encrypts every block of `blocks`.
    #[inline(always)]
    fn encrypt<S: Simd, const W: usize>(&self, simd: S, blocks: &mut [S::Reg; W]) {
        self.encrypt_interleaved(simd, blocks, &mut NoInterleave);
    }

    /// Encrypts every block of `blocks`, xored with its mask before and after.
    #[inline(always)]
    fn encrypt_masked<S: Simd, const W: usize, M: Masks<S>>(&self, simd: S, blocks: &mut [S::Reg; W], masks: &M) {
        mask(simd, blocks, masks);
        self.encrypt(simd, blocks);
        mask(simd, blocks, masks);
    }
}

/// Decrypts batches of 16-byte blocks.
pub trait Inverse: BlockCipher {
    /// This cipher in both directions as a level without AES instructions runs it.
    type SlicedBothWays: Inverse;

    /// Prepares both directions for a message at a level without AES instructions.
    fn sliced_both_ways<S: Simd>(&self, simd: S) -> Self::SlicedBothWays;

    /// Decrypts every block of `blocks`.
    fn decrypt<S: Simd, const W: usize>(&self, simd: S, blocks: &mut [S::Reg; W]);

    /// Decrypts every block of `blocks`, xored with its mask before and after.
    #[inline(always)]
    fn decrypt_masked<S: Simd, const W: usize, M: Masks<S>>(&self, simd: S, blocks: &mut [S::Reg; W], masks: &M) {
        mask(simd, blocks, masks);
        self.decrypt(simd, blocks);
        mask(simd, blocks, masks);
    }
}

/// What is xored into each register of a batch before and after the cipher, as OCB does with its offsets.
pub trait Masks<S: Simd> {
    /// The mask of register `i`, xor `key`: a cipher that xors a key at either end passes it here, so that mask and key
    /// cost one operation.
    fn with(&self, simd: S, i: usize, key: S::Reg) -> S::Reg;
}

/// No masks: keys alone.
#[derive(Clone, Copy, Debug)]
pub struct NoMask;

impl<S: Simd> Masks<S> for NoMask {
    #[inline(always)]
    fn with(&self, _: S, _: usize, key: S::Reg) -> S::Reg {
        key
    }
}

/// Xors each register with its mask.
#[inline(always)]
pub(crate) fn mask<S: Simd, const W: usize, M: Masks<S>>(simd: S, blocks: &mut [S::Reg; W], masks: &M) {
    for (i, x) in blocks.iter_mut().enumerate() {
        *x = *x ^ masks.with(simd, i, simd.zero());
    }
}

/// Work to be done between the rounds of a cipher, in units that other execution ports can take meanwhile.
pub trait Interleave<S: Simd> {
    /// Called after round `done` of `of`, constants once the rounds are unrolled. It may [`Simd::order_barrier`] some of `blocks`
    /// to its own registers, so that it stays between these rounds.
    fn step(&mut self, simd: S, blocks: &mut [S::Reg], done: usize, of: usize);
}

/// No work beside the cipher.
#[derive(Clone, Copy, Debug)]
pub struct NoInterleave;

impl<S: Simd> Interleave<S> for NoInterleave {
    #[inline(always)]
    fn step(&mut self, _: S, _: &mut [S::Reg], _: usize, _: usize) {}
}

/// The encryption of one block: the key of a hash, and what keys are derived from.
pub(crate) fn encrypt_block<C: BlockCipher>(isa: Isa, cipher: &C, block: &Block) -> Block {
    struct One<'a, C>(&'a C, &'a Block);
    impl<C: BlockCipher> Kernel for One<'_, C> {
        type Output = Block;

        #[inline(always)]
        fn run<S: Simd, const W: usize>(self, simd: S) -> Block {
            let mut blocks = [simd.first(self.1)];
            self.0.encrypt(simd, &mut blocks);
            blocks[0].first_block()
        }
    }
    isa.run(One(cipher, block))
}
