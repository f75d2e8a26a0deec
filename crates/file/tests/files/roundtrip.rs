//! What is sealed can be opened: with every suite, level, kind of input and output, and at critical lengths.

use std::{fs, path::Path};

use sealwright::{Isa, Suite};
use sealwright_file::{
    Costs, Error, Input, Key, KeyKind, KeySource, Opening, Output, Sealing, Shared, Summary, chunk, inspect,
};

use crate::support::*;

const MIB: usize = 1 << 20;

/// Lengths around the ends of chunks and spans.
fn lengths() -> Vec<usize> {
    let edges = [0, 16_384, 2 * 16_384, 63 * 16_384, MIB, MIB + 16_384, 2 * MIB];
    let around =
        |edge: usize| [-17, -16, -1, 0, 1, 15, 17].into_iter().filter_map(move |by| edge.checked_add_signed(by));
    edges.into_iter().flat_map(around).chain([100, 5000, 3 * MIB + 12_345]).collect()
}

/// Whether the input, and whether the output, is a file rather than a stream.
const WAYS: [(bool, bool); 4] = [(true, true), (true, false), (false, true), (false, false)];

/// Runs `job` on the file `from` in one of these ways; returns its output.
fn by_way(
    (from_file, to_file): (bool, bool),
    from: &Path,
    job: impl FnOnce(Input, Output) -> Result<Summary, Error>,
) -> (Summary, Vec<u8>) {
    let input = if from_file { Input::open(from).unwrap() } else { Input::bytes(fs::read(from).unwrap(), "stream") };
    let (dir, mut memory) = (Dir::new(), Shared::default());
    let path = dir.path("out");
    let output = if to_file { Output::file(&path, place()).unwrap() } else { Output::writer(memory.clone(), "memory") };
    let done = job(input, output).unwrap();
    (done, if to_file { fs::read(&path).unwrap() } else { memory.take() })
}

/// What is sealed in one way can be opened in every other.
#[test]
fn every_length_every_way() {
    let dir = Dir::new();
    let key = key256();
    for (i, len) in lengths().into_iter().enumerate() {
        let text = text(len);
        let plain = dir.write("plain", &text);
        for (j, way) in WAYS.into_iter().enumerate() {
            let threads = work([1, 3][(i + j) % 2]);
            let (done, sealed) =
                by_way(way, &plain, |from, to| Sealing::new(&key).work(threads.clone()).seal(from, to));
            assert_eq!((done.text, done.sealed), (len as u64, sealed.len() as u64));
            assert_eq!(sealed.len() as u64, 16 + chunk::sealed_len(len as u64));
            let sealed = dir.write("sealed", &sealed);
            let back = WAYS[(i + j) % WAYS.len()];
            let (done, opened) = by_way(back, &sealed, |from, to| Opening::new(&key).work(threads).open(from, to));
            assert_eq!((done.text, done.sealed), (len as u64, sealed.metadata().unwrap().len()));
            assert!(opened == text, "{len} bytes, {way:?}, {back:?}");
        }
    }
}

/// What is sealed at one level can be opened at every other.
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
    assert_eq!(error.to_string(), "wrong key: it has 16 bytes, but aes-256-gcm takes 32");
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
    assert_eq!((error.exit_code(), error.to_string()), (4, "a passphrase is needed, not a raw key".into()));
    assert!(matches!(Key::passphrase(""), Err(Error::EmptyPassphrase)));
}

/// One key stretches a passphrase once for many files, but the bodies differ.
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
    assert_eq!((seen.version, seen.preamble.suite, seen.preamble.source), (1, Suite::Aes256Gcm, KeySource::Raw));
    assert_eq!((seen.text.clone(), seen.chunks, seen.sealed), (Some(Ok(40_000)), Some(3), Some(40_000 + 72 + 48)));
    let costs = Costs { memory_kib: 64, passes: 1, lanes: 1 };
    let by_passphrase = sealed_by(&Sealing::new(&Key::passphrase("p").unwrap()).costs(costs), b"");
    let seen = inspect(Input::bytes(by_passphrase, "p")).unwrap();
    assert_eq!(seen.preamble.source.key_kind(), Some(KeyKind::Passphrase));
    assert_eq!((seen.preamble_len, seen.text.clone()), (44, None));
    let cut = dir.write("cut", &fs::read(&raw).unwrap()[..BODY + CHUNK]);
    assert!(matches!(inspect(Input::open(&cut).unwrap()).unwrap().text, Some(Err(_))));
}

#[test]
fn secrets_stay_out_of_debug() {
    let key = Key::raw(vec![0xab; 32]);
    let shown = format!("{key:?} {:?} {:?}", Sealing::new(&key), Opening::new(&key));
    assert!(!shown.contains("171") && !shown.to_lowercase().contains("ab, ab") && shown.contains("a raw key"));
}
