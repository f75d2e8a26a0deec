//! Serpent and its modes at every level: against RustCrypto's serpent, and the modes' standards over it block by block.
#![allow(clippy::unwrap_used)]

mod support;

use sealwright::{
    Isa,
    block::serpent::Serpent,
    mode::{cbc, ctr, ecb, gcm, ocb},
};
use serpent::cipher::{BlockCipherEncrypt, KeyInit, array::Array};
use support::{agree, bytes, slow_gcm, slow_ocb};

/// What RustCrypto makes of a block.
fn theirs(key: &[u8]) -> impl Fn([u8; 16]) -> [u8; 16] + 'static {
    let cipher = serpent::Serpent::new_from_slice(key).unwrap();
    move |block| {
        let mut block = Array::from(block);
        cipher.encrypt_block(&mut block);
        block.into()
    }
}

#[test]
fn every_number_of_blocks_to_140() {
    for key_len in [16, 24, 32] {
        for n in 0..=140 {
            let key = bytes(key_len, n as u64);
            let plain = bytes(16 * n, 7);
            let encrypt = theirs(&key);
            let expected: Vec<u8> = plain.as_chunks().0.iter().flat_map(|block| encrypt(*block)).collect();
            let ours = Serpent::new(&key).unwrap();
            for isa in Isa::available() {
                let what = format!("{isa}, {key_len} bytes of key, {n} blocks");
                let mut text = plain.clone();
                ecb::encrypt(isa, &ours, &mut text);
                assert!(text == expected, "{what}");
                ecb::decrypt(isa, &ours, &mut text);
                assert!(text == plain, "{what}, back");
            }
        }
    }
}

#[test]
fn ocb_by_the_letter_of_the_rfc() {
    for isa in Isa::available() {
        let key = bytes(32, 1);
        let block = theirs(&key);
        let aead = ocb::serpent_by_key(isa, &key, ocb::TagLen::T16).unwrap();
        for n in (0..=700).chain([1024, 1300, 2048, 5000]) {
            let (nonce, ad, text) = (bytes(n % 15 + 1, n as u64), bytes([0, 13, 16, 40, 1100][n % 5], 3), bytes(n, 2));
            let expected = slow_ocb(&block, 16, &nonce, &ad, &text);
            agree(&*aead, &nonce, &ad, &text, &expected, n % 67, &format!("{isa} {n} bytes, nonce of {}", nonce.len()));
        }
    }
}

#[test]
fn gcm_by_the_letter_of_the_standard() {
    for isa in Isa::available() {
        let key = bytes(32, 1);
        let block = theirs(&key);
        let aead = gcm::serpent_by_key(isa, &key, gcm::TagLen::T16).unwrap();
        for n in (0..=700).chain([1024, 1300, 2048, 5000]) {
            let (nonce, ad, text) = (bytes([12, 12, 1, 40][n % 4], n as u64), bytes(n % 50, 3), bytes(n, 2));
            let expected = slow_gcm(&block, block([0; 16]), &nonce, &ad, &text);
            agree(&*aead, &nonce, &ad, &text, &expected, n % 67, &format!("{isa} {n} bytes"));
        }
    }
}

#[test]
fn ctr_and_cbc_block_by_block() {
    let key = bytes(24, 1);
    let block = theirs(&key);
    let ours = Serpent::new(&key).unwrap();
    for isa in Isa::available() {
        for n in 0..=700 {
            let (iv, plain) = (bytes(16, n as u64), bytes(n, 2));
            let iv: [u8; 16] = iv.try_into().unwrap();
            let keystream =
                (0..n.div_ceil(16)).flat_map(|i| block((u128::from_be_bytes(iv) + i as u128).to_be_bytes()));
            let expected: Vec<u8> = plain.iter().zip(keystream).map(|(x, key)| x ^ key).collect();
            let mut text = plain.clone();
            ctr::apply(isa, &ours, &iv, &mut text);
            assert!(text == expected, "{isa} CTR, {n} bytes");

            let plain = &plain[..n / 16 * 16];
            let mut chain = iv;
            let mut expected = Vec::new();
            for text in plain.as_chunks::<16>().0 {
                chain = block(core::array::from_fn(|i| text[i] ^ chain[i]));
                expected.extend(chain);
            }
            let mut text = plain.to_vec();
            cbc::encrypt(isa, &ours, &iv, &mut text);
            assert!(text == expected, "{isa} CBC, {n} bytes");
            cbc::decrypt(isa, &ours, &iv, &mut text);
            assert!(text == plain, "{isa} CBC, {n} bytes, back");
        }
    }
}

#[test]
fn refuses_other_keys() {
    for n in [0, 1, 15, 17, 31, 33, 64] {
        assert!(Serpent::new(&vec![0; n]).is_err(), "{n} bytes");
    }
}
