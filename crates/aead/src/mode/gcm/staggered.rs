//! Long texts at a level of 32 wide registers: half a batch is in the last rounds of the cipher while the other half is in its first and a
//! third is hashed. So the units for AES never wait for the end of a batch, as they do where all of it goes round by round.
//!
//! Everything that is no round is cut down, because it takes turns from the rounds: a counter block is one xor with a table,
//! which whitens it too; the text is xored into the last round key; and GHASH is reduced in every lane by itself.

use super::{hash::Hash, kernel::Fused};
use crate::{
    block::{BlockCipher, aes::rounds},
    ghash::Ghash,
    simd::{Block, Reg, Simd},
};

/// Registers of half a batch.
const HALF: usize = 8;
/// Blocks of a batch, which is a group of the hash.
const BATCH: usize = 64;
/// So many blocks of associated data are hashed with the first group.
const FEW: usize = 3;

/// Counter block `i` of a message has the number `i` + 2: its last byte, and the carry out of it is added by [`Counters::carry`].
#[repr(C, align(64))]
struct Numbers([Block; 256]);
static NUMBERS: Numbers = {
    let mut numbers = [[0; 16]; 256];
    let mut i = 0;
    while i < 256 {
        numbers[i][15] = (i + 2) as u8;
        i += 1;
    }
    Numbers(numbers)
};

/// The counter blocks of a message with a nonce of 96 bits, the first round key added.
struct Counters<R> {
    /// Nonce and higher bytes of the counter, xor the round key.
    base: R,
    /// How many blocks of the table were taken.
    at: usize,
    /// The higher bytes.
    high: u32,
    /// The first counter block, the first round key added, and the halves that come before the one that it goes along with.
    first: R,
    left: usize,
}

impl<R: Reg> Counters<R> {
    #[inline(always)]
    fn half<S: Simd<Reg = R>>(&mut self, simd: S) -> [R; HALF] {
        let mut blocks = [self.base; HALF];
        let numbers = &NUMBERS.0[self.at..self.at + HALF * R::BLOCKS];
        for (i, block) in blocks.iter_mut().enumerate() {
            *block = *block ^ simd.load(numbers[i * R::BLOCKS..].as_flattened());
        }
        self.at += HALF * R::BLOCKS;
        if self.at == NUMBERS.0.len() {
            self.carry(simd, &mut blocks[HALF - 1]);
        }
        if self.left == 0 {
            blocks[HALF - 1] = blocks[HALF - 1].replace_last(self.first);
        }
        self.left = self.left.wrapping_sub(1);
        blocks
    }

    /// The last byte has wrapped, in the last two blocks of the table first.
    #[inline(always)]
    fn carry<S: Simd<Reg = R>>(&mut self, simd: S, last: &mut R) {
        let changed = (self.high ^ self.high.wrapping_add(1)) << 8;
        let mut block = [0; 16];
        block[12..].copy_from_slice(&changed.to_be_bytes());
        let changed = simd.splat(&block);
        *last = last.replace_lane(R::BLOCKS - 2, *last ^ changed).replace_lane(R::BLOCKS - 1, *last ^ changed);
        self.base = self.base ^ changed;
        self.high = self.high.wrapping_add(1);
        self.at = 0;
    }
}

/// What goes on beside the halves.
struct Pipeline<'a, C, G: Ghash + 'a, S: Simd> {
    simd: S,
    cipher: &'a C,
    key: G::Key<'a>,
    sum: G::Sum<S::Reg>,
    /// Whether there is text behind the last whole half.
    more: bool,
}

