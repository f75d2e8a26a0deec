//! A message that is sealed piece by piece is the one that is sealed at once.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use std::sync::Arc;

use proptest::{prelude::*, test_runner::Config};
use sealwright::{
    InPieces, Isa, SealError,
    mode::{gcm, ocb},
};
use support::{aes_block, bytes, nonce_for};

/// A key of each kind, and whether its pieces may have any length.
fn keys(isa: Isa) -> Vec<(String, Arc<dyn InPieces>, bool)> {
    let mut all: Vec<(String, Arc<dyn InPieces>, bool)> = Vec::new();
    for len in [16, 24, 32] {
        let key = bytes(len, 1);
        for tag in [gcm::TagLen::T16, gcm::TagLen::T12] {
            all.push((format!("gcm {len} {tag:?}"), gcm::pieces_by_key(isa, &key, tag).unwrap(), true));
        }
        for tag in [ocb::TagLen::T16, ocb::TagLen::T12, ocb::TagLen::T8] {
            all.push((format!("ocb {len} {tag:?}"), ocb::pieces_by_key(isa, &key, tag).unwrap(), false));
        }
    }
    all
}

/// Seals `text` in pieces of these lengths, then what is left of it, and compares with the text sealed at once.
fn compare(key: &Arc<dyn InPieces>, nonce: &[u8], ad: &[u8], text: &[u8], pieces: &[usize]) -> Result<(), String> {
    let (mut whole, mut apart) = (text.to_vec(), text.to_vec());
    let tag = key.seal_in_place(nonce, ad, &mut whole).unwrap();
    let mut message = key.clone().begin(nonce, ad).unwrap();
    let mut rest = &mut apart[..];
    for len in pieces.iter().copied().chain([usize::MAX]) {
        let (now, later) = rest.split_at_mut(len.min(rest.len()));
        message.seal(now).unwrap();
        rest = later;
        // What goes on is a copy, and the one that it was made from is gone.
        message = message.duplicate();
    }
    if apart != whole {
        return Err(format!("the text, at byte {:?}", apart.iter().zip(&whole).position(|(a, b)| a != b)));
    }
    if message.finish() != tag { Err("the tag".into()) } else { Ok(()) }
}

/// Whole blocks, where a mode takes no other pieces.
fn fitting(any: bool, len: usize) -> usize {
    if any { len } else { len / 16 * 16 }
}

#[test]
fn cut_in_two_anywhere() {
    for isa in Isa::available() {
        for (name, key, any) in keys(isa) {
            for len in [0, 1, 15, 16, 17, 31, 64, 100, 160, 1024, 1040, 1100, 2200] {
                let (ad, text) = (bytes(len % 37, 3), bytes(len, 4));
                for at in (0..=len.min(130)).chain([len / 2, len.saturating_sub(1), len.saturating_sub(16), len]) {
                    if let Err(what) = compare(&key, &[7; 12], &ad, &text, &[fitting(any, at)]) {
                        panic!("{name} {isa}: {len} bytes cut at {at}: {what} differs");
                    }
                }
            }
        }
    }
}

#[test]
fn pieces_of_one_length() {
    for isa in Isa::available() {
        for (name, key, any) in keys(isa) {
            let text = bytes(5003, 4);
            for len in [1, 3, 16, 17, 48, 64, 272, 1000, 1024, 1040, 2048, 4096] {
                let pieces = vec![fitting(any, len).max(if any { 1 } else { 16 }); text.len() / len];
                if let Err(what) = compare(&key, &[7; 12], b"header", &text, &pieces) {
                    panic!("{name} {isa}: pieces of {len} bytes: {what} differs");
                }
            }
        }
    }
}

#[test]
fn nonces_of_all_lengths() {
    for isa in Isa::available() {
        for (name, key, any) in keys(isa) {
            let text = bytes(3000, 4);
            for nonce in (1..=if any { 70 } else { 15 }).map(|len| bytes(len, 9)) {
                if let Err(what) = compare(&key, &nonce, b"", &text, &[fitting(any, 1000), fitting(any, 37)]) {
                    panic!("{name} {isa}: a nonce of {} bytes: {what} differs", nonce.len());
                }
            }
        }
    }
}

