//! Files that were changed are always refused, with the right flaw, and leave nothing behind.

use std::{
    fs,
    io::{Cursor, Read},
};

use sealwright_file::{Error, Flaw, Input, Opening, Output, SealedReader, Shared};

use crate::support::*;

/// Opens `sealed` in all four ways and with random access. Each must refuse it; a stream may have received only a
/// beginning of `text`. Returns the errors.
fn refused(sealed: &[u8], text: &[u8], what: &str) -> Vec<Error> {
    let dir = Dir::new();
    let key = key256();
    let opening = Opening::new(&key).work(work(2));
    let from = dir.write("s", sealed);
    let mut errors = Vec::new();
    for stream in [false, true] {
        let input = || if stream { Input::bytes(sealed.to_vec(), "s") } else { Input::open(&from).unwrap() };
        let mut out = Shared::default();
        errors.push(opening.open(input(), Output::writer(out.clone(), "o")).expect_err(what));
        let out = out.take();
        assert!(text.starts_with(&out), "{what}: unauthentic bytes came out");
        errors.push(opening.open(input(), Output::file(dir.path("o"), place()).unwrap()).expect_err(what));
        assert_eq!(dir.names(), ["s"], "{what}: something was left");
    }
    let mut all = Vec::new();
    let read = SealedReader::new(Cursor::new(sealed), &opening)
        .and_then(|mut reader| reader.read_to_end(&mut all).map_err(|error| error.downcast::<Error>().unwrap()));
    errors.push(read.expect_err(what));
    errors
}

fn codes(errors: &[Error]) -> Vec<u8> {
    errors.iter().map(Error::exit_code).collect()
}

/// A bit is flipped in each byte of a small file, in turn.
#[test]
fn every_byte_changed() {
    let text = text(50);
    let sealed = sealed(&text);
    for at in 0..sealed.len() {
        let mut bad = sealed.clone();
        bad[at] ^= 1 << (at % 8);
        let errors = refused(&bad, &text, &format!("byte {at}"));
        for error in &errors {
            // A changed suite number may be that of another suite, with another key length or another derived key.
            let wanted: &[u8] = match at {
                0..8 | 12..16 => &[3],
                8 | 10 | 11 => &[1],
                9 => &[1, 2, 4],
                16..BODY => &[4],
                _ => &[3],
            };
            assert!(wanted.contains(&error.exit_code()), "byte {at}: {error}");
            if at >= BODY {
                assert_eq!(
                    error.to_string(),
                    "not authentic: the last chunk, 0 (at byte 72), was changed, or the file was cut or added to"
                );
            }
        }
    }
}

/// A small file is truncated at each byte.
#[test]
fn truncated_at_every_byte() {
    let text = text(50);
    let sealed = sealed(&text);
    for len in 0..sealed.len() {
        for error in refused(&sealed[..len], &text, &format!("cut to {len}")) {
            assert_eq!(error.exit_code(), 3, "cut to {len}: {error}");
            let Error::NotAuthentic(flaw) = error else { panic!("{error}") };
            match len {
                0 => assert_eq!(flaw, Flaw::Empty),
                1..BODY => assert_eq!(flaw, Flaw::Truncated { offset: len as u64 }, "cut to {len}"),
                // Too short for a tag, or a shorter chunk that is not authentic.
                n if n < BODY + 16 => assert_eq!(flaw, Flaw::Truncated { offset: len as u64 }, "cut to {len}"),
                _ => assert_eq!(flaw, Flaw::Chunk { index: 0, offset: 72, last: true }),
            }
        }
    }
}

/// A large file is truncated near the ends of chunks and spans, so that the rest is authentic.
#[test]
fn truncated_between_chunks() {
    let text = text(70 * 16_384 + 99);
    let sealed = sealed(&text);
    for chunk in [1, 63, 64, 65, 70] {
        for by in [-17_i64, -16, -1, 0, 1, 15, 16, 17] {
            let len = (BODY + chunk * CHUNK) as i64 + by;
            let errors = refused(&sealed[..len as usize], &text, &format!("cut to {len}"));
            assert!(codes(&errors).iter().all(|&code| code == 3), "{errors:?}");
            if (0..16).contains(&by) {
                let cut = |error: &Error| matches!(error, Error::NotAuthentic(Flaw::Truncated { offset }) if *offset == len as u64);
                assert!(errors.iter().all(cut), "cut to {len}: {errors:?}");
            }
        }
    }
}

