//! Sealed files, and their contents.

use std::{
    io::{Cursor, Read, Seek, SeekFrom},
    sync::OnceLock,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use sealwright_file::{
    Content, Error, FileList, Input, Key, Opening, Output, Preamble, SealedReader, Sealing, Shared, Work, armor,
    inspect,
    tree::{Unpacking, read_manifest},
};

fn key() -> &'static Key {
    static KEY: OnceLock<Key> = OnceLock::new();
    KEY.get_or_init(|| Key::raw(vec![5; 32]))
}

/// One thread: starting others takes longer than a small file.
pub(crate) fn work() -> Work {
    Work::default().threads(1)
}

fn opening() -> Opening<'static> {
    Opening::new(key()).work(work())
}

pub(crate) fn sealed(sealing: &Sealing<'_>, text: &[u8]) -> Vec<u8> {
    let mut out = Shared::default();
    let done = sealing.clone().work(work()).seal(Input::bytes(text.to_vec(), "text"), to(&out));
    done.expect("memory takes everything");
    out.take()
}

pub(crate) fn to(out: &Shared) -> Output {
    Output::writer(out.clone(), "memory")
}

/// Takes arbitrary bytes as a preamble: parsing terminates, and a preamble that was parsed is written back unchanged.
/// In armor it is the preamble of the armored file.
pub(crate) fn preamble(bytes: &[u8]) {
    let mut from = Cursor::new(bytes);
    let parsed = Preamble::read(&mut from);
    if let Ok(preamble) = &parsed {
        assert_eq!(preamble.to_bytes(), bytes[..from.position() as usize]);
    }
    let seen = inspect(Input::bytes(bytes.to_vec(), "fuzz")).map(|seen| seen.preamble.to_bytes());
    match parsed {
        // Only the armor of the preamble is read: what follows may be wrong
        Err(Error::Armored) => {
            let decoded = decoded(bytes);
            let within = Preamble::read(&mut &decoded[..]).map(|preamble| preamble.to_bytes());
            assert_eq!(seen.ok(), within.ok());
        }
        parsed => assert_eq!(seen.ok(), parsed.ok().map(|preamble| preamble.to_bytes())),
    }
}

/// The content of the lines of armor, up to the first invalid line.
fn decoded(text: &[u8]) -> Vec<u8> {
    let lines = text.split(|&byte| byte == b'\n').take_while(|line| line.len() < 200);
    let mut lines = lines.map(|line| line.trim_ascii_end());
    let mut bytes = Vec::new();
    if lines.next() != Some(armor::BEGIN.as_bytes()) {
        return bytes;
    }
    for line in lines.take_while(|line| (1..=64).contains(&line.len())) {
        let Ok(decoded) = STANDARD.decode(line) else { break };
        bytes.extend_from_slice(&decoded);
        if decoded.len() < 48 {
            break;
        }
    }
    bytes
}

/// Bytes of preamble, salt and commitment of a file under a raw key.
const HEADER: usize = 16 + 56;

/// Takes arbitrary bytes after a genuine header: nothing is output that was not sealed, and `Opening` and
/// `SealedReader` agree.
pub(crate) fn open(tail: &[u8]) {
    static HEAD: OnceLock<Vec<u8>> = OnceLock::new();
    let head = HEAD.get_or_init(|| sealed(&Sealing::new(key()), b"")[..HEADER].to_vec());
    let file = [head, tail].concat();
    let mut out = Shared::default();
    let streamed = opening().open(Input::bytes(file.clone(), "fuzz"), to(&out));
    let mut text = Vec::new();
    let read = SealedReader::new(Cursor::new(file), &opening()).map(|mut reader| reader.read_to_end(&mut text));
    // Tags cannot be forged. Only the empty text that was sealed here could open, and the header does not contain its
    // tag.
    assert!(streamed.is_err() && !matches!(read, Ok(Ok(_))) && out.take().is_empty() && text.is_empty());
}

