//! AES of every key size, round keys kept or computed as the rounds go: FIPS 197's examples, and RustCrypto's aes.
#![allow(clippy::unwrap_used)]

mod support;

use aes::cipher::{BlockCipherEncrypt, KeyInit, array::Array};
use sealwright::{
    Isa,
    block::{
        BlockCipher,
        aes::{Aes128OnTheFly, Aes192OnTheFly, Aes256OnTheFly},
    },
    mode::ecb,
    raw,
};
use support::bytes;

#[test]
fn the_examples_of_fips_197() {
    // Appendix C: the key counts from 00, the plaintext is 00 11 .. ff.
    let ciphertexts: [(usize, u128); 3] = [
        (16, 0x69c4e0d86a7b0430d8cdb78070b4c55a),
        (24, 0xdda97ca4864cdfe06eaf70a0ec0d7191),
        (32, 0x8ea2b7ca516745bfeafc49904b496089),
    ];
    let plain: Vec<u8> = (0..16).map(|i| 17 * i).collect();
    for isa in Isa::available() {
        for (key_len, ciphertext) in ciphertexts {
            let key: Vec<u8> = (0..key_len as u8).collect();
            let aes = raw::aes(isa, &key).unwrap();
            let mut text = plain.clone();
            aes.ecb_encrypt(&mut text);
            assert_eq!(text, ciphertext.to_be_bytes(), "{isa}, {key_len} bytes of key");
            aes.ecb_decrypt(&mut text);
            assert_eq!(text, plain, "{isa}, {key_len} bytes of key, back");
        }
    }
}

/// What RustCrypto makes of whole blocks.
fn theirs<C: KeyInit + BlockCipherEncrypt>(key: &[u8], text: &[u8]) -> Vec<u8> {
    let cipher = C::new_from_slice(key).unwrap();
    let encrypted = text.chunks(16).flat_map(|block| {
        let mut block = Array::try_from(block).unwrap();
        cipher.encrypt_block(&mut block);
        block.to_vec()
    });
    encrypted.collect()
}

#[test]
fn every_number_of_blocks_to_140() {
    fn on_the_fly<C: BlockCipher>(isa: Isa, cipher: &C, plain: &[u8], expected: &[u8], what: &str) {
        let mut text = plain.to_vec();
        ecb::encrypt(isa, cipher, &mut text);
        assert!(text == expected, "{what}, on the fly");
    }
    for n in 0..=140 {
        let plain = bytes(16 * n, 7);
        let key = bytes(32, n as u64);
        let (k16, k24, k32) =
            (key[..16].try_into().unwrap(), key[..24].try_into().unwrap(), key[..].try_into().unwrap());
        let expected = [
            theirs::<aes::Aes128>(&key[..16], &plain),
            theirs::<aes::Aes192>(&key[..24], &plain),
            theirs::<aes::Aes256>(&key, &plain),
        ];
        for isa in Isa::available() {
            for (key_len, expected) in [16, 24, 32].into_iter().zip(&expected) {
                let what = format!("{isa}, {key_len} bytes of key, {n} blocks");
                let aes = raw::aes(isa, &key[..key_len]).unwrap();
                let mut text = plain.clone();
                aes.ecb_encrypt(&mut text);
                assert!(text == *expected, "{what}");
                aes.ecb_decrypt(&mut text);
                assert!(text == plain, "{what}, back");
            }
            let what = format!("{isa}, {n} blocks");
            on_the_fly(isa, &Aes128OnTheFly::new(k16), &plain, &expected[0], &what);
            on_the_fly(isa, &Aes192OnTheFly::new(k24), &plain, &expected[1], &what);
            on_the_fly(isa, &Aes256OnTheFly::new(k32), &plain, &expected[2], &what);
        }
    }
}
