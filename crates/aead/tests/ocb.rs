//! OCB at every level: against RFC 7253 written down byte by byte over RustCrypto's AES, and against RustCrypto's ocb3.
#![allow(clippy::unwrap_used)]

mod support;

use aes::{
    Aes256,
    cipher::{KeyInit, consts},
};
use ocb3::{AeadInOut, Ocb3, aead::inout::InOutBuf};
use sealwright::{
    Isa,
    mode::ocb::{self, TagLen, by_key},
};
use support::{aes_block, agree, bytes, slow_ocb};

#[test]
fn every_length_to_700_by_the_letter_of_the_rfc() {
    let tags = [TagLen::T16, TagLen::T12, TagLen::T8];
    for isa in Isa::available() {
        for key_len in [16, 24, 32] {
            let key = bytes(key_len, 1);
            let block = aes_block(&key);
            let aeads = tags.map(|tag_len| by_key(isa, &key, tag_len).unwrap());
            for n in 0..=700 {
                let nonce = bytes(n % 15 + 1, n as u64);
                let ad = bytes([0, 13, 16, 40, 300][n % 5], 3);
                let text = bytes(n, 2);
                let aead = &aeads[n % 3];
                let theirs = slow_ocb(&*block, aead.tag_len(), &nonce, &ad, &text);
                let what = format!("{isa} {key_len} {n} bytes, nonce of {}", nonce.len());
                agree(&**aead, &nonce, &ad, &text, &theirs, n % 67, &what);
            }
        }
    }
}

#[test]
fn every_length_of_associated_data_by_the_letter_of_the_rfc() {
    for isa in Isa::available() {
        let key = bytes(32, 1);
        let block = aes_block(&key);
        let aead = by_key(isa, &key, TagLen::T16).unwrap();
        for n in (0..=700).chain(1000..=1100).chain([4096, 70_001]) {
            let (nonce, ad, text) = (bytes(12, n as u64), bytes(n, 3), bytes((n * 7) % 300, 2));
            let theirs = slow_ocb(&*block, 16, &nonce, &ad, &text);
            agree(&*aead, &nonce, &ad, &text, &theirs, n % 5, &format!("{isa}, {n} bytes of associated data"));
        }
    }
}

#[test]
fn every_nonce_of_a_run() {
    // 64 nonces in a row share one call of the cipher and differ in a shift, of 0 to 63 bits.
    for isa in Isa::available() {
        let key = bytes(16, 1);
        let block = aes_block(&key);
        let aead = by_key(isa, &key, TagLen::T16).unwrap();
        for last in 0..=255 {
            let nonce = [bytes(11, 4), vec![last]].concat();
            let theirs = slow_ocb(&*block, 16, &nonce, b"", b"seventeen bytes..");
            agree(&*aead, &nonce, b"", b"seventeen bytes..", &theirs, 0, &format!("{isa}, nonce ends with {last}"));
        }
    }
}

#[test]
fn blocks_past_every_kept_offset() {
    // 2^17 blocks and some: L_16 and L_17 are not kept in the table.
    let key = bytes(32, 1);
    let block = aes_block(&key);
    let text = bytes((1 << 21) + 1000, 2);
    let theirs = slow_ocb(&*block, 16, &[7; 12], &text, &text);
    for isa in Isa::available() {
        let aead = by_key(isa, &key, TagLen::T16).unwrap();
        agree(&*aead, &[7; 12], &text, &text, &theirs, 3, &format!("{isa}, long"));
    }
}

#[test]
fn agrees_with_rustcrypto_at_every_nonce_length() {
    macro_rules! theirs {
        ($($n:literal $size:ident),*) => {
            fn theirs(key: &[u8], nonce: &[u8], ad: &[u8], text: &[u8]) -> (Vec<u8>, Vec<u8>) {
                let mut text = text.to_vec();
                let buffer = InOutBuf::from(text.as_mut_slice());
                let tag = match nonce.len() {
                    $($n => Ocb3::<Aes256, consts::$size>::new_from_slice(key).unwrap()
                        .encrypt_inout_detached(nonce.try_into().unwrap(), ad, buffer),)*
                    n => panic!("RustCrypto takes no nonce of {n} bytes"),
                };
                let tag = tag.unwrap().to_vec();
                (text, tag)
            }
        };
    }
    theirs!(6 U6, 7 U7, 8 U8, 9 U9, 10 U10, 11 U11, 12 U12, 13 U13, 14 U14, 15 U15);
    for isa in Isa::available() {
        let key = bytes(32, 1);
        let aead = by_key(isa, &key, TagLen::T16).unwrap();
        for nonce_len in 6..=15 {
            for n in (0..=700).step_by(7).chain([1024, 4096, 16_384, 16_385, 100_000]) {
                let (nonce, ad, text) = (bytes(nonce_len, n as u64), bytes(n % 50, 3), bytes(n, 2));
                let expected = theirs(&key, &nonce, &ad, &text);
                agree(&*aead, &nonce, &ad, &text, &expected, n % 3, &format!("{isa} {n} bytes, nonce of {nonce_len}"));
            }
        }
    }
}