#[test]
fn trailing_bytes() {
    for len in [0, 50, 16_384, 16_384 * 64] {
        let text = text(len);
        let whole = sealed(&text);
        let another = sealed(b"another file");
        for tail in [&b"\0"[..], b"\n", &[0; 16], &[0; 40_000], &whole[BODY..], &whole, &another] {
            let bad = [&whole, tail].concat();
            let errors = refused(&bad, &text, &format!("{} bytes behind {len}", tail.len()));
            assert!(codes(&errors).iter().all(|&code| code == 3), "{errors:?}");
        }
    }
}

#[test]
fn chunks_moved() {
    let text = text(5 * 16_384 + 10);
    let whole = sealed(&text);
    let chunk = |i: usize| &whole[BODY + i * CHUNK..(BODY + (i + 1) * CHUNK).min(whole.len())];
    let build = |order: &[usize]| {
        order.iter().fold(whole[..BODY].to_vec(), |mut file, &i| {
            file.extend_from_slice(chunk(i));
            file
        })
    };
    assert_eq!(build(&[0, 1, 2, 3, 4, 5]), whole);
    // The number of the first chunk that is in a wrong place, and how a stream reports it.
    let cases: [(&[usize], u64); 8] = [
        (&[1, 0, 2, 3, 4, 5], 0),
        (&[0, 1, 3, 2, 4, 5], 2),
        (&[0, 0, 1, 2, 3, 4, 5], 1),
        (&[0, 1, 2, 4, 5], 3),
        (&[1, 2, 3, 4, 5], 0),
        (&[0, 1, 2, 3, 5], 4),
        (&[0, 1, 2, 3, 4, 4, 5], 5),
        (&[5], 0),
    ];
    for (order, bad) in cases {
        let errors = refused(&build(order), &text, &format!("{order:?}"));
        assert!(codes(&errors).iter().all(|&code| code == 3), "{errors:?}");
        assert!(
            matches!(errors[2], Error::NotAuthentic(Flaw::Chunk { index, .. }) if index == bad),
            "{order:?}: {}",
            errors[2]
        );
    }
}

/// A chunk of another file under the same key is refused, because every file has keys of its own.
#[test]
fn chunks_of_another_file() {
    let text = text(2 * 16_384);
    let (a, b) = (sealed(&text), sealed(&text));
    let mixed = [&a[..BODY + CHUNK], &b[BODY + CHUNK..]].concat();
    refused(&mixed, &text, "second chunk of another file");
    let mixed = [&a[..BODY], &b[BODY..]].concat();
    refused(&mixed, &text, "body of another file");
    let mixed = [&a[..16], &b[16..40], &a[40..]].concat();
    assert!(codes(&refused(&mixed, &text, "salt of another file")).iter().all(|&code| code == 4));
}

/// The error names the first bad chunk, however many there are and whichever thread finds one first.
#[test]
fn the_first_flaw_is_named() {
    let text = text(200 * 16_384 + 5);
    let whole = sealed(&text);
    for bad in [[70, 199], [0, 1], [128, 64], [191, 192]] {
        let mut file = whole.clone();
        bad.iter().for_each(|i| file[BODY + i * CHUNK + 5] ^= 1);
        let first = bad.into_iter().min().unwrap() as u64;
        let errors = refused(&file, &text, &format!("{bad:?}"));
        for error in errors {
            let Error::NotAuthentic(Flaw::Chunk { index, offset, last }) = error else { panic!("{error}") };
            assert_eq!((index, offset, last), (first, 72 + first * 16_400, false));
        }
    }
}

/// A stream receives all authentic spans before the bad one, and nothing else.
#[test]
fn a_stream_gets_the_authentic_beginning() {
    let text = text(200 * 16_384);
    let mut bad = sealed(&text);
    bad[BODY + 140 * CHUNK] ^= 1;
    let (out, done) = opened_by(&Opening::new(&key256()), &bad);
    assert!(done.is_err());
    assert!(out == text[..128 * 16_384], "{} bytes came", out.len());
}

/// From a file, not even these: the truncation is detected before any text is output.
#[test]
fn a_cut_file_gives_nothing() {
    let dir = Dir::new();
    let whole = sealed(&text(200 * 16_384));
    let from = dir.write("s", &whole[..BODY + 150 * CHUNK + 100]);
    let mut out = Shared::default();
    let key = key256();
    let opened = Opening::new(&key).open(Input::open(&from).unwrap(), Output::writer(out.clone(), "o"));
    assert_eq!((opened.unwrap_err().exit_code(), out.take().len()), (3, 0));
    assert_eq!(fs::metadata(&from).unwrap().len() as usize, BODY + 150 * CHUNK + 100);
}
