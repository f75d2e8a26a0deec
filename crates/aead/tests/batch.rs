//! Batches against one message at a time, refused nonces, and forgeries among genuine messages.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use sealwright::{
    Batch, BatchError, BatchMessage, Isa,
    mode::gcm::{TagLen, by_key},
};
use support::bytes;

struct Owned {
    key: Vec<u8>,
    nonce: [u8; 12],
    ad: Vec<u8>,
    text: Vec<u8>,
}

/// Keys of both sizes, texts and associated data short and long, empty ones too.
fn many(count: usize, seed: u64, keys: usize) -> Vec<Owned> {
    let of = |i: usize| {
        let n =
            |of: usize| bytes(2, seed * 1000 + 10 * i as u64 + of as u64).iter().fold(0, |n, b| 256 * n + *b as usize);
        let (key, len) = (i % keys, if i.is_multiple_of(9) { n(1) % 2000 } else { n(1) % 300 });
        let ad = if i.is_multiple_of(7) { n(2) % 100 } else { n(2) % 17 };
        Owned {
            key: bytes(if key.is_multiple_of(3) { 16 } else { 32 }, key as u64),
            nonce: bytes(12, seed * 7 + i as u64).try_into().unwrap(),
            ad: bytes(ad, i as u64),
            text: bytes(if i.is_multiple_of(11) { 0 } else { len }, i as u64 + 5),
        }
    };
    (0..count).map(of).collect()
}

fn messages(owned: &mut [Owned]) -> Vec<BatchMessage<'_>> {
    owned
        .iter_mut()
        .map(|Owned { key, nonce, ad, text }| BatchMessage { key, nonce: *nonce, ad, text, tag: [0; 16] })
        .collect()
}

#[test]
fn as_one_at_a_time() {
    for isa in Isa::available() {
        let mut batch = Batch::new(isa);
        for (count, keys) in [(0, 1), (1, 1), (2, 1), (31, 40), (32, 1), (33, 3), (100, 100), (150, 7)] {
            let mut sealed = many(count, count as u64, keys);
            let mut wanted = many(count, count as u64, keys);
            let mut messages = messages(&mut sealed);
            batch.seal(&mut messages).unwrap();
            for (i, (message, one)) in messages.iter().zip(&mut wanted).enumerate() {
                let aead = by_key(isa, &one.key, TagLen::T16).unwrap();
                let tag = aead.seal_in_place(&one.nonce, &one.ad, &mut one.text).unwrap();
                assert_eq!((tag.as_ref(), &*message.text), (&message.tag[..], &one.text[..]), "{isa} {count} {i}");
            }
            for (i, message) in messages.iter_mut().enumerate().filter(|(i, _)| i % 5 == 3) {
                message.tag[i % 16] ^= 1 << (i % 8);
            }
            let opened = batch.open(&mut messages);
            assert_eq!(opened.len(), count);
            for (i, (message, one)) in messages.iter().zip(many(count, count as u64, keys)).enumerate() {
                let forged = i % 5 == 3;
                assert_eq!(opened[i].is_err(), forged, "{isa} {count} {i}");
                let text = if forged { vec![0; one.text.len()] } else { one.text };
                assert_eq!(message.text, text, "{isa} {count} {i}");
            }
        }
    }
}

/// A batch of one length of text and of associated data takes another path through the lanes.
#[test]
fn all_of_one_length() {
    for isa in Isa::available() {
        let mut batch = Batch::new(isa);
        for len in [0, 1, 15, 16, 17, 40, 63, 64, 65, 200, 512] {
            for ad in [0, 1, 5, 13, 16] {
                let one = |i: usize| Owned {
                    key: bytes(32, i as u64),
                    nonce: [3; 12],
                    ad: bytes(ad, 1),
                    text: bytes(len, i as u64),
                };
                let (mut owned, mut wanted): (Vec<_>, Vec<_>) =
                    ((0..20).map(one).collect(), (0..20).map(one).collect());
                let mut messages = messages(&mut owned);
                batch.seal(&mut messages).unwrap();
                for (message, one) in messages.iter().zip(&mut wanted) {
                    let aead = by_key(isa, &one.key, TagLen::T16).unwrap();
                    let tag = aead.seal_in_place(&one.nonce, &one.ad, &mut one.text).unwrap();
                    assert_eq!((tag.as_ref(), &*message.text), (&message.tag[..], &one.text[..]), "{isa} {len} {ad}");
                }
                assert!(batch.open(&mut messages).iter().all(Result::is_ok));
            }
        }
    }
}

