//! Short messages at levels with wide registers: associated data in one register, text and first counter block in up to
//! 14, or 9 without masks, where a key of one message goes up to 10.
//!
//! The time depends on the number of instructions here, because the processor starts on the next message as soon as it
//! sees it in its window. So there are no batches, no groups and no running counter: the code for each width is
//! straight-line, and with masks each is a function with a frame of its own.

use super::kernel::{Fused, lengths};
use crate::{
    block::{BlockCipher, aes::rounds},
    ghash::Ghash,
    simd::{Block, Logic, Outlined, Reg, Simd, counter_zero},
    tag::Whole,
};

/// The registers of the longest text, including the first counter block.
const fn most_registers<S: Simd>() -> usize {
    if S::MASKS { 14 } else { 9 }
}

/// The last bytes of the counter blocks of `W` registers of up to four blocks, under a nonce of 96 bits: from 2 on for
/// the text, and 1, for the tag, in the last lane.
#[repr(C, align(64))]
struct Numbers<const W: usize>([[Block; 4]; W]);

impl<const W: usize> Numbers<W> {
    const fn new(lanes: usize) -> Self {
        let mut numbers = [[[0; 16]; 4]; W];
        let mut i = 0;
        while i < W * lanes {
            numbers[i / 4][i % 4][15] = if i + 1 < W * lanes { i as u8 + 2 } else { 1 };
            i += 1;
        }
        Numbers(numbers)
    }
}

