//! The fused kernel of GCM: counter mode and GHASH in one pass over the text.
//!
//! A batch of `W` registers is in the cipher while another is hashed between its rounds: sealing hashes the batch
//! before, whose ciphertext is known; opening hashes the same one before it is overwritten. What is left at the end goes
//! through one last batch of just enough registers, hashed together with the lengths, and in a short text with the
//! associated data too, so that GHASH reduces once for a short packet.

use core::ops::Range;

use super::hash::Hash;
use crate::{
    block::{BlockCipher, Interleave},
    ghash::Ghash,
    mode::ctr::Counter32,
    simd::{Block, Kernel, Outlined, Reg, Simd},
};

/// Seals (or opens) `text` in place; returns the tag, 16 bytes of it.
pub(super) struct Fused<'a, C, G, const SEAL: bool> {
    pub(super) cipher: &'a C,
    pub(super) ghash: &'a G,
    pub(super) nonce: &'a [u8],
    pub(super) ad: &'a [u8],
    pub(super) text: &'a mut [u8],
}

impl<C: BlockCipher, G: Ghash, const SEAL: bool> Kernel for Fused<'_, C, G, SEAL> {
    type Output = Block;

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) -> Block {
        if S::AES {
            return self.sized::<S, W>(simd);
        }
        // One function for all ciphers of a kind: plain words take so many instructions that compiling them for each size
        // of key took most of the time.
        let cipher = self.cipher.sliced(simd);
        let Fused { ghash, nonce, ad, text, .. } = self;
        simd.outlined(Sliced(Fused::<_, _, SEAL> { cipher: &cipher, ghash, nonce, ad, text }))
    }
}

/// The kernel as a function of its own.
struct Sliced<'a, C, G, const SEAL: bool>(Fused<'a, C, G, SEAL>);

impl<S: Simd, C: BlockCipher, G: Ghash, const SEAL: bool> Outlined<S> for Sliced<'_, C, G, SEAL> {
    type Output = Block;

    #[inline(always)]
    fn run(self, simd: S) -> Block {
        self.0.sized::<S, 8>(simd)
    }
}

impl<C: BlockCipher, G: Ghash, const SEAL: bool> Fused<'_, C, G, SEAL> {
    /// The whole text, in batches of `W` registers or fewer.
    #[inline(always)]
    fn sized<S: Simd, const W: usize>(self, simd: S) -> Block {
        // No batch may be longer than a group: few powers of h want short ones.
        if const { W * S::Reg::BLOCKS + 3 <= G::GROUP } { self.whole::<S, W>(simd) } else { self.whole::<S, 8>(simd) }
    }
}

impl<C: BlockCipher, G: Ghash, const SEAL: bool> Fused<'_, C, G, SEAL> {
    /// The whole text, in batches of `W` registers.
    #[inline(always)]
    fn whole<S: Simd, const W: usize>(mut self, simd: S) -> Block {
        let first = first_counter::<S, G>(simd, self.ghash, self.nonce);
        let lengths = lengths(self.ad.len(), self.text.len());
        let mut hash = Hash::new(simd, self.ghash);
        let ad_blocks = self.ad.len().div_ceil(16);
        let blocks = self.text.len().div_ceil(16) + 1;
        let mut mask = [simd.first(&first)];
        if S::AES {
            self.cipher.encrypt(simd, &mut mask);
        }
        let mut counter = Counter32::new(simd, &first, 1, self.nonce.len() == 12);
        let short = self.text.len() < W * S::Reg::BYTES && ad_blocks + blocks <= G::GROUP;
        let bulk = if short {
            // One group for everything.
            hash.open(ad_blocks + blocks);
            hash.bytes(self.ad);
            0
        } else {
            hash.all(self.ad);
            let (batch, mut to_hash) = (W * S::Reg::BYTES, blocks);
            let bulk = self.text.len() / batch * batch;
            self.bulk::<S, W>(simd, &mut hash, &mut counter, 0..bulk, &mut to_hash);
            bulk
        };
        let last = Last { fused: self, simd, hash, counter, at: bulk, lengths: &lengths, mask: mask[0] };
        // Conditions that are constants keep batches wider than the level's from being compiled; hence equal branches.
        let registers = (last.fused.text.len() - bulk).div_ceil(S::Reg::BYTES);
        #[allow(clippy::if_same_then_else)]
        let tag = if registers <= 1 {
            last.batch::<1, 2>()
        } else if registers == 2 {
            last.batch::<2, 3>()
        } else if const { W <= 4 } {
            last.batch::<4, 5>()
        } else if registers <= 4 {
            last.batch::<4, 5>()
        } else if const { W <= 8 } {
            last.batch::<8, 9>()
        } else if registers <= 8 {
            last.batch::<8, 9>()
        } else {
            last.batch::<16, 17>()
        };
        tag.first_block()
    }
}

