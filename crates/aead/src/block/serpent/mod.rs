//! Serpent (Anderson, Biham and Knudsen, 1998) for a batch of registers, bitsliced across blocks.
//!
//! Serpent's S-boxes operate on the 32-bit words of a block bit by bit. After a transposition, four registers hold the
//! four words of as many blocks as a register has words: a **group**. Several groups are computed side by side to hide
//! latency. There are no tables and no branches on data: constant time at every level.

mod boxes;
mod rounds;

use core::fmt;

use rounds::Rounds;
use zeroize::Zeroize;

use super::{BlockCipher, Interleave, Inverse};
use crate::{
    error::KeyLengthError,
    sealed::Sealed,
    simd::{Reg, Simd},
};

/// Serpent under a key of 128, 192 or 256 bits, in both directions.
///
/// ```
/// use sealwright::{Isa, block::serpent::Serpent, mode::ctr};
///
/// let cipher = Serpent::new(&[7; 32])?;
/// let mut text = *b"attack at dawn";
/// ctr::apply(Isa::best(), &cipher, &[0; 16], &mut text); // encrypted, and not authenticated
/// assert!(Serpent::new(&[7; 20]).is_err());
/// # Ok::<(), sealwright::KeyLengthError>(())
/// ```
#[derive(Clone)]
pub struct Serpent {
    keys: [[u32; 4]; 33],
}
wipe_on_drop!(only Serpent { keys: [[0; 4]; 33] });

impl fmt::Debug for Serpent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serpent").finish_non_exhaustive()
    }
}

impl Serpent {
    /// Expands `key`, of 16, 24 or 32 bytes.
    ///
    /// # Errors
    /// [`KeyLengthError`] for any other length.
    pub fn new(key: &[u8]) -> Result<Self, KeyLengthError> {
        if ![16, 24, 32].contains(&key.len()) {
            return Err(KeyLengthError::new(&[16, 24, 32], key.len()));
        }
        // A short key is padded with a one bit and zeros.
        let mut padded = [0; 32];
        padded[..key.len()].copy_from_slice(key);
        if let Some(next) = padded.get_mut(key.len()) {
            *next = 1;
        }
        let mut words = [0; 140];
        for (word, bytes) in words.iter_mut().zip(padded.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        for i in 8..words.len() {
            let word = words[i - 8] ^ words[i - 5] ^ words[i - 3] ^ words[i - 1];
            // The golden ratio, and the index of the word.
            words[i] = (word ^ 0x9e37_79b9 ^ (i - 8) as u32).rotate_left(11);
        }
        let mut keys = [[0; 4]; 33];
        for (i, (key, words)) in keys.iter_mut().zip(words[8..].as_chunks().0).enumerate() {
            *key = boxes::by_number((35 - i) % 8, *words);
        }
        padded.zeroize();
        words.zeroize();
        Ok(Serpent { keys })
    }

    /// All rounds for a batch, in as few groups as it fills.
    #[inline(always)]
    fn batch<S: Simd, const W: usize, const FORWARD: bool>(&self, simd: S, blocks: &mut [S::Reg; W]) {
        const { assert!(W <= 20, "five groups") }
        if const { W <= 4 } {
            self.groups::<S, W, 1, FORWARD>(simd, blocks);
        } else if const { W <= 8 } {
            self.groups::<S, W, 2, FORWARD>(simd, blocks);
        } else if const { W <= 12 } {
            self.groups::<S, W, 3, FORWARD>(simd, blocks);
        } else if const { W <= 16 } {
            self.groups::<S, W, 4, FORWARD>(simd, blocks);
        } else {
            self.groups::<S, W, 5, FORWARD>(simd, blocks);
        }
    }

    #[inline(always)]
    fn groups<S: Simd, const W: usize, const G: usize, const FORWARD: bool>(&self, simd: S, blocks: &mut [S::Reg; W]) {
        let mut groups = [[simd.zero(); 4]; G];
        for (x, block) in groups.as_flattened_mut().iter_mut().zip(blocks.iter()) {
            *x = *block;
        }
        if S::AES {
            simd.outlined(Rounds::<S, G, FORWARD> { keys: &self.keys, groups: &mut groups });
        } else {
            // In portable code the words are in memory anyway: one function serves every width.
            for group in groups.as_chunks_mut().0 {
                simd.outlined(Rounds::<S, 1, FORWARD> { keys: &self.keys, groups: group });
            }
        }
        for (x, block) in groups.as_flattened().iter().zip(blocks.iter_mut()) {
            *block = *x;
        }
    }
}

impl Sealed for Serpent {}
impl BlockCipher for Serpent {
    const STATE_BYTES: usize = size_of::<Serpent>();
    type Sliced = Serpent;

    fn sliced<S: Simd>(&self, _: S) -> Serpent {
        self.clone()
    }

    /// Leaves all work to the caller: the rounds use all registers and every port, so that interleaving gains nothing.
    #[inline(always)]
    fn encrypt_interleaved<S: Simd, const W: usize, B: Interleave<S>>(
        &self,
        simd: S,
        blocks: &mut [S::Reg; W],
        _: &mut B,
    ) {
        self.batch::<S, W, true>(simd, blocks);
    }
}

impl Inverse for Serpent {
    type SlicedBothWays = Serpent;

    fn sliced_both_ways<S: Simd>(&self, _: S) -> Serpent {
        self.clone()
    }

    #[inline(always)]
    fn decrypt<S: Simd, const W: usize>(&self, simd: S, blocks: &mut [S::Reg; W]) {
        self.batch::<S, W, false>(simd, blocks);
    }
}

/// Transposes the words of four registers, lane by lane; its own inverse.
#[inline(always)]
fn transpose<R: Reg>([a, b, c, d]: [R; 4]) -> [R; 4] {
    let (low_ab, low_cd) = (a.unpack_low_words(b), c.unpack_low_words(d));
    let (high_ab, high_cd) = (a.unpack_high_words(b), c.unpack_high_words(d));
    [low_ab.unpack_low(low_cd), low_ab.unpack_high(low_cd), high_ab.unpack_low(high_cd), high_ab.unpack_high(high_cd)]
}
