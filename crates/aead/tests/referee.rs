//! Agreement with RustCrypto's aes-gcm, an independent implementation, at every level.
#![allow(clippy::unwrap_used)]

mod support;

use aes_gcm::{
    AeadInOut, Aes128Gcm, Aes256Gcm, KeyInit,
    aead::{array::Array, inout::InOutBuf},
};
use sealwright::{Aead, Isa, Suite};
use support::bytes;

/// What RustCrypto makes of a text: ciphertext and tag.
fn theirs(suite: Suite, key: &[u8], nonce: &[u8], ad: &[u8], text: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut text = text.to_vec();
    let nonce = Array::try_from(nonce).unwrap();
    let buffer = InOutBuf::from(text.as_mut_slice());
    let tag = match suite {
        Suite::Aes128Gcm => Aes128Gcm::new_from_slice(key).unwrap().encrypt_inout_detached(&nonce, ad, buffer),
        _ => Aes256Gcm::new_from_slice(key).unwrap().encrypt_inout_detached(&nonce, ad, buffer),
    };
    (text, tag.unwrap().to_vec())
}

/// Holds one text against RustCrypto.
fn agree(aead: &dyn Aead, suite: Suite, key: &[u8], ad: &[u8], text: &[u8], offset: usize, what: &str) {
    let nonce = bytes(12, text.len() as u64 + 77);
    support::agree(aead, &nonce, ad, text, &theirs(suite, key, &nonce, ad, text), offset, what);
}

#[test]
fn every_length_to_1100() {
    for isa in Isa::available() {
        for suite in [Suite::Aes128Gcm, Suite::Aes256Gcm] {
            let key = bytes(suite.key_len(), 1);
            let aead = suite.aead_at(isa, &key).unwrap();
            for n in 0..=1100 {
                let ad = bytes([0, 13, 16, 40][n % 4], 3);
                agree(&*aead, suite, &key, &ad, &bytes(n, 2), n % 67, &format!("{isa} {suite} {n} bytes"));
            }
        }
    }
}

#[test]
fn every_short_text_with_associated_data_about_each_block() {
    let suite = Suite::Aes256Gcm;
    let key = bytes(32, 1);
    for isa in Isa::available() {
        let aead = suite.aead_at(isa, &key).unwrap();
        for n in 0..=320 {
            for ad in [0, 1, 15, 16, 17, 32, 33, 48, 49, 63, 64, 65] {
                let what = format!("{isa}, {n} bytes, {ad} of associated data");
                agree(&*aead, suite, &key, &bytes(ad, 3), &bytes(n, 2), n % 67, &what);
            }
        }
    }
}

#[test]
fn every_length_of_associated_data() {
    for isa in Isa::available() {
        let suite = Suite::Aes256Gcm;
        let key = bytes(32, 1);
        let aead = suite.aead_at(isa, &key).unwrap();
        for n in (0..=300).chain(1050..1150).chain([4096, 70_000]) {
            let what = format!("{isa}, {n} bytes of associated data");
            agree(&*aead, suite, &key, &bytes(n, 3), &bytes((n * 7) % 300, 2), 0, &what);
            agree(&*aead, suite, &key, &bytes(n, 3), &bytes(2048 + n % 500, 2), 0, &what);
        }
    }
}

#[test]
fn random_lengths_to_a_mebibyte() {
    for isa in Isa::available() {
        let portable = isa.name() == "portable";
        for suite in [Suite::Aes128Gcm, Suite::Aes256Gcm] {
            let key = bytes(suite.key_len(), 9);
            let aead = suite.aead_at(isa, &key).unwrap();
            for i in 0..if portable { 6 } else { 40 } {
                let n = u32::from_le_bytes(bytes(4, 1000 + i).try_into().unwrap()) as usize % ((1 << 20) + 1);
                let what = format!("{isa} {suite} {n} bytes");
                agree(&*aead, suite, &key, b"ad", &bytes(n, i), i as usize % 64, &what);
            }
            agree(&*aead, suite, &key, b"ad", &bytes(1 << 20, 5), 0, &format!("{isa} {suite} 1 MiB"));
        }
    }
}
