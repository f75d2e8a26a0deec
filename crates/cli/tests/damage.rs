//! Damaged and foreign files: the right exit code, a clear message, and no output under any name.
#![allow(clippy::unwrap_used)]

use sealwright_transcripts::{Sandbox, text};

/// A sandbox with `a.seal` of `len` bytes of text.
fn sealed(len: usize) -> (Sandbox, Vec<u8>) {
    let sandbox = Sandbox::new();
    sandbox.write("a", text(len));
    sandbox.ok("seal --key-file k a --remove");
    let bytes = sandbox.read("a.seal");
    (sandbox, bytes)
}

/// Opening `bytes` from a file and from a pipe fails with `code` and leaves no file.
fn refused(sandbox: &Sandbox, bytes: &[u8], code: i32, what: &str) {
    sandbox.write("a.seal", bytes);
    let from_file = sandbox.run("open --key-file k a.seal");
    assert_eq!(from_file.code, code, "{what}: {}", from_file.err);
    assert!(from_file.err.starts_with("sealwright: a.seal: "), "{what}: {}", from_file.err);
    let from_pipe = sandbox.sh("cat a.seal | sealwright open --key-file k -o a");
    assert_eq!(from_pipe.code, code, "{what}, piped: {}", from_pipe.err);
    assert_eq!(sandbox.names(), ["a.seal"], "{what}");
}

#[test]
fn every_byte_matters() {
    let (sandbox, bytes) = sealed(5);
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x40;
        sandbox.write("a.seal", &changed);
        let said = sandbox.run("open --key-file k a.seal");
        // Version, suite, key source and layout: unknown numbers are no proof of damage.
        let wanted = if (8..12).contains(&at) { 1..=4 } else { 3..=4 };
        assert!(wanted.contains(&said.code), "byte {at}: {} {}", said.code, said.err);
        assert_eq!(sandbox.names(), ["a.seal"], "byte {at}");
    }
}

#[test]
fn cut_extended_and_reordered_files_are_not_authentic() {
    let (sandbox, bytes) = sealed(40_000);
    for cut in [0, 7, 16, 40, 72, 73, 16 + 56 + 16400, bytes.len() - 16400, bytes.len() - 1] {
        refused(&sandbox, &bytes[..cut], 3, &format!("cut to {cut}"));
    }
    refused(&sandbox, &[&bytes[..], b"x"].concat(), 3, "one byte more");
    refused(&sandbox, &[&bytes[..], &text(16400)].concat(), 3, "a chunk more");
    let (first, second) = (72..72 + 16400, 72 + 16400..72 + 2 * 16400);
    let swapped = [&bytes[..72], &bytes[second.clone()], &bytes[first], &bytes[second.end..]].concat();
    assert_eq!(swapped.len(), bytes.len());
    refused(&sandbox, &swapped, 3, "two chunks swapped");
}

#[test]
fn another_key_is_told_from_damage() {
    let (sandbox, bytes) = sealed(100);
    sandbox.fails("open --key-file other a.seal", 4, "a.seal: wrong");
    let mut other_preamble = bytes.clone();
    other_preamble[9] = 1; // Suite: AES-128-GCM, which takes another key
    sandbox.write("a.seal", &other_preamble);
    assert_ne!(sandbox.run("open --key-file k a.seal").code, 0);
    sandbox.write("a.seal", &bytes);
    let passphrase = sandbox.sh("echo secret | sealwright open --passphrase-fd 0 a.seal");
    assert_eq!(passphrase.code, 4);
    assert!(passphrase.err.contains("hint: use --key-file"), "{}", passphrase.err);
    assert_eq!(sandbox.names(), ["a.seal"]);
}

#[test]
fn files_that_never_were_sealed_or_are_of_an_unknown_kind() {
    let (sandbox, bytes) = sealed(1);
    refused(&sandbox, b"just text that somebody named .seal", 3, "text");
    for (at, value, word) in
        [(8, 9, "version 9"), (9, 200, "suite number 200"), (10, 7, "key source 7"), (11, 9, "content of kind 9")]
    {
        let mut odd = bytes.clone();
        odd[at] = value;
        refused(&sandbox, &odd, 1, word);
        let said = sandbox.run("open --key-file k a.seal").err;
        assert!(said.starts_with("sealwright: a.seal: unsupported: ") && said.contains(word), "{said}");
        assert!(said.contains("nothing was authenticated") && !said.contains("not authentic"), "{said}");
    }
}

#[test]
fn a_costly_passphrase_is_refused_before_it_is_paid_for() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    let said = sandbox.sh("echo secret | sealwright seal --passphrase-fd 0 --cost 1MiB a");
    assert_eq!(said.code, 0, "{}", said.err);
    let mut greedy = sandbox.read("a.seal");
    greedy[16..20].copy_from_slice(&(3u32 << 30).to_be_bytes()); // 3 TiB
    sandbox.write("b.seal", &greedy);
    let said = sandbox.sh("echo secret | sealwright open --passphrase-fd 0 b.seal");
    assert_eq!(said.code, 1);
    assert!(said.err.contains("hint: raise the limit with --max-cost"), "{}", said.err);
    let said = sandbox.sh("echo secret | sealwright open --passphrase-fd 0 --max-cost 512KiB a.seal -o c");
    assert_eq!(said.code, 1);
    let said = sandbox.sh("echo wrong | sealwright open --passphrase-fd 0 a.seal -o c");
    assert_eq!(said.code, 4);
    let said = sandbox.sh("echo secret | sealwright open --passphrase-fd 0 a.seal -o c");
    assert_eq!((said.code, sandbox.read("c").as_slice()), (0, &b"text"[..]), "{}", said.err);
}
