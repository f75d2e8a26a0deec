//! What is sealed opens again: every suite, level, way and awkward length.

use crate::support::*;
use sealwright::{Isa, Suite};
use sealwright_file::{Costs, Error, Input, Key, Opening, Output, Sealing, Shared, chunk, inspect};
use std::fs;

const MIB: usize = 1 << 20;

/// Lengths around the ends of chunks and spans.
fn lengths() -> Vec<usize> {
    let edges = [0, 16_384, 2 * 16_384, 63 * 16_384, MIB, MIB + 16_384, 2 * MIB, 4 * MIB];
    let mut lengths: Vec<usize> = edges
        .iter()
        .flat_map(|&edge| [-17, -16, -1, 0, 1, 15, 17].map(|by| edge as i64 + by))
        .filter(|&len| len >= 0)
        .map(|len| len as usize)
        .collect();
    lengths.extend([100, 5000, 3 * MIB + 12_345]);
    lengths
}

/// All four pairs of file and stream, sealed and opened, give one result.
#[test]
fn every_length_every_way() {
    let dir = Dir::new();
    let key = key256();
    for len in lengths() {
        let text = text(len);
        let plain = dir.write("plain", &text);
        for threads in [1, 3] {
            let (sealing, opening) = (Sealing::new(&key).work(work(threads)), Opening::new(&key).work(work(threads)));
            let [a, b] = ["a.seal", "b.seal"].map(|name| dir.path(name));
            let done = seal_file(&sealing, &plain, &a).unwrap();
            assert_eq!((done.text, done.sealed), (len as u64, fs::metadata(&a).unwrap().len()));
            sealing.seal(Input::bytes(text.clone(), "text"), Output::file(&b, place()).unwrap()).unwrap();
            let mut streamed = Shared::default();
            sealing.seal(Input::open(&plain).unwrap(), Output::writer(streamed.clone(), "memory")).unwrap();
            for sealed in [fs::read(&a).unwrap(), fs::read(&b).unwrap(), streamed.take(), sealed_by(&sealing, &text)] {
                assert_eq!(sealed.len() as u64, 16 + chunk::sealed_len(len as u64), "{len}");
                let path = dir.write("s", &sealed);
                let [c, d] = ["c", "d"].map(|name| dir.path(name));
                let done = open_file(&opening, &path, &c).unwrap();
                assert_eq!((done.text, done.sealed), (len as u64, sealed.len() as u64));
                opening.open(Input::bytes(sealed.clone(), "s"), Output::file(&d, place()).unwrap()).unwrap();
                let mut out = Shared::default();
                opening.open(Input::open(&path).unwrap(), Output::writer(out.clone(), "memory")).unwrap();
                for opened in [fs::read(&c).unwrap(), fs::read(&d).unwrap(), out.take(), opened_by(&opening, &sealed).0]
                {
                    assert!(opened == text, "{len} bytes, {threads} threads");
                }
                [c, d].iter().for_each(|path| fs::remove_file(path).unwrap());
            }
            [a, b].iter().for_each(|path| fs::remove_file(path).unwrap());
        }
    }
}

/// Every level seals what every other opens.
#[test]
fn every_suite_at_every_level() {
    for &suite in Suite::ALL {
        let key = key(suite);
        for len in [0, 1, 15, 16, 17, 1500, 16_383, 16_384, 16_385, 40_000, MIB + 1] {
            let text = text(len);
            for isa in Isa::available() {
                let sealed = sealed_by(&Sealing::new(&key).suite(suite).isa(isa), &text);
                for other in Isa::available() {
                    let (opened, done) = opened_by(&Opening::new(&key).isa(other), &sealed);
                    assert_eq!(done.unwrap().suite, suite);
                    assert!(opened == text, "{suite}, {len} bytes, {isa} to {other}");
                }
            }
        }
    }
}

#[test]
fn same_text_never_seals_the_same() {
    let (a, b) = (sealed(b"text"), sealed(b"text"));
    assert_eq!(a[..16], b[..16]);
    assert!(a[16..40] != b[16..40] && a[40..72] != b[40..72] && a[72..] != b[72..]);
}

