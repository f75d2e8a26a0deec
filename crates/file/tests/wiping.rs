//! What is left of secrets in memory once their owners are dropped.
#![allow(clippy::unwrap_used, missing_docs)]

use std::{hint::black_box, io::Write};

use sealwright_file::Shared;
use sealwright_transcripts::{WANTED, in_memory};
use zeroize::Zeroize;

/// Byte `at` of a text that is nowhere in the program.
fn byte(at: usize) -> u8 {
    (black_box(at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

/// Writes the text in many parts, so that memory grows.
fn write_text(mut to: impl Write, len: usize) {
    let mut part = [0; 100];
    for start in (0..len).step_by(part.len()) {
        part.iter_mut().zip(start..).for_each(|(place, at)| *place = byte(at));
        to.write_all(&part).unwrap();
    }
    part.zeroize();
}

/// One test: two at once would find what the other holds.
#[test]
fn nothing_is_left_of_what_was_dropped() {
    // Behind what an allocator writes at the start of memory that it gets back.
    let inverted: [u8; WANTED] = std::array::from_fn(|i| !byte(64 + i));
    let mut text = Shared::default();
    write_text(&mut text, 100_000);
    assert!(in_memory(&inverted) > 0, "the search does not see what is there");
    drop(text);
    assert_eq!(in_memory(&inverted), 0, "of a text in memory");

    #[cfg(feature = "public-keys")]
    keys();
}

/// Secret keys in a file that is sealed itself.
#[cfg(feature = "public-keys")]
fn keys() {
    use sealwright_file::{Costs, Error, Input, Key, Output, OutputOptions, Sealing, SecretKey, read_identities};

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("id");
    let secret = SecretKey::generate().unwrap();
    let text = secret.to_text();
    let inverted: [u8; WANTED] = std::array::from_fn(|i| !text.as_bytes()[30 + i]);
    assert!(in_memory(&inverted) > 0);
    let public = secret.public_key();
    let passphrase = || Key::passphrase("correct horse");
    let sealing = passphrase().unwrap();
    let costs = Costs { memory_kib: 8, passes: 1, lanes: 1 };
    let output = Output::file(&path, OutputOptions::default()).unwrap();
    Sealing::new(&sealing).costs(costs).seal(Input::bytes(text, "the key"), output).unwrap();
    drop(secret);
    assert_eq!(in_memory(&inverted), 0, "of a secret key that was sealed");
    let keys = read_identities::<Error>(&path, passphrase).unwrap();
    assert_eq!(keys[0].public_key().unwrap(), public);
    drop(keys);
    assert_eq!(in_memory(&inverted), 0, "of a secret key in a sealed file");
}
