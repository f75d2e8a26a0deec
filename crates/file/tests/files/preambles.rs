//! Preambles that are invalid in version 1.

use std::{cell::RefCell, io::Cursor};

use proptest::{prelude::*, test_runner::TestRunner};
use sealwright::Suite;
use sealwright_file::{Content, Costs, Error, Flaw, Input, KeySource, Opening, Preamble, Unsupported, inspect};

use crate::support::*;

/// The error of opening `bytes`, and of `inspect`.
fn refused(bytes: &[u8]) -> Error {
    let (out, done) = opened_by(&Opening::new(&key256()), bytes);
    assert!(out.is_empty());
    let error = done.unwrap_err();
    assert_eq!(inspect(Input::bytes(bytes.to_vec(), "p")).unwrap_err().to_string(), error.to_string());
    error
}

fn flaw(bytes: &[u8]) -> Flaw {
    match refused(bytes) {
        error @ Error::NotAuthentic(_) if error.exit_code() != 3 => panic!("{error}"),
        Error::NotAuthentic(flaw) => flaw,
        error => panic!("{error}"),
    }
}

/// Such a file may be genuine: it is not called "not authentic".
fn unsupported(bytes: &[u8]) -> Unsupported {
    match refused(bytes) {
        error @ Error::Unsupported(_) if error.exit_code() != 1 => panic!("{error}"),
        Error::Unsupported(what) => what,
        error => panic!("{error}"),
    }
}

/// A valid file with some bytes changed.
fn with(changes: &[(usize, u8)]) -> Vec<u8> {
    let mut file = sealed(b"text");
    changes.iter().for_each(|&(at, byte)| file[at] = byte);
    file
}

#[test]
fn each_field_is_held_to_its_values() {
    assert_eq!(flaw(b""), Flaw::Empty);
    assert_eq!(flaw(b"Salted__12345678"), Flaw::Magic);
    assert_eq!(flaw(b"a text that is long enough to hold a preamble and more"), Flaw::Magic);
    for at in 0..8 {
        assert_eq!(flaw(&with(&[(at, b'x')])), Flaw::Magic);
    }
    for version in [0, 2, 255] {
        assert_eq!(unsupported(&with(&[(8, version)])), Unsupported::Version(version));
    }
    for suite in [0, 100, 255] {
        assert_eq!(unsupported(&with(&[(9, suite)])), Unsupported::Suite(suite));
    }
    for source in [3, 4, 255] {
        assert_eq!(unsupported(&with(&[(10, source)])), Unsupported::KeySource(source));
    }
    // Recipients without slots, with too many, and with bytes that are not slots.
    for length in [0, 1, 35, 36, 60] {
        assert_eq!(flaw(&with(&[(10, 2), (15, length)])), Flaw::Slots);
    }
    assert_eq!(flaw(&with(&[(10, 2), (13, 1), (15, 1)])), Flaw::Slots);
    assert_eq!(unsupported(&with(&[(11, 3)])), Unsupported::Content(3));
    assert_eq!(flaw(&with(&[(15, 1)])), Flaw::SourceLength(1));
    assert_eq!(flaw(&with(&[(12, 255), (13, 255), (14, 255), (15, 255)])), Flaw::SourceLength(u32::MAX));
    // A passphrase with the parameters of a raw key, and vice versa.
    assert_eq!(flaw(&with(&[(10, 1)])), Flaw::SourceLength(0));
    assert_eq!(flaw(&with(&[(15, 28)])), Flaw::SourceLength(28));
}

#[test]
fn line_ends_turned_are_noticed() {
    let whole = sealed(b"text");
    let unix: Vec<u8> = whole.iter().copied().filter(|&byte| byte != b'\r').collect();
    assert_eq!(flaw(&unix), Flaw::Magic);
    let seven_bits: Vec<u8> = whole.iter().map(|byte| byte & 0x7f).collect();
    assert_eq!(flaw(&seven_bits), Flaw::Magic);
}

