//! Long texts at a level with 32 wide registers: one half of a batch is in the last rounds of the cipher while the
//! other half is in its first rounds and a third half is hashed. So the AES units never wait for the end of a batch, as
//! they do if all of it is processed round by round.
//!
//! All instructions other than rounds are minimised, because they compete with rounds for execution ports: a counter
//! block is one xor with a table, which includes the first round key; the text is xored into the last round key; and
//! GHASH is reduced in each lane separately.

use super::{
    counters::{Counters, HALF},
    hash::Hash,
    kernel::Fused,
};
use crate::{
    block::{BlockCipher, aes::rounds},
    ghash::Ghash,
    simd::{Block, Reg, Simd},
};

/// Blocks in a batch, which is also a group of the hash.
const BATCH: usize = 64;
/// Up to this many blocks of associated data are hashed with the first group.
const FEW: usize = 3;

/// The hash, which is computed between the rounds.
struct Pipeline<'a, C, G: Ghash + 'a, S: Simd> {
    simd: S,
    cipher: &'a C,
    key: G::Key<'a>,
    sum: G::Sum<S::Reg>,
}

impl<C: BlockCipher, G: Ghash, S: Simd> Pipeline<'_, C, G, S> {
    /// Hashes pair `i` of half a batch, the first or second half of a group.
    #[inline(always)]
    fn hash(&mut self, half: &[u8], second: bool, i: usize) {
        let (row, lanes) = (S::Reg::BYTES, S::Reg::BLOCKS);
        let pair = &half[2 * row * i..];
        let pair = [self.simd.load(pair), self.simd.load(&pair[row..])];
        let at = 2 * lanes * i + if second { HALF * lanes } else { 0 };
        G::pair(self.simd, self.key, &mut self.sum, at, pair, 2 * lanes);
    }

    #[inline(always)]
    fn hash_all(&mut self, half: &[u8], second: bool) {
        for i in 0..HALF / 2 {
            self.hash(half, second, i);
        }
    }

    /// The last rounds of one half, whose text is `now`, interleaved with the first rounds of another, and with the
    /// hash of a third, `known`, if there is one.
    #[inline(always)]
    fn step<const HASH: bool>(
        &mut self,
        lasts: &mut [S::Reg; HALF],
        firsts: &mut [S::Reg; HALF],
        now: &mut [u8],
        known: &[u8],
        second: bool,
    ) {
        let now = &mut now[..HALF * S::Reg::BYTES];
        let known = if HASH { &known[..HALF * S::Reg::BYTES] } else { known };
        let mut pairs = 0;
        rounds!(s < C::AES_ROUNDS / 2 + 1 => {
            self.last_round(lasts, now, s);
            if HASH {
                self.between(known, second, &mut pairs, s);
            }
            if C::AES_ROUNDS / 2 + s < C::AES_ROUNDS {
                self.barrier(lasts);
            }
            self.first_round(firsts, s);
            self.barrier(firsts);
        });
    }

    /// The same if only some registers of the other half are needed.
    #[inline(always)]
    fn last_step(
        &mut self,
        lasts: &mut [S::Reg; HALF],
        firsts: (&mut [S::Reg; HALF], usize),
        now: &mut [u8],
        known: Option<&[u8]>,
        second: bool,
    ) {
        let now = &mut now[..HALF * S::Reg::BYTES];
        let mut pairs = 0;
        rounds!(s < C::AES_ROUNDS / 2 + 1 => {
            self.last_round(lasts, now, s);
            if let Some(known) = known {
                self.between(known, second, &mut pairs, s);
            }
            if C::AES_ROUNDS / 2 + s < C::AES_ROUNDS {
                self.barrier(lasts);
            }
            let key = self.cipher.round_key(self.simd, s);
            self.some(firsts.0, firsts.1, key);
        });
    }

    /// Round `s` of the second half of the rounds.
    #[inline(always)]
    fn last_round(&self, lasts: &mut [S::Reg; HALF], now: &mut [u8], s: usize) {
        let (round, row) = (C::AES_ROUNDS / 2 + s, S::Reg::BYTES);
        let key = self.cipher.round_key(self.simd, round);
        for (i, x) in lasts.iter_mut().enumerate() {
            if round < C::AES_ROUNDS {
                *x = x.aesenc(key);
            } else {
                let text = &mut now[i * row..];
                x.aesenclast(key ^ self.simd.load(text)).store(text);
            }
        }
    }

    /// One round of the first `count` registers of half a batch; `count` is even.
    #[inline(always)]
    fn some(&mut self, half: &mut [S::Reg; HALF], count: usize, key: S::Reg) {
        let [a, b, c, d, e, f, g, h] = half;
        self.two(a, b, key);
        if count > 2 {
            self.two(c, d, key);
            if count > 4 {
                self.two(e, f, key);
                if count > 6 {
                    self.two(g, h, key);
                }
            }
        }
    }

    #[inline(always)]
    fn two(&mut self, x: &mut S::Reg, y: &mut S::Reg, key: S::Reg) {
        (*x, *y) = (x.aesenc(key), y.aesenc(key));
        G::order_barrier(self.simd, &mut self.sum, [x, y]);
    }

    /// The part of the hash that belongs to round `s` of the second half of the rounds; `pairs` are already hashed.
    #[inline(always)]
    fn between(&mut self, known: &[u8], second: bool, pairs: &mut usize, s: usize) {
        let known = &known[..HALF * S::Reg::BYTES];
        while *pairs < HALF / 2 && *pairs * C::AES_ROUNDS < HALF * s {
            self.hash(known, second, *pairs);
            *pairs += 1;
        }
    }

    #[inline(always)]
    fn first_round(&self, half: &mut [S::Reg; HALF], round: usize) {
        let key = self.cipher.round_key(self.simd, round);
        for x in half {
            *x = x.aesenc(key);
        }
    }

    #[inline(always)]
    fn barrier(&mut self, half: &mut [S::Reg; HALF]) {
        for [x, y] in half.as_chunks_mut::<2>().0 {
            G::order_barrier(self.simd, &mut self.sum, [x, y]);
        }
    }
}

