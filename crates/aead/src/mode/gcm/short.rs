//! Short messages at a level of wide registers: the associated data in one register, the text in up to ten.
//!
//! What costs time here is the number of instructions, because a processor works on the next message as far as it sees ahead.
//! So there are no batches, no groups and no counter under way: each width is straight code, in a function without the others' frame.

use super::kernel::{Fused, lengths};
use crate::{
    block::BlockCipher,
    ghash::Ghash,
    simd::{Block, Logic, Reg, Simd, counter_zero},
};

/// Registers of the longest text, with the first counter block.
const WIDEST: usize = 10;
/// Blocks of a register.
const LANES: usize = 4;

/// The last bytes of the counter blocks of `W` registers, under a nonce of 96 bits: those of the text, from 2 on, and in the last
/// lane that of the tag, 1.
#[repr(C, align(64))]
struct Numbers<const W: usize>([[Block; LANES]; W]);

impl<const W: usize> Numbers<W> {
    const NEW: Self = {
        let mut numbers = [[[0; 16]; LANES]; W];
        let mut i = 0;
        while i < W * LANES {
            numbers[i / LANES][i % LANES][15] = if i + 1 < W * LANES { i as u8 + 2 } else { 1 };
            i += 1;
        }
        Numbers(numbers)
    };
}

impl<C: BlockCipher, G: Ghash, const SEAL: bool> Fused<'_, C, G, SEAL> {
    /// Whether short messages go this way with this cipher, hash and level.
    pub(super) const fn has_short<S: Simd>() -> bool {
        S::AES && S::Reg::BLOCKS == LANES && G::LANES
    }

    /// Whether this message is short.
    #[inline(always)]
    pub(super) fn is_short(&self) -> bool {
        self.nonce.len() == 12 && self.ad.len() <= LANES * 16 && self.text.len() <= (WIDEST * LANES - 1) * 16
    }

    /// A short message; returns the tag, 16 bytes of it.
    #[inline(always)]
    pub(super) fn short<S: Simd>(self, simd: S) -> Block {
        match self.text.len().div_ceil(16) / LANES {
            0 => self.few::<S, 1>(simd),
            1 => self.few::<S, 2>(simd),
            2 => self.few::<S, 3>(simd),
            3 => self.few::<S, 4>(simd),
            4 => self.few::<S, 5>(simd),
            5 => self.few::<S, 6>(simd),
            6 => self.few::<S, 7>(simd),
            7 => self.few::<S, 8>(simd),
            8 => self.few::<S, 9>(simd),
            _ => self.few::<S, WIDEST>(simd),
        }
    }

    /// A text that with the first counter block fills `W` registers, the last of them in part.
    #[inline(always)]
    fn few<S: Simd, const W: usize>(self, simd: S) -> Block {
        let Fused { cipher, ghash, nonce, ad, mut text } = self;
        // A text of no bytes may have no address either; see `behind`.
        let mut nowhere = [0];
        if W == 1 && text.is_empty() {
            text = &mut nowhere[..0];
        }
        let (row, blocks) = (S::Reg::BYTES, text.len().div_ceil(16));
        let mut keystream = [simd.splat(&counter_zero(nonce).to_le_bytes()); W];
        for (counter, number) in keystream.iter_mut().zip(&const { &Numbers::<W>::NEW }.0) {
            *counter = *counter ^ simd.load(number.as_flattened());
        }
        cipher.encrypt(simd, &mut keystream);
        let mut sum = ghash.start(simd);
        if !ad.is_empty() {
            let key = ghash.window(ad.len().div_ceil(16) + blocks + 1, LANES);
            G::single(simd, key, &mut sum, 0, simd.load_partial(ad), LANES);
        }
        // All is read before anything is written: a read beside what was just written would wait for it. All but the last two
        // registers are full; the lengths are behind the text before the keystream is known.
        let (ones, lengths) = (simd.splat_words(!0), simd.splat(&lengths(ad.len(), text.len())));
        let mut ciphertext = [simd.zero(); W];
        for (i, old) in ciphertext.iter_mut().enumerate() {
            *old = if i + 2 < W {
                simd.load(&text[i * row..])
            } else {
                simd.load_partial(behind(text, i * row)).replace_lane(blocks.wrapping_sub(i * LANES), lengths)
            };
        }
        for (i, (key, text_or_lengths)) in keystream.iter().zip(&mut ciphertext).enumerate() {
            let old = *text_or_lengths;
            let new = if i + 2 < W {
                let new = old ^ *key;
                new.store(&mut text[i * row..]);
                new
            } else {
                let now = behind(text, i * row);
                let new = key.ternary::<KEEP_XOR>(ones.keep(now.len()), old);
                new.store_partial(now);
                new
            };
            if SEAL {
                *text_or_lengths = new;
            }
        }
        let key = ghash.window(blocks + 1, W * LANES);
        for (i, registers) in ciphertext.chunks(2).enumerate() {
            match registers {
                [a, b] => G::pair(simd, key, &mut sum, 2 * i * LANES, [*a, *b], 2 * LANES),
                [a, ..] => G::single(simd, key, &mut sum, 2 * i * LANES, *a, LANES),
                [] => {}
            }
        }
        (G::finish_open(simd, &sum) ^ keystream[W - 1].last_lane()).first_block()
    }
}

/// What is left of a text from `at` on. Where that is nothing it is a place in memory all the same: processors are slow to leave out
/// bytes of addresses that there are not.
#[inline(always)]
fn behind(text: &mut [u8], at: usize) -> &mut [u8] {
    let at = text.len().min(at);
    &mut text[at..]
}

/// As [`Logic::ternary`](crate::simd::Logic::ternary) has it: x and y, xor z.
const KEEP_XOR: i32 = 0x6a;
