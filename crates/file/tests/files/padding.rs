//! Padded files: many texts have the same length, and each text is restored exactly, as a whole and in part.

use std::io::{Cursor, Read, Seek, SeekFrom};

use sealwright::{Isa, Suite};
use sealwright_file::{
    Content, Error, Flaw, Input, KeySource, Layout, Opening, Output, Preamble, SealedReader, Sealing, Shared, inspect,
};
use sealwright_stream::ChunkCipher;

use crate::support::*;

fn padded(text: &[u8], armor: bool) -> Vec<u8> {
    let mut out = Shared::default();
    let key = key256();
    let sealing = Sealing::new(&key).pad(true).armor(armor);
    let done = sealing.seal(Input::bytes(text.to_vec(), "text"), Output::writer(out.clone(), "memory")).unwrap();
    let sealed = out.take();
    assert_eq!(done.text, text.len() as u64);
    assert!(armor || done.sealed == sealed.len() as u64, "{done:?}");
    sealed
}

/// A text that ends in zeros, which must not be taken for padding.
fn with_zeros(len: usize) -> Vec<u8> {
    let mut text = text(len);
    text[len - len / 3..].fill(0);
    text
}

#[test]
fn every_text_comes_back() {
    for len in [0, 1, 1016, 1017, 16_375, 16_376, 16_384, 100_000, 1 << 20, 3_000_000] {
        for text in [text(len), with_zeros(len), vec![0; len]] {
            for armor in [false, true] {
                let sealed = padded(&text, armor);
                let (out, done) = opened_by(&Opening::new(&key256()), &sealed);
                assert!(out == text, "{len}");
                assert_eq!(done.unwrap().text, len as u64);
            }
        }
    }
}

#[test]
fn files_on_disk_go_the_same_way() {
    let dir = Dir::new();
    let text = with_zeros(2_500_000);
    let from = dir.write("text", &text);
    let (sealed, back) = (dir.path("sealed"), dir.path("back"));
    seal_file(&Sealing::new(&key256()).pad(true), &from, &sealed).unwrap();
    open_file(&Opening::new(&key256()), &sealed, &back).unwrap();
    assert!(std::fs::read(back).unwrap() == text);
    assert_eq!(Opening::new(&key256()).verify(Input::open(&sealed).unwrap()).unwrap().text, text.len() as u64);
}

#[test]
fn near_lengths_look_alike() {
    let len = |text: usize| padded(&vec![1; text], false).len();
    assert!((1..=1016).all(|text| len(text) == len(0)), "short ones");
    assert_ne!(len(1017), len(1016));
    assert_eq!(len(1_000_000), len(1_010_000));
}

#[test]
fn any_part_is_read_alone() {
    let text = with_zeros(70_000);
    let mut reader = SealedReader::new(Cursor::new(padded(&text, false)), &Opening::new(&key256())).unwrap();
    assert_eq!(reader.len(), 70_000);
    for at in [0_u64, 16_000, 65_000, 69_999, 70_000, 71_000] {
        let mut rest = Vec::new();
        reader.seek(SeekFrom::Start(at)).unwrap();
        reader.read_to_end(&mut rest).unwrap();
        assert!(rest == text[(at as usize).min(text.len())..], "{at}");
    }
}

#[test]
fn without_a_key_only_the_most_is_known() {
    let found = inspect(Input::bytes(padded(b"text", false), "sealed")).unwrap();
    assert!(found.preamble.layout.padded);
    // The length of a stream is unknown.
    assert_eq!((found.text, found.chunks), (None, None));
    let dir = Dir::new();
    let sealed = dir.write("sealed", &padded(b"text", false));
    let found = inspect(Input::open(&sealed).unwrap()).unwrap();
    assert_eq!((found.text, found.chunks), (Some(Ok(1016)), Some(1)));
}

/// The commitment covers the bit in the preamble: nobody can set or clear it.
#[test]
fn the_layout_cannot_be_changed() {
    for sealed in [padded(b"text", false), sealed(b"text")] {
        let mut other = sealed.clone();
        other[11] ^= 0x80;
        let (out, done) = opened_by(&Opening::new(&key256()), &other);
        assert!(out.is_empty() && matches!(done, Err(Error::WrongKey(_))), "{done:?}");
    }
}

/// Whoever has the key can put any text into a padded file, including invalid padding.
#[test]
fn what_is_not_padding_is_not_authentic() {
    let mut layout = Layout::from(Content::Bytes);
    layout.padded = true;
    let header = Preamble::new(Suite::Aes256Gcm, layout, KeySource::Raw).to_bytes();
    let key: Vec<u8> = (0..32).collect();
    let plain = |text: &[u8]| {
        let (cipher, begin) = ChunkCipher::create(Suite::Aes256Gcm, Isa::best(), &key, &[&header]).unwrap();
        let mut chunk = [text, &[0; 16]].concat();
        cipher.seal_chunk(0, &mut chunk, text.len());
        [&header[..], &begin, &chunk].concat()
    };
    for text in [&b""[..], b"short", &[1; 1024]] {
        let (_, done) = opened_by(&Opening::new(&key256()), &plain(text));
        assert!(matches!(done, Err(Error::NotAuthentic(Flaw::Layout))), "{done:?}");
        assert!(SealedReader::new(Cursor::new(plain(text)), &Opening::new(&key256())).is_err());
    }
}
