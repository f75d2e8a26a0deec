//! Damaged and foreign files: the right exit code, a clear word, and no output under any name.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Desk, text};

/// A desk with `a.seal` of `len` bytes of text.
fn sealed(len: usize) -> (Desk, Vec<u8>) {
    let desk = Desk::new();
    desk.write("a", text(len));
    desk.ok("seal --key-file k a --remove");
    let bytes = desk.read("a.seal");
    (desk, bytes)
}

/// Opening `bytes` from a file and from a pipe fails with `code` and leaves no file.
fn refused(desk: &Desk, bytes: &[u8], code: i32, what: &str) {
    desk.write("a.seal", bytes);
    let from_file = desk.run("open --key-file k a.seal");
    assert_eq!(from_file.code, code, "{what}: {}", from_file.err);
    assert!(from_file.err.starts_with("sealwright: a.seal: "), "{what}: {}", from_file.err);
    let from_pipe = desk.sh("cat a.seal | sealwright open --key-file k -o a");
    assert_eq!(from_pipe.code, code, "{what}, piped: {}", from_pipe.err);
    assert_eq!(desk.names(), ["a.seal"], "{what}");
}

#[test]
fn every_byte_matters() {
    let (desk, bytes) = sealed(5);
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x40;
        desk.write("a.seal", &changed);
        let said = desk.run("open --key-file k a.seal");
        assert!(matches!(said.code, 3 | 4), "byte {at}: {} {}", said.code, said.err);
        assert_eq!(desk.names(), ["a.seal"], "byte {at}");
    }
}

#[test]
fn cut_extended_and_reordered_files_are_not_authentic() {
    let (desk, bytes) = sealed(40_000);
    for cut in [0, 7, 16, 40, 72, 73, 16 + 56 + 16400, bytes.len() - 16400, bytes.len() - 1] {
        refused(&desk, &bytes[..cut], 3, &format!("cut to {cut}"));
    }
    refused(&desk, &[&bytes[..], b"x"].concat(), 3, "one byte more");
    refused(&desk, &[&bytes[..], &text(16400)].concat(), 3, "a chunk more");
    let (first, second) = (72..72 + 16400, 72 + 16400..72 + 2 * 16400);
    let swapped = [&bytes[..72], &bytes[second.clone()], &bytes[first], &bytes[second.end..]].concat();
    assert_eq!(swapped.len(), bytes.len());
    refused(&desk, &swapped, 3, "two chunks swapped");
}

#[test]
fn another_key_is_told_from_damage() {
    let (desk, bytes) = sealed(100);
    desk.fails("open --key-file other a.seal", 4, "a.seal: wrong");
    let mut other_preamble = bytes.clone();
    other_preamble[9] = 2; // suite: AES-128-GCM, which takes another key
    desk.write("a.seal", &other_preamble);
    assert_ne!(desk.run("open --key-file k a.seal").code, 0);
    desk.write("a.seal", &bytes);
    let passphrase = desk.sh("echo secret | sealwright open --passphrase-fd 0 a.seal");
    assert_eq!(passphrase.code, 4);
    assert!(passphrase.err.contains("hint: use --key-file"), "{}", passphrase.err);
    assert_eq!(desk.names(), ["a.seal"]);
}

#[test]
fn files_that_never_were_sealed() {
    let (desk, bytes) = sealed(1);
    refused(&desk, b"just text that somebody named .seal", 3, "text");
    for (at, value, word) in
        [(8, 9, "version 9"), (9, 200, "suite number 200"), (10, 7, "key source 7"), (11, 1, "reserved")]
    {
        let mut odd = bytes.clone();
        odd[at] = value;
        refused(&desk, &odd, 3, word);
        assert!(desk.run("open --key-file k a.seal").err.contains(word));
    }
}

#[test]
fn a_costly_passphrase_is_refused_before_it_is_paid_for() {
    let desk = Desk::new();
    desk.write("a", "text");
    let said = desk.sh("echo secret | sealwright seal --passphrase-fd 0 --cost 1MiB a");
    assert_eq!(said.code, 0, "{}", said.err);
    let mut greedy = desk.read("a.seal");
    greedy[16..20].copy_from_slice(&(3u32 << 30).to_be_bytes()); // 3 TiB
    desk.write("b.seal", &greedy);
    let said = desk.sh("echo secret | sealwright open --passphrase-fd 0 b.seal");
    assert_eq!(said.code, 1);
    assert!(said.err.contains("hint: raise the limit with --max-cost"), "{}", said.err);
    let said = desk.sh("echo secret | sealwright open --passphrase-fd 0 --max-cost 512KiB a.seal -o c");
    assert_eq!(said.code, 1);
    let said = desk.sh("echo wrong | sealwright open --passphrase-fd 0 a.seal -o c");
    assert_eq!(said.code, 4);
    let said = desk.sh("echo secret | sealwright open --passphrase-fd 0 a.seal -o c");
    assert_eq!((said.code, desk.read("c").as_slice()), (0, &b"text"[..]), "{}", said.err);
}
