//! Block ciphers over batches of registers.

pub mod aes;
mod round_keys;

pub use round_keys::{Expanded, InverseKeys, OnTheFly, RoundKeys};

use crate::simd::Simd;

/// Encrypts batches of 16-byte blocks.
pub trait BlockCipher: Send + Sync {
    /// Bytes of key material that a client of this cipher keeps.
    const STATE_BYTES: usize;

    /// Encrypts every block of `blocks`, doing the steps of `beside` between the rounds.
    fn encrypt_beside<S: Simd, const W: usize, B: Beside<S>>(
        &self,
        simd: S,
        blocks: &mut [S::Reg; W],
        beside: &mut B,
    );

    /// Encrypts every block of `blocks`.
    #[inline(always)]
    fn encrypt<S: Simd, const W: usize>(&self, simd: S, blocks: &mut [S::Reg; W]) {
        self.encrypt_beside(simd, blocks, &mut Nothing);
    }
}

/// Decrypts batches of 16-byte blocks.
pub trait Inverse: Send + Sync {
    /// Decrypts every block of `blocks`.
    fn decrypt<S: Simd, const W: usize>(&self, simd: S, blocks: &mut [S::Reg; W]);
}

/// Work to be done between the rounds of a cipher, in units that other execution ports can take meanwhile.
pub trait Beside<S: Simd> {
    /// Called after round `done` of `of`, constants once the rounds are unrolled. It may [`Simd::tie`] some of `blocks`
    /// to its own registers, so that it stays between these rounds.
    fn step(&mut self, simd: S, blocks: &mut [S::Reg], done: usize, of: usize);
}

/// No work beside the cipher.
#[derive(Clone, Copy, Debug)]
pub struct Nothing;

impl<S: Simd> Beside<S> for Nothing {
    #[inline(always)]
    fn step(&mut self, _: S, _: &mut [S::Reg], _: usize, _: usize) {}
}
