//! Committing suites: the construction written out again, forgeries, and a message made for two keys.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use hmac::{Hmac, KeyInit, Mac};
use sealwright::{
    Aead, Isa, RandomNonceKey, SealError, Suite,
    committing::{COMMITMENT, Committing, NONCE},
};
use sha2::Sha512;
use support::{agree, bytes};

/// The construction as its documentation says it, over the plain suite.
fn by_hand(isa: Isa, suite: Suite, key: &[u8], nonce: &[u8], ad: &[u8], text: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let label = b"SEALWRIGHT committing AEAD v1+";
    let info = [label, suite.aead_name().as_bytes(), &[0], nonce, ad, &[1]].concat();
    let derived = Hmac::<Sha512>::new_from_slice(key).unwrap().chain_update(info).finalize().into_bytes();
    let mut ciphertext = text.to_vec();
    let aead = suite.aead_at(isa, &derived[32..32 + suite.key_len()]).unwrap();
    let tag = aead.seal_in_place(&nonce[12..], b"", &mut ciphertext).unwrap();
    (ciphertext, [&derived[..32], tag.as_ref()].concat())
}

#[test]
fn every_suite_at_every_level_as_written_out() {
    for isa in Isa::available() {
        for (i, &suite) in Suite::ALL.iter().enumerate() {
            let key = bytes(suite.key_len(), i as u64);
            let aead = Committing::at(isa, suite, &key).unwrap();
            assert_eq!((aead.nonce_len(), aead.tag_len()), (24, 48));
            for len in (0..70).chain([255, 256, 257, 1000, 1024]) {
                let (nonce, ad) = (bytes(NONCE, len as u64), bytes(len % 200, 3));
                let text = bytes(len, 4);
                let theirs = by_hand(isa, suite, &key, &nonce, &ad, &text);
                agree(&aead, &nonce, &ad, &text, &theirs, len % 3, &format!("{suite} {isa} {len}"));
            }
        }
    }
}

#[test]
fn every_bit_counts() {
    let (nonce, ad) = (bytes(NONCE, 1), bytes(20, 2));
    let aead = Committing::new(Suite::Aes256Gcm, &bytes(32, 3)).unwrap();
    let mut text = *b"attack at dawn";
    let tag = aead.seal_in_place(&nonce, &ad, &mut text).unwrap();
    let tag = tag.as_ref();
    let opens = |aead: &Committing, nonce: &[u8], ad: &[u8], tag: &[u8]| {
        let mut copy = text;
        let opened = aead.open_in_place(nonce, ad, &mut copy, tag).is_ok();
        assert!(opened || copy == [0; 14], "a refused text must be wiped");
        opened
    };
    let flipped = |bytes: &[u8], bit: usize| {
        let mut bytes = bytes.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        bytes
    };
    assert!(opens(&aead, &nonce, &ad, tag) && aead.is_key_of(&nonce, &ad, tag));
    for bit in 0..8 * NONCE {
        assert!(!opens(&aead, &flipped(&nonce, bit), &ad, tag));
        assert!(!aead.is_key_of(&flipped(&nonce, bit), &ad, tag));
    }
    for bit in 0..8 * ad.len() {
        assert!(!opens(&aead, &nonce, &flipped(&ad, bit), tag));
    }
    for bit in 0..8 * tag.len() {
        assert!(!opens(&aead, &nonce, &ad, &flipped(tag, bit)));
        assert_eq!(aead.is_key_of(&nonce, &ad, &flipped(tag, bit)), bit >= 8 * COMMITMENT);
    }
    for len in (0..tag.len()).chain([49, 64]) {
        let other: Vec<u8> = tag.iter().copied().chain([0; 16]).take(len).collect();
        assert!(!opens(&aead, &nonce, &ad, &other) && !aead.is_key_of(&nonce, &ad, &other), "{len} bytes");
    }
    for bit in 0..256 {
        let other = Committing::new(Suite::Aes256Gcm, &flipped(&bytes(32, 3), bit)).unwrap();
        assert!(!opens(&other, &nonce, &ad, tag) && !other.is_key_of(&nonce, &ad, tag));
    }
}

/// Where nonce and associated data meet, no byte can pass from one to the other; and no suite takes another's message.
#[test]
fn the_parts_do_not_run_together() {
    let key = bytes(32, 1);
    let mut commitments = Vec::new();
    for suite in Suite::ALL.iter().filter(|suite| suite.key_len() == 32) {
        let aead = Committing::new(*suite, &key).unwrap();
        for (nonce, ad) in [([0; 24], &[][..]), ([0; 24], &[0]), ([0; 24], &[0, 0]), ([1; 24], &[])] {
            commitments.push(aead.seal_in_place(&nonce, ad, &mut []).unwrap().as_ref().to_vec());
        }
    }
    let all = commitments.len();
    commitments.sort_unstable();
    commitments.dedup_by(|a, b| a[..COMMITMENT] == b[..COMMITMENT]);
    assert!(all >= 12 && commitments.len() == all, "{} of {all} differ", commitments.len());
}

#[test]
fn other_lengths_are_refused() {
    for len in [0, 16, 31, 33, 64] {
        let error = Committing::new(Suite::Aes256Gcm, &vec![0; len]).unwrap_err();
        assert_eq!((error.allowed(), error.given()), (&[32][..], len));
    }
    let aead = Committing::new(Suite::Aes128Gcm, &[5; 16]).unwrap();
    for len in [0, 12, 23, 25] {
        let mut text = *b"text";
        assert_eq!(aead.seal_in_place(&vec![0; len], b"", &mut text), Err(SealError::NonceLength));
        assert_eq!(&text, b"text");
        assert!(aead.open_in_place(&vec![0; len], b"", &mut text, &[0; 48]).is_err());
    }
    assert_eq!(format!("{aead:?}"), format!("Committing {{ isa: {:?}, suite: Aes128Gcm, .. }}", Isa::best()));
}

#[test]
fn with_random_nonces() {
    let key = RandomNonceKey::committing(Suite::Aes256Ocb, &[9; 32]).unwrap();
    let message = key.seal(b"ad", b"text").unwrap();
    assert_eq!((message.len(), key.overhead()), (4 + 72, 72));
    assert_eq!(key.open(b"ad", &message).unwrap(), b"text");
    assert!(RandomNonceKey::committing(Suite::Aes256Ocb, &[8; 32]).unwrap().open(b"ad", &message).is_err());
}
