//! Streams of all lengths, in pieces of all lengths, changed and truncated anywhere, over writers and readers that
//! fail.
#![allow(clippy::unwrap_used)]

use std::io::{self, ErrorKind, Read, Write};

use proptest::prelude::*;
use sealwright::{Isa, Suite};
use sealwright_stream::{ChunkCipher, Opener, Sealer, StreamError, chunk};

const KEY: [u8; 32] = [9; 32];

fn text(len: usize) -> Vec<u8> {
    (0..len as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

fn sealed(text: &[u8]) -> Vec<u8> {
    let mut sealer = Sealer::new(Vec::new(), Suite::Aes256Gcm, &KEY, b"context").unwrap();
    sealer.write_all(text).unwrap();
    sealer.finish().unwrap()
}

fn opener(sealed: &[u8]) -> io::Result<Opener<&[u8]>> {
    Opener::new(sealed, Suite::Aes256Gcm, &KEY, b"context")
}

#[test]
fn lengths_around_chunks() {
    for len in [0, 1, 16, chunk::PLAIN - 1, chunk::PLAIN, chunk::PLAIN + 1, 3 * chunk::PLAIN, 100_000] {
        let sealed = sealed(&text(len));
        assert_eq!(sealed.len() as u64, chunk::sealed_len(len as u64));
        let mut out = Vec::new();
        opener(&sealed).unwrap().read_to_end(&mut out).unwrap();
        assert!(out == text(len), "{len}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn pieces_do_not_matter(len in 0..60_000_usize, write in 1..20_000_usize, read in 1..20_000_usize) {
        let text = text(len);
        let mut sealer = Sealer::new(Vec::new(), Suite::Aes256Gcm, &KEY, b"context").unwrap();
        for piece in text.chunks(write) {
            sealer.write_all(piece).unwrap();
            sealer.flush().unwrap();
        }
        let sealed = sealer.finish().unwrap();
        prop_assert_eq!(sealed.len() as u64, chunk::sealed_len(len as u64));
        let (mut opener, mut out, mut piece) = (opener(&sealed).unwrap(), Vec::<u8>::new(), vec![0; read]);
        loop {
            match opener.read(&mut piece).unwrap() {
                0 => break,
                n => out.extend(&piece[..n]),
            }
        }
        prop_assert!(out == text);
    }
}

#[test]
fn every_suite_has_the_nonces_and_tags_of_chunks() {
    for &suite in Suite::ALL {
        assert_eq!((suite.nonce_len(), suite.tag_len()), (chunk::NONCE, chunk::TAG), "{suite}");
        let key = vec![7; suite.key_len()];
        let mut sealer = Sealer::new(Vec::new(), suite, &key, b"").unwrap();
        sealer.write_all(&text(chunk::PLAIN + 1)).unwrap();
        let sealed = sealer.finish().unwrap();
        let mut opened = Vec::new();
        Opener::new(&sealed[..], suite, &key, b"").unwrap().read_to_end(&mut opened).unwrap();
        assert_eq!(opened, text(chunk::PLAIN + 1), "{suite}");
    }
}

#[test]
fn every_cut_and_every_changed_byte_is_found() {
    let whole = sealed(&text(chunk::PLAIN + 20));
    for cut in (0..whole.len()).filter(|cut| *cut < 200 || cut % 97 == 0 || *cut > chunk::SEALED) {
        let mut out = Vec::new();
        let error = opener(&whole[..cut]).and_then(|mut opener| opener.read_to_end(&mut out)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidData), "{cut}: {error}");
        assert!(text(chunk::PLAIN).starts_with(&out) && (out.is_empty() || out.len() == chunk::PLAIN), "{cut}");
    }
    for at in (0..whole.len()).filter(|at| *at < 100 || at % 89 == 0 || *at > chunk::SEALED) {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        let mut out = Vec::new();
        let error = opener(&changed).and_then(|mut opener| opener.read_to_end(&mut out)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData, "{at}");
    }
    let mut out = Vec::new();
    let longer = [&whole[..], b"x"].concat();
    assert!(opener(&longer).and_then(|mut opener| opener.read_to_end(&mut out)).is_err());
}

#[test]
fn a_failure_is_repeated_and_gives_nothing_more() {
    let mut changed = sealed(&text(3 * chunk::PLAIN));
    changed[chunk::HEADER + chunk::SEALED + 5] ^= 1;
    let mut opener = opener(&changed).unwrap();
    let mut out = Vec::new();
    opener.read_to_end(&mut out).unwrap_err();
    assert_eq!(out.len(), chunk::PLAIN);
    for _ in 0..2 {
        let error = opener.read(&mut [0; 10]).unwrap_err().downcast::<StreamError>().unwrap();
        let offset = (chunk::HEADER + chunk::SEALED) as u64;
        assert_eq!(error, StreamError::Chunk { index: 1, offset, last: false });
    }
}

#[test]
fn a_changed_last_chunk_is_told_as_the_last() {
    let mut changed = sealed(&text(chunk::PLAIN + 20));
    *changed.last_mut().unwrap() ^= 1;
    let error = opener(&changed).unwrap().read_to_end(&mut Vec::new()).unwrap_err();
    let offset = (chunk::HEADER + chunk::SEALED) as u64;
    assert_eq!(error.downcast::<StreamError>().unwrap(), StreamError::Chunk { index: 1, offset, last: true });
}

#[test]
fn where_a_stream_was_cut_is_told() {
    let whole = sealed(&text(chunk::PLAIN + 20));
    for cut in [0, 55, 56, 71, chunk::HEADER + chunk::SEALED + 5] {
        let error = opener(&whole[..cut]).and_then(|mut opener| opener.read_to_end(&mut Vec::new())).unwrap_err();
        let error = error.downcast::<StreamError>().unwrap();
        assert_eq!(error, StreamError::Truncated { offset: cut as u64 });
    }
}

/// A writer that counts flushes.
#[derive(Default)]
struct Held {
    bytes: Vec<u8>,
    flushed: usize,
}

impl Write for Held {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flushed += 1;
        Ok(())
    }
}

#[test]
fn flushing_hands_on_whole_chunks() {
    let mut sealer = Sealer::new(Held::default(), Suite::Aes256Gcm, &KEY, b"context").unwrap();
    sealer.write_all(&text(chunk::PLAIN)).unwrap();
    assert_eq!((sealer.get_ref().bytes.len(), sealer.get_ref().flushed), (chunk::HEADER, 0));
    sealer.flush().unwrap();
    assert_eq!((sealer.get_ref().bytes.len(), sealer.get_ref().flushed), (chunk::HEADER + chunk::SEALED, 1));
    sealer.write_all(b"a few more").unwrap();
    sealer.flush().unwrap();
    assert_eq!(sealer.get_ref().bytes.len(), chunk::HEADER + chunk::SEALED, "a short chunk would end the stream");
    assert_eq!(sealer.finish().unwrap().flushed, 3);
}

/// A reader that must never be asked for 0 bytes, because some readers block even then.
struct NeverForNothing<R>(R);

impl<R: Read> Read for NeverForNothing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        assert!(!buffer.is_empty(), "asked for nothing");
        self.0.read(buffer)
    }
}

