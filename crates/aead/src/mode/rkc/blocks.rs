//! C_i = AES-256_{K_i}(P_i) and X_i = C_i xor P_i for a batch of blocks, each in a lane with its own key.

use super::reading::BATCH;
use crate::{
    block::multi_key::{Keys, decrypt, encrypt},
    simd::{Block, Kernel, Reg, Simd, sha::Digest},
};

/// The keys of a batch, first and second halves separately, and its X values.
#[repr(align(64))]
pub(super) struct Batch {
    halves: [[Block; BATCH]; 2],
    pub(super) x: [u8; 16 * BATCH],
}
wipe_on_drop!(Batch { halves: [[[0; 16]; BATCH]; 2], x: [0; 16 * BATCH] });

impl Batch {
    pub(super) fn new() -> Self {
        Batch { halves: [[[0; 16]; BATCH]; 2], x: [0; 16 * BATCH] }
    }

    /// K_i = K_0 xor offset i.
    #[inline(always)]
    pub(super) fn key(&mut self, i: usize, key: &Digest, offset: &Digest) {
        for (half, at) in self.halves.iter_mut().zip([0, 2]) {
            let [first, second] = [at, at + 1].map(|at| (key[at] ^ offset[at]).to_be_bytes());
            half[i][..8].copy_from_slice(&first);
            half[i][8..].copy_from_slice(&second);
        }
    }
}

/// Encrypts (`SEAL`) or decrypts the text of a batch in place.
pub(super) struct Blocks<'a, const SEAL: bool> {
    pub(super) batch: &'a mut Batch,
    pub(super) text: &'a mut [u8],
}

/// Registers that are encrypted together.
const WIDTH: usize = 4;

impl<const SEAL: bool> Kernel for Blocks<'_, SEAL> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) {
        let Batch { halves: [first, second], x } = self.batch;
        let (first, second) = (first.as_flattened(), second.as_flattened());
        let mut at = 0;
        for text in self.text.chunks_exact_mut(WIDTH * S::Reg::BYTES) {
            let (mut keys, mut blocks) = ([[simd.zero(); WIDTH]; 2], [simd.zero(); WIDTH]);
            for i in 0..WIDTH {
                let from = at + i * S::Reg::BYTES;
                keys[0][i] = simd.load(&first[from..]);
                keys[1][i] = simd.load(&second[from..]);
                blocks[i] = simd.load(&text[i * S::Reg::BYTES..]);
            }
            let before = blocks;
            apply::<S, WIDTH, SEAL>(simd, keys, &mut blocks);
            for i in 0..WIDTH {
                blocks[i].store(&mut text[i * S::Reg::BYTES..]);
                (blocks[i] ^ before[i]).store(&mut x[at + i * S::Reg::BYTES..]);
            }
            at += WIDTH * S::Reg::BYTES;
        }
        let rest = self.text.len() / (WIDTH * S::Reg::BYTES) * (WIDTH * S::Reg::BYTES);
        for text in self.text[rest..].chunks_mut(S::Reg::BYTES) {
            let end = at + text.len();
            let keys = [[simd.load_partial(&first[at..end])], [simd.load_partial(&second[at..end])]];
            let before = simd.load_partial(text);
            let mut blocks = [before];
            apply::<S, 1, SEAL>(simd, keys, &mut blocks);
            blocks[0].store_partial(text);
            (blocks[0] ^ before).store_partial(&mut x[at..end]);
            at = end;
        }
    }
}

#[inline(always)]
fn apply<S: Simd, const W: usize, const SEAL: bool>(simd: S, keys: Keys<S::Reg, W>, blocks: &mut [S::Reg; W]) {
    if SEAL {
        encrypt(simd, keys, blocks);
    } else {
        decrypt(simd, keys, blocks);
    }
}
