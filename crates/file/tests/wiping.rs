//! What is left of secrets in memory after their owners were dropped.
#![allow(clippy::unwrap_used, missing_docs)]

use std::{hint::black_box, io::Write};

use sealwright_file::Shared;
use sealwright_transcripts::{WANTED, in_memory};
use zeroize::Zeroize;

/// Byte `at` of a text that is not stored in the executable.
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

/// A single test, because parallel tests would find each other's secrets.
#[test]
fn nothing_is_left_of_what_was_dropped() {
    // Starts after the bytes that the allocator overwrites in freed memory.
    let inverted: [u8; WANTED] = std::array::from_fn(|i| !byte(64 + i));
    let mut text = Shared::default();
    write_text(&mut text, 100_000);
    assert!(in_memory(&inverted) > 0, "the search does not see what is there");
    drop(text);
    assert_eq!(in_memory(&inverted), 0, "of a text in memory");

    clones();
    tree();
    #[cfg(feature = "public-keys")]
    keys();
}

/// A key and its clone, which share the secret until the last of them is dropped.
fn clones() {
    use sealwright_file::{Key, key::KeyForm};

    let key = Key::generate(sealwright::Suite::Aes256Gcm).unwrap();
    let bytes = key.to_form(KeyForm::Raw).unwrap();
    let inverted: [u8; WANTED] = std::array::from_fn(|i| !bytes[i]);
    drop(bytes);
    let clone = key.clone();
    drop(key);
    assert!(in_memory(&inverted) > 0, "the clone has it");
    drop(clone);
    assert_eq!(in_memory(&inverted), 0, "of a key and its clone");
}

/// Files that are sealed together and written in batches, some with others and one that does not fit into the batch.
fn tree() {
    use sealwright_file::{Content, Input, Key, Opening, Output, Sealing, Work, tree};

    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (name, len) in [("a", 60_000), ("b", 200_000), ("c", 400_000)] {
        write_text(std::fs::File::create(from.path().join(name)).unwrap(), len);
    }
    let key = Key::generate(sealwright::Suite::Aes256Gcm).unwrap();
    let mut sealed = Shared::default();
    let sealing = Sealing::new(&key).content(Content::Tree);
    sealing.seal(tree::pack(from.path()).unwrap().input, Output::writer(sealed.clone(), "sealed")).unwrap();
    // Parts of the whole first file.
    let nothing = |what: &str| {
        for start in (64..60_000 - WANTED).step_by(20_000) {
            let inverted: [u8; WANTED] = std::array::from_fn(|i| !byte(start + i));
            assert_eq!(in_memory(&inverted), 0, "{what}, byte {start}");
        }
    };
    nothing("of a tree that was sealed");
    let unpacking = tree::Unpacking::new(to.path()).sync(false);
    let sealed = sealed.take();
    for threads in [1, 3] {
        let opening = Opening::new(&key).work(Work::default().threads(threads));
        let opened = opening.unpack(Input::bytes(sealed.clone(), "sealed"), &unpacking).unwrap();
        std::fs::remove_dir_all(opened).unwrap();
        nothing("of a tree that was unpacked");
    }
}

/// Secret keys in a sealed identity file.
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