#[test]
fn a_reader_is_asked_only_for_what_is_missing() {
    let whole = sealed(&text(3 * chunk::PLAIN));
    let mut opener = Opener::new(NeverForNothing(&whole[..]), Suite::Aes256Gcm, &KEY, b"context").unwrap();
    let mut out = Vec::new();
    opener.read_to_end(&mut out).unwrap();
    assert!(out == text(3 * chunk::PLAIN));
}

#[test]
fn without_finish_the_stream_counts_as_cut_off() {
    for len in [0, 5, chunk::PLAIN, chunk::PLAIN + 5] {
        let mut out = Vec::new();
        let mut sealer = Sealer::new(&mut out, Suite::Aes256Gcm, &KEY, b"context").unwrap();
        sealer.write_all(&text(len)).unwrap();
        sealer.flush().unwrap();
        drop(sealer);
        let error = opener(&out).and_then(|mut opener| opener.read_to_end(&mut Vec::new())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{len}");
    }
}

#[test]
fn another_key_or_context_is_told_from_damage() {
    let sealed = sealed(b"text");
    for (key, context) in [([8; 32], &b"context"[..]), (KEY, b"contexts")] {
        let error = Opener::new(&sealed[..], Suite::Aes256Gcm, &key, context).unwrap_err();
        assert_eq!(error.downcast::<StreamError>().unwrap(), StreamError::WrongKey);
    }
    let error = Sealer::new(io::sink(), Suite::Aes256Gcm, &[0; 16], b"").unwrap_err();
    assert_eq!(error, StreamError::KeyLength { suite: Suite::Aes256Gcm, wanted: 32, given: 16 });
}

/// Transfers a few bytes at a time, with `WouldBlock` and `Interrupted` in between.
struct Unready<T> {
    inner: T,
    calls: u32,
}

impl<T> Unready<T> {
    fn ready(&mut self) -> io::Result<()> {
        self.calls += 1;
        match self.calls % 3 {
            1 => Err(ErrorKind::WouldBlock.into()),
            2 => Err(ErrorKind::Interrupted.into()),
            _ => Ok(()),
        }
    }
}

impl<T: Write> Write for Unready<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.ready()?;
        self.inner.write(&bytes[..bytes.len().min(7_000)])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<T: Read> Read for Unready<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.ready()?;
        let n = buffer.len().min(7_000);
        self.inner.read(&mut buffer[..n])
    }
}