/// Applies edits of six bytes each: the kind of edit, two positions of 16 bits, and a byte.
pub(crate) fn edited(file: &[u8], edits: &[u8]) -> Vec<u8> {
    let mut file = file.to_vec();
    for edit in edits.chunks_exact(6).take(8) {
        let at = |i: usize| usize::from(u16::from_be_bytes([edit[i], edit[i + 1]])) % (file.len() + 1);
        let (a, b) = (at(1).min(at(3)), at(1).max(at(3)));
        match edit[0] % 5 {
            0 => file.iter_mut().skip(a).take(1).for_each(|byte| *byte ^= edit[5]),
            1 => file.truncate(a),
            2 => drop(file.drain(a..b)),
            3 => file.extend_from_within(a..b),
            _ => file.insert(a, edit[5]),
        }
    }
    file
}

/// Opens an edited file: it opens only if the edits cancel out, and never to another text.
fn opens_only_if_genuine(genuine: &[u8], edits: &[u8], text: &[u8]) {
    let edited = edited(genuine, edits);
    let mut out = Shared::default();
    let done = opening().open(Input::bytes(edited.clone(), "fuzz"), to(&out));
    assert_eq!(done.is_ok(), edited == genuine);
    assert!(text.starts_with(&out.take()));
}

/// A text, and a genuine sealed file of three chunks with it.
fn three_chunks() -> &'static (Vec<u8>, Vec<u8>) {
    static FILE: OnceLock<(Vec<u8>, Vec<u8>)> = OnceLock::new();
    FILE.get_or_init(|| {
        let text: Vec<u8> = (0..40_000_u32).map(|i| ((i * 7) >> 3) as u8).collect();
        let file = sealed(&Sealing::new(key()), &text);
        (text, file)
    })
}

/// Edits a genuine sealed file of three chunks.
pub(crate) fn damage(edits: &[u8]) {
    let (text, file) = three_chunks();
    opens_only_if_genuine(file, edits, text);
}

/// Where a step of three bytes seeks to: from the beginning, the end or here, near or about as far as a number reaches.
fn place(what: u8, high: u8, low: u8) -> SeekFrom {
    let near = i64::from(i16::from_be_bytes([high, low]));
    match what % 6 {
        0 => SeekFrom::Start(near as u16 as u64),
        1 => SeekFrom::Current(near),
        2 => SeekFrom::End(near),
        3 => SeekFrom::Start(near as u64),
        4 => SeekFrom::Current(i64::MAX.wrapping_add(near)),
        _ => SeekFrom::End(i64::MIN.wrapping_add(near)),
    }
}

/// Reads a sealed file from arbitrary positions, after four bytes of the input may have changed it at one place:
/// whatever is read is at that position in the text, and the genuine file behaves like the text itself.
pub(crate) fn seek(bytes: &[u8]) {
    let Some((&[padded, with, high, low], steps)) = bytes.split_first_chunk() else { return };
    let (text, mut file) = three_chunks().clone();
    if padded & 1 == 1 {
        static PADDED: OnceLock<Vec<u8>> = OnceLock::new();
        file = PADDED.get_or_init(|| sealed(&Sealing::new(key()).pad(true), &text)).clone();
    }
    let at = usize::from(u16::from_be_bytes([high, low])) % file.len();
    file[at] ^= with;
    let reader = SealedReader::new(Cursor::new(file), &opening());
    assert!(with != 0 || reader.is_ok());
    let (Ok(mut reader), mut plain) = (reader, Cursor::new(&text)) else { return };
    assert_eq!(reader.len(), text.len() as u64);
    for &[what, high, low] in steps.as_chunks::<3>().0.iter().take(300) {
        if what & 64 == 0 {
            let to = place(what, high, low);
            assert_eq!(reader.seek(to).ok(), plain.seek(to).ok(), "{to:?}");
            continue;
        }
        let mut out = vec![0xa5; usize::from(u16::from_be_bytes([high, low]))];
        let from = plain.position();
        match reader.read(&mut out) {
            Ok(read) => {
                let left = (text.len() as u64).saturating_sub(from);
                assert!(read > 0 || left == 0 || out.is_empty());
                assert_eq!(out[..read], text[text.len() - left as usize..][..read]);
                plain.set_position(from + read as u64);
            }
            Err(_) => assert_ne!(with, 0, "a genuine file"),
        }
    }
}