#[test]
fn impossible_costs() {
    let preamble = |memory_kib, passes, lanes| {
        let source = KeySource::Passphrase { costs: Costs { memory_kib, passes, lanes }, salt: [1; 16] };
        let mut bytes = Preamble::new(Suite::Aes256Gcm, Content::Bytes, source).to_bytes();
        bytes.extend([0; 56 + 16]);
        bytes
    };
    for (m, t, p) in [(0, 1, 1), (7, 1, 1), (64, 0, 1), (64, 1, 0), (64, 1, 9), (1 << 20, 1, 1 << 24)] {
        assert_eq!(flaw(&preamble(m, t, p)), Flaw::Costs, "m {m} t {t} p {p}");
    }
}

/// Argon2id's parameters, mostly possible ones.
fn costs() -> impl Strategy<Value = Vec<u8>> {
    (8u32..99, 0u32..9, 1u32..3)
        .prop_map(|(memory_kib, passes, lanes)| [memory_kib, passes, lanes].map(u32::to_be_bytes).concat())
}

/// A slot: its type, its length, and random content of mostly the length that the type has.
fn slot() -> impl Strategy<Value = Vec<u8>> {
    let content = |len| prop::collection::vec(any::<u8>(), len);
    let kinds = prop_oneof![
        4 => (Just(1), content(0..1)),
        4 => (Just(2), (costs(), content(16..17)).prop_map(|(costs, salt)| [costs, salt].concat())),
        2 => (Just(3), content(1136..1137)),
        4 => (Just(4), content(48..49)),
        2 => (Just(5), content(16 + 256..16 + 1025)),
        4 => (6u8.., content(0..64)),
        1 => (any::<u8>(), content(0..64)),
    ];
    (kinds, content(104..105)).prop_map(|((kind, parameters), wrapped)| {
        let len = (parameters.len() + wrapped.len()) as u16;
        [&[kind, 0][..], &len.to_be_bytes(), &parameters, &wrapped].concat()
    })
}

/// A preamble that is valid in most cases, and bytes after it.
fn preamble() -> impl Strategy<Value = Vec<u8>> {
    let ids: Vec<u8> = Suite::ALL.iter().map(|suite| suite.id()).collect();
    let suites = prop_oneof![9 => prop::sample::select(ids), 1 => any::<u8>()];
    let random = |len| prop::collection::vec(any::<u8>(), len);
    let slots = (prop::collection::vec(slot(), 1..5), random(32..33));
    let sources = prop_oneof![
        (Just(0u8), Just(Vec::new())),
        (Just(1), (costs(), random(16..17)).prop_map(|(costs, salt)| [costs, salt].concat())),
        (Just(2), slots.prop_map(|(slots, mac)| [slots.concat(), mac].concat())),
    ];
    let lengths =
        prop_oneof![9 => Just(None), 1 => prop::sample::select(vec![0u32, 1, 28, 4096, u32::MAX]).prop_map(Some)];
    let layouts = prop::sample::select(vec![0u8, 0, 0, 1, 2, 3]);
    (suites, sources, layouts, lengths, random(0..64)).prop_map(|(suite, (source, params), layout, length, after)| {
        let length = length.unwrap_or(params.len() as u32).to_be_bytes();
        [&[0x89, b'S', b'E', b'A', b'L', 13, 10, 26, 1, suite, source, layout][..], &length, &params, &after].concat()
    })
}

/// Parsing never panics, and what is parsed is encoded to the same bytes.
#[test]
fn parsing_is_total_and_canonical() {
    let parsed = RefCell::new([0; 3]);
    let checked = TestRunner::default().run(&preamble(), |bytes| {
        let mut from = Cursor::new(&bytes);
        if let Ok(preamble) = Preamble::read(&mut from) {
            prop_assert_eq!(preamble.to_bytes(), &bytes[..from.position() as usize]);
            parsed.borrow_mut()[usize::from(bytes[10])] += 1;
        }
        Ok(())
    });
    checked.unwrap();
    // Of 256 cases, most are valid, about as many of each source.
    let parsed = parsed.into_inner();
    assert!(parsed.iter().all(|&of_source| of_source > 15) && parsed.iter().sum::<u32>() > 100, "{parsed:?}");
}
