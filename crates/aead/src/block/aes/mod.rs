//! AES (FIPS 197) for a batch of registers; where the round keys come from is a type.

use zeroize::ZeroizeOnDrop;

use crate::sealed::Sealed;

#[cfg(any(feature = "ocb", feature = "raw", feature = "cbc", feature = "rustcrypto"))]
mod inverse;

use super::{BlockCipher, Expanded, Interleave, Masks, NoInterleave, NoMask, OnTheFly, RoundKeys, mask};
use crate::{
    error::KeyLengthError,
    simd::{
        Isa, Reg, Simd,
        bitslice::{self, Slices},
    },
};

/// AES with the round keys `K`.
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
/// AES-128, round keys computed as the rounds go.
pub type Aes128OnTheFly = Aes<OnTheFly<16>>;
/// AES-192, round keys computed as the rounds go.
pub type Aes192OnTheFly = Aes<OnTheFly<24>>;
/// AES-256, round keys computed as the rounds go.
pub type Aes256OnTheFly = Aes<OnTheFly<32>>;

// The round keys wipe themselves.
impl<K: ZeroizeOnDrop> ZeroizeOnDrop for Aes<K> {}

#[cfg(any(feature = "ocb", feature = "raw", feature = "cbc", feature = "rustcrypto"))]
pub use inverse::BothWays;

/// A key of AES, by its length.
#[derive(Clone, Copy)]
pub(crate) enum Key<'a> {
    Aes128(&'a [u8; 16]),
    Aes192(&'a [u8; 24]),
    Aes256(&'a [u8; 32]),
}

impl<'a> Key<'a> {
    /// The one place where the length of an AES key is looked at.
    ///
    /// # Errors
    /// [`KeyLengthError`] unless `key` has 16, 24 or 32 bytes.
    pub(crate) fn new(key: &'a [u8]) -> Result<Self, KeyLengthError> {
        if let Ok(key) = key.try_into() {
            return Ok(Key::Aes128(key));
        }
        if let Ok(key) = key.try_into() {
            return Ok(Key::Aes192(key));
        }
        key.try_into().map(Key::Aes256).map_err(|_| KeyLengthError::new(&[16, 24, 32], key.len()))
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
                /// Keeps `key` as it is.
                pub fn new(key: &[u8; $bytes]) -> Self {
                    Aes { keys: OnTheFly::new(key) }
                }
            }
        )*
    };
}
key_sizes!(16 11, 24 13, 32 15);

/// The body once for each round from 1 to before `$end`, so that round numbers are constants whatever the optimiser
/// thinks of the loop.
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
pub(super) use rounds;

impl<K: RoundKeys> Sealed for Aes<K> {}
impl<K: RoundKeys> BlockCipher for Aes<K> {
    const STATE_BYTES: usize = K::STATE_BYTES;

    #[inline(always)]
    fn encrypt_interleaved<S: Simd, const W: usize, B: Interleave<S>>(
        &self,
        simd: S,
        blocks: &mut [S::Reg; W],
        beside: &mut B,
    ) {
        self.rounds(simd, blocks, beside, &NoMask);
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

    /// The round keys, to replace some.
    #[inline(always)]
    pub(crate) fn round_keys_mut(&mut self) -> &mut K {
        &mut self.keys
    }

    /// Where the round keys come from.
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
        beside: &mut B,
        masks: &M,
    ) {
        if !S::AES {
            mask(simd, blocks, masks);
            self.encrypt_sliced(simd, blocks, beside);
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
            beside.step(simd, blocks, round, K::ROUNDS - 1);
        });
        let key = self.keys.key(simd, K::ROUNDS, &mut carry);
        for (i, x) in blocks.iter_mut().enumerate() {
            *x = x.aesenclast(masks.with(simd, i, key));
        }
    }

    /// The whole cipher in bit slices.
    #[inline(always)]
    fn encrypt_sliced<S: Simd, const W: usize, B: Interleave<S>>(
        &self,
        simd: S,
        blocks: &mut [S::Reg; W],
        beside: &mut B,
    ) {
        let mut state = pack(blocks);
        let mut carry = self.keys.start(simd);
        state.add_key(&sliced(self.keys.key(simd, 0, &mut carry)));
        for round in 1..K::ROUNDS {
            state.round(&sliced(self.keys.key(simd, round, &mut carry)));
            beside.step(simd, blocks, round, K::ROUNDS - 1);
        }
        state.last_round(&sliced(self.keys.key(simd, K::ROUNDS, &mut carry)));
        unpack(simd, &state, blocks);
    }
}

/// The four blocks of a register, as halves.
#[inline(always)]
fn group<R: Reg>(register: R) -> [[u64; 2]; 4] {
    const { assert!(R::BLOCKS <= 4, "bit slices take four blocks a group") };
    let mut bytes = [0; 64];
    register.store(&mut bytes);
    let mut halves = [[0; 2]; 4];
    for (half, bytes) in halves.as_flattened_mut().iter_mut().zip(bytes.chunks_exact(8)) {
        let mut word = [0; 8];
        word.copy_from_slice(bytes);
        *half = u64::from_le_bytes(word);
    }
    halves
}

#[inline(always)]
pub(super) fn pack<R: Reg, const W: usize>(blocks: &[R; W]) -> Slices<W> {
    Slices::pack(&blocks.map(group))
}

/// The slices of a round key, which is the same in every lane.
#[inline(always)]
fn sliced<R: Reg>(key: R) -> bitslice::Key {
    bitslice::Key::new(&key.first_block())
}

#[inline(always)]
pub(super) fn unpack<S: Simd, const W: usize>(simd: S, state: &Slices<W>, blocks: &mut [S::Reg; W]) {
    for (x, halves) in blocks.iter_mut().zip(state.unpack()) {
        let mut bytes = [0; 64];
        for (bytes, half) in bytes.chunks_exact_mut(8).zip(halves.as_flattened()) {
            bytes.copy_from_slice(&half.to_le_bytes());
        }
        *x = simd.load(&bytes);
    }
}
