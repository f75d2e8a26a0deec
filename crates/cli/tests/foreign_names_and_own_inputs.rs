//! Names that somebody else has chosen, and outputs that are, or are inside, an input.
#![allow(clippy::unwrap_used)]

use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt};

use sealwright_transcripts::{Sandbox, skipped};

/// The sender of a sealed directory chooses the name in it: `.ssh`, for example, opened in a home directory without
/// one.
#[test]
fn a_sealed_directory_that_is_called_otherwise_than_its_file_is_unpacked_only_where_that_is_asked_for() {
    let sandbox = Sandbox::new();
    sandbox.write("from/.ssh/authorized_keys", "theirs");
    sandbox.ok("seal --key-file k from/.ssh -o holiday.seal");
    let hint = "hint: -C DIR unpacks it into DIR all the same";
    for line in ["holiday.seal", "--each below"] {
        if line.starts_with("--each") {
            fs::create_dir(sandbox.path("below")).unwrap();
            fs::copy(sandbox.path("holiday.seal"), sandbox.path("below/holiday.seal")).unwrap();
        }
        let said = sandbox.run(&format!("open --key-file k {line}"));
        let told = "it holds a directory named .ssh, not holiday";
        assert!(said.code == 1 && said.err.contains(told) && said.err.contains(hint), "{line}: {}", said.err);
        assert!(!sandbox.path(".ssh").exists() && !sandbox.path("below/.ssh").exists(), "{line}");
    }
    // A name that does not show what the file is.
    fs::copy(sandbox.path("holiday.seal"), sandbox.path("download")).unwrap();
    let said = sandbox.run("open --key-file k download");
    assert!(said.code == 1 && said.err.contains(hint) && !sandbox.path(".ssh").exists(), "{}", said.err);
    sandbox.ok("open --key-file k holiday.seal -C elsewhere");
    assert_eq!(sandbox.read("elsewhere/.ssh/authorized_keys"), b"theirs");
    sandbox.ok("open --key-file k holiday.seal -C .");
    assert_eq!(sandbox.read(".ssh/authorized_keys"), b"theirs");
}

/// The earlier output is inside the directory that is sealed.
#[test]
fn what_an_output_replaces_is_not_packed_into_it() {
    let sandbox = Sandbox::new();
    sandbox.write("d/text", "a text");
    for _ in 0..2 {
        let said = sandbox.sh("cd d && sealwright seal --key-file ../k . -o backup.seal -f");
        assert_eq!(said.code, 0, "{}", said.err);
    }
    let said = sandbox.sh("cd d && sealwright seal --key-file ../k . -o backup.seal -f");
    assert!(said.err.contains("backup.seal: skipped, the output replaces it"), "{}", said.err);
    sandbox.ok("open --key-file k d/backup.seal -C opened");
    assert_eq!(sandbox.read("opened/d/text"), b"a text");
    assert!(!sandbox.path("opened/d/backup.seal").exists());
}

/// A device has no end of file: a sealed file on it would be followed by other bytes, and could not be opened.
#[test]
fn nothing_is_sealed_to_a_block_device() {
    let Some(device) = (0..8).map(|n| format!("/dev/loop{n}")).find(|name| fs::metadata(name).is_ok()) else {
        skipped("there is no block device");
        return;
    };
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    for force in ["", " --force"] {
        let said = sandbox.run(&format!("seal --key-file k a -o {device}{force}"));
        let told = "is a block device: a sealed file cannot be opened from it, because its end is not recorded";
        assert!(said.code == 1 && said.err.contains(told), "{}", said.err);
        assert!(said.err.contains("hint: seal it to a file"), "{}", said.err);
    }
}

#[test]
fn what_is_appended_to_its_own_input_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("tree/a", "a text");
    sandbox.write("a", "a text");
    sandbox.ok("seal --key-file k a");
    sandbox.ok("seal --key-file k tree");
    assert_eq!(sandbox.sh("sealwright key new --pair -o id > pub && sealwright key new --signing -o s > v").code, 0);
    for (line, input) in [
        ("open --key-file k --range 1..3 a.seal -o - >> a.seal", "a.seal"),
        ("open --key-file k --entry tree/a tree.seal -o - >> tree.seal", "tree.seal"),
        ("sign -s s a -o - >> a", "a"),
        ("key public -i id >> id", "id"),
    ] {
        let before = sandbox.read(input);
        let said = sandbox.sh(&format!("sealwright {line}"));
        assert!(said.code == 2 && said.err.contains("both input and output"), "{line}: {} {}", said.code, said.err);
        assert_eq!(sandbox.read(input), before, "{line}");
    }
}

/// A regression: two different names that are not valid UTF-8 looked the same.
#[test]
fn names_that_are_not_text_are_told_apart() {
    let sandbox = Sandbox::new();
    for byte in [0x80, 0x81] {
        let name = [b'n', byte];
        fs::write(sandbox.path("").join(OsStr::from_bytes(&name)), "text").unwrap();
    }
    let said = sandbox
        .sh("sealwright seal --key-file k n* && sealwright inspect n*.seal && sealwright inspect --json n*.seal");
    assert_eq!(said.code, 0, "{}", said.err);
    let out = String::from_utf8(said.out).unwrap();
    for (text, hex) in [(r"n\x80.seal", "6e802e7365616c"), (r"n\x81.seal", "6e812e7365616c")] {
        assert!(out.contains(&format!("{text}\n")) && out.contains(&format!("\"file_hex\":\"{hex}\"")), "{out}");
    }
}

#[test]
fn a_file_that_fails_is_not_counted_as_done() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    sandbox.ok("seal --key-file k a");
    fs::write(sandbox.path("b.seal"), [&sandbox.read("a.seal")[..], b"x"].concat()).unwrap();
    let said = sandbox.run("open --key-file k --progress json a.seal b.seal -C out");
    let last = said.err.lines().rfind(|line| line.starts_with('{')).unwrap();
    assert!(last.contains("\"files\":1,") && last.contains("\"failed_files\":1,"), "{last}");
}