/// Takes arbitrary text between the lines of an armored file, or a genuine armored file with edits. Each file has only
/// one armored text.
pub(crate) fn armor(bytes: &[u8]) {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    let file = FILE.get_or_init(|| sealed(&Sealing::new(key()).armor(true), &[7; 200]));
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    if choice & 1 == 1 {
        let text = [b"-----BEGIN SEALED FILE-----\n", bytes].concat();
        assert!(opening().verify(Input::bytes(text, "fuzz")).is_err());
        return;
    }
    let edited = edited(file, bytes);
    let mut out = Shared::default();
    let opened = opening().open(Input::bytes(edited.clone(), "fuzz"), to(&out)).is_ok();
    assert!([7; 200].starts_with(&out.take()));
    // White space at the ends of lines and behind the last may differ.
    let lines = |text: &[u8]| {
        let ends = text.trim_ascii_end().split(|&byte| byte == b'\n').map(|line| line.trim_ascii_end().to_vec());
        ends.collect::<Vec<_>>()
    };
    if opened {
        assert_eq!(lines(&edited), lines(file));
    }
}

/// Takes arbitrary bytes as a manifest of files: if it is accepted, it names only files inside its directory, and is
/// written back unchanged.
pub(crate) fn list(bytes: &[u8]) {
    let text = [b"SEALLIST", bytes].concat();
    let file = sealed(&Sealing::new(key()).content(Content::List), &text);
    match FileList::open(&opening(), Input::bytes(file, "fuzz")) {
        Ok(list) => {
            assert!(list.paths().all(|path| path.is_relative() && path.components().count() > 0));
            let mut again = Shared::default();
            list.seal(&Sealing::new(key()).work(work()), to(&again)).unwrap();
            let again = FileList::open(&opening(), Input::bytes(again.take(), "again")).unwrap();
            assert_eq!(again, list);
        }
        Err(error) => assert!(matches!(error, Error::NotAuthentic(_)), "{error}"),
    }
}

/// Takes arbitrary bytes as the text of a tree: its manifest is refused, or names only entries inside the tree; a small
/// tree unpacks into its directory, or leaves nothing.
pub(crate) fn tree(bytes: &[u8]) {
    let Ok(manifest) = read_manifest(&mut &bytes[..]) else { return };
    for entry in manifest.entries() {
        assert!(entry.path.starts_with(manifest.name()));
        assert!(entry.path.components().all(|part| matches!(part, std::path::Component::Normal(_))));
        if let Some((_, len)) = manifest.find(&entry.path) {
            assert_eq!(len, entry.len);
        }
    }
    let _ = manifest.content_len();
    if manifest.entries().len() > 20 {
        return;
    }
    let directory = crate::folder::folder();
    let inside = directory.path().join("inside");
    std::fs::create_dir(&inside).unwrap();
    let file = sealed(&Sealing::new(key()).content(Content::Tree), bytes);
    let unpacking = Unpacking::new(&inside).sync(false);
    let unpacked = opening().unpack(Input::bytes(file, "fuzz"), &unpacking);
    let names = |path| std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
    assert_eq!(names(directory.path()), ["inside"]);
    match unpacked {
        Ok(_) => assert_eq!(names(&inside), [manifest.name().as_os_str()]),
        Err(_) => assert_eq!(names(&inside).len(), 0),
    }
}