/// J0 of SP 800-38D, 7.1: the nonce and 1, or the hash of a nonce that has not 96 bits.
#[inline(always)]
pub(super) fn first_counter<S: Simd, G: Ghash>(simd: S, ghash: &G, nonce: &[u8]) -> Block {
    if let Ok(nonce) = <&[u8; 12]>::try_from(nonce) {
        let mut first = [0; 16];
        first[..12].copy_from_slice(nonce);
        first[15] = 1;
        return first;
    }
    let mut hash = Hash::new(simd, ghash);
    hash.all(nonce);
    hash.open(1);
    hash.single(simd.first(&lengths(0, nonce.len())), 1);
    hash.close();
    ghash.finish(simd, &hash.sum).first_block()
}

/// Both lengths in bits, 64 bits each.
#[inline(always)]
pub(super) fn lengths(ad: usize, text: usize) -> Block {
    ((ad as u128 * 8) << 64 | (text as u128 * 8)).to_be_bytes()
}

/// A batch hashed between the rounds of a cipher.
struct Hashing<'a, 'b, G: Ghash + 'b, S: Simd> {
    simd: S,
    key: G::Key<'b>,
    sum: &'a mut G::Sum<S::Reg>,
    batch: &'a [u8],
    pairs: usize,
    done: usize,
}

impl<'a, 'b, G: Ghash, S: Simd> Hashing<'a, 'b, G, S> {
    /// Hashes `batch`, `W` registers, within the open group.
    #[inline(always)]
    fn new<const W: usize>(hash: &'a mut Hash<'b, G, S>, batch: &'a [u8]) -> Self {
        let blocks = W * S::Reg::BLOCKS;
        let key = hash.ghash.key(hash.left, blocks);
        hash.left -= blocks;
        Hashing { simd: hash.simd, key, sum: &mut hash.sum, batch: &batch[..W * S::Reg::BYTES], pairs: W / 2, done: 0 }
    }

    #[inline(always)]
    fn pair(&mut self) {
        let (row, blocks) = (S::Reg::BYTES, 2 * S::Reg::BLOCKS);
        let pair = &self.batch[2 * row * self.done..];
        let pair = [self.simd.load(pair), self.simd.load(&pair[row..])];
        G::pair(self.simd, self.key, self.sum, blocks * self.done, pair, blocks);
        self.done += 1;
    }

    /// The pairs that were not hashed between rounds.
    #[inline(always)]
    fn rest(mut self) {
        while self.done < self.pairs {
            self.pair();
        }
    }
}

impl<G: Ghash, S: Simd> Interleave<S> for Hashing<'_, '_, G, S> {
    #[inline(always)]
    fn step(&mut self, simd: S, blocks: &mut [S::Reg], done: usize, of: usize) {
        while self.done < self.pairs && self.done * of < done * self.pairs {
            self.pair();
        }
        for [a, b] in blocks.as_chunks_mut::<2>().0 {
            G::order_barrier(simd, self.sum, [a, b]);
        }
    }
}

