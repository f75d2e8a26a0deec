//! The fused kernel of GCM: counter mode and GHASH in one pass over the text.
//!
//! One batch of `W` registers is encrypted while another is hashed between its rounds. Sealing hashes the previous
//! batch, whose ciphertext is known; opening hashes the current one before it is overwritten. The rest of the text,
//! which may be all of it, is processed in a last batch of just enough registers. That batch also encrypts the first
//! counter block. It is hashed together with the lengths, and for a short text with the associated data too, so that a
//! short packet needs a single reduction of GHASH.

use core::ops::Range;

use super::hash::Hash;
use crate::{
    block::{BlockCipher, Interleave},
    ghash::Ghash,
    mode::ctr::Counter32,
    simd::{Block, Kernel, Outlined, Reg, Simd, counter_zero},
    tag::Whole,
};

/// Seals (or opens) `text` in place; returns the tag, 16 bytes.
pub(super) struct Fused<'a, C, G, const SEAL: bool> {
    pub(super) cipher: &'a C,
    pub(super) ghash: &'a G,
    pub(super) nonce: &'a [u8],
    pub(super) ad: &'a [u8],
    pub(super) text: &'a mut [u8],
}

/// Implemented for a reference, so that nothing is copied for parts that are separate functions. A wide load from a
/// copy would stall on the stores that wrote it.
impl<C: BlockCipher, G: Ghash, const SEAL: bool> Kernel for &mut Fused<'_, C, G, SEAL> {
    type Output = Whole;

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) -> Whole {
        if const { Fused::<C, G, SEAL>::has_short::<S>() } {
            let short = self.is_short::<S>();
            return Whole::of(if short { self.short(simd) } else { simd.outlined(Longer::<C, G, SEAL, W>(self)) });
        }
        if S::AES {
            return Whole::of(self.reborrow().sized::<S, W>(simd));
        }
        // One function for all ciphers of a kind: the kernel is so long in portable code that compiling it for each key
        // size took most of the build time.
        let cipher = self.cipher.sliced(simd);
        let Fused { ghash, nonce, ad, text, .. } = self.reborrow();
        Whole::of(simd.outlined(Sliced(Fused::<_, _, SEAL> { cipher: &cipher, ghash, nonce, ad, text })))
    }
}

/// The kernel as a separate function.
struct Sliced<'a, C, G, const SEAL: bool>(Fused<'a, C, G, SEAL>);

impl<S: Simd, C: BlockCipher, G: Ghash, const SEAL: bool> Outlined<S> for Sliced<'_, C, G, SEAL> {
    type Output = Block;

    #[inline(always)]
    fn run(self, simd: S) -> Block {
        self.0.sized::<S, 8>(simd)
    }
}

/// The kernel for longer messages, as a separate function.
struct Longer<'a, 'b, C, G, const SEAL: bool, const W: usize>(&'b mut Fused<'a, C, G, SEAL>);

impl<S: Simd, C: BlockCipher, G: Ghash, const SEAL: bool, const W: usize> Outlined<S>
    for Longer<'_, '_, C, G, SEAL, W>
{
    type Output = Block;

    #[inline(always)]
    fn run(self, simd: S) -> Block {
        self.0.reborrow().sized::<S, W>(simd)
    }
}

impl<C: BlockCipher, G: Ghash, const SEAL: bool> Fused<'_, C, G, SEAL> {
    #[inline(always)]
    pub(super) fn reborrow(&mut self) -> Fused<'_, C, G, SEAL> {
        Fused { cipher: self.cipher, ghash: self.ghash, nonce: self.nonce, ad: self.ad, text: &mut *self.text }
    }

    /// The whole text, in batches of `W` registers or fewer.
    #[inline(always)]
    fn sized<S: Simd, const W: usize>(self, simd: S) -> Block {
        // No batch may be longer than a group: a key with few powers of h needs short batches.
        if const { W * S::Reg::BLOCKS + 3 <= G::GROUP } { self.whole::<S, W>(simd) } else { self.whole::<S, 8>(simd) }
    }
}

/// Texts of at least this many bytes are processed in batches of the level's width, others in batches of half of it.
const LONG: usize = 2048;

