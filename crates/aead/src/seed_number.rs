//! Integers of seedlen, 440 bits, which Hash_DRBG adds and hashes: in words instead of bytes, and without branches.

#[cfg(feature = "research")]
use crate::simd::sha_constants::Digest;
use crate::simd::sha_constants::Message;

/// Bytes of the state's V and C: seedlen, 440 bits (SP 800-90A, table 2).
pub const SEED_BYTES: usize = 55;

/// A number of [`SEED_BYTES`] bytes, big endian.
pub(crate) type Seed = [u8; SEED_BYTES];
/// The same number in words, least significant first.
pub(crate) type Number = [u64; 7];

/// Bits of the highest word.
const TOP: u64 = (1 << 56) - 1;
/// The padding bit of SHA-256, at the start of a word.
const END: u64 = 1 << 63;

/// The seed as a number.
pub(crate) fn number(seed: &Seed) -> Number {
    let mut padded = [0; 56];
    padded[1..].copy_from_slice(seed);
    let mut number = [0; 7];
    for (word, bytes) in number.iter_mut().rev().zip(padded.as_chunks::<8>().0) {
        *word = u64::from_be_bytes(*bytes);
    }
    number
}

/// The number as a seed.
pub(crate) fn seed(number: &Number) -> Seed {
    let mut padded = [0; 56];
    for (bytes, word) in padded.as_chunks_mut::<8>().0.iter_mut().zip(number.iter().rev()) {
        *bytes = word.to_be_bytes();
    }
    let mut seed = [0; SEED_BYTES];
    seed.copy_from_slice(&padded[1..]);
    seed
}

/// `x + y` modulo 2^440.
#[inline(always)]
pub(crate) fn sum(x: &Number, y: &Number) -> Number {
    let (mut sum, mut carry) = ([0; 7], false);
    for i in 0..7 {
        let (word, over) = x[i].overflowing_add(y[i]);
        let (word, over_again) = word.overflowing_add(u64::from(carry));
        (sum[i], carry) = (word, over | over_again);
    }
    sum[6] &= TOP;
    sum
}

/// A hash as a number.
#[cfg(feature = "research")]
#[inline(always)]
pub(crate) fn widened([a, b, c, d]: Digest) -> Number {
    [d, c, b, a, 0, 0, 0]
}

/// The message 0x03 || V, which ends with a word.
#[cfg(feature = "research")]
#[inline(always)]
pub(crate) fn update_message(v: &Number) -> Message {
    [(3 << 56) | v[6], v[5], v[4], v[3], v[2], v[1], v[0], END]
}

/// The message V, of 55 bytes, with SHA-256's padding and length.
#[inline(always)]
pub(crate) fn output_message(v: &Number) -> Message {
    let mut message = [0; 8];
    for i in 0..6 {
        message[i] = (v[6 - i] << 8) | (v[5 - i] >> 56);
    }
    message[6] = (v[0] << 8) | (END >> 56);
    message[7] = 8 * 55;
    message
}

/// The input of [`Schedules::hash`](crate::simd::sha_lanes::Schedules::hash) for V, V + 1, and so on: V, and V with a
/// carry out of its last 24 bits.
pub(crate) fn counting(v: &Number) -> [Message; 2] {
    [output_message(v), output_message(&sum(v, &[1 << 24, 0, 0, 0, 0, 0, 0]))]
}
