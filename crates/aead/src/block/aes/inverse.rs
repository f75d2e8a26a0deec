//! AES in both directions: the equivalent inverse cipher (FIPS 197, 5.3.5).

use zeroize::ZeroizeOnDrop;

use super::{Aes, rounds, sliced::SlicedAes};
use crate::{
    block::{BlockCipher, Expanded, Interleave, Inverse, InverseKeys, Masks, NoMask, OnTheFly, mask},
    sealed::Sealed,
    simd::{Isa, Reg, Simd},
};

/// AES in both directions.
///
/// ```
/// use sealwright::{Isa, block::aes::BothWays, mode::ecb};
///
/// let isa = Isa::best();
/// let cipher = BothWays::<11>::new(isa, &[7; 16]); // 11 round keys: AES-128
/// let mut blocks = [1; 32];
/// ecb::encrypt(isa, &cipher, &mut blocks);
/// ecb::decrypt(isa, &cipher, &mut blocks);
/// assert_eq!(blocks, [1; 32]);
/// ```
#[derive(Clone, Debug)]
pub struct BothWays<const KEYS: usize> {
    forward: Aes<Expanded<KEYS>>,
    inverse: InverseKeys<KEYS>,
}

impl<const KEYS: usize> ZeroizeOnDrop for BothWays<KEYS> {}

#[cfg(feature = "ocb")]
impl<const KEYS: usize> BothWays<KEYS> {
    /// Without keys; `rekey` expands one.
    pub(crate) fn empty() -> Self {
        BothWays { forward: Aes::with(Expanded::empty()), inverse: InverseKeys::empty() }
    }
}

macro_rules! key_sizes {
    ($($bytes:literal $keys:literal),*) => {
        $(
            impl BothWays<$keys> {
                /// Expands `key` for both directions.
                pub fn new(isa: Isa, key: &[u8; $bytes]) -> Self {
                    let forward = Aes::<Expanded<$keys>>::new(isa, key);
                    let inverse = InverseKeys::new(isa, &forward.keys);
                    BothWays { forward, inverse }
                }

                /// Expands another key in place.
                #[cfg(feature = "ocb")]
                pub(crate) fn rekey(&mut self, isa: Isa, key: &[u8; $bytes]) {
                    self.forward.keys.expand(isa, &OnTheFly::new(key));
                    self.inverse.invert(isa, &self.forward.keys);
                }
            }
        )*
    };
}
key_sizes!(16 11, 24 13, 32 15);

impl<const KEYS: usize> Sealed for BothWays<KEYS> {}
impl<const KEYS: usize> BlockCipher for BothWays<KEYS> {
    const STATE_BYTES: usize = 2 * 16 * KEYS;
    type Sliced = SlicedAes;
    const AES_ROUNDS: usize = KEYS - 1;

    #[inline(always)]
    fn round_key<S: Simd>(&self, simd: S, round: usize) -> S::Reg {
        self.forward.round_key(simd, round)
    }

    fn sliced<S: Simd>(&self, simd: S) -> SlicedAes {
        self.forward.sliced(simd)
    }

    #[inline(always)]
    fn encrypt_interleaved<S: Simd, const W: usize, B: Interleave<S>>(
        &self,
        simd: S,
        blocks: &mut [S::Reg; W],
        work: &mut B,
    ) {
        self.forward.encrypt_interleaved(simd, blocks, work);
    }

    #[inline(always)]
    fn encrypt_masked<S: Simd, const W: usize, M: Masks<S>>(&self, simd: S, blocks: &mut [S::Reg; W], masks: &M) {
        self.forward.encrypt_masked(simd, blocks, masks);
    }
}

impl<const KEYS: usize> Inverse for BothWays<KEYS> {
    type SlicedBothWays = SlicedBothWays;

    fn sliced_both_ways<S: Simd>(&self, simd: S) -> SlicedBothWays {
        SlicedBothWays { forward: self.forward.sliced(simd), inverse: self.sliced_inverse(simd) }
    }

    #[inline(always)]
    fn decrypt<S: Simd, const W: usize>(&self, simd: S, blocks: &mut [S::Reg; W]) {
        self.inverse_rounds(simd, blocks, &NoMask);
    }

    #[inline(always)]
    fn decrypt_masked<S: Simd, const W: usize, M: Masks<S>>(&self, simd: S, blocks: &mut [S::Reg; W], masks: &M) {
        self.inverse_rounds(simd, blocks, masks);
    }
}

/// Bitsliced AES in both directions.
#[derive(Clone, Debug)]
pub struct SlicedBothWays {
    forward: SlicedAes,
    inverse: SlicedAes,
}

impl Sealed for SlicedBothWays {}
impl BlockCipher for SlicedBothWays {
    const STATE_BYTES: usize = size_of::<Self>();
    type Sliced = SlicedAes;

    fn sliced<S: Simd>(&self, _: S) -> SlicedAes {
        self.forward.clone()
    }

    #[inline(always)]
    fn encrypt_interleaved<S: Simd, const W: usize, B: Interleave<S>>(
        &self,
        simd: S,
        blocks: &mut [S::Reg; W],
        work: &mut B,
    ) {
        self.forward.encrypt_interleaved(simd, blocks, work);
    }
}

impl Inverse for SlicedBothWays {
    type SlicedBothWays = SlicedBothWays;

    fn sliced_both_ways<S: Simd>(&self, _: S) -> SlicedBothWays {
        self.clone()
    }

    #[inline(always)]
    fn decrypt<S: Simd, const W: usize>(&self, simd: S, blocks: &mut [S::Reg; W]) {
        self.inverse.decrypt(simd, blocks);
    }
}

impl<const KEYS: usize> BothWays<KEYS> {
    #[inline(never)]
    fn sliced_inverse<S: Simd>(&self, simd: S) -> SlicedAes {
        let mut sliced = SlicedAes::empty();
        for round in 0..KEYS {
            sliced.push(self.inverse.key(simd, round));
        }
        sliced
    }

    /// The whole inverse cipher.
    #[inline(always)]
    fn inverse_rounds<S: Simd, const W: usize, M: Masks<S>>(&self, simd: S, blocks: &mut [S::Reg; W], masks: &M) {
        if !S::AES {
            mask(simd, blocks, masks);
            self.sliced_inverse(simd).decrypt(simd, blocks);
            return mask(simd, blocks, masks);
        }
        let key = self.inverse.key(simd, 0);
        for (i, x) in blocks.iter_mut().enumerate() {
            *x = *x ^ masks.with(simd, i, key);
        }
        rounds!(round < KEYS - 1 => {
            let key = self.inverse.key(simd, round);
            for x in blocks.iter_mut() {
                *x = x.aesdec(key);
            }
        });
        let key = self.inverse.key(simd, KEYS - 1);
        for (i, x) in blocks.iter_mut().enumerate() {
            *x = x.aesdeclast(masks.with(simd, i, key));
        }
    }
}