/// The halves of a text that are being encrypted.
struct Halves<R> {
    a: [R; HALF],
    b: [R; HALF],
    /// The number of registers of the last half that are needed; even.
    last: usize,
}

impl<C: BlockCipher, G: Ghash, const SEAL: bool> Fused<'_, C, G, SEAL> {
    /// Whether long texts are staggered with this cipher, hash and level.
    pub(super) const fn staggers<S: Simd, const W: usize>() -> bool {
        S::AES && C::AES_ROUNDS > 0 && G::LANES && W == 2 * HALF && S::Reg::BLOCKS * W == BATCH
    }

    /// A text of at least half a batch, under a nonce of 96 bits; returns the tag, 16 bytes.
    #[inline(always)]
    pub(super) fn staggered<S: Simd>(self, mut hash: Hash<'_, G, S>, first: &Block, lengths: &Block) -> Block {
        let (simd, ghash, cipher, half) = (hash.simd, hash.ghash, self.cipher, const { HALF * S::Reg::BYTES });
        let count = self.text.len() / half;
        let (whole, rest) = self.text.split_at_mut(half * count);
        let blocks = rest.len().div_ceil(16);
        // The blocks after the last whole half, including the lengths; if that half is the first of a group, it is
        // included too.
        let last_group = if count % 2 == 1 { HALF * S::Reg::BLOCKS + blocks + 1 } else { blocks + 1 };
        let start = if count == 1 { last_group } else { BATCH };
        if self.ad.len() <= FEW * 16 {
            if !self.ad.is_empty() {
                let key = ghash.window(self.ad.len().div_ceil(16) + start, S::Reg::BLOCKS);
                G::single(simd, key, &mut hash.sum, 0, simd.load_partial(self.ad), S::Reg::BLOCKS);
            }
        } else {
            hash.all(self.ad);
            ghash.enter(simd, &mut hash.sum, start);
        }
        let nonce = u128::from_le_bytes(*first) & ((1 << 96) - 1);
        let base = simd.splat(&nonce.to_le_bytes()) ^ cipher.round_key(simd, 0);
        let first = simd.splat(first) ^ cipher.round_key(simd, 0);
        // The last half, with the first counter block after the text if there is a free lane.
        let free = blocks < HALF * S::Reg::BLOCKS;
        let last = if free { (blocks + 1).div_ceil(S::Reg::BLOCKS).next_multiple_of(2) } else { HALF };
        let mut counters = Counters { base, at: 0, high: 0, first, last: if free { last } else { 0 }, left: count };
        let mut halves = Halves { a: counters.half(simd), b: [base; HALF], last };
        let key = if count == 1 { ghash.window(last_group, HALF * S::Reg::BLOCKS) } else { ghash.window(BATCH, BATCH) };
        let mut line = Pipeline::<C, G, S> { simd, cipher, key, sum: hash.sum };
        rounds!(s < C::AES_ROUNDS / 2 + 1 => { line.first_round(&mut halves.a, s) });
        halves.b = counters.half(simd);
        let (ciphertext, mut mask) = if SEAL {
            line.seal(&mut halves, &mut counters, ghash, whole, last_group);
            let known = &whole[half * (count - 1)..];
            let left = if count % 2 == 1 { last_group } else { HALF * S::Reg::BLOCKS };
            line.key = ghash.window(left, HALF * S::Reg::BLOCKS);
            let last = line.last::<true, SEAL>(&mut halves, rest, known);
            if count.is_multiple_of(2) {
                G::turn(simd, ghash.window(last_group, 1), &mut line.sum);
            }
            last
        } else {
            line.open(&mut halves, &mut counters, ghash, whole, last_group);
            line.last::<false, SEAL>(&mut halves, rest, &[])
        };
        if !free {
            mask = first;
            rounds!(round < C::AES_ROUNDS => { mask = mask.aesenc(cipher.round_key(simd, round)) });
            mask = mask.aesenclast(cipher.round_key(simd, C::AES_ROUNDS));
        }
        hash.sum = line.sum;
        (line_end::<G, S>(hash, ciphertext, blocks, lengths) ^ mask.last_lane()).first_block()
    }
}

