//! Random access returns the same bytes as the plain text.

use std::io::{Cursor, Read, Seek, SeekFrom};

use proptest::prelude::*;
use sealwright_file::{Content, Error, Input, Key, Opening, Output, SealedReader, Sealing, Shared};

use crate::support::*;

fn reader(sealed: &[u8]) -> SealedReader<Cursor<Vec<u8>>> {
    SealedReader::new(Cursor::new(sealed.to_vec()), &Opening::new(&key256())).unwrap()
}

/// The rest of a bad chunk in the buffer is never returned in place of the previous chunk.
#[test]
fn a_bad_chunk_leaves_the_one_before_readable() {
    let text = text(70_000);
    let mut sealed = sealed(&text);
    sealed[BODY + CHUNK + 5] ^= 1;
    let mut reader = reader(&sealed);
    for _ in 0..2 {
        let mut first = vec![0; 16_384];
        reader.seek(SeekFrom::Start(0)).unwrap();
        reader.read_exact(&mut first).unwrap();
        assert!(first == text[..16_384]);
        reader.seek(SeekFrom::Start(16_384 + 1)).unwrap();
        let error = reader.read(&mut first).unwrap_err().downcast::<Error>().unwrap();
        assert_eq!(error.exit_code(), 3, "{error}");
        reader.seek(SeekFrom::Start(1)).unwrap();
        reader.read_exact(&mut first[..1000]).unwrap();
        assert!(first[..1000] == text[1..1001]);
    }
}

#[derive(Clone, Debug)]
enum Step {
    Read(usize),
    Start(u64),
    End(i64),
    Current(i64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let far = 60_000_i64;
    let step = prop_oneof![
        4 => (0..40_000_usize).prop_map(Step::Read),
        1 => (0..far as u64).prop_map(Step::Start),
        1 => prop::sample::select(vec![0_u64, 16_383, 16_384, 16_385, 32_768, u64::MAX]).prop_map(Step::Start),
        1 => (-far..far).prop_map(Step::End),
        1 => (-far..far).prop_map(Step::Current),
    ];
    prop::collection::vec(step, 1..20)
}

proptest! {
    #[test]
    fn seeks_and_reads_agree_with_the_text(len in prop_oneof![0..50_000_usize, Just(16_384), Just(32_768), Just(0)], steps in steps()) {
        let text = text(len);
        let mut model = Cursor::new(text.clone());
        let mut reader = reader(&sealed(&text));
        prop_assert_eq!(reader.len(), len as u64);
        for step in steps {
            let to = match step {
                Step::Read(n) => {
                    let (mut wanted, mut got) = (Vec::new(), Vec::new());
                    model.by_ref().take(n as u64).read_to_end(&mut wanted).unwrap();
                    reader.by_ref().take(n as u64).read_to_end(&mut got).unwrap();
                    prop_assert!(wanted == got, "{} and {} bytes", wanted.len(), got.len());
                    continue;
                }
                Step::Start(at) => SeekFrom::Start(at),
                Step::End(by) => SeekFrom::End(by),
                Step::Current(by) => SeekFrom::Current(by),
            };
            prop_assert_eq!(model.seek(to).ok(), reader.seek(to).ok(), "{:?}", to);
        }
    }
}

#[test]
fn reads_to_the_end() {
    for len in [0, 1, 16_383, 16_384, 16_385, 100_000] {
        let text = text(len);
        let mut all = Vec::new();
        reader(&sealed(&text)).read_to_end(&mut all).unwrap();
        assert!(all == text, "{len}");
    }
}

/// A bad chunk is an error on each read, and the chunks around it can still be read.
#[test]
fn a_bad_chunk_is_an_error_and_only_that_chunk() {
    let text = text(5 * 16_384);
    let mut bad = sealed(&text);
    bad[BODY + 2 * CHUNK + 9] ^= 1;
    let mut reader = reader(&bad);
    let mut byte = [0];
    for (at, fails) in [(0, false), (32_767, false), (32_768, true), (40_000, true), (49_152, false), (32_768, true)] {
        reader.seek(SeekFrom::Start(at)).unwrap();
        match reader.read(&mut byte) {
            Ok(n) => assert!(!fails && n == 1 && byte[0] == text[at as usize], "byte {at}"),
            Err(error) => {
                assert!(fails && error.kind() == std::io::ErrorKind::InvalidData, "byte {at}");
                let error: Error = error.downcast().unwrap();
                assert_eq!(
                    error.to_string(),
                    "not authentic: chunk 2 (at byte 32872) was changed or moved, or the file was cut or added to"
                );
            }
        }
    }
    assert!(reader.read_to_end(&mut Vec::new()).is_err());
}

/// A truncated file is refused before anything is read from it.
#[test]
fn the_length_is_proven_first() {
    let whole = sealed(&text(5 * 16_384 + 7));
    for len in [whole.len() - 1, BODY + 3 * CHUNK, BODY + 3 * CHUNK + 16, BODY + 3 * CHUNK + 50, BODY, 20] {
        let key = key256();
        let error = SealedReader::new(Cursor::new(&whole[..len]), &Opening::new(&key)).unwrap_err();
        assert_eq!(error.exit_code(), 3, "{error}");
    }
    let key = Key::raw(vec![9; 32]);
    let error = SealedReader::new(Cursor::new(&whole), &Opening::new(&key)).unwrap_err();
    assert_eq!(error.exit_code(), 4);
}

#[test]
fn only_one_file_is_read_as_one() {
    for content in [Content::Tree, Content::List] {
        let (key, mut sealed) = (key256(), Shared::default());
        let sealing = Sealing::new(&key).content(content);
        sealing.seal(Input::bytes(text(1000), "text"), Output::writer(sealed.clone(), "sealed")).unwrap();
        let sealed = sealed.take();
        let error = SealedReader::new(Cursor::new(&sealed), &Opening::new(&key)).unwrap_err();
        match content {
            Content::Tree => assert!(matches!(error, Error::IsATree), "{error}"),
            _ => assert!(matches!(error, Error::IsAList), "{error}"),
        }
        let mut reader = SealedReader::of_any_content(Cursor::new(&sealed), &Opening::new(&key)).unwrap();
        let mut read = Vec::new();
        reader.read_to_end(&mut read).unwrap();
        assert_eq!(read, text(1000));
    }
}
