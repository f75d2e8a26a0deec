//! The suites that are known by number and name.
#![allow(clippy::unwrap_used)]

use std::{panic::catch_unwind, thread};

use sealwright::{Batch, BatchMessage, Isa, SealError, Suite};

/// Numbers and names are in files and scripts: they stay.
#[test]
fn names_and_numbers() {
    let known = [
        (1, "aes-128-gcm"),
        (2, "aes-256-gcm"),
        (20, "aes-128-ocb"),
        (26, "aes-256-ocb"),
        #[cfg(feature = "chacha")]
        (29, "chacha20-poly1305"),
        (128, "serpent-256-gcm"),
        (129, "serpent-256-ocb"),
    ];
    assert_eq!(Suite::ALL.len(), known.len());
    for (id, name) in known {
        let suite = Suite::from_id(id).unwrap();
        assert_eq!((suite.name(), name.parse()), (name, Ok(suite)));
    }
    let unknown = (0..=255).filter(|id| Suite::from_id(*id).is_none()).count();
    assert_eq!(unknown, 256 - known.len());
    assert_eq!(format!("{:<13}|{:>13}|", Suite::Aes256Gcm, Suite::Aes128Ocb), "aes-256-gcm  |  aes-128-ocb|");
}

/// No two suites seal alike, and each takes keys of its own length alone.
#[test]
fn each_is_its_own() {
    let sealed = |suite: &Suite| {
        let mut text = *b"sixteen bytes..!";
        let aead = suite.aead(&vec![7; suite.key_len()]).unwrap();
        let tag = aead.seal_in_place(&vec![1; suite.nonce_len()], b"", &mut text).unwrap();
        assert_eq!((aead.tag_len(), tag.as_ref().len()), (suite.tag_len(), suite.tag_len()));
        for len in [0, 1, 8, 11, 13, 16, 24] {
            let mut text = *b"sixteen bytes..!";
            assert_eq!(aead.seal_in_place(&vec![1; len], b"", &mut text), Err(SealError::NonceLength));
            assert_eq!(&text, b"sixteen bytes..!");
            assert!(aead.open_in_place(&vec![1; len], b"", &mut text, tag.as_ref()).is_err());
        }
        for len in [0, 8, 15, 17, 24, 31, 33, 48 - suite.key_len()] {
            let error = suite.aead(&vec![7; len]).err().unwrap();
            assert_eq!((error.allowed(), error.given()), (&[suite.key_len()][..], len));
        }
        text
    };
    let mut texts: Vec<_> = Suite::ALL.iter().map(sealed).collect();
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), Suite::ALL.len());
}

#[test]
fn an_unknown_suite_is_told_those_that_are_known() {
    let error = "aes-256-cbc".parse::<Suite>().unwrap_err().to_string();
    let known: Vec<String> = Suite::ALL.iter().map(Suite::to_string).collect();
    assert_eq!(error, format!("unknown suite; known are {}", known.join(", ")));
}

/// A mistake of the program is found whatever else is wrong.
#[test]
fn an_output_of_another_length_panics_with_any_nonce() {
    for suite in Suite::ALL {
        let aead = suite.aead(&vec![7; suite.key_len()]).unwrap();
        for (nonce, len) in [(11, 2), (11, 4), (12, 2), (12, 4)] {
            let nonce = vec![1; nonce];
            assert!(catch_unwind(|| aead.seal_to(&nonce, b"", &[0; 3], &mut vec![0; len])).is_err(), "{suite}");
            assert!(catch_unwind(|| aead.open_to(&nonce, b"", &[0; 3], &[0; 16], &mut vec![0; len])).is_err());
        }
    }
}

/// The README says so: dropping a key overwrites part of the stack.
#[test]
fn keys_are_used_and_dropped_on_a_stack_of_64_kib() {
    let used = |isa: Isa| {
        for suite in Suite::ALL {
            let key = vec![7; suite.key_len()];
            let aead = suite.aead_at(isa, &key).unwrap();
            let mut text = vec![9; 3000];
            let nonce = vec![1; suite.nonce_len()];
            let tag = aead.seal_in_place(&nonce, b"header", &mut text).unwrap();
            drop(suite.aead_at(isa, &key).unwrap());
            aead.open_in_place(&nonce, b"header", &mut text, tag.as_ref()).unwrap();
        }
        let (mut batch, mut texts) = (Batch::new(isa), [[9; 200]; 4]);
        let messages = texts.iter_mut().zip(1..);
        let mut messages: Vec<_> = messages
            .map(|(text, i)| BatchMessage { key: &[7; 32], nonce: [i; 12], ad: b"", text, tag: [0; 16] })
            .collect();
        batch.seal(&mut messages).unwrap();
    };
    for isa in Isa::available() {
        thread::Builder::new().stack_size(64 << 10).spawn(move || used(isa)).unwrap().join().unwrap();
    }
}