impl<C: BlockCipher, G: Ghash, const SEAL: bool> Fused<'_, C, G, SEAL> {
    /// Whether this path is used for short messages with this cipher, hash and level.
    pub(super) const fn has_short<S: Simd>() -> bool {
        S::AES && S::Reg::BLOCKS > 1 && G::LANES
    }

    /// Whether this message is short.
    #[inline(always)]
    pub(super) fn is_short<S: Simd>(&self) -> bool {
        let most = const { most_registers::<S>() * S::Reg::BYTES - 16 };
        self.nonce.len() == 12 && self.ad.len() <= S::Reg::BYTES && self.text.len() <= most
    }

    /// A short message; returns the tag, 16 bytes.
    #[inline(always)]
    pub(super) fn short<S: Simd>(&mut self, simd: S) -> Block {
        if const { S::MASKS } {
            if self.text.len() > const { 10 * S::Reg::BYTES - 16 } {
                return simd.outlined(More(self));
            }
            self.of_registers::<S, 10>(simd)
        } else {
            self.of_registers::<S, 9>(simd)
        }
    }

    /// A message whose text and first counter block are in at most `MOST` registers.
    #[inline(always)]
    fn of_registers<S: Simd, const MOST: usize>(&mut self, simd: S) -> Block {
        if const { S::MASKS } {
            let sum = self.hashed_ad(simd);
            return self.of_width::<S, MOST>(simd, &mut simd.zero(), sum);
        }
        // A partial block needs branches, which are written once for all widths. The expressions let the compiler see
        // that these are at most 16 bytes.
        let len = self.text.len();
        let end = len.saturating_sub(1) / 16 * 16;
        let end = end..len.min(end + 16);
        let mut last = simd.load_partial(&self.text[end.clone()]);
        let sum = self.hashed_ad(simd);
        let tag = self.of_width::<S, MOST>(simd, &mut last, sum);
        if !len.is_multiple_of(S::Reg::BYTES) {
            last.store_partial(&mut self.text[end]);
        }
        tag
    }

    /// Selects the code for the number of registers of the text. Without masks, `last` is the last block of the text,
    /// in the first lane: it is loaded before this call and stored after it, unless the text ends with a whole
    /// register.
    #[inline(always)]
    fn of_width<S: Simd, const MOST: usize>(&mut self, simd: S, last: &mut S::Reg, sum: G::Sum<S::Reg>) -> Block {
        match self.text.len().div_ceil(16) / S::Reg::BLOCKS {
            0 => self.reborrow().few::<S, 1>(simd, last, sum),
            1 if const { MOST > 2 } => self.reborrow().few::<S, 2>(simd, last, sum),
            2 if const { MOST > 3 } => self.reborrow().few::<S, 3>(simd, last, sum),
            3 if const { MOST > 4 } => self.reborrow().few::<S, 4>(simd, last, sum),
            4 if const { MOST > 5 } => self.reborrow().few::<S, 5>(simd, last, sum),
            5 if const { MOST > 6 } => self.reborrow().few::<S, 6>(simd, last, sum),
            6 if const { MOST > 7 } => self.reborrow().few::<S, 7>(simd, last, sum),
            7 if const { MOST > 8 } => self.reborrow().few::<S, 8>(simd, last, sum),
            8 if const { MOST > 9 } => self.reborrow().few::<S, 9>(simd, last, sum),
            _ => self.reborrow().few::<S, MOST>(simd, last, sum),
        }
    }

    /// Hashes the associated data, once for all widths.
    #[inline(always)]
    fn hashed_ad<S: Simd>(&self, simd: S) -> G::Sum<S::Reg> {
        let mut sum = self.ghash.start(simd);
        let (ad, blocks) = (self.ad, self.text.len().div_ceil(16));
        if !ad.is_empty() {
            let key = self.ghash.window(ad.len().div_ceil(16) + blocks + 1, S::Reg::BLOCKS);
            let block = if ad.len() <= 16 { simd.load_block_partial(ad) } else { simd.load_partial(ad) };
            G::single(simd, key, &mut sum, 0, block, S::Reg::BLOCKS);
        }
        sum
    }

    /// A text that together with the first counter block fills `W` registers, the last of them possibly in part.
    #[inline(always)]
    fn few<S: Simd, const W: usize>(self, simd: S, last: &mut S::Reg, mut sum: G::Sum<S::Reg>) -> Block {
        let Fused { cipher, ghash, nonce, ad, mut text } = self;
        // An empty text may have an invalid address; see `behind`.
        let mut nowhere = [0];
        if W == 1 && text.is_empty() {
            text = &mut nowhere[..0];
        }
        let (row, lanes, blocks) = (S::Reg::BYTES, const { S::Reg::BLOCKS }, text.len().div_ceil(16));
        let keystream = keystream::<S, C, W>(simd, cipher, nonce);
        // Everything is loaded before anything is stored, because a load next to a recent store would stall. All but
        // the last two registers are full. The lengths are placed after the text before the keystream is known.
        let (ones, lengths) = (simd.splat_words(!0), simd.splat(&lengths(ad.len(), text.len())));
        // Without masks there are two lanes: the last block is alone in the last register, or the second in the
        // register before.
        let alone = const { !S::MASKS } && blocks % 2 == 1;
        let whole = const { !S::MASKS } && (alone || text.len().is_multiple_of(row));
        let mut ciphertext = [simd.zero(); W];
        for (i, old) in ciphertext.iter_mut().enumerate() {
            let at = i * row;
            *old = if i + 2 < W || (whole && i + 2 == W) {
                simd.load(&text[at..])
            } else if const { S::MASKS } {
                let read = simd.load_partial(behind(text, at));
                // Blocks in this register, after the whole registers before it.
                if i + 1 == W { read.replace_lane(blocks % lanes, lengths) } else { read }
            } else if i + 2 == W {
                let mut first = [0; 16];
                first.copy_from_slice(&text[at..at + 16]);
                simd.splat(&first).replace_last(simd.splat(&last.first_block()))
            } else if alone {
                last.replace_last(lengths)
            } else {
                lengths
            };
        }
        for (i, (key, text_or_lengths)) in keystream.iter().zip(&mut ciphertext).enumerate() {
            let (at, old) = (i * row, *text_or_lengths);
            let new = if i + 2 < W || (whole && i + 2 == W) {
                let new = old ^ *key;
                new.store(&mut text[at..]);
                new
            } else {
                let now = behind(text, at);
                let new = key.ternary::<KEEP_XOR>(ones.keep(now.len()), old);
                if const { S::MASKS } {
                    new.store_partial(now);
                } else if i + 2 == W {
                    now[..16].copy_from_slice(&new.first_block());
                    *last = new.last_lane();
                } else if alone {
                    *last = new;
                }
                new
            };
            if SEAL {
                *text_or_lengths = new;
            }
        }
        let key = ghash.window(blocks + 1, W * lanes);
        for (i, registers) in ciphertext.chunks(2).enumerate() {
            match registers {
                [a, b] => G::pair(simd, key, &mut sum, 2 * i * lanes, [*a, *b], 2 * lanes),
                [a, ..] => G::single(simd, key, &mut sum, 2 * i * lanes, *a, lanes),
                [] => {}
            }
        }
        (G::finish_open(simd, &sum) ^ keystream[W - 1].last_lane()).first_block()
    }
}

