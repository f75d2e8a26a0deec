//! AES-256 with another key in every lane, for modes that never use a key twice: the schedule runs in the lanes that the
//! blocks stand in, so that a key costs as little as a few blocks.

use super::{
    aes::{pack, rounds, unpack},
    round_keys::{RCON, prefix_xor, sub_last_word},
};
use crate::simd::{Reg, Simd};

/// Rounds of AES-256.
const ROUNDS: usize = 14;

/// The two halves of each lane's key; of each register of blocks one register of each half.
pub(crate) type Keys<R, const W: usize> = [[R; W]; 2];

/// Puts round key `round` in the place of the one before last, which it is made of (FIPS 197, 5.2).
#[inline(always)]
fn advance<S: Simd, const W: usize>(simd: S, round: usize, keys: &mut Keys<S::Reg, W>) {
    if round < 2 {
        return;
    }
    let mut words = keys[(round + 1) % 2];
    if S::AES {
        for word in &mut words {
            *word = match round % 2 {
                0 => sub_last_word::<S, true>(simd, *word, RCON[round / 2 - 1]),
                _ => sub_last_word::<S, false>(simd, *word, 0),
            };
        }
    } else {
        sub_last_words(simd, round, &mut words);
    }
    for (key, word) in keys[round % 2].iter_mut().zip(words) {
        *key = prefix_xor(*key) ^ word;
    }
}

/// [`sub_last_word`] of all registers in one go through the bit slices.
#[inline(always)]
fn sub_last_words<S: Simd, const W: usize>(simd: S, round: usize, words: &mut [S::Reg; W]) {
    for word in words.iter_mut() {
        *word = word.splat_last_word();
        if round.is_multiple_of(2) {
            *word = word.rotate_words();
        }
    }
    let mut slices = pack(words);
    slices.sub_bytes();
    unpack(simd, &slices, words);
    if round.is_multiple_of(2) {
        let mut constant = [0; 16];
        for column in constant.chunks_exact_mut(4) {
            column[0] = RCON[round / 2 - 1];
        }
        for word in words {
            *word = *word ^ simd.splat(&constant);
        }
    }
}

/// Encrypts the block of every lane with the lane's key.
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

/// Decrypts the block of every lane with the lane's key.
#[inline(always)]
pub(crate) fn decrypt<S: Simd, const W: usize>(simd: S, mut keys: Keys<S::Reg, W>, blocks: &mut [S::Reg; W]) {
    // The last round key comes first, so all have to be there.
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

/// The whole cipher in bit slices.
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

/// The whole inverse cipher (FIPS 197, 5.3) in bit slices.
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