impl<C: BlockCipher, G: Ghash, const SEAL: bool> Fused<'_, C, G, SEAL> {
    /// The whole text, in batches of `W` registers.
    #[inline(always)]
    fn whole<S: Simd, const W: usize>(mut self, simd: S) -> Block {
        let first = first_counter::<S, G>(simd, self.ghash, self.nonce);
        let lengths = lengths(self.ad.len(), self.text.len());
        let ad_blocks = self.ad.len().div_ceil(16);
        let mut to_hash = self.text.len().div_ceil(16) + 1;
        let mut walk = Walk {
            simd,
            hash: Hash::new(simd, self.ghash),
            counter: Counter32::new(simd, &first, 1, self.nonce.len() == 12),
            at: 0,
        };
        let short = const { S::Reg::BLOCKS * widest(S::Reg::BLOCKS, S::AES) };
        if to_hash <= short && ad_blocks + to_hash <= G::GROUP {
            // One group covers everything.
            walk.hash.open(ad_blocks + to_hash);
            walk.hash.bytes::<false>(self.ad);
        } else {
            if const { Self::staggers::<S, W>() } && self.nonce.len() == 12 && self.text.len() >= 512 {
                return self.staggered(walk.hash, &first, &lengths);
            }
            walk.hash.all(self.ad);
            self.long::<S, W>(&mut walk, &mut to_hash);
            self.rest(&mut walk, to_hash);
        }
        // A single call for all lengths, because this is most of the code.
        Last { fused: self, walk, lengths: &lengths, first: &first }.tag()
    }

    /// Batches of `W` registers.
    #[inline(always)]
    fn long<S: Simd, const W: usize>(&mut self, walk: &mut Walk<'_, G, S>, to_hash: &mut usize) {
        let len = self.text.len();
        let batch = const { W * S::Reg::BYTES };
        // If long texts are staggered, only those with other nonce lengths get here.
        if const { W > 8 && !Self::staggers::<S, W>() } && len >= LONG {
            walk.at = len / batch * batch;
            self.bulk::<S, W, false>(walk.simd, &mut walk.hash, &mut walk.counter, &[], 0..walk.at, to_hash);
        }
    }

    /// Batches of eight registers, or of four in portable code; what remains is for the last batch.
    #[inline(always)]
    pub(super) fn rest<S: Simd>(&mut self, walk: &mut Walk<'_, G, S>, to_hash: usize) {
        if const { S::AES } { self.batches::<S, 8>(walk, to_hash) } else { self.batches::<S, 4>(walk, to_hash) }
    }

    #[inline(always)]
    fn batches<S: Simd, const W: usize>(&mut self, walk: &mut Walk<'_, G, S>, mut to_hash: usize) {
        let batch = const { W * S::Reg::BYTES };
        let end = walk.at + (self.text.len() - walk.at) / batch * batch;
        self.bulk::<S, W, false>(walk.simd, &mut walk.hash, &mut walk.counter, &[], walk.at..end, &mut to_hash);
        walk.at = end;
        if walk.hash.left == 0 {
            walk.hash.open(to_hash);
        }
        walk.hash.enter_open();
    }
}

/// The progress within a message.
pub(super) struct Walk<'a, G: Ghash, S: Simd> {
    pub(super) simd: S,
    pub(super) hash: Hash<'a, G, S>,
    pub(super) counter: Counter32<S::Reg>,
    pub(super) at: usize,
}