/// Hashes what follows the last half, and the lengths.
#[inline(always)]
fn line_end<G: Ghash, S: Simd>(
    hash: Hash<'_, G, S>,
    mut ciphertext: [S::Reg; HALF],
    blocks: usize,
    lengths: &Block,
) -> S::Reg {
    let (simd, lanes) = (hash.simd, S::Reg::BLOCKS);
    let mut sum = hash.sum;
    let lengths = simd.splat(lengths);
    for (i, x) in ciphertext.iter_mut().enumerate() {
        *x = x.replace_lane(blocks.wrapping_sub(i * lanes), lengths);
    }
    let key = hash.ghash.window(blocks + 1, blocks + 9);
    for (i, pair) in ciphertext.as_chunks::<2>().0.iter().enumerate() {
        if 2 * i * lanes > blocks {
            break;
        }
        G::pair(simd, key, &mut sum, 2 * i * lanes, *pair, 2 * lanes);
    }
    if blocks == HALF * lanes {
        let zero = simd.zero();
        G::single(simd, hash.ghash.window(1, 5), &mut sum, 0, zero.replace_lane(0, lengths), 1);
    }
    G::finish_open(simd, &sum)
}

impl<'a, C: BlockCipher, G: Ghash, S: Simd> Pipeline<'a, C, G, S> {
    /// Encrypts whole halves and hashes all but the last. Leaves the next half in `b`, in the middle of its rounds.
    #[inline(always)]
    fn seal(
        &mut self,
        halves: &mut Halves<S::Reg>,
        counters: &mut Counters<S::Reg>,
        ghash: &'a G,
        text: &mut [u8],
        last_group: usize,
    ) {
        let (simd, half) = (self.simd, const { HALF * S::Reg::BYTES });
        let Halves { a, b, last } = halves;
        let count = text.len() / half;
        let mut at = 0;
        if count > 1 {
            self.step::<false>(a, b, text, &[], false);
            *a = counters.half(simd);
            at = 1;
            loop {
                if at + 1 == count {
                    core::mem::swap(a, b);
                    break;
                }
                let (before, now) = text.split_at_mut(half * at);
                self.step::<true>(b, a, now, &before[half * (at - 1)..], false);
                *b = counters.half(simd);
                at += 1;
                if at + 1 == count {
                    break;
                }
                let (before, now) = text.split_at_mut(half * at);
                self.step::<true>(a, b, now, &before[half * (at - 1)..], true);
                *a = counters.half(simd);
                at += 1;
                G::turn(simd, self.key, &mut self.sum);
            }
        }
        let (before, now) = text.split_at_mut(half * at);
        let known = before.len().checked_sub(half).map(|at| &before[at..]);
        let second = count % 2 == 1;
        self.last_step(a, (b, *last), now, known, second);
        if second && count > 1 {
            G::turn(simd, ghash.window(last_group, 1), &mut self.sum);
        }
    }