/// Around the longest text and associated data that go side by side, and longer: in one batch, which has one place for
/// their keys.
#[test]
fn long_ones_among_short_ones() {
    for isa in Isa::available() {
        let mut batch = Batch::new(isa);
        let mut long =
            [(3000, 3), (512, 16), (40, 17), (513, 0), (0, 100), (1024, 16), (512, 5), (600, 40), (1, 1), (1500, 0)];
        for _ in 0..long.len() {
            long.rotate_left(1);
            let one = |(i, (len, ad)): (usize, &(usize, usize))| Owned {
                key: bytes(if i % 3 == 1 { 16 } else { 32 }, i as u64),
                nonce: [i as u8; 12],
                ad: bytes(*ad, 1),
                text: bytes(*len, i as u64),
            };
            let (mut owned, mut wanted): (Vec<_>, Vec<_>) =
                (long.iter().enumerate().map(one).collect(), long.iter().enumerate().map(one).collect());
            let mut messages = messages(&mut owned);
            batch.seal(&mut messages).unwrap();
            for (message, one) in messages.iter().zip(&mut wanted) {
                let aead = by_key(isa, &one.key, TagLen::T16).unwrap();
                let tag = aead.seal_in_place(&one.nonce, &one.ad, &mut one.text).unwrap();
                assert_eq!(
                    (tag.as_ref(), &*message.text),
                    (&message.tag[..], &one.text[..]),
                    "{isa} {}",
                    one.text.len()
                );
            }
            messages[0].tag[3] ^= 1;
            let opened = batch.open(&mut messages);
            assert_eq!(opened.iter().position(Result::is_err), Some(0));
            assert!(opened[1..].iter().all(Result::is_ok) && messages[0].text.iter().all(|byte| *byte == 0));
        }
    }
}

#[test]
fn a_refused_batch_is_left_alone() {
    let mut batch = Batch::new(Isa::best());
    let untouched = |owned: &[Owned], seed| owned.iter().zip(many(20, seed, 3)).all(|(a, b)| a.text == b.text);

    let mut owned = many(20, 1, 3);
    (owned[4].nonce, owned[16].nonce) = ([9; 12], [9; 12]);
    owned[16].key = owned[4].key.clone();
    let error = batch.seal(&mut messages(&mut owned)).unwrap_err();
    assert_eq!(error, BatchError::NonceTwice { first: 4, second: 16 });
    assert_eq!(error.to_string(), "messages 4 and 16 have the same key and the same nonce");
    assert!(untouched(&owned, 1));

    // One nonce under keys that differ is no repetition, also where they differ in the same bit of both halves.
    owned[16].key[0] ^= 1;
    batch.seal(&mut messages(&mut owned)).unwrap();
    (owned[4].key, owned[16].key) = (vec![7; 32], vec![7; 32]);
    for at in [3, 19] {
        owned[16].key[at] ^= 1;
    }
    batch.seal(&mut messages(&mut owned)).unwrap();

    let mut owned = many(20, 2, 3);
    owned[19].key.push(1);
    let error = batch.seal(&mut messages(&mut owned)).unwrap_err();
    let lengths = match error {
        BatchError::Key { message: 19, error } => (error.allowed(), error.given()),
        other => panic!("{other}"),
    };
    assert!([17, 33].contains(&lengths.1) && lengths.0 == [16, 32]);
    assert!(untouched(&owned, 2));
    let opened = batch.open(&mut messages(&mut owned));
    assert!(opened.iter().all(Result::is_err) && owned.iter().all(|one| one.text.iter().all(|byte| *byte == 0)));
    assert!(format!("{:?}", messages(&mut owned)[0]).starts_with("BatchMessage { len: "));
}