#[test]
fn associated_data_must_be_given_again() {
    let key = key256();
    let sealed = sealed_by(&Sealing::new(&key).ad(b"invoice 7"), b"text");
    assert_eq!(opened_by(&Opening::new(&key).ad(b"invoice 7"), &sealed).0, b"text");
    for ad in [&b""[..], b"invoice 8", b"invoice 7 "] {
        let (out, done) = opened_by(&Opening::new(&key).ad(ad), &sealed);
        assert!(out.is_empty() && matches!(done, Err(Error::WrongKey("key"))), "{ad:?}: {done:?}");
    }
}

#[test]
fn wrong_keys() {
    let text = text(40_000);
    let sealed = sealed(&text);
    for bit in [0, 7, 100, 255] {
        let mut bytes: Vec<u8> = (0..32).collect();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let (out, done) = opened_by(&Opening::new(&Key::raw(bytes)), &sealed);
        let error = done.unwrap_err();
        assert!(out.is_empty() && error.exit_code() == 4 && error.hint().is_some(), "{error}");
    }
    let (_, done) = opened_by(&Opening::new(&key(Suite::Aes128Gcm)), &sealed);
    let error = done.unwrap_err();
    assert_eq!(error.to_string(), "the key has 16 bytes where aes-256-gcm takes 32");
    let (_, done) = opened_by(&Opening::new(&Key::passphrase("x").unwrap()), &sealed);
    assert_eq!(done.unwrap_err().exit_code(), 4);
}

#[test]
fn passphrases() {
    let costs = Costs { memory_kib: 64, passes: 1, lanes: 2 };
    let key = Key::passphrase("correct horse").unwrap();
    let sealed = sealed_by(&Sealing::new(&key).costs(costs).suite(Suite::Aes128Gcm), b"text");
    assert_eq!(opened_by(&Opening::new(&Key::passphrase("correct horse").unwrap()), &sealed).0, b"text");
    let (_, done) = opened_by(&Opening::new(&Key::passphrase("correct horsf").unwrap()), &sealed);
    assert!(matches!(done, Err(Error::WrongKey("passphrase"))));
    let (_, done) = opened_by(&Opening::new(&Key::raw(vec![0; 16])), &sealed);
    let error = done.unwrap_err();
    assert_eq!((error.exit_code(), error.hint()), (4, Some("use --passphrase")));
    assert!(matches!(Key::passphrase(""), Err(Error::EmptyPassphrase)));
}

/// One key stretches a passphrase once for many files; the bodies differ all the same.
#[test]
fn files_sealed_together_share_the_stretching_alone() {
    let costs = Costs { memory_kib: 64, passes: 1, lanes: 1 };
    let key = Key::passphrase("p").unwrap();
    let [a, b] = [0, 1].map(|_| sealed_by(&Sealing::new(&key).costs(costs), b"text"));
    assert_eq!(a[..44], b[..44]);
    assert!(a[44..68] != b[44..68] && a[68..] != b[68..]);
    let other = sealed_by(&Sealing::new(&Key::passphrase("p").unwrap()).costs(costs), b"text");
    assert_ne!(a[28..44], other[28..44]);
}

#[test]
fn inspection_needs_no_key() {
    let dir = Dir::new();
    let raw = dir.write("raw", &sealed(&text(40_000)));
    let seen = inspect(Input::open(&raw).unwrap()).unwrap();
    assert_eq!((seen.version, seen.preamble.suite, seen.preamble.source.wants()), (1, Suite::Aes256Gcm, "a raw key"));
    assert_eq!((seen.text.clone(), seen.chunks(), seen.sealed), (Some(Ok(40_000)), Some(3), Some(40_000 + 72 + 48)));
    let costs = Costs { memory_kib: 64, passes: 1, lanes: 1 };
    let by_passphrase = sealed_by(&Sealing::new(&Key::passphrase("p").unwrap()).costs(costs), b"");
    let seen = inspect(Input::bytes(by_passphrase, "p")).unwrap();
    assert_eq!((seen.preamble.source.wants(), seen.preamble_len, seen.text.clone()), ("a passphrase", 44, None));
    let cut = dir.write("cut", &fs::read(&raw).unwrap()[..BODY + CHUNK]);
    assert!(matches!(inspect(Input::open(&cut).unwrap()).unwrap().text, Some(Err(_))));
}

#[test]
fn secrets_stay_out_of_debug() {
    let key = Key::raw(vec![0xab; 32]);
    let shown = format!("{key:?} {:?} {:?}", Sealing::new(&key), Opening::new(&key));
    assert!(!shown.contains("171") && !shown.to_lowercase().contains("ab, ab") && shown.contains("a raw key"));
}