#[test]
fn calls_that_failed_may_be_repeated() {
    let text = text(100_000);
    let mut refused = [0; 3];
    let mut sealer = Sealer::new(Unready { inner: Vec::new(), calls: 0 }, Suite::Aes256Gcm, &KEY, b"context").unwrap();
    let mut rest = &text[..];
    while !rest.is_empty() {
        match sealer.write(rest) {
            Ok(n) => rest = &rest[n..],
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                refused[0] += 1;
            }
        }
    }
    while let Err(error) = sealer.try_finish() {
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        refused[1] += 1;
    }
    assert!(sealer.write(b"more").is_err());
    let sealed = sealer.get_ref().inner.clone();
    assert_eq!(sealed.len() as u64, chunk::sealed_len(100_000));

    let mut from = Unready { inner: &sealed[chunk::HEADER..], calls: 0 };
    let header = sealed.first_chunk().unwrap();
    let cipher = sealwright_stream::ChunkCipher::open(
        Suite::Aes256Gcm,
        sealwright::Isa::best(),
        &KEY,
        header,
        &[b"con", b"text"],
    );
    let mut opener = Opener::with_cipher(&mut from, cipher.unwrap());
    let (mut out, mut piece) = (Vec::<u8>::new(), [0; 5000]);
    loop {
        match opener.read(&mut piece) {
            Ok(0) => break,
            Ok(n) => out.extend(&piece[..n]),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                refused[2] += 1;
            }
        }
    }
    assert!(out == text);
    assert!(refused.iter().all(|&times| times > 0), "errors are handed on: {refused:?}");
}

/// The cipher that opens a stream.
fn opening(sealed: &[u8]) -> ChunkCipher {
    ChunkCipher::open(Suite::Aes256Gcm, Isa::best(), &KEY, sealed.first_chunk().unwrap(), &[b"context"]).unwrap()
}

/// Its nonces are used: sealing another text with them would reveal both texts.
#[test]
#[should_panic(expected = "a stream that was opened has used its nonces")]
fn a_stream_that_was_opened_seals_nothing() {
    let sealed = sealed(b"a text");
    let cipher = opening(&sealed);
    let mut chunk = sealed[chunk::HEADER..].to_vec();
    cipher.open_chunk(0, &mut chunk).unwrap();
    assert!(chunk.starts_with(b"a text"));
    cipher.seal_chunk(0, &mut chunk, 6);
}