    /// Hashes and decrypts whole halves. Leaves the next half in `b`, in the middle of its rounds.
    #[inline(always)]
    fn open(
        &mut self,
        halves: &mut Halves<S::Reg>,
        counters: &mut Counters<S::Reg>,
        ghash: &'a G,
        text: &mut [u8],
        last_group: usize,
    ) {
        let (simd, half) = (self.simd, const { HALF * S::Reg::BYTES });
        let Halves { a, b, last } = halves;
        let count = text.len() / half;
        let mut at = 0;
        self.hash_all(text, false);
        loop {
            if at + 1 == count {
                break;
            }
            let (now, next) = text[half * at..].split_at_mut(half);
            self.step::<true>(a, b, now, next, true);
            *a = counters.half(simd);
            at += 1;
            // A group of 64 blocks is complete, and the next may be the last.
            let key = if at + 2 >= count { ghash.window(last_group, 1) } else { self.key };
            G::turn(simd, key, &mut self.sum);
            if at + 1 == count {
                core::mem::swap(a, b);
                break;
            }
            if at + 2 == count {
                self.key = ghash.window(last_group, HALF * S::Reg::BLOCKS);
            }
            let (now, next) = text[half * at..].split_at_mut(half);
            self.step::<true>(b, a, now, next, false);
            *b = counters.half(simd);
            at += 1;
        }
        self.last_step(a, (b, *last), &mut text[half * at..], None, false);
    }

    /// The last rounds of the last half, whose text `now` is shorter than a half, and the hash of the half before.
    /// Returns the ciphertext, and the encrypted first counter block in the last lane if that half contained it.
    #[inline(always)]
    fn last<const HASH: bool, const SEAL: bool>(
        &mut self,
        halves: &mut Halves<S::Reg>,
        now: &mut [u8],
        known: &[u8],
    ) -> ([S::Reg; HALF], S::Reg) {
        let (simd, row) = (self.simd, S::Reg::BYTES);
        let mut ciphertext = [simd.zero(); HALF];
        let (lasts, count) = (&mut halves.b, halves.last);
        let mut pairs = 0;
        rounds!(s < C::AES_ROUNDS / 2 + 1 => {
            let round = C::AES_ROUNDS / 2 + s;
            let key = self.cipher.round_key(simd, round);
            if HASH {
                self.between(known, false, &mut pairs, s);
            }
            if round < C::AES_ROUNDS {
                self.some(lasts, count, key);
            }
        });
        let key = self.cipher.round_key(simd, C::AES_ROUNDS);
        let mask = match count {
            2 => lasts[1].aesenclast(key),
            4 => lasts[3].aesenclast(key),
            6 => lasts[5].aesenclast(key),
            _ => lasts[7].aesenclast(key),
        };
        for i in 0..HALF {
            if let Some(text) = now.get_mut(i * row..(i + 1) * row) {
                let old = simd.load(text);
                let new = lasts[i].aesenclast(key ^ old);
                new.store(text);
                ciphertext[i] = if SEAL { new } else { old };
            } else if i * row < now.len() {
                let text = &mut now[i * row..];
                let old = simd.load_partial(text);
                let new = lasts[i].aesenclast(key ^ old).keep(text.len());
                new.store_partial(text);
                ciphertext[i] = if SEAL { new } else { old };
            }
        }
        (ciphertext, mask)
    }
}