#[test]
fn refuses_what_was_not_sealed() {
    for isa in Isa::available() {
        for tag_len in [TagLen::T16, TagLen::T12, TagLen::T8] {
            let aead = by_key(isa, &[7; 16], tag_len).unwrap();
            for n in [0, 1, 15, 16, 17, 64, 300, 1024, 1100] {
                let (nonce, ad, plain) = (bytes(12, 5), bytes(n % 40, 3), bytes(n, 2));
                let mut text = plain.clone();
                let tag = aead.seal_in_place(&nonce, &ad, &mut text).unwrap();
                let tag = tag.as_ref();
                let refuse = |nonce: &[u8], ad: &[u8], text: &[u8], tag: &[u8], what: &str| {
                    let mut text = text.to_vec();
                    assert!(aead.open_in_place(nonce, ad, &mut text, tag).is_err(), "{isa} {n} bytes: {what}");
                    assert!(text.iter().all(|&b| b == 0), "{isa} {n} bytes: text after {what}");
                };
                for bit in 0..8 * tag.len() {
                    let mut wrong = tag.to_vec();
                    wrong[bit / 8] ^= 1 << (bit % 8);
                    refuse(&nonce, &ad, &text, &wrong, "a bit of the tag");
                }
                refuse(&nonce, &ad, &text, &tag[..tag.len() - 1], "a short tag");
                refuse(&nonce, &ad, &text, &[tag, &[0]].concat(), "a long tag");
                refuse(&nonce, &ad, &text, &[], "no tag");
                for byte in (0..n).step_by(13) {
                    let mut wrong = text.clone();
                    wrong[byte] ^= 0x10;
                    refuse(&nonce, &ad, &wrong, tag, "a bit of the text");
                }
                refuse(&nonce, &ad, &[&text[..], &[0]].concat(), tag, "a longer text");
                if n > 0 {
                    refuse(&nonce, &ad, &text[..n - 1], tag, "a shorter text");
                    refuse(&nonce, &ad, &[], tag, "no text");
                }
                refuse(&nonce, &[&ad[..], &[0]].concat(), &text, tag, "longer associated data");
                refuse(&nonce[..11], &ad, &text, tag, "a shorter nonce");
                refuse(&[&nonce[..], &[0; 4]].concat(), &ad, &text, tag, "a nonce of 16 bytes");
                refuse(&[], &ad, &text, tag, "no nonce");
                aead.open_in_place(&nonce, &ad, &mut text, tag).unwrap();
                assert!(text == plain, "{isa} {n} bytes");
            }
        }
    }
}

#[test]
fn tag_lengths_do_not_mix() {
    let seal = |tag_len| by_key(Isa::best(), &[7; 16], tag_len).unwrap().seal_in_place(&[1; 12], b"", &mut []).unwrap();
    let (long, short) = (seal(TagLen::T16), seal(TagLen::T12));
    assert_ne!(long.as_ref()[..12], *short.as_ref());
    let aead = by_key(Isa::best(), &[7; 16], TagLen::T12).unwrap();
    assert!(aead.open_in_place(&[1; 12], b"", &mut [], &long.as_ref()[..12]).is_err());
}

#[test]
fn refuses_nonces_it_cannot_take() {
    let aead = by_key(Isa::best(), &[7; 16], TagLen::T16).unwrap();
    for n in [0, 16, 17, 100] {
        let mut text = *b"as it was";
        assert_eq!(aead.seal_in_place(&vec![1; n], b"", &mut text), Err(sealwright::SealError::NonceLength));
        assert_eq!(&text, b"as it was");
    }
}

/// RFC 7253, section 5: 2^48 blocks under a key.
#[test]
fn the_longest_text_is_that_of_the_standard() {
    assert_eq!((ocb::MAX_BYTES, ocb::MAX_NONCE), (4_503_599_627_370_496, 15));
}
