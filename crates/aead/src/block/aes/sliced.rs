//! Bitsliced AES for levels without AES instructions. The number of rounds is a run-time value, so that such a level
//! compiles each mode once for all key sizes and all sources of round keys.

use crate::{
    block::{BlockCipher, Interleave},
    sealed::Sealed,
    simd::{
        Reg, Simd,
        bitslice::{Key, Slices},
    },
};

/// The most round keys: those of AES-256.
const MOST: usize = 15;

/// Bitsliced AES.
#[derive(Clone)]
pub struct SlicedAes {
    keys: [Key; MOST],
    /// Round keys in use.
    count: usize,
}
wipe_on_drop!(SlicedAes { keys: [Key::ZERO; MOST] });

impl core::fmt::Debug for SlicedAes {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SlicedAes").field("keys", &self.count).finish_non_exhaustive()
    }
}

impl SlicedAes {
    /// Without round keys.
    pub(super) fn empty() -> Self {
        SlicedAes { keys: [Key::ZERO; MOST], count: 0 }
    }

    /// Adds the next round key, which is the same in every lane.
    pub(super) fn push<R: Reg>(&mut self, key: R) {
        self.keys[self.count] = Key::new(&key.first_block());
        self.count += 1;
    }

    /// The first round key, the middle ones, and the last.
    fn parts(&self) -> (&Key, &[Key], &Key) {
        let [first, middle @ .., last] = &self.keys[..self.count] else { panic!("a cipher has several rounds") };
        (first, middle, last)
    }

    /// The inverse cipher, for round keys of the equivalent inverse cipher (FIPS 197, 5.3.5).
    #[inline(never)]
    pub(super) fn decrypt<S: Simd, const W: usize>(&self, simd: S, blocks: &mut [S::Reg; W]) {
        let (first, middle, last) = self.parts();
        let mut state = pack(blocks);
        state.add_key(first);
        for key in middle {
            state.inverse_round(key);
        }
        state.inverse_last_round(last);
        unpack(simd, &state, blocks);
    }

    #[inline(never)]
    fn encrypt_all<S: Simd, const W: usize>(&self, simd: S, blocks: &mut [S::Reg; W]) {
        let (first, middle, last) = self.parts();
        let mut state = pack(blocks);
        state.add_key(first);
        for key in middle {
            state.round(key);
        }
        state.last_round(last);
        unpack(simd, &state, blocks);
    }
}

impl Sealed for SlicedAes {}
impl BlockCipher for SlicedAes {
    const STATE_BYTES: usize = size_of::<Self>();
    type Sliced = SlicedAes;

    fn sliced<S: Simd>(&self, _: S) -> SlicedAes {
        self.clone()
    }

    /// Leaves all work to the caller: in portable code the state is in memory anyway, so that interleaving gains
    /// nothing.
    #[inline(always)]
    fn encrypt_interleaved<S: Simd, const W: usize, B: Interleave<S>>(
        &self,
        simd: S,
        blocks: &mut [S::Reg; W],
        _: &mut B,
    ) {
        self.encrypt_all(simd, blocks);
    }
}

/// The four blocks of a register, each as two halves.
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

/// The slices of these blocks.
#[inline(always)]
pub(in crate::block) fn pack<R: Reg, const W: usize>(blocks: &[R; W]) -> Slices<W> {
    Slices::pack(&blocks.map(group))
}

/// The blocks of these slices.
#[inline(always)]
pub(in crate::block) fn unpack<S: Simd, const W: usize>(simd: S, state: &Slices<W>, blocks: &mut [S::Reg; W]) {
    for (x, halves) in blocks.iter_mut().zip(state.unpack()) {
        let mut bytes = [0; 64];
        for (bytes, half) in bytes.chunks_exact_mut(8).zip(halves.as_flattened()) {
            bytes.copy_from_slice(&half.to_le_bytes());
        }
        *x = simd.load(&bytes);
    }
}
