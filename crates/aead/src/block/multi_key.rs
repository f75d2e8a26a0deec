//! AES with a different key in every lane, for modes that use each key once and for packets of many clients. The key
//! schedule runs in the same lanes as the blocks, so that a key costs as little as a few blocks.

use super::{
    aes::{pack, rounds, unpack},
    round_keys::{RCON, prefix_xor, sub_last_word},
};
use crate::simd::{Reg, Simd, bitslice::Slices};

/// Rounds of AES-256.
const ROUNDS: usize = 14;

/// The two halves of each lane's key: one register of each half for every register of blocks.
pub(crate) type Keys<R, const W: usize> = [[R; W]; 2];

/// Computes round key `round` in place of the one before the previous, from which it is derived (FIPS 197, 5.2).
#[inline(always)]
fn advance<S: Simd, const W: usize>(simd: S, round: usize, keys: &mut Keys<S::Reg, W>) {
    if round < 2 {
        return;
    }
    let words = if round.is_multiple_of(2) {
        sub_last_words::<S, W, true>(simd, keys[1], RCON[round / 2 - 1])
    } else {
        sub_last_words::<S, W, false>(simd, keys[0], 0)
    };
    for (key, word) in keys[round % 2].iter_mut().zip(words) {
        *key = prefix_xor(*key) ^ word;
    }
}

/// [`sub_last_word`] of all registers; without AES instructions, in a single bitsliced pass.
#[inline(always)]
fn sub_last_words<S: Simd, const W: usize, const ROTATE: bool>(
    simd: S,
    mut words: [S::Reg; W],
    constant: u8,
) -> [S::Reg; W] {
    if S::AES {
        for word in &mut words {
            *word = sub_last_word::<S, ROTATE>(simd, *word, constant);
        }
        return words;
    }
    for word in &mut words {
        *word = word.splat_last_word();
        if ROTATE {
            *word = word.rotate_words();
        }
    }
    let mut slices = pack(&words);
    slices.sub_bytes();
    unpack(simd, &slices, &mut words);
    let constant = simd.splat_word(u32::from(constant));
    let constant = constant ^ constant.shift_up::<4>();
    let constant = constant ^ constant.shift_up::<8>();
    for word in &mut words {
        *word = *word ^ constant;
    }
    words
}

/// All round keys of every lane, each at its index: for AES-128 (11) from the first half, for AES-256 (15) from both.
#[inline(always)]
pub(crate) fn expand<S: Simd, const W: usize, const KEYS: usize>(
    simd: S,
    halves: Keys<S::Reg, W>,
    keys: &mut [[S::Reg; W]; KEYS],
) {
    const { assert!(KEYS == 11 || KEYS == ROUNDS + 1) };
    let mut pair = halves;
    keys[0] = pair[0];
    rounds!(round < KEYS => {
        keys[round] = next::<S, W, KEYS>(simd, round, &mut pair);
    });
    if KEYS > ROUNDS {
        keys[ROUNDS] = next::<S, W, KEYS>(simd, ROUNDS, &mut pair);
    }
}

/// Round key `round` of every lane; to be called in order from round 1 on. For AES-128 (11 keys), the first of `pair`
/// is the previous round key; for AES-256 (15), `pair` is the previous two.
#[inline(always)]
pub(crate) fn next<S: Simd, const W: usize, const KEYS: usize>(
    simd: S,
    round: usize,
    pair: &mut Keys<S::Reg, W>,
) -> [S::Reg; W] {
    if KEYS > ROUNDS {
        advance(simd, round, pair);
        return pair[round % 2];
    }
    let words = sub_last_words::<S, W, true>(simd, pair[0], RCON[round - 1]);
    for (key, word) in pair[0].iter_mut().zip(words) {
        *key = prefix_xor(*key) ^ word;
    }
    pair[0]
}

/// All round keys of every lane, in the form in which the level encrypts.
pub(crate) struct LaneRounds<R, const W: usize, const KEYS: usize> {
    keys: [[R; W]; KEYS],
    /// The same in bitsliced form, at a level without AES instructions: sliced once for all rows.
    sliced: [Option<Slices<W>>; KEYS],
}

impl<R: Reg, const W: usize, const KEYS: usize> LaneRounds<R, W, KEYS> {
    /// Without keys.
    #[inline(always)]
    pub(crate) fn empty<S: Simd<Reg = R>>(simd: S) -> Self {
        LaneRounds { keys: [[simd.zero(); W]; KEYS], sliced: [None; KEYS] }
    }

    /// The round keys, to be written; call [`settle`](Self::settle) afterwards.
    #[inline(always)]
    pub(crate) fn keys_mut(&mut self) -> &mut [[R; W]; KEYS] {
        &mut self.keys
    }

    /// Prepares for encryption, after all keys were written.
    #[inline(always)]
    pub(crate) fn settle<S: Simd<Reg = R>>(&mut self, _: S) {
        if !S::AES {
            for (sliced, key) in self.sliced.iter_mut().zip(&self.keys) {
                *sliced = Some(pack(key));
            }
        }
    }

