//! Any bytes after a genuine header: no panic, no output that was not sealed, and `Opening` and `SealedReader` agree.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sealwright_file::{Input, Key, Opening, Output, SealedReader, Sealing, Shared};
use std::{
    io::{Cursor, Read},
    sync::OnceLock,
};

const HEADER: usize = 16 + 56;

fn header() -> &'static [u8] {
    static HEAD: OnceLock<Vec<u8>> = OnceLock::new();
    HEAD.get_or_init(|| {
        let mut out = Shared::default();
        let sealed = Sealing::new(&key()).seal(Input::bytes(b"", "text"), Output::writer(out.clone(), "memory"));
        sealed.expect("memory takes everything");
        out.take()[..HEADER].to_vec()
    })
}

fn key() -> Key {
    Key::raw(vec![5; 32])
}

fuzz_target!(|tail: &[u8]| {
    let file = [header(), tail].concat();
    let key = key();
    let opening = Opening::new(&key);
    let mut out = Shared::default();
    let streamed = opening.open(Input::bytes(file.clone(), "fuzz"), Output::writer(out.clone(), "memory"));
    let mut text = Vec::new();
    let read = SealedReader::new(Cursor::new(file), &opening).map(|mut reader| reader.read_to_end(&mut text));
    // Tags cannot be forged. Only the empty text that was sealed here could open, and the header does not contain its tag.
    assert!(streamed.is_err() && read.is_err() && out.take().is_empty());
});
