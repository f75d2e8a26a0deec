//! CBC with HMAC-SHA-256 at every level, against RFC 7518's lines composed of the `aes` and `hmac` crates.
#![allow(clippy::unwrap_used)]

mod support;

use aes::{
    Aes128, Aes256,
    cipher::{BlockCipherEncrypt, KeyInit, array::Array, consts::U16},
};
use hmac::{Hmac, Mac};
use sealwright::{
    Aead, Isa, OpenError, SealError,
    mode::cbc_hmac::{A128CbcHs256, Aes256CbcHmac, by_key},
};
use sha2::Sha256;
use support::{agree, bytes};

/// Ciphertext and the first bytes of the hash.
fn slow<C: BlockCipherEncrypt<BlockSize = U16> + KeyInit>(
    key: &[u8],
    iv: &[u8],
    ad: &[u8],
    padded: &[u8],
    tag_len: usize,
) -> (Vec<u8>, Vec<u8>) {
    let (mac_key, key) = key.split_at(key.len() / 2);
    let cipher = C::new_from_slice(key).unwrap();
    let (mut ciphertext, mut before) = (Vec::new(), iv.to_vec());
    for block in padded.chunks(16) {
        let mixed: Vec<u8> = block.iter().zip(&before).map(|(p, c)| p ^ c).collect();
        let mut block = Array::try_from(&mixed[..]).unwrap();
        cipher.encrypt_block(&mut block);
        before = block.to_vec();
        ciphertext.extend(block);
    }
    let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(mac_key).unwrap();
    for part in [ad, iv, &ciphertext, &(8 * ad.len() as u64).to_be_bytes()] {
        mac.update(part);
    }
    (ciphertext, mac.finalize().into_bytes()[..tag_len].to_vec())
}

fn padded(text: &[u8]) -> Vec<u8> {
    let more = 16 - text.len() % 16;
    [text, &vec![more as u8; more]].concat()
}

#[test]
fn every_length_at_every_level() {
    for isa in Isa::available() {
        let (short, long) = (bytes(32, 1), bytes(64, 1));
        let narrow = A128CbcHs256::new(isa, short[..].try_into().unwrap());
        let wide = Aes256CbcHmac::new(isa, long[..].try_into().unwrap());
        for n in (0..140).chain([255, 256, 257, 511, 512, 700]) {
            let (iv, ad, text) = (bytes(16, n as u64), bytes([0, 1, 13, 64][n % 4], 3), bytes(n, 2));
            let what = format!("{isa} {n}");
            let theirs = slow::<Aes128>(&short, &iv, &ad, &padded(&text), 16);
            agree(&narrow, &iv, &ad, &padded(&text), &theirs, n % 67, &what);
            let mut ours = text.clone();
            let tag = narrow.seal(&iv, &ad, &mut ours).unwrap();
            assert_eq!((&ours, tag.as_ref()), (&theirs.0, &theirs.1[..]), "{what}");
            narrow.open(&iv, &ad, &mut ours, tag.as_ref()).unwrap();
            assert_eq!(ours, text, "{what}");

            let theirs = slow::<Aes256>(&long, &iv, &ad, &padded(&text), 32);
            agree(&wide, &iv, &ad, &padded(&text), &theirs, n % 61, &what);
            let mut ours = text.clone();
            let tag = wide.seal(&iv, &ad, &mut ours).unwrap();
            assert_eq!((&ours, tag.as_ref()), (&theirs.0, &theirs.1[..]), "{what}");
            wide.open(&iv, &ad, &mut ours, tag.as_ref()).unwrap();
            assert_eq!(ours, text, "{what}");
        }
    }
}

/// Associated data ends where it ends: what moves over the border to the IV or the text is noticed.
#[test]
fn borders_are_authentic() {
    let aead = Aes256CbcHmac::new(Isa::best(), &[7; 64]);
    let (iv, ad) = ([1; 16], [1; 16]);
    let mut ciphertext = vec![1; 32];
    let tag = aead.seal_in_place(&iv, &ad, &mut ciphertext).unwrap();
    let refused = |iv: &[u8], ad: &[u8], text: &[u8]| {
        let mut text = text.to_vec();
        assert_eq!(aead.open_in_place(iv, ad, &mut text, tag.as_ref()), Err(OpenError));
        assert!(text.iter().all(|&byte| byte == 0));
    };
    // A || IV || C is the same string of bytes here in each case.
    refused(&iv, b"", &[&[1; 16][..], &ciphertext].concat());
    refused(ciphertext[..16].try_into().unwrap(), &[1; 32], &ciphertext[16..]);
    refused(&iv, &ad, &ciphertext[..16]);
    refused(&iv[..15], &ad, &ciphertext);
    refused(&iv, &ad, &ciphertext[..31]);
    assert!(aead.open_in_place(&iv, &ad, &mut ciphertext, tag.as_ref()).is_ok());
}

/// Padding that is wrong but authentic: the key's holder made it, and still no text comes out.
#[test]
fn wrong_padding_is_not_authentic() {
    let aead = A128CbcHs256::new(Isa::best(), &[7; 32]);
    for last in [0, 17, 2] {
        let mut text = vec![9; 16];
        text[15] = last;
        let tag = aead.seal_in_place(&[0; 16], b"", &mut text).unwrap();
        assert_eq!(aead.open(&[0; 16], b"", &mut text, tag.as_ref()), Err(OpenError));
        assert!(text.iter().all(|&byte| byte == 0));
    }
    let mut nothing = Vec::new();
    let tag = aead.seal_in_place(&[0; 16], b"", &mut nothing).unwrap();
    assert_eq!(aead.open(&[0; 16], b"", &mut nothing, tag.as_ref()), Err(OpenError), "no padding at all");
}

#[test]
fn wrong_lengths_are_refused() {
    for (length, tag_len) in [(32, Some(16)), (64, Some(32)), (16, None), (48, None), (0, None)] {
        let lengths = by_key(Isa::best(), &vec![1; length]).map(|aead| (aead.nonce_len(), aead.tag_len()));
        assert_eq!(lengths.ok(), tag_len.map(|tag_len| (16, tag_len)));
    }
    let aead = by_key(Isa::best(), &[1; 32]).unwrap();
    let mut text = vec![7; 33];
    assert_eq!(aead.seal_in_place(&[0; 16], b"", &mut text), Err(SealError::PartialBlock));
    assert_eq!(aead.seal_in_place(&[0; 12], b"", &mut text[..32]), Err(SealError::NonceLength));
    assert!(text.iter().all(|&byte| byte == 7), "a refused text stays");
    let mut text = vec![7; 5];
    assert!(A128CbcHs256::new(Isa::best(), &[1; 32]).seal(&[0; 12], b"", &mut text).is_err());
    assert_eq!(text, [7; 5], "and unpadded");
}
