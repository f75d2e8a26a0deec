//! Files for several keys: each opens the file alone, other keys do not, and any change of the slots is detected.

use std::os::unix::fs::FileExt;

use sealwright::Suite;
use sealwright_file::{
    Ceiling, Costs, Error, Flaw, Input, Key, KeySource, Opening, PublicKey, Recipient, Rekeying, Removal, Sealing,
    SecretKey, inspect, slots::SlotKind,
};

use crate::support::*;

const CHEAP: Costs = Costs { memory_kib: 64, passes: 1, lanes: 1 };

fn passphrase(text: &str) -> Key {
    Key::passphrase(text).unwrap()
}

/// Sealed for a raw key, a passphrase and a pair; and these three keys.
fn for_three(suite: Suite, text: &[u8]) -> (Vec<u8>, [Key; 3]) {
    let secret = SecretKey::generate().unwrap();
    let recipients = [
        Recipient::Key(Key::raw(vec![7; 32])),
        Recipient::Key(passphrase("correct horse")),
        Recipient::PublicKey(secret.public_key()),
    ];
    let sealed = sealed_by(&Sealing::for_recipients(&recipients).suite(suite).costs(CHEAP).ad(b"ad"), text);
    (sealed, [Key::raw(vec![7; 32]), passphrase("correct horse"), Key::pair(secret)])
}

#[test]
fn each_recipient_opens_alone() {
    let text = text(40_000);
    for &suite in Suite::ALL {
        let (sealed, keys) = for_three(suite, &text);
        for key in &keys {
            let (out, done) = opened_by(&Opening::new(key).ad(b"ad"), &sealed);
            assert!(out == text, "{suite}, {key:?}: {done:?}");
            let done = done.unwrap();
            assert_eq!((done.text, done.sealed), (40_000, sealed.len() as u64));
        }
        // One of several given keys is enough.
        let several = [Key::raw(vec![8; 32]), passphrase("another"), Key::pair(SecretKey::generate().unwrap())];
        let (out, done) = opened_by(&Opening::with_keys(&several).ad(b"ad"), &sealed);
        assert!(out.is_empty() && matches!(done, Err(Error::NoneOpens)), "{done:?}");
        assert_eq!(done.unwrap_err().exit_code(), 4);
        let [a, b, c] = several;
        let [_, _, right] = keys;
        let (out, _) = opened_by(&Opening::with_keys(&[a, b, c, right]).ad(b"ad"), &sealed);
        assert!(out == text, "{suite}");
    }
}

/// A clone is the same key: for whoever seals with it, opens with it, or removes its slot.
#[test]
fn a_key_that_was_given_away_is_kept_in_a_clone() {
    let (own, other) = (passphrase("correct horse"), Key::raw(vec![7; 32]));
    let recipients = [&own, &other].map(|key| Recipient::Key(key.clone()));
    let sealed = sealed_by(&Sealing::for_recipients(&recipients.clone()).costs(CHEAP), b"text");
    assert_eq!(opened_by(&Opening::new(&own), &sealed).0, b"text");
    let dir = Dir::new();
    let path = dir.write("sealed", &sealed);
    let remove = vec![Removal::Key(own.clone())];
    let done = Rekeying::new(&[other]).removing(&remove.clone()).sync(false).run(&path).unwrap();
    assert_eq!((done.removed, done.slots), (1, 1));
    let (_, opened) = opened_by(&Opening::new(&own), &std::fs::read(&path).unwrap());
    assert!(matches!(opened, Err(Error::NoneOpens)), "{opened:?}");
}

/// HMAC pads keys with zeros. A regression: a slot opened with a key and with the same key followed by zeros.
#[test]
fn a_key_with_zeros_behind_it_is_another_key() {
    let short = vec![7; 16];
    let long = [&short[..], &[0; 16]].concat();
    for (one, other) in [(&short, &long), (&long, &short)] {
        let recipients = [Recipient::Key(Key::raw(one.clone()))];
        let sealed = sealed_by(&Sealing::for_recipients(&recipients), b"text");
        assert_eq!(opened_by(&Opening::new(&Key::raw(one.clone())), &sealed).0, b"text");
        let error = opened_by(&Opening::new(&Key::raw(other.clone())), &sealed).1.unwrap_err();
        assert!(matches!(error, Error::NoneOpens) && error.exit_code() == 4, "{error}");
    }
}