impl<C: BlockCipher, G: Ghash, const SEAL: bool> Fused<'_, C, G, SEAL> {
    /// A part of the text, in whole batches. When sealing, all are hashed too. `to_hash` blocks were still to be hashed before it.
    #[inline(always)]
    pub(super) fn bulk<S: Simd, const W: usize>(
        &mut self,
        simd: S,
        hash: &mut Hash<'_, G, S>,
        counter: &mut Counter32<S::Reg>,
        part: Range<usize>,
        to_hash: &mut usize,
    ) {
        let batch = W * S::Reg::BYTES;
        let mut at = part.start;
        if SEAL && !part.is_empty() {
            let mut keystream: [S::Reg; W] = counter.take(simd);
            self.cipher.encrypt(simd, &mut keystream);
            apply(simd, &keystream, &mut self.text[at..at + batch]);
            at += batch;
        }
        while at < part.end {
            let mut keystream: [S::Reg; W] = counter.take(simd);
            let (before, now) = self.text.split_at_mut(at);
            let now = &mut now[..batch];
            hash.enter::<W>(*to_hash);
            let known = if SEAL { &before[at - batch..] } else { &*now };
            let mut work = Hashing::new::<W>(hash, known);
            self.cipher.encrypt_interleaved(simd, &mut keystream, &mut work);
            work.rest();
            hash.leave();
            apply(simd, &keystream, now);
            *to_hash -= W * S::Reg::BLOCKS;
            at += batch;
        }
        if SEAL && !part.is_empty() {
            hash.enter::<W>(*to_hash);
            Hashing::new::<W>(hash, &self.text[part.end - batch..part.end]).rest();
            hash.leave();
            *to_hash -= W * S::Reg::BLOCKS;
        }
    }
}

/// Xors the keystream into a batch.
#[inline(always)]
fn apply<S: Simd, const W: usize>(simd: S, keystream: &[S::Reg; W], batch: &mut [u8]) {
    for (key, text) in keystream.iter().zip(batch.chunks_exact_mut(S::Reg::BYTES)) {
        (*key ^ simd.load(text)).store(text);
    }
}

/// The text from `at` on, less than a batch of it, and the lengths. `mask` is the encryption of the first counter; in bit
/// slices it is still to be encrypted, because there one more register costs less than a batch of one.
pub(super) struct Last<'a, 'b, C, G: Ghash, S: Simd, const SEAL: bool> {
    pub(super) fused: Fused<'a, C, G, SEAL>,
    pub(super) simd: S,
    pub(super) hash: Hash<'b, G, S>,
    pub(super) counter: Counter32<S::Reg>,
    pub(super) at: usize,
    pub(super) lengths: &'b Block,
    pub(super) mask: S::Reg,
}

impl<C: BlockCipher, G: Ghash, S: Simd, const SEAL: bool> Last<'_, '_, C, G, S, SEAL> {
    #[inline(always)]
    pub(super) fn batch<const W: usize, const MASKED: usize>(mut self) -> S::Reg {
        let (simd, row) = (self.simd, S::Reg::BYTES);
        let text = &mut self.fused.text[self.at..];
        let blocks = text.len().div_ceil(16);
        let hash = &mut self.hash;
        if hash.left == 0 {
            hash.open(blocks + 1);
        }
        let mut keystream: [S::Reg; W] = self.counter.take(simd);
        if S::AES {
            self.fused.cipher.encrypt(simd, &mut keystream);
        } else {
            let mut all = [self.mask; MASKED];
            all[1..].copy_from_slice(&keystream);
            self.fused.cipher.encrypt(simd, &mut all);
            keystream.copy_from_slice(&all[1..]);
            self.mask = all[0];
        }
        let mut ciphertext = [simd.zero(); W];
        for i in 0..W {
            let key = keystream[i];
            if let Some(now) = text.get_mut(i * row..(i + 1) * row) {
                let old = simd.load(now);
                let new = old ^ key;
                new.store(now);
                ciphertext[i] = if SEAL { new } else { old };
            } else {
                let now = &mut text[i * row..];
                let old = simd.load_partial(now);
                let new = (old ^ key).keep(now.len());
                new.store_partial(now);
                ciphertext[i] = if SEAL { new } else { old };
                break;
            }
        }
        let mut left = blocks;
        for pair in ciphertext.chunks(2) {
            if left == 0 {
                break;
            }
            let count = left.min(pair.len() * S::Reg::BLOCKS);
            match pair {
                [a, b] if left > S::Reg::BLOCKS => hash.pair([*a, *b], count),
                _ => hash.single(pair[0], count),
            }
            left -= count;
        }
        hash.single(simd.first(self.lengths), 1);
        hash.close();
        hash.ghash.finish(simd, &hash.sum) ^ self.mask
    }
}
