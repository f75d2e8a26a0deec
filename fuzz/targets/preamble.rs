//! Any bytes as a preamble: parsing ends, and a preamble that was parsed is written back unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sealwright_file::{Input, Preamble, inspect};
use std::io::Cursor;

fuzz_target!(|bytes: &[u8]| {
    let mut from = Cursor::new(bytes);
    let parsed = Preamble::read(&mut from);
    if let Ok(preamble) = &parsed {
        assert_eq!(preamble.to_bytes(), bytes[..from.position() as usize]);
    }
    assert_eq!(inspect(Input::bytes(bytes.to_vec(), "fuzz")).is_ok(), parsed.is_ok());
});