/// A file that is written to while its keys are being changed keeps the new content.
#[test]
fn a_file_that_changes_meanwhile_gets_no_other_keys() {
    for (change, len) in [("append", 100_000), ("in place", 100_000), ("cut", 100_000), ("in place", 10)] {
        let dir = Dir::new();
        let (sealed, keys) = for_three(Suite::Aes256Gcm, &text(len));
        let path = dir.write("sealed", &sealed);
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        let work = At::work(1, 1, move || match change {
            "append" => file.write_all_at(b"more", sealed.len() as u64).unwrap(),
            "cut" => file.set_len(sealed.len() as u64 - 1).unwrap(),
            _ => {
                // The resolution of file times is limited.
                std::thread::sleep(std::time::Duration::from_millis(20));
                file.write_all_at(b"x", sealed.len() as u64 - 1).unwrap();
            }
        });
        let add = [Recipient::Key(Key::raw(vec![9; 32]))];
        let rekeying = Rekeying::new(&keys[..1]).adding(&add).costs(CHEAP).sync(false).work(work);
        let error = rekeying.run(&path).unwrap_err();
        assert!(matches!(error, Error::Changed { .. }), "{change}: {error}");
        assert_eq!(dir.names(), ["sealed"], "{change}");
        // No key was added to the new content.
        let (_, done) = opened_by(&Opening::new(&Key::raw(vec![9; 32])).ad(b"ad"), &std::fs::read(&path).unwrap());
        assert!(matches!(done, Err(Error::NoneOpens)), "{change}: {done:?}");
    }
}

/// If two processes change the keys of one file, the second waits, and changes the result of the first.
#[test]
fn who_waited_changes_the_newer_file() {
    let dir = Dir::new();
    let (sealed, keys) = for_three(Suite::Aes256Gcm, b"older");
    let path = dir.write("sealed", &sealed);
    let first = std::fs::File::open(&path).unwrap();
    first.lock().unwrap();
    let second = {
        let path = path.clone();
        std::thread::spawn(move || {
            let add = [Recipient::Key(Key::raw(vec![9; 32]))];
            Rekeying::new(&keys[..1]).adding(&add).costs(CHEAP).sync(false).run(&path)
        })
    };
    // Without waiting, it would have replaced the file by now.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let recipients = [Recipient::Key(Key::raw(vec![7; 32]))];
    let newer = dir.write("newer", &sealed_by(&Sealing::for_recipients(&recipients).ad(b"ad"), b"newer"));
    std::fs::rename(newer, &path).unwrap();
    drop(first);
    let done = second.join().unwrap().unwrap();
    assert_eq!((done.added, done.slots), (1, 2));
    let (out, _) = opened_by(&Opening::new(&Key::raw(vec![9; 32])).ad(b"ad"), &std::fs::read(&path).unwrap());
    assert_eq!(out, b"newer");
}

#[test]
fn associated_data_is_told_from_a_wrong_key() {
    let (sealed, keys) = for_three(Suite::Aes256Gcm, b"text");
    for key in &keys {
        let (out, done) = opened_by(&Opening::new(key).ad(b"other"), &sealed);
        assert!(out.is_empty() && matches!(done, Err(Error::WrongContext)), "{done:?}");
    }
}

/// Several keys are also tried in turn for files with key sources 0 and 1.
#[test]
fn several_keys_for_a_file_with_one() {
    let sealed = sealed(b"text");
    let keys = [passphrase("no"), Key::raw(vec![1; 16]), Key::raw(vec![9; 32]), key256()];
    assert_eq!(opened_by(&Opening::with_keys(&keys), &sealed).0, b"text");
    let (_, done) = opened_by(&Opening::with_keys(&keys[..3]), &sealed);
    assert!(matches!(done, Err(Error::WrongKey("key"))), "{done:?}");
    let (_, done) = opened_by(&Opening::with_keys(&keys[..2]), &sealed);
    assert!(matches!(done, Err(Error::KeyKind { .. })), "{done:?}");
}

/// Every byte of the header is authenticated: a change results in a wrong key, wrong associated data, or "not
/// authentic".
#[test]
fn every_byte_of_the_header_is_authenticated() {
    let (sealed, keys) = for_three(Suite::Aes256Gcm, b"text");
    for at in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[at] ^= 1;
        let (out, done) = opened_by(&Opening::with_keys(&keys).ad(b"ad"), &changed);
        let error = done.expect_err("a byte was changed");
        assert!(out.is_empty() && matches!(error.exit_code(), 1 | 3 | 4), "byte {at}: {error}");
        // The holder of one slot detects a change of another slot.
        let length = u32::from_be_bytes([sealed[12], sealed[13], sealed[14], sealed[15]]) as usize;
        if (20..16 + length).contains(&at) {
            let [raw, _, pair] = &keys;
            let own = if at > 16 + 4 + 104 + 4 + 28 + 104 { raw } else { pair };
            let (_, done) = opened_by(&Opening::new(own).ad(b"ad"), &changed);
            let error = done.expect_err("a byte was changed");
            let slots = matches!(error, Error::NotAuthentic(Flaw::Header | Flaw::Slots | Flaw::Truncated { .. }));
            assert!(slots || matches!(error, Error::TooCostly { .. }), "byte {at}: {error}");
        }
    }
}

