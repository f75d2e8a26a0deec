//! HKDF-Expand (RFC 5869) with HMAC-SHA-512, by its definition.

use sha2::{Digest, Sha512};

/// The first `N` bytes of the output, at most 128.
pub(crate) fn expand<const N: usize>(key: &[u8; 32], info: &[u8]) -> [u8; N] {
    let first = hmac(key, &[info, &[1]].concat());
    let second = hmac(key, &[&first[..], info, &[2]].concat());
    *[first, second].as_flattened().first_chunk().expect("two blocks")
}

fn hmac(key: &[u8; 32], message: &[u8]) -> [u8; 64] {
    let mut block = [[0x36; 128], [0x5c; 128]];
    for pad in &mut block {
        pad.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
    }
    let inner = Sha512::new().chain_update(block[0]).chain_update(message).finalize();
    Sha512::new().chain_update(block[1]).chain_update(inner).finalize().into()
}