/// Under some nonces of 16 bytes the counter begins near its end and wraps within a piece, or between two.
#[test]
fn counters_wrap_in_32_bits() {
    let h = aes_block(&bytes(32, 1))([0; 16]);
    for isa in Isa::available() {
        let key = gcm::pieces_by_key(isa, &bytes(32, 1), gcm::TagLen::T16).unwrap();
        let text = bytes(16 * 310 + 5, 4);
        for before in [1, 2, 5, 16, 63, 64, 65, 200, 256, 257, 300] {
            let nonce = nonce_for(h, u128::MAX - before);
            for piece in [5, 16, 50, 1024, 1040, 3000] {
                if let Err(what) = compare(&key, &nonce, b"", &text, &vec![piece; text.len() / piece]) {
                    panic!("{isa}: a wrap after {before} blocks, pieces of {piece} bytes: {what} differs");
                }
            }
        }
    }
}

/// More blocks than the tables of offsets and counters go around in.
#[test]
fn long_texts() {
    let isa = Isa::best();
    for (name, key, any) in keys(isa) {
        let text = bytes((1 << 21) + 5, 4);
        let pieces: Vec<usize> = (0..60).map(|i| fitting(any, 1 + i * i * 37)).collect();
        if let Err(what) = compare(&key, &[7; 12], b"header", &text, &pieces) {
            panic!("{name}: {what} differs");
        }
    }
}

/// The key also seals and opens whole texts.
#[test]
fn a_key_opens_what_it_seals() {
    for isa in Isa::available() {
        for (name, key, _) in keys(isa) {
            let (mut text, ad) = (bytes(300, 4), bytes(20, 3));
            let tag = key.seal_in_place(&[7; 12], &ad, &mut text).unwrap();
            assert_eq!(tag.as_ref().len(), key.tag_len(), "{name}");
            let mut again = text.clone();
            key.open_in_place(&[7; 12], &ad, &mut again, tag.as_ref()).unwrap();
            assert_eq!(again, bytes(300, 4), "{name} {isa}");
            text[17] ^= 1;
            assert!(key.open_in_place(&[7; 12], &ad, &mut text, tag.as_ref()).is_err(), "{name} {isa}");
            assert_eq!(text, [0; 300], "{name} {isa}");
        }
    }
}

#[test]
fn what_is_refused_changes_nothing() {
    for isa in Isa::available() {
        for (name, key, any) in keys(isa) {
            assert_eq!(key.clone().begin(&[], b"").err(), Some(SealError::NonceLength), "{name}");
            if any {
                continue;
            }
            assert_eq!(key.clone().begin(&[1; 16], b"").err(), Some(SealError::NonceLength), "{name}");
            let mut text = bytes(21, 4);
            let mut message = key.clone().begin(&[7; 12], b"").unwrap();
            message.seal(&mut text).unwrap();
            let mut more = *b"more";
            assert_eq!(message.seal(&mut more), Err(SealError::PartialBlock), "{name}");
            assert_eq!(&more, b"more");
            message.seal(&mut []).unwrap();
            let told = format!("{message:?}");
            assert!(told.starts_with("Message { key: Ocb { ") && told.ends_with(", text: 21, .. }"), "{told}");
            let mut whole = bytes(21, 4);
            assert_eq!(message.finish(), key.seal_in_place(&[7; 12], b"", &mut whole).unwrap(), "{name}");
            assert_eq!(text, whole);
        }
    }
}

proptest! {
    #![proptest_config(Config::with_cases(200))]

    #[test]
    fn cut_in_many(
        len in 0usize..6000,
        ad in 0usize..200,
        cuts in proptest::collection::vec(prop_oneof![0usize..40, 0usize..3000], 0..12),
        nonce in 1usize..16,
    ) {
        for isa in Isa::available() {
            for (name, key, any) in keys(isa) {
                let pieces: Vec<usize> = cuts.iter().map(|&len| fitting(any, len)).collect();
                let same = compare(&key, &bytes(nonce, 8), &bytes(ad, 3), &bytes(len, 4), &pieces);
                prop_assert!(same.is_ok(), "{name} {isa}: {}", same.unwrap_err());
            }
        }
    }
}