/// Seals or opens a message of one key, with a table of so few powers of h that little has to be cleared and wiped.
/// The nonce has 12 bytes, registers hold two blocks; associated data fits into one, text and first counter block into
/// `MOST`.
#[inline(always)]
pub(crate) fn few_blocks<S: Simd, C: BlockCipher, G: Ghash, const SEAL: bool, const MOST: usize>(
    simd: S,
    (cipher, ghash): (&C, &G),
    nonce: &[u8],
    ad: &[u8],
    text: &mut [u8],
) -> Whole {
    let most = const { MOST * S::Reg::BYTES - 16 };
    assert!(nonce.len() == 12 && ad.len() <= S::Reg::BYTES && text.len() <= most, "the message is not short");
    let mut fused = Fused::<C, G, SEAL> { cipher, ghash, nonce, ad, text };
    Whole::of(fused.of_registers::<S, MOST>(simd))
}

/// The keystream of `W` registers, with the first counter block encrypted in its last lane.
#[inline(always)]
fn keystream<S: Simd, C: BlockCipher, const W: usize>(simd: S, cipher: &C, nonce: &[u8]) -> [S::Reg; W] {
    let mut keystream = [simd.splat(&counter_zero(nonce).to_le_bytes()); W];
    let numbers = const { &Numbers::<W>::new(S::Reg::BLOCKS) }.0.as_flattened();
    for (counter, number) in keystream.iter_mut().zip(numbers.chunks_exact(S::Reg::BLOCKS)) {
        *counter = *counter ^ simd.load(number.as_flattened());
    }
    cipher.encrypt(simd, &mut keystream);
    keystream
}

/// The longer of the short messages, in a function with a frame of its own.
struct More<'a, 'b, C, G, const SEAL: bool>(&'b mut Fused<'a, C, G, SEAL>);

impl<S: Simd, C: BlockCipher, G: Ghash, const SEAL: bool> Outlined<S> for More<'_, '_, C, G, SEAL> {
    type Output = Block;

    #[inline(always)]
    fn run(self, simd: S) -> Block {
        let fused = self.0.reborrow();
        if fused.text.len() < 12 * S::Reg::BYTES - 15 { fused.more::<S, 12>(simd) } else { fused.more::<S, 14>(simd) }
    }
}

impl<C: BlockCipher, G: Ghash, const SEAL: bool> Fused<'_, C, G, SEAL> {
    /// The same with one or two registers less; each is loaded, stored and hashed in turn.
    #[inline(always)]
    fn more<S: Simd, const W: usize>(self, simd: S) -> Block {
        let mut sum = self.hashed_ad(simd);
        let Fused { cipher, ghash, nonce, ad, text } = self;
        let (row, lanes, blocks) = (S::Reg::BYTES, const { S::Reg::BLOCKS }, text.len().div_ceil(16));
        let keystream = keystream::<S, C, W>(simd, cipher, nonce);
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
                G::pair(simd, key, &mut sum, 2 * i * lanes, if SEAL { new } else { old }, 2 * lanes);
            } else {
                if i + 2 == W / 2 {
                    // All of it is loaded before it is stored, as above.
                    for (j, old) in tail.iter_mut().enumerate() {
                        *old = simd.load_partial(behind(text, at + j * row));
                    }
                }
                let mut pair = if i + 2 == W / 2 { [tail[0], tail[1]] } else { [tail[2], tail[3]] };
                for (j, (x, k)) in pair.iter_mut().zip([a, b]).enumerate() {
                    let now = behind(text, at + j * row);
                    let new = (*x ^ k).keep(now.len());
                    new.store_partial(now);
                    *x = (if SEAL { new } else { *x }).replace_lane(blocks.wrapping_sub((2 * i + j) * lanes), lengths);
                }
                if 2 * i * lanes <= blocks {
                    G::pair(simd, key, &mut sum, 2 * i * lanes, pair, 2 * lanes);
                }
            }
        });
        (G::finish_open(simd, &sum) ^ keystream[W - 1].last_lane()).first_block()
    }
}

/// The rest of a text from `at` on. An empty rest still has a valid address, because masked accesses are slow if the
/// skipped bytes lie at unmapped addresses.
#[inline(always)]
fn behind(text: &mut [u8], at: usize) -> &mut [u8] {
    let at = text.len().min(at);
    &mut text[at..]
}

/// The table for [`Logic::ternary`](crate::simd::Logic::ternary): x and y, xor z.
const KEEP_XOR: i32 = 0x6a;