/// Likewise, and it is noticed before anything is written.
#[test]
#[should_panic(expected = "a stream that was opened has used its nonces")]
fn a_sealer_takes_no_cipher_of_a_stream_that_was_opened() {
    let sealed = sealed(b"a text");
    let _ = Sealer::with_cipher(Vec::new(), opening(&sealed), sealed.first_chunk().unwrap());
}

/// Nobody could open the stream, and nobody would notice while it is sealed.
#[test]
#[should_panic(expected = "the header is not the one that came with the cipher")]
fn a_sealer_takes_no_header_of_another_stream() {
    let create = || ChunkCipher::create(Suite::Aes256Gcm, Isa::best(), &KEY, &[b"context"]).unwrap();
    let ((first, its_own), (second, _)) = (create(), create());
    assert!(opener(&Sealer::with_cipher(Vec::new(), first, &its_own).finish().unwrap()).is_ok());
    let _ = Sealer::with_cipher(Vec::new(), second, &its_own);
}

#[test]
fn numbers_that_no_chunk_has_are_refused() {
    let (cipher, _) = ChunkCipher::create(Suite::Aes256Gcm, Isa::best(), &KEY, &[]).unwrap();
    for index in [chunk::MAX_CHUNKS, 1 << 50, u64::MAX] {
        let mut chunk = [7; 100];
        assert!(matches!(cipher.open_chunk(index, &mut chunk), Err(StreamError::TooLong)), "{index}");
        assert_eq!(chunk, [0; 100]);
    }
    let last = cipher.open_chunk(chunk::MAX_CHUNKS - 1, &mut [7; 100]);
    assert!(matches!(last, Err(StreamError::Chunk { index, .. }) if index == chunk::MAX_CHUNKS - 1));
}

/// The specification: "implementations MUST abort".
#[test]
#[should_panic(expected = "a stream has at most 2^38 chunks")]
fn a_chunk_whose_number_no_stream_has_is_not_sealed() {
    let (cipher, _) = ChunkCipher::create(Suite::Aes256Gcm, Isa::best(), &KEY, &[]).unwrap();
    cipher.seal_chunk(chunk::MAX_CHUNKS - 1, &mut [7; 100], 84);
    cipher.seal_chunk(chunk::MAX_CHUNKS, &mut [7; 100], 84);
}

/// No reader of the format could open it.
#[test]
#[should_panic(expected = "a chunk has at most 16384 bytes of text")]
fn a_chunk_that_is_too_long_is_not_sealed() {
    let (cipher, _) = ChunkCipher::create(Suite::Aes256Gcm, Isa::best(), &KEY, &[]).unwrap();
    let mut chunk = vec![7; chunk::SEALED + 1];
    cipher.seal_chunk(0, &mut chunk, chunk::PLAIN);
    cipher.seal_chunk(1, &mut chunk, chunk::PLAIN + 1);
}

/// Its tag is valid, because whoever has the key can make such a chunk. An `Opener` reads only its beginning as a chunk
/// and refuses it.
#[test]
fn a_chunk_that_is_longer_than_chunks_are_is_refused() {
    let (cipher, header) = ChunkCipher::create(Suite::Aes256Gcm, Isa::best(), &KEY, &[b"context"]).unwrap();
    let mut derived = [0; 32 + chunk::NONCE];
    let label = b"c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0";
    sealwright_stream::hkdf_expand(&KEY, &[label, &header[..chunk::SALT], b"context"], &mut derived);
    let (key, nonce) = derived.split_at(32);
    let aead = Suite::Aes256Gcm.aead(key).unwrap();
    for (len, opens) in [(chunk::PLAIN, true), (chunk::PLAIN + 1, false), (3 * chunk::PLAIN, false)] {
        let mut long = vec![7; len + chunk::TAG];
        aead.seal_message(nonce, &[], &mut long).unwrap();
        let opened = cipher.open_chunk(0, &mut long);
        assert_eq!(opened.is_ok(), opens, "{len}");
        assert!(opens || long.iter().all(|&byte| byte == 0), "{len}: what is refused is wiped");
        assert!(opens || opened == Err(StreamError::Chunk { index: 0, offset: 56, last: false }), "{len}");
    }
}
