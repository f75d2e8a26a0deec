//! The body of a sealed file, written by an attacker who has its key: arbitrary text, with padding and signature or
//! what looks like them.

use std::{
    fs,
    io::{Cursor, Read, Write},
    slice,
    sync::OnceLock,
};

use sealwright::{Isa, Suite};
use sealwright_file::{
    Content, Input, Key, Opening, Output, OutputOptions, SealedReader, Sealing, Shared, SigningKey, VerifyingKey,
    chunk::{HEADER, PLAIN},
};
use sealwright_stream::{ChunkCipher, Opener, Sealer};

use crate::files::{edited, sealed, to, work};

const KEY: [u8; 32] = [6; 32];
/// Bytes of a preamble for a raw key.
const PREAMBLE: usize = 16;
/// Bytes of the name of a signing key, and of a signature with it.
const SIGNED: usize = 16 + 64 + 3309;

/// Genuine files of every layout, and their signer.
struct Genuine {
    key: Key,
    signer: VerifyingKey,
    files: Vec<File>,
}

/// A sealed file, and what its chunks hold.
struct File {
    header: Vec<u8>,
    held: Vec<u8>,
    /// Whether it is one file: neither a tree nor a list.
    one: bool,
    padded: bool,
    signed: bool,
}

/// A text with zeros within and at its end, of this length.
fn text(len: usize) -> Vec<u8> {
    (0..len).map(|i| if i % 5 < 2 || i + 9 > len { 0 } else { (i * 7) as u8 }).collect()
}

/// Of a file that exists, to seal another text under its nonces.
fn cipher(header: &[u8]) -> ChunkCipher {
    let (preamble, body) = header.split_at(PREAMBLE);
    let salt = body.first_chunk().unwrap();
    ChunkCipher::create_with_salt(Suite::Aes256Gcm, Isa::best(), &KEY, salt, &[preamble]).unwrap().0
}

impl Genuine {
    fn new() -> Genuine {
        let (key, signing) = (Key::raw(KEY.to_vec()), SigningKey::generate().unwrap());
        let mut files = Vec::new();
        for (content, padded, signed) in
            [Content::Bytes, Content::Tree, Content::List].into_iter().flat_map(|content| {
                [(false, false), (false, true), (true, false), (true, true)].map(|(p, s)| (content, p, s))
            })
        {
            // With its signature the longer one has two chunks.
            for len in [30, PLAIN - SIGNED / 2] {
                let sealing = Sealing::new(&key).content(content).pad(padded).sign(signed.then_some(&signing));
                let sealed = sealed(&sealing, &text(len));
                let header = sealed[..PREAMBLE + HEADER].to_vec();
                let mut held = Vec::new();
                let chunks = Opener::with_cipher(&sealed[header.len()..], cipher(&header)).read_to_end(&mut held);
                chunks.unwrap();
                files.push(File { header, held, one: content == Content::Bytes, padded, signed });
            }
        }
        Genuine { key, signer: signing.verifying_key().clone(), files }
    }
}

impl File {
    /// The text in what is held, as docs/FORMAT.md has it: with its signature, and alone.
    fn text<'a>(&self, held: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        let whole = if self.padded {
            let (rest, len) = held.split_last_chunk::<8>()?;
            let (whole, zeros) = rest.split_at_checked(usize::try_from(u64::from_be_bytes(*len)).ok()?)?;
            zeros.iter().all(|&byte| byte == 0).then_some(whole)?
        } else {
            held
        };
        let text = if self.signed { &whole[..whole.len().checked_sub(SIGNED)?] } else { whole };
        Some((whole, text))
    }

    /// A file with the same header that holds this.
    fn holding(&self, held: &[u8]) -> Vec<u8> {
        let mut sealer = Sealer::with_cipher(
            self.header[..PREAMBLE].to_vec(),
            cipher(&self.header),
            self.header[PREAMBLE..].try_into().unwrap(),
        );
        sealer.write_all(held).unwrap();
        sealer.finish().unwrap()
    }
}

/// Seals, under the header of a genuine file of any layout, arbitrary bytes, or its content with edits, with other
/// padding or with another length: the text is output only if all follows the format and, if a signature is required,
/// only if the signer signed it.
pub(crate) fn layout(bytes: &[u8]) {
    static GENUINE: OnceLock<Genuine> = OnceLock::new();
    let genuine = GENUINE.get_or_init(Genuine::new);
    let Some((&[choice, how], rest)) = bytes.split_first_chunk() else { return };
    let file = &genuine.files[usize::from(choice) % genuine.files.len()];
    let held = match how % 4 {
        0 => rest.to_vec(),
        1 => edited(&file.held, rest),
        // What is before the padding stays: so many zeros or other bytes, and a length that is right or nearly
        how => {
            let Some((&[zeros, with, off], rest)) = rest.split_first_chunk() else { return };
            let (whole, _) = file.text(&file.held).unwrap();
            let before = if how == 2 { whole } else { rest };
            let len = (before.len() as u64).wrapping_add_signed(i64::from(off as i8));
            let mut held = [before, &vec![0; usize::from(zeros) << (with & 7)], &len.to_be_bytes()].concat();
            if with & 8 != 0 {
                held[before.len()] = with;
            }
            held
        }
    };
    let sealed = file.holding(&held);
    let opening = Opening::new(&genuine.key).work(work());
    let expected = file.text(&held);

    let len = expected.map(|(_, text)| text.len() as u64);
    // Of a tree and a list also the text must be one, which other targets see to
    let verified = opening.verify(Input::bytes(sealed.clone(), "fuzz")).ok().map(|summary| summary.text);
    assert!(verified == len || (!file.one && verified.is_none()));
    if file.one {
        let mut out = Shared::default();
        assert_eq!(opening.open(Input::bytes(sealed.clone(), "fuzz"), to(&out)).is_ok(), expected.is_some());
        let out = out.take();
        assert!(held.starts_with(&out) && expected.is_none_or(|(_, text)| out == text));
        if how & 64 != 0 {
            file_to_file(&opening, &sealed, expected.map(|(_, text)| text));
        }
    }

    // Who reads from the middle does not look at the padding, and cannot ask who signed
    let reader = SealedReader::of_any_content(Cursor::new(&sealed), &opening);
    assert!(reader.is_ok() || expected.is_none());
    if let Ok(mut reader) = reader {
        let mut out = Vec::new();
        assert_eq!(reader.read_to_end(&mut out).unwrap() as u64, reader.len());
        assert!(held.starts_with(&out) && expected.is_none_or(|(_, text)| out == text));
    }

    let proven = opening.signers(slice::from_ref(&genuine.signer)).verify(Input::bytes(sealed, "fuzz"));
    let signed = file.text(&file.held).filter(|_| file.signed).map(|(whole, _)| whole);
    let right = signed.is_some() && expected.map(|(whole, _)| whole) == signed;
    assert!(proven.is_ok() == right || (!file.one && proven.is_err()));
}

/// A file appears only if all of it is valid, and nothing else appears.
fn file_to_file(opening: &Opening<'_>, sealed: &[u8], text: Option<&[u8]>) {
    let folder = crate::folder::folder();
    let (from, copy) = (folder.path().join("sealed"), folder.path().join("text"));
    fs::write(&from, sealed).unwrap();
    let output = Output::file(&copy, OutputOptions::default().sync(false)).unwrap();
    assert_eq!(opening.open(Input::open(&from).unwrap(), output).is_ok(), text.is_some());
    assert_eq!(fs::read(&copy).ok().as_deref(), text);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1 + usize::from(text.is_some()));
}