impl<C: BlockCipher, G: Ghash, S: Simd> Pipeline<'_, C, G, S> {
    /// Pair `i` of half a batch, the first or the second of a group.
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

    /// The last rounds of one half, whose text is `now`, the first rounds of another if there is `more`, and the hash of
    /// a third, `known`, if there is one.
    #[inline(always)]
    fn step<const HASH: bool>(
        &mut self,
        lasts: &mut [S::Reg; HALF],
        (firsts, more): (&mut [S::Reg; HALF], bool),
        now: &mut [u8],
        known: &[u8],
        second: bool,
    ) {
        let (simd, row) = (self.simd, S::Reg::BYTES);
        let now = &mut now[..HALF * row];
        let known = if HASH { &known[..HALF * row] } else { known };
        let mut pairs = 0;
        rounds!(s < C::AES_ROUNDS / 2 + 1 => {
            let round = C::AES_ROUNDS / 2 + s;
            let key = self.cipher.round_key(simd, round);
            for (i, x) in lasts.iter_mut().enumerate() {
                if round < C::AES_ROUNDS {
                    *x = x.aesenc(key);
                } else {
                    let text = &mut now[i * row..];
                    x.aesenclast(key ^ simd.load(text)).store(text);
                }
            }
            while HASH && pairs < HALF / 2 && pairs * C::AES_ROUNDS < HALF * s {
                self.hash(known, second, pairs);
                pairs += 1;
            }
            if round < C::AES_ROUNDS {
                self.barrier(lasts);
            }
            if more {
                self.first_round(firsts, s);
                self.barrier(firsts);
            }
        });
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

/// The halves of a text in the rounds, and how many were decrypted.
struct Halves<R> {
    a: [R; HALF],
    b: [R; HALF],
    at: usize,
}

impl<C: BlockCipher, G: Ghash, const SEAL: bool> Fused<'_, C, G, SEAL> {
    /// Whether this cipher, hash and level go staggered.
    pub(super) const fn staggers<S: Simd, const W: usize>() -> bool {
        S::AES && C::AES_ROUNDS > 0 && G::LANES && W == 2 * HALF && S::Reg::BLOCKS * W == BATCH
    }

    /// A text of half a batch at least, under a nonce of 96 bits; returns the tag, 16 bytes of it.
    #[inline(always)]
    pub(super) fn staggered<S: Simd>(self, mut hash: Hash<'_, G, S>, first: &Block, lengths: &Block) -> Block {
        let (simd, ghash, cipher, half) = (hash.simd, hash.ghash, self.cipher, const { HALF * S::Reg::BYTES });
        let count = self.text.len() / half;
        let (whole, rest) = self.text.split_at_mut(half * count);
        let blocks = rest.len().div_ceil(16);
        // What is behind the last whole half, with the lengths; and with that half, where it is the first of a group.
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
        // The first counter block is in the last lane of the last half, if there is a lane free.
        let free = (1..HALF * S::Reg::BLOCKS).contains(&blocks);
        let mut counters = Counters { base, at: 0, high: 0, first, left: if free { count } else { usize::MAX } };
        let mut halves = Halves { a: counters.half(simd), b: [base; HALF], at: 0 };
        let key = if count == 1 { ghash.window(last_group, HALF * S::Reg::BLOCKS) } else { ghash.window(BATCH, BATCH) };
        let mut line = Pipeline::<C, G, S> { simd, cipher, key, sum: hash.sum, more: !rest.is_empty() };
        rounds!(s < C::AES_ROUNDS / 2 + 1 => { line.first_round(&mut halves.a, s) });
        halves.b = counters.half(simd);
        let (ciphertext, mut mask) = if SEAL {
            line.seal(&mut halves, &mut counters, ghash, whole, last_group);
            let known = &whole[half * (count - 1)..];
            let left = if count % 2 == 1 { last_group } else { HALF * S::Reg::BLOCKS };
            line.key = ghash.window(left, HALF * S::Reg::BLOCKS);
            let last = line.last::<true, SEAL>(&mut halves.a, rest, known);
            if count.is_multiple_of(2) {
                G::turn(simd, ghash.window(last_group, 1), &mut line.sum);
            }
            last
        } else {
            line.open(&mut halves, &mut counters, ghash, whole, last_group);
            line.last::<false, SEAL>(&mut halves.a, rest, &[])
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

/// Hashes what is behind the last half, and the lengths.
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
    /// Encrypts whole halves; all but the last are hashed. Leaves the next half, in the middle of its rounds, in `a`.
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
        let Halves { a, b, at } = halves;
        let count = text.len() / half;
        self.step::<false>(a, (b, count > 1 || self.more), text, &[], false);
        *a = counters.half(simd);
        *at = 1;
        loop {
            if *at == count {
                core::mem::swap(a, b);
                return;
            }
            let (before, now) = text.split_at_mut(half * *at);
            let more = *at + 1 < count || self.more;
            self.step::<true>(b, (a, more), now, &before[half * (*at - 1)..], false);
            *b = counters.half(simd);
            *at += 1;
            if *at == count {
                return;
            }
            let (before, now) = text.split_at_mut(half * *at);
            let more = *at + 1 < count || self.more;
            self.step::<true>(a, (b, more), now, &before[half * (*at - 1)..], true);
            *a = counters.half(simd);
            *at += 1;
            self.turn(ghash, *at == count, last_group);
        }
    }

    /// Closes a group of 64 blocks. The next one may be the last.
    #[inline(always)]
    fn turn(&mut self, ghash: &'a G, last: bool, last_group: usize) {
        let key = if last { ghash.window(last_group, 1) } else { self.key };
        G::turn(self.simd, key, &mut self.sum);
    }

    /// Decrypts whole halves and hashes them before. Leaves the next half, in the middle of its rounds, in `a`.
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
        let Halves { a, b, at } = halves;
        let count = text.len() / half;
        self.hash_all(text, false);
        loop {
            let (now, next) = text[half * *at..].split_at_mut(half);
            *at += 1;
            if *at == count {
                self.step::<false>(a, (b, self.more), now, &[], false);
                core::mem::swap(a, b);
                return;
            }
            self.step::<true>(a, (b, true), now, next, true);
            *a = counters.half(simd);
            let (now, next) = text[half * *at..].split_at_mut(half);
            *at += 1;
            self.turn(ghash, *at + 1 >= count, last_group);
            if *at == count {
                self.step::<false>(b, (a, self.more), now, &[], false);
                return;
            }
            if *at + 1 == count {
                self.key = ghash.window(last_group, HALF * S::Reg::BLOCKS);
            }
            self.step::<true>(b, (a, true), now, next, false);
            *b = counters.half(simd);
        }
    }

    /// The last rounds of the last half, whose text `now` is shorter than it, and the hash of the one before. Returns the
    /// ciphertext, and what the last lane was encrypted to where it has no text.
    #[inline(always)]
    fn last<const HASH: bool, const SEAL: bool>(
        &mut self,
        lasts: &mut [S::Reg; HALF],
        now: &mut [u8],
        known: &[u8],
    ) -> ([S::Reg; HALF], S::Reg) {
        let (simd, row) = (self.simd, S::Reg::BYTES);
        let (mut ciphertext, mut mask) = ([simd.zero(); HALF], simd.zero());
        let known = if HASH { &known[..HALF * row] } else { known };
        if now.is_empty() {
            if HASH {
                self.hash_all(known, false);
            }
            return (ciphertext, mask);
        }
        let mut pairs = 0;
        rounds!(s < C::AES_ROUNDS / 2 + 1 => {
            let round = C::AES_ROUNDS / 2 + s;
            let key = self.cipher.round_key(simd, round);
            while HASH && pairs < HALF / 2 && pairs * C::AES_ROUNDS < HALF * s {
                self.hash(known, false, pairs);
                pairs += 1;
            }
            if round < C::AES_ROUNDS {
                for x in lasts.iter_mut() {
                    *x = x.aesenc(key);
                }
                self.barrier(lasts);
            } else {
                mask = lasts[HALF - 1].aesenclast(key);
                for i in 0..HALF {
                    if let Some(text) = now.get_mut(i * row..(i + 1) * row) {
                        let old = simd.load(text);
                        let new = lasts[i].aesenclast(key ^ old);
                        new.store(text);
                        ciphertext[i] = if SEAL { new } else { old };
                    } else if let Some(text) = now.get_mut(i * row..) {
                        let old = simd.load_partial(text);
                        let new = lasts[i].aesenclast(key ^ old).keep(text.len());
                        new.store_partial(text);
                        ciphertext[i] = if SEAL { new } else { old };
                    }
                }
            }
        });
        (ciphertext, mask)
    }
}
