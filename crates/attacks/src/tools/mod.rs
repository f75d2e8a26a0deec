//! Tools that attacks share: mathematics, ciphers, and targets.

pub(crate) mod aes;
pub(crate) mod bits;
pub(crate) mod bus;
pub(crate) mod cache;
pub(crate) mod cbc_hmac;
pub(crate) mod cluster;
pub(crate) mod column;
pub(crate) mod enc;
pub(crate) mod ghash;
pub(crate) mod hkdf;
pub(crate) mod permutation;
pub(crate) mod poly;
pub(crate) mod rkc;
pub(crate) mod sealed;
pub(crate) mod sieve;
pub(crate) mod tables;

/// Bytewise XOR, truncated to the shorter input.
pub(crate) fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}
