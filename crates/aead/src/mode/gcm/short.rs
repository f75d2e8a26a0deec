//! Short messages at a level of wide registers: the associated data in one register, the text in up to ten.
//!
//! What costs time here is the number of instructions, because a processor works on the next message as far as it sees ahead.
//! So there are no batches, no groups and no counter under way: each width is straight code, in a function without the others' frame.

use super::kernel::{Fused, lengths};
use crate::{
    block::{BlockCipher, aes::rounds},
    ghash::Ghash,
    simd::{Block, Logic, Outlined, Reg, Simd, counter_zero},
};

/// Registers of the longest text, with the first counter block.
const WIDEST: usize = 14;
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
    pub(super) fn short<S: Simd>(&mut self, simd: S) -> Block {
        match self.text.len().div_ceil(16) / LANES {
            0 => self.reborrow().few::<S, 1>(simd),
            1 => self.reborrow().few::<S, 2>(simd),
            2 => self.reborrow().few::<S, 3>(simd),
            3 => self.reborrow().few::<S, 4>(simd),
            4 => self.reborrow().few::<S, 5>(simd),
            5 => self.reborrow().few::<S, 6>(simd),
            6 => self.reborrow().few::<S, 7>(simd),
            7 => self.reborrow().few::<S, 8>(simd),
            8 => self.reborrow().few::<S, 9>(simd),
            9 => self.reborrow().few::<S, 10>(simd),
            _ => simd.outlined(More(self)),
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
        let (keystream, mut sum) = begin::<S, C, G, W>(simd, cipher, ghash, nonce, ad, blocks);
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

/// The keystream of `W` registers, with the first counter block encrypted in its last lane, and the hash with the associated data of a
/// text of so many blocks.
#[inline(always)]
fn begin<S: Simd, C: BlockCipher, G: Ghash, const W: usize>(
    simd: S,
    cipher: &C,
    ghash: &G,
    nonce: &[u8],
    ad: &[u8],
    blocks: usize,
) -> ([S::Reg; W], G::Sum<S::Reg>) {
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
    (keystream, sum)
}

/// The longer ones of the short messages, in a function with a frame of its own.
struct More<'a, 'b, C, G, const SEAL: bool>(&'b mut Fused<'a, C, G, SEAL>);

impl<S: Simd, C: BlockCipher, G: Ghash, const SEAL: bool> Outlined<S> for More<'_, '_, C, G, SEAL> {
    type Output = Block;

    #[inline(always)]
    fn run(self, simd: S) -> Block {
        let fused = self.0.reborrow();
        if fused.text.len() < 12 * LANES * 16 - 15 { fused.more::<S, 12>(simd) } else { fused.more::<S, WIDEST>(simd) }
    }
}

impl<C: BlockCipher, G: Ghash, const SEAL: bool> Fused<'_, C, G, SEAL> {
    /// The same, of one or two registers less; each is read, written and hashed in its turn.
    #[inline(always)]
    fn more<S: Simd, const W: usize>(self, simd: S) -> Block {
        let Fused { cipher, ghash, nonce, ad, text } = self;
        let (row, blocks) = (S::Reg::BYTES, text.len().div_ceil(16));
        let (keystream, mut sum) = begin::<S, C, G, W>(simd, cipher, ghash, nonce, ad, blocks);
        let lengths = simd.splat(&lengths(ad.len(), text.len()));
        let key = ghash.window(blocks + 1, blocks + 9);
        let mut tail = [simd.zero(); 4];
        rounds!(n < W / 2 + 1 => {
            let i = n - 1;
            let at = 2 * i * row;
            let (a, b) = (keystream[2 * i], keystream[2 * i + 1]);
            if i + 2 < W / 2 {
                let (first, second) = text[at..at + 2 * row].split_at_mut(row);
                let old = [simd.load(first), simd.load(second)];
                let new = [old[0] ^ a, old[1] ^ b];
                new[0].store(first);
                new[1].store(second);
                G::pair(simd, key, &mut sum, 2 * i * LANES, if SEAL { new } else { old }, 2 * LANES);
            } else {
                if i + 2 == W / 2 {
                    // All of it is read before it is written, as above.
                    for (j, old) in tail.iter_mut().enumerate() {
                        *old = simd.load_partial(behind(text, at + j * row));
                    }
                }
                let mut pair = if i + 2 == W / 2 { [tail[0], tail[1]] } else { [tail[2], tail[3]] };
                for (j, (x, k)) in pair.iter_mut().zip([a, b]).enumerate() {
                    let now = behind(text, at + j * row);
                    let new = (*x ^ k).keep(now.len());
                    new.store_partial(now);
                    *x = (if SEAL { new } else { *x }).replace_lane(blocks.wrapping_sub((2 * i + j) * LANES), lengths);
                }
                if 2 * i * LANES <= blocks {
                    G::pair(simd, key, &mut sum, 2 * i * LANES, pair, 2 * LANES);
                }
            }
        });
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
