//! AES (FIPS 197) for a batch of registers; a type parameter says where the round keys come from.
//!
//! ```
//! use sealwright::{Isa, block::aes::Aes128, mode::ctr};
//!
//! let isa = Isa::best();
//! let cipher = Aes128::new(isa, &[7; 16]);
//! let mut text = *b"attack at dawn";
//! ctr::apply(isa, &cipher, &[0; 16], &mut text); // encrypted, and not authenticated
//! ctr::apply(isa, &cipher, &[0; 16], &mut text);
//! assert_eq!(&text, b"attack at dawn");
//! ```

use zeroize::ZeroizeOnDrop;

use crate::sealed::Sealed;

#[cfg(any(feature = "ocb", feature = "raw", feature = "cbc", feature = "rustcrypto"))]
mod inverse;
mod sliced;

use sliced::SlicedAes;
#[cfg(feature = "sessions")]
pub(in crate::block) use sliced::{pack, unpack};

use super::{BlockCipher, Expanded, Interleave, Masks, NoInterleave, NoMask, OnTheFly, RoundKeys, mask};
use crate::{
    error::KeyLengthError,
    simd::{Isa, Reg, Simd},
};

/// AES with the round keys `K`.
///
/// ```
/// use sealwright::{Isa, block::aes::{Aes128, Aes256, Aes256OnTheFly}};
///
/// let isa = Isa::best();
/// let (short, long) = (Aes128::new(isa, &[7; 16]), Aes256::new(isa, &[7; 32]));
/// let small = Aes256OnTheFly::new(&[7; 32]);
/// assert_eq!([size_of_val(&short), size_of_val(&long), size_of_val(&small)], [176, 240, 32]);
/// assert_eq!(format!("{short:?}"), "Aes { keys: Expanded { .. } }"); // nothing secret
/// ```
#[derive(Clone, Debug)]
pub struct Aes<K> {
    keys: K,
}

/// AES-128, round keys in memory.
pub type Aes128 = Aes<Expanded<11>>;
/// AES-192, round keys in memory.
pub type Aes192 = Aes<Expanded<13>>;
/// AES-256, round keys in memory.
pub type Aes256 = Aes<Expanded<15>>;
/// AES-128, round keys computed during encryption.
pub type Aes128OnTheFly = Aes<OnTheFly<16>>;
/// AES-192, round keys computed during encryption.
pub type Aes192OnTheFly = Aes<OnTheFly<24>>;
/// AES-256, round keys computed during encryption.
pub type Aes256OnTheFly = Aes<OnTheFly<32>>;

// The round keys wipe themselves.
impl<K: ZeroizeOnDrop> ZeroizeOnDrop for Aes<K> {}

#[cfg(any(feature = "ocb", feature = "raw", feature = "cbc", feature = "rustcrypto"))]
pub use inverse::BothWays;

