//! XAES-256-GCM against the vectors of its specification (C2SP), the accumulated ones too.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use sealwright::{Aead, Isa, mode::xaes::Xaes256Gcm};
use shake::{
    Shake128,
    digest::{ExtendableOutput, Update, XofReader},
};
use support::{aes_block, bytes, slow_gcm};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sealed(isa: Isa, key: u8, ad: &[u8]) -> String {
    let (aead, nonce) = (Xaes256Gcm::new(isa, &[key; 32]), b"ABCDEFGHIJKLMNOPQRSTUVWX");
    let mut message = b"XAES-256-GCM".to_vec();
    aead.seal_vec(nonce, ad, &mut message).unwrap();
    // With room for the tag
    let mut roomy = [&b"XAES-256-GCM"[..], &[0xee; 16]].concat();
    aead.seal_message(nonce, ad, &mut roomy).unwrap();
    assert_eq!(roomy, message, "{isa}");
    hex(&message)
}

/// The two keys differ in the first bit of L, which decides how CMAC's subkey is made.
#[test]
fn the_specification_s_vectors() {
    for isa in Isa::available() {
        assert_eq!(sealed(isa, 1, b""), "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271", "{isa}");
        let ad = b"c2sp.org/XAES-256-GCM";
        assert_eq!(sealed(isa, 3, ad), "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d", "{isa}");
    }
}

/// Every short text, with associated data about each block, against RustCrypto's AES a block at a time: the kernels of
/// short messages have a table for up to 8 and one for up to 20 blocks.
#[test]
fn every_short_text_with_associated_data_about_each_block() {
    let (key, nonce): ([u8; 32], _) = (bytes(32, 1).try_into().unwrap(), bytes(24, 2));
    let cipher = aes_block(&key);
    let l = u128::from_be_bytes(cipher([0; 16]));
    let subkey = (l << 1) ^ if l >> 127 == 1 { 0x87 } else { 0 };
    let half = |number| {
        let block = [&[0, number, b'X', 0], &nonce[..12]].concat().try_into().unwrap();
        cipher((u128::from_be_bytes(block) ^ subkey).to_be_bytes())
    };
    let derived = aes_block(&[half(1), half(2)].concat());
    for n in 0..=330 {
        for ad in [0, 1, 15, 16, 17, 31, 32, 33, 64] {
            let (ad, text) = (bytes(ad, 3), bytes(n, 4));
            let theirs = slow_gcm(&*derived, derived([0; 16]), &nonce[12..], &ad, &text);
            for isa in Isa::available() {
                let what = format!("{isa}, {n} bytes, {} of associated data", ad.len());
                support::agree(&Xaes256Gcm::new(isa, &key), &nonce, &ad, &text, &theirs, n % 67, &what);
            }
        }
    }
}

/// Hashes what many random messages become; opens them too.
fn accumulated(isa: Isa, messages: usize) -> String {
    let mut source = Shake128::default().finalize_xof();
    let mut hash = Shake128::default();
    let mut take = |len: usize| {
        let mut bytes = vec![0; len];
        source.read(&mut bytes);
        bytes
    };
    for _ in 0..messages {
        let (key, nonce) = (take(32), take(24));
        let len = take(1)[0];
        let text = take(usize::from(len));
        let len = take(1)[0];
        let ad = take(usize::from(len));
        let aead = Xaes256Gcm::new(isa, key.as_slice().try_into().unwrap());
        let mut message = text.clone();
        aead.seal_vec(&nonce, &ad, &mut message).unwrap();
        hash.update(&message);
        aead.open_vec(&nonce, &ad, &mut message).unwrap();
        assert_eq!(message, text);
    }
    let mut out = [0; 32];
    hash.finalize_xof().read(&mut out);
    hex(&out)
}

#[test]
fn ten_thousand_random_messages() {
    for isa in Isa::available() {
        let expected = "e6b9edf2df6cec60c8cbd864e2211b597fb69a529160cd040d56c0c210081939";
        assert_eq!(accumulated(isa, 10_000), expected, "{isa}");
    }
}

#[test]
#[ignore = "a minute in a test build: `cargo xtask long`"]
fn a_million_random_messages() {
    let expected = "2163ae1445985a30b60585ee67daa55674df06901b890593e824b8a7c885ab15";
    assert_eq!(accumulated(Isa::best(), 1_000_000), expected);
}

#[test]
fn other_nonces_and_forgeries_are_refused() {
    let aead = Xaes256Gcm::new(Isa::best(), &[5; 32]);
    let nonce = [6; 24];
    assert_eq!((aead.nonce_len(), aead.tag_len()), (24, 16));
    for len in [0, 12, 23, 25] {
        assert!(aead.seal_in_place(&vec![0; len], b"", &mut [0; 4]).is_err());
    }
    let mut message = b"text".to_vec();
    aead.seal_vec(&nonce, b"ad", &mut message).unwrap();
    for at in 0..24 {
        let mut other = nonce;
        other[at] ^= 1;
        let mut copy = message.clone();
        assert!(aead.open_vec(&other, b"ad", &mut copy).is_err(), "nonce byte {at}");
        assert!(copy.is_empty());
    }
    assert_eq!(format!("{aead:?}").matches("Xaes256Gcm").count(), 1);
}