    /// Encrypts rows of blocks, each lane with its own round keys.
    #[inline(always)]
    pub(crate) fn encrypt<S: Simd<Reg = R>, const ROWS: usize>(&self, simd: S, rows: &mut [[R; W]; ROWS]) {
        if !S::AES {
            for row in rows {
                encrypt_row_sliced(simd, &self.sliced, row);
            }
            return;
        }
        for row in rows.iter_mut() {
            for (x, key) in row.iter_mut().zip(self.keys[0]) {
                *x = *x ^ key;
            }
        }
        rounds!(round < KEYS - 1 => {
            for row in rows.iter_mut() {
                for (x, key) in row.iter_mut().zip(self.keys[round]) {
                    *x = x.aesenc(key);
                }
            }
        });
        for row in rows.iter_mut() {
            for (x, key) in row.iter_mut().zip(self.keys[KEYS - 1]) {
                *x = x.aesenclast(key);
            }
        }
    }
}

/// Encrypts one row, bitsliced.
#[inline(never)]
fn encrypt_row_sliced<S: Simd, const W: usize, const KEYS: usize>(
    simd: S,
    keys: &[Option<Slices<W>>; KEYS],
    row: &mut [S::Reg; W],
) {
    let mut state = pack(row);
    for (round, key) in keys.iter().flatten().enumerate() {
        if round > 0 {
            state.sub_bytes();
            state.shift_rows();
            if round < KEYS - 1 {
                state.mix_columns();
            }
        }
        state.add(key);
    }
    unpack(simd, &state, row);
}

/// Encrypts the block in every lane with that lane's key.
#[inline(always)]
pub(crate) fn encrypt<S: Simd, const W: usize>(simd: S, mut keys: Keys<S::Reg, W>, blocks: &mut [S::Reg; W]) {
    if !S::AES {
        return encrypt_sliced(simd, keys, blocks);
    }
    for (x, key) in blocks.iter_mut().zip(keys[0]) {
        *x = *x ^ key;
    }
    rounds!(round < ROUNDS => {
        advance(simd, round, &mut keys);
        for (x, key) in blocks.iter_mut().zip(keys[round % 2]) {
            *x = x.aesenc(key);
        }
    });
    advance(simd, ROUNDS, &mut keys);
    for (x, key) in blocks.iter_mut().zip(keys[ROUNDS % 2]) {
        *x = x.aesenclast(key);
    }
}

/// Decrypts the block in every lane with that lane's key.
#[inline(always)]
pub(crate) fn decrypt<S: Simd, const W: usize>(simd: S, mut keys: Keys<S::Reg, W>, blocks: &mut [S::Reg; W]) {
    // Decryption starts with the last round key, so that all of them must be computed first.
    let mut all = [[simd.zero(); W]; ROUNDS + 1];
    all[0] = keys[0];
    rounds!(round < ROUNDS => {
        advance(simd, round, &mut keys);
        all[round] = keys[round % 2];
    });
    advance(simd, ROUNDS, &mut keys);
    all[ROUNDS] = keys[ROUNDS % 2];
    if !S::AES {
        return decrypt_sliced(simd, &all, blocks);
    }
    for (x, key) in blocks.iter_mut().zip(all[ROUNDS]) {
        *x = *x ^ key;
    }
    rounds!(round < ROUNDS => {
        for (x, key) in blocks.iter_mut().zip(all[ROUNDS - round]) {
            *x = x.aesdec(key.aesimc());
        }
    });
    for (x, key) in blocks.iter_mut().zip(all[0]) {
        *x = x.aesdeclast(key);
    }
}

/// The whole cipher, bitsliced.
#[inline(always)]
fn encrypt_sliced<S: Simd, const W: usize>(simd: S, mut keys: Keys<S::Reg, W>, blocks: &mut [S::Reg; W]) {
    let mut state = pack(blocks);
    state.add(&pack(&keys[0]));
    for round in 1..=ROUNDS {
        state.sub_bytes();
        state.shift_rows();
        if round < ROUNDS {
            state.mix_columns();
        }
        advance(simd, round, &mut keys);
        state.add(&pack(&keys[round % 2]));
    }
    unpack(simd, &state, blocks);
}

/// The whole inverse cipher (FIPS 197, 5.3), bitsliced.
#[inline(always)]
fn decrypt_sliced<S: Simd, const W: usize>(simd: S, keys: &[[S::Reg; W]; ROUNDS + 1], blocks: &mut [S::Reg; W]) {
    let mut state = pack(blocks);
    state.add(&pack(&keys[ROUNDS]));
    for round in (0..ROUNDS).rev() {
        state.inverse_shift_rows();
        state.inverse_sub_bytes();
        state.add(&pack(&keys[round]));
        if round > 0 {
            state.inverse_mix_columns();
        }
    }
    unpack(simd, &state, blocks);
}