/// J0 of SP 800-38D, 7.1: the nonce followed by 1, or for a nonce of another length than 96 bits its hash.
#[inline(always)]
pub(super) fn first_counter<S: Simd, G: Ghash>(simd: S, ghash: &G, nonce: &[u8]) -> Block {
    if nonce.len() == 12 {
        return (counter_zero(nonce) | (1 << 120)).to_le_bytes();
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

/// A batch that is hashed between the rounds of a cipher.
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

    /// Hashes the pairs that were not hashed between rounds.
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
    /// A part of the text, in whole batches. When sealing, all of them are hashed too. `to_hash` is the number of
    /// blocks left to hash when this part begins. If `ACROSS`, the text is read from `source` and written to
    /// `self.text`; otherwise it is processed in `self.text`.
    #[inline(always)]
    pub(super) fn bulk<S: Simd, const W: usize, const ACROSS: bool>(
        &mut self,
        simd: S,
        hash: &mut Hash<'_, G, S>,
        counter: &mut Counter32<S::Reg>,
        source: &[u8],
        part: Range<usize>,
        to_hash: &mut usize,
    ) {
        let batch = W * S::Reg::BYTES;
        let mut at = part.start;
        if SEAL && !part.is_empty() {
            let mut keystream: [S::Reg; W] = counter.take(simd);
            self.cipher.encrypt(simd, &mut keystream);
            apply(simd, &keystream, ACROSS.then(|| &source[at..]), &mut self.text[at..at + batch]);
            at += batch;
        }
        while at < part.end {
            let mut keystream: [S::Reg; W] = counter.take(simd);
            let (before, now) = self.text.split_at_mut(at);
            let now = &mut now[..batch];
            hash.enter::<W>(*to_hash);
            let known = match (SEAL, ACROSS) {
                (true, _) => &before[at - batch..],
                (false, true) => &source[at..at + batch],
                (false, false) => &*now,
            };
            let mut work = Hashing::new::<W>(hash, known);
            self.cipher.encrypt_interleaved(simd, &mut keystream, &mut work);
            work.rest();
            hash.leave();
            apply(simd, &keystream, ACROSS.then(|| &source[at..]), now);
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

/// Xors the keystream into a batch; with a `source`, sets the batch to `source` xor the keystream.
#[inline(always)]
fn apply<S: Simd, const W: usize>(simd: S, keystream: &[S::Reg; W], source: Option<&[u8]>, batch: &mut [u8]) {
    let row = S::Reg::BYTES;
    for (i, (key, to)) in keystream.iter().zip(batch.chunks_exact_mut(row)).enumerate() {
        let from = source.map_or(&*to, |source| &source[i * row..]);
        (*key ^ simd.load(from)).store(to);
    }
}

/// The most registers in a last batch, for registers of `blocks` blocks.
const fn widest(blocks: usize, aes: bool) -> usize {
    match (blocks, aes) {
        (4, true) => 10,
        (_, true) => 9,
        (_, false) => 5,
    }
}

/// The rest of the text and the lengths, in a group that is open for them. The first counter block is in the last lane
/// of the batch, which has no text: so there is always a lane for the lengths after the text.
pub(super) struct Last<'a, 'b, C, G: Ghash, S: Simd, const SEAL: bool> {
    pub(super) fused: Fused<'a, C, G, SEAL>,
    pub(super) walk: Walk<'b, G, S>,
    pub(super) lengths: &'b Block,
    pub(super) first: &'b Block,
}

/// Selects the first of these batch widths that is wide enough.
macro_rules! widths {
    ($last:ident, $registers:ident: $widest:literal) => {
        $last.batch::<$widest>()
    };
    ($last:ident, $registers:ident: $n:literal $($wider:literal)+) => {
        if $registers <= $n { $last.batch::<$n>() } else { widths!($last, $registers: $($wider)+) }
    };
}

impl<C: BlockCipher, G: Ghash, S: Simd, const SEAL: bool> Last<'_, '_, C, G, S, SEAL> {
    /// Whether widths are far apart, because few texts get here.
    const FAR: bool = Fused::<C, G, SEAL>::has_short::<S>() && S::MASKS;

    #[inline(always)]
    pub(super) fn tag(self) -> Block {
        let registers = (self.fused.text.len() - self.walk.at + 16).div_ceil(S::Reg::BYTES);
        // The conditions are constants, so that only this level's widths are compiled.
        if const { Self::FAR } {
            // Only messages with more associated data than usual, or with other nonce lengths, get here.
            widths!(self, registers: 4 10)
        } else if const { !G::LANES } {
            // Strategies that are slow, or for small keys.
            widths!(self, registers: 2 4 6 8 10)
        } else if const { S::AES } {
            widths!(self, registers: 1 2 3 4 5 7 9)
        } else {
            widths!(self, registers: 1 2 3 5)
        }
    }

    #[inline(always)]
    fn batch<const W: usize>(mut self) -> Block {
        let Walk { simd, hash, counter, at } = &mut self.walk;
        let (simd, row, lanes) = (*simd, S::Reg::BYTES, S::Reg::BLOCKS);
        let text = &mut self.fused.text[*at..];
        let mut left = text.len().div_ceil(16) + 1;
        let mut keystream: [S::Reg; W] = counter.take(simd);
        keystream[W - 1] = keystream[W - 1].replace_last(simd.splat(self.first));
        self.fused.cipher.encrypt(simd, &mut keystream);
        let mut ciphertext = [simd.zero(); W];
        for (i, key) in keystream.iter().enumerate() {
            let now = text.get_mut(i * row..).unwrap_or_default();
            // The last register holds text at most in all lanes but that of the lengths.
            ciphertext[i] = if i + 1 < W && now.len() >= row {
                let old = simd.load(now);
                let new = old ^ *key;
                new.store(now);
                if SEAL { new } else { old }
            } else if now.is_empty() {
                break;
            } else {
                let old = simd.load_partial(now);
                let new = (old ^ *key).keep(now.len());
                new.store_partial(now);
                if SEAL { new } else { old }
            }
        }
        let lengths = simd.splat(self.lengths);
        // If widths differ by at most two, the lengths are in one of the last two registers.
        let far = const { Self::FAR };
        for (i, x) in ciphertext.iter_mut().enumerate().skip(if far { 0 } else { W.saturating_sub(2) }) {
            *x = x.replace_lane((left - 1).wrapping_sub(i * lanes), lengths);
        }
        let key = hash.ghash.window(left, if far { (W * lanes).min(left + 8) } else { W * lanes });
        let sum = &mut hash.sum;
        for (i, registers) in ciphertext.chunks(2).enumerate() {
            let count = left.min(registers.len() * lanes);
            if far && count == 0 {
                break;
            }
            match registers {
                [a, b] => G::pair(simd, key, sum, 2 * i * lanes, [*a, *b], count),
                [a, ..] => G::single(simd, key, sum, 2 * i * lanes, *a, count),
                [] => {}
            }
            left -= count;
        }
        (G::finish_open(simd, sum) ^ keystream[W - 1].last_lane()).first_block()
    }
}