/// An AES key, classified by length.
#[derive(Clone, Copy)]
pub(crate) enum Key<'a> {
    Aes128(&'a [u8; 16]),
    #[cfg(feature = "aes192")]
    Aes192(&'a [u8; 24]),
    Aes256(&'a [u8; 32]),
}

impl<'a> Key<'a> {
    /// The key lengths enabled in this build.
    const LENGTHS: &'static [usize] = if cfg!(feature = "aes192") { &[16, 24, 32] } else { &[16, 32] };

    /// The only place where the length of an AES key is checked.
    ///
    /// # Errors
    /// [`KeyLengthError`] unless `key` has 16 or 32 bytes, or 24 with the feature `aes192`.
    pub(crate) fn new(key: &'a [u8]) -> Result<Self, KeyLengthError> {
        if let Ok(key) = key.try_into() {
            return Ok(Key::Aes128(key));
        }
        #[cfg(feature = "aes192")]
        if let Ok(key) = key.try_into() {
            return Ok(Key::Aes192(key));
        }
        key.try_into().map(Key::Aes256).map_err(|_| KeyLengthError::new(Self::LENGTHS, key.len()))
    }
}

macro_rules! key_sizes {
    ($($bytes:literal $keys:literal),*) => {
        $(
            impl Aes<Expanded<$keys>> {
                /// Expands `key`.
                pub fn new(isa: Isa, key: &[u8; $bytes]) -> Self {
                    Aes { keys: Expanded::new(isa, &OnTheFly::new(key)) }
                }
            }
            impl Aes<OnTheFly<$bytes>> {
                /// Stores `key` unexpanded.
                pub fn new(key: &[u8; $bytes]) -> Self {
                    Aes { keys: OnTheFly::new(key) }
                }
            }
        )*
    };
}
key_sizes!(16 11, 24 13, 32 15);

/// Repeats the body for each round from 1 to before `$end`, so that round numbers are constants, however the optimiser
/// treats loops.
macro_rules! rounds {
    ($round:ident < $end:expr => $body:block) => {
        rounds!($round < $end => $body; 1 2 3 4 5 6 7 8 9 10 11 12 13)
    };
    ($round:ident < $end:expr => $body:block; $($n:literal)*) => {
        $(
            if $n < $end {
                let $round: usize = $n;
                $body
            }
        )*
    };
}
pub(crate) use rounds;

impl<K: RoundKeys> Sealed for Aes<K> {}
impl<K: RoundKeys> BlockCipher for Aes<K> {
    const STATE_BYTES: usize = K::STATE_BYTES;
    type Sliced = SlicedAes;
    const AES_ROUNDS: usize = if K::AT_HAND { K::ROUNDS } else { 0 };

    #[inline(always)]
    fn round_key<S: Simd>(&self, simd: S, round: usize) -> S::Reg {
        self.keys.at(simd, round)
    }

    #[inline(never)]
    fn sliced<S: Simd>(&self, simd: S) -> SlicedAes {
        let mut sliced = SlicedAes::empty();
        let mut carry = self.keys.start(simd);
        // Round numbers are constants, which schedules that are computed on the fly need.
        sliced.push(self.keys.key(simd, 0, &mut carry));
        rounds!(round < K::ROUNDS => { sliced.push(self.keys.key(simd, round, &mut carry)); });
        sliced.push(self.keys.key(simd, K::ROUNDS, &mut carry));
        sliced
    }

    #[inline(always)]
    fn encrypt_interleaved<S: Simd, const W: usize, B: Interleave<S>>(
        &self,
        simd: S,
        blocks: &mut [S::Reg; W],
        work: &mut B,
    ) {
        self.rounds(simd, blocks, work, &NoMask);
    }

    #[inline(always)]
    fn encrypt_masked<S: Simd, const W: usize, M: Masks<S>>(&self, simd: S, blocks: &mut [S::Reg; W], masks: &M) {
        self.rounds(simd, blocks, &mut NoInterleave, masks);
    }
}

impl<K: RoundKeys> Aes<K> {
    /// AES with these round keys.
    #[inline(always)]
    pub(crate) fn with(keys: K) -> Self {
        Aes { keys }
    }

    /// The round keys, to replace some or all.
    #[inline(always)]
    pub(crate) fn round_keys_mut(&mut self) -> &mut K {
        &mut self.keys
    }

    /// The source of the round keys.
    #[inline(always)]
    pub(crate) fn round_keys(&self) -> &K {
        &self.keys
    }

    /// The whole cipher.
    #[inline(always)]
    fn rounds<S: Simd, const W: usize, B: Interleave<S>, M: Masks<S>>(
        &self,
        simd: S,
        blocks: &mut [S::Reg; W],
        work: &mut B,
        masks: &M,
    ) {
        if !S::AES {
            mask(simd, blocks, masks);
            self.sliced(simd).encrypt(simd, blocks);
            return mask(simd, blocks, masks);
        }
        let mut carry = self.keys.start(simd);
        let key = self.keys.key(simd, 0, &mut carry);
        for (i, x) in blocks.iter_mut().enumerate() {
            *x = *x ^ masks.with(simd, i, key);
        }
        rounds!(round < K::ROUNDS => {
            let key = self.keys.key(simd, round, &mut carry);
            for x in blocks.iter_mut() {
                *x = x.aesenc(key);
            }
            work.step(simd, blocks, round, K::ROUNDS - 1);
        });
        let key = self.keys.key(simd, K::ROUNDS, &mut carry);
        for (i, x) in blocks.iter_mut().enumerate() {
            *x = x.aesenclast(masks.with(simd, i, key));
        }
    }
}
