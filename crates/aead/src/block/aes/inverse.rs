//! AES in both directions: the equivalent inverse cipher (FIPS 197, 5.3.5).

use zeroize::ZeroizeOnDrop;

use super::{Aes, pack, rounds, sliced, unpack};
use crate::{
    block::{BlockCipher, Expanded, Interleave, Inverse, InverseKeys, Masks, NoMask, mask},
    sealed::Sealed,
    simd::{Isa, Reg, Simd},
};

/// AES in both directions.
#[derive(Clone, Debug)]
pub struct BothWays<const KEYS: usize> {
    forward: Aes<Expanded<KEYS>>,
    inverse: InverseKeys<KEYS>,
}

impl<const KEYS: usize> ZeroizeOnDrop for BothWays<KEYS> {}

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
            }
        )*
    };
}
key_sizes!(16 11, 24 13, 32 15);

impl<const KEYS: usize> Sealed for BothWays<KEYS> {}
impl<const KEYS: usize> BlockCipher for BothWays<KEYS> {
    const STATE_BYTES: usize = 2 * 16 * KEYS;

    #[inline(always)]
    fn encrypt_interleaved<S: Simd, const W: usize, B: Interleave<S>>(
        &self,
        simd: S,
        blocks: &mut [S::Reg; W],
        beside: &mut B,
    ) {
        self.forward.encrypt_interleaved(simd, blocks, beside);
    }

    #[inline(always)]
    fn encrypt_masked<S: Simd, const W: usize, M: Masks<S>>(&self, simd: S, blocks: &mut [S::Reg; W], masks: &M) {
        self.forward.encrypt_masked(simd, blocks, masks);
    }
}

impl<const KEYS: usize> Inverse for BothWays<KEYS> {
    #[inline(always)]
    fn decrypt<S: Simd, const W: usize>(&self, simd: S, blocks: &mut [S::Reg; W]) {
        self.inverse_rounds(simd, blocks, &NoMask);
    }

    #[inline(always)]
    fn decrypt_masked<S: Simd, const W: usize, M: Masks<S>>(&self, simd: S, blocks: &mut [S::Reg; W], masks: &M) {
        self.inverse_rounds(simd, blocks, masks);
    }
}

impl<const KEYS: usize> BothWays<KEYS> {
    /// The whole inverse cipher.
    #[inline(always)]
    fn inverse_rounds<S: Simd, const W: usize, M: Masks<S>>(&self, simd: S, blocks: &mut [S::Reg; W], masks: &M) {
        if !S::AES {
            mask(simd, blocks, masks);
            self.decrypt_sliced(simd, blocks);
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

    /// The whole inverse cipher in bit slices.
    #[inline(always)]
    fn decrypt_sliced<S: Simd, const W: usize>(&self, simd: S, blocks: &mut [S::Reg; W]) {
        let mut state = pack(blocks);
        state.add_key(&sliced(self.inverse.key(simd, 0)));
        for round in 1..KEYS - 1 {
            state.inverse_round(&sliced(self.inverse.key(simd, round)));
        }
        state.inverse_last_round(&sliced(self.inverse.key(simd, KEYS - 1)));
        unpack(simd, &state, blocks);
    }
}