#[test]
fn slots_cannot_be_moved_between_files() {
    let secret = SecretKey::generate().unwrap();
    let recipients = [Recipient::PublicKey(secret.public_key()), Recipient::Key(Key::raw(vec![7; 32]))];
    let [a, b] = [b"one", b"two"].map(|text| sealed_by(&Sealing::for_recipients(&recipients), text));
    assert_eq!(a.len(), b.len());
    let header = a.len() - 56 - 3 - 16;
    let mixed = [&a[..header], &b[header..]].concat();
    let key = Key::pair(secret);
    let (out, done) = opened_by(&Opening::new(&key), &mixed);
    assert!(out.is_empty() && matches!(done, Err(Error::WrongContext)), "{done:?}");
    // A single slot of another file.
    let slot = 16..16 + 4 + 16 + 1120 + 104;
    let mixed = [&a[..slot.start], &b[slot.clone()], &a[slot.end..]].concat();
    let (out, done) = opened_by(&Opening::new(&key), &mixed);
    assert!(out.is_empty() && matches!(done, Err(Error::NotAuthentic(Flaw::Header))), "{done:?}");
}

#[test]
fn what_is_known_without_a_key() {
    let (sealed, _) = for_three(Suite::Aes128Gcm, b"text");
    let found = inspect(Input::bytes(sealed, "sealed")).unwrap();
    let KeySource::Recipients(slots) = &found.preamble.source else { panic!("{found:?}") };
    let kinds: Vec<&SlotKind> = slots.iter().map(|slot| slot.kind()).collect();
    assert!(matches!(kinds[..], [SlotKind::Raw, SlotKind::Passphrase { costs: CHEAP, .. }, SlotKind::Public { .. }]));
    assert_eq!(found.preamble_len, 16 + 3 * (4 + 104) + 28 + 16 + 1120 + 32);
}

#[test]
fn limits_of_slots() {
    let seal = |recipients: &[Recipient]| {
        let out = sealwright_file::Shared::default();
        let to = sealwright_file::Output::writer(out, "memory");
        Sealing::for_recipients(recipients).costs(CHEAP).seal(Input::bytes(b"text", "text"), to)
    };
    assert!(matches!(seal(&[]), Err(Error::NoSlots)));
    let nine: Vec<_> = (0..9).map(|i| Recipient::Key(passphrase(&i.to_string()))).collect();
    assert!(matches!(seal(&nine), Err(Error::TooManySlots)));
    assert!(seal(&nine[1..]).is_ok());
    let raw = |n: usize| (0..n).map(|i| Recipient::Key(Key::raw(vec![i as u8; 32]))).collect::<Vec<_>>();
    assert!(seal(&raw((65_536 - 32) / 108)).is_ok());
    assert!(matches!(seal(&raw((65_536 - 32) / 108 + 1)), Err(Error::TooManySlots)));
}

/// A slot whose cost exceeds the limit does not prevent another key from opening the file, and causes no work.
#[test]
fn a_costly_slot_is_not_paid_for() {
    let (sealed, [raw, phrase, _]) = for_three(Suite::Aes256Gcm, b"text");
    let low = Ceiling { memory_kib: 8, ..Ceiling::default() };
    let (_, done) = opened_by(&Opening::new(&phrase).ceiling(low).ad(b"ad"), &sealed);
    assert!(matches!(done, Err(Error::TooCostly { .. })), "{done:?}");
    let (out, _) = opened_by(&Opening::with_keys(&[phrase, raw]).ceiling(low).ad(b"ad"), &sealed);
    assert_eq!(out, b"text");
}

#[test]
fn keys_as_text() {
    let secret = SecretKey::generate().unwrap();
    let public = secret.public_key();
    let (secret_text, public_text) = (secret.to_text(), public.to_string());
    assert!(secret_text.starts_with("SEAL-SECRET-KEY-1") && !secret_text.contains('\n'));
    assert!(public_text.starts_with("seal1") && public_text.len() == 1957, "{}", public_text.len());
    let again: SecretKey = secret_text.parse().unwrap();
    assert_eq!(again.public_key(), public);
    assert_eq!(public_text.parse::<PublicKey>().unwrap(), public);
    for wrong in ["", "seal1", "seal1qqqqqq", &secret_text[..20], &public_text[1..]] {
        assert!(wrong.parse::<PublicKey>().is_err() && wrong.parse::<SecretKey>().is_err(), "{wrong}");
    }
    // A secret key in place of a public one is refused, and the error does not repeat it.
    let error = secret_text.parse::<PublicKey>().unwrap_err();
    assert!(matches!(error, Error::BadKey { .. }) && !error.to_string().contains("KEY-1"), "{error}");
    assert_eq!(format!("{secret:?}"), "SecretKey");
}
