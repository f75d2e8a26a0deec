//! Files and directories: what is sealed opens again, nothing is lost, replaced or left half done.
#![allow(clippy::unwrap_used)]

use std::{fs, path::Path};

use sealwright_transcripts::{Sandbox, text};

#[test]
fn a_directory_of_real_files_comes_back_as_it_was() {
    let sandbox = Sandbox::new();
    // This crate's sources, an executable, and lengths around those of a chunk and a span.
    copy_tree(Path::new(env!("CARGO_MANIFEST_DIR")).join("src").as_path(), &sandbox.path("d/src"));
    fs::copy("/bin/sh", sandbox.path("d/sh")).unwrap();
    for len in [0, 1, 16383, 16384, 16385, 64 * 16384 - 1, 64 * 16384, 64 * 16384 + 1, 3_000_001] {
        sandbox.write(&format!("d/sizes/{len}"), text(len));
    }
    sandbox.chmod("d/sizes/1", 0o640);
    sandbox.chmod("d/sizes", 0o710);
    sandbox.ok("seal --key-file k --each d -C sealed");
    assert_eq!((sandbox.mode("sealed/d/sizes/1.seal"), sandbox.mode("sealed/d/sizes")), (0o640, 0o710));
    assert_eq!(sandbox.mode("sealed/d/sh.seal"), sandbox.mode("d/sh"));
    sandbox.ok("open --key-file k --each sealed/d -o opened --preserve");
    let before: Vec<_> =
        sandbox.names().into_iter().filter_map(|name| Some(name.strip_prefix("d/")?.to_owned())).collect();
    let after: Vec<_> =
        sandbox.names().into_iter().filter_map(|name| Some(name.strip_prefix("opened/")?.to_owned())).collect();
    assert!(before.len() > 20);
    assert_eq!(before, after);
    for name in before.iter().filter(|name| !name.is_empty() && !name.ends_with('/')) {
        assert!(sandbox.read(&format!("d/{name}")) == sandbox.read(&format!("opened/{name}")), "{name}");
        assert_eq!(sandbox.mode(&format!("d/{name}")), sandbox.mode(&format!("opened/{name}")), "{name}");
    }
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_tree(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

#[test]
fn opened_files_are_private_unless_told_otherwise() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    sandbox.chmod("a", 0o664);
    sandbox.ok("seal --key-file k a");
    assert_eq!(sandbox.mode("a.seal"), 0o664);
    sandbox.ok("open --key-file k a.seal -o b");
    assert_eq!(sandbox.mode("b"), 0o600);
}

#[test]
fn nothing_is_replaced_without_force() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    sandbox.write("a.seal", "precious");
    sandbox.fails("seal --key-file k a", 1, "a.seal: exists already\nhint: use --force");
    assert_eq!(sandbox.read("a.seal"), b"precious");
    sandbox.ok("seal --key-file k a --force");
    sandbox.fails("open --key-file k a.seal", 1, "a: exists already");
    assert_eq!(sandbox.names(), ["a", "a.seal"]);
}

#[test]
fn one_file_is_not_input_and_output_by_whatever_name() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    std::os::unix::fs::symlink("a", sandbox.path("link")).unwrap();
    for output in ["a", "./a", "link"] {
        let said = sandbox.run(&format!("seal --key-file k a --force -o {output}"));
        assert_ne!(said.code, 0, "{output}");
        assert_eq!(sandbox.read("a"), b"text");
    }
    // The shell has truncated the file before the program runs.
    let said = sandbox.sh("sealwright seal --key-file k <a -o a --force");
    assert_eq!((said.code, sandbox.read("a").as_slice()), (2, &b"text"[..]), "{}", said.err);
}

#[test]
fn inputs_are_removed_only_after_success() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    sandbox.ok("seal --key-file k a --remove");
    assert_eq!(sandbox.names(), ["a.seal"]);
    sandbox.fails("open --key-file other a.seal --remove", 4, "a.seal: wrong key");
    assert_eq!(sandbox.names(), ["a.seal"]);
    sandbox.ok("open --key-file k a.seal --remove");
    assert_eq!(sandbox.names(), ["a"]);
    sandbox.fails("seal --key-file k a --remove -o -", 2, "--remove");
    sandbox.fails("seal --key-file k --remove -o x -", 2, "--remove");
}

#[test]
fn one_bad_file_does_not_stop_the_others_and_the_worst_code_counts() {
    let sandbox = Sandbox::new();
    for name in ["a", "b", "c", "d"] {
        sandbox.write(name, name);
    }
    let said = sandbox.run("seal --key-file k a missing b c d -C out --threads 3");
    assert_eq!(said.code, 1);
    assert_eq!(said.err, "sealwright: missing: No such file or directory\n");
    let mut torn = sandbox.read("out/a.seal");
    torn.pop();
    sandbox.write("out/a.seal", &torn);
    sandbox.ok("seal --key-file other b -o out/b.seal --force");
    let said = sandbox.run("open --key-file k --each out -C back");
    assert_eq!(said.code, 4, "{}", said.err);
    assert_eq!(said.err.lines().filter(|line| line.starts_with("sealwright: out/")).count(), 2, "{}", said.err);
    assert_eq!(sandbox.names().iter().filter(|name| name.starts_with("back/out/")).count(), 3);
    assert_eq!((sandbox.read("back/out/c"), sandbox.read("back/out/d")), (b"c".to_vec(), b"d".to_vec()));
}

#[test]
fn directories_file_by_file_leave_links_and_sealed_files_alone() {
    let sandbox = Sandbox::new();
    sandbox.write("d/a", "text");
    sandbox.write("d/old.seal", "sealed long ago");
    std::os::unix::fs::symlink("a", sandbox.path("d/link")).unwrap();
    sandbox.fails("open --key-file k d", 1, "d: is a directory\nhint: --each");
    let said = sandbox.run("seal --key-file k --each d");
    assert_eq!(said.code, 0);
    assert!(said.err.contains("d/link: skipped, symbolic links are not followed\n"), "{}", said.err);
    assert!(said.err.contains("d/old.seal: skipped, its name says it is sealed already\n"), "{}", said.err);
    assert_eq!(sandbox.names(), ["d/", "d/.seal-manifest", "d/a", "d/a.seal", "d/link", "d/old.seal"]);
    assert_eq!(sandbox.run("seal --key-file k -q --each d -C out").err, "");
}

#[test]
fn an_output_directory_inside_the_input_does_not_feed_itself() {
    let sandbox = Sandbox::new();
    sandbox.write("d/a", "text");
    let said = sandbox.run("seal --key-file k --each d -C d/out");
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(sandbox.names(), ["d/", "d/a", "d/out/", "d/out/d/", "d/out/d/.seal-manifest", "d/out/d/a.seal"]);
    // Nor the next time: earlier outputs are not sealed again, even if outputs go elsewhere.
    for line in ["d -C d/out", "d -o d/out/d", "d -C ."] {
        let said = sandbox.run(&format!("seal --key-file k --each -f {line}"));
        assert_eq!(said.code, 0, "{line}: {}", said.err);
        let names = sandbox.names();
        assert!(!names.iter().any(|name| name.contains(".seal.") || name.ends_with("manifest.seal")), "{names:?}");
    }
}

#[test]
fn hundreds_of_files_at_once() {
    let sandbox = Sandbox::new();
    for i in 0..300 {
        sandbox.write(&format!("d/{i}"), text(i * 97));
    }
    sandbox.ok("seal --key-file k --each d --remove --threads 4");
    assert_eq!(sandbox.names().len(), 302, "the directory, its files and their manifest");
    sandbox.ok("open --key-file k --each d --threads 2 --no-sync");
    for i in 0..300 {
        assert!(sandbox.read(&format!("d/{i}")) == text(i * 97));
    }
}

#[test]
fn keys_of_others_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    assert_eq!(sandbox.mode("k"), 0o600);
    sandbox.chmod("k", 0o640);
    sandbox.fails("seal --key-file k a", 1, "hint: chmod 600");
    sandbox.fails("seal --key-file missing a", 1, "hint: `sealwright key new");
    // For a document given as a key, no hint advises to restrict its permissions.
    let said = sandbox.run("seal --key-file a k");
    let word = "a: cannot be used as a key file: it must hold 16 or 32 bytes, or as many in hex on one line";
    assert!(said.code == 1 && said.err.contains(word) && !said.err.contains("chmod"), "{}", said.err);
    sandbox.fails("seal a", 2, "no key");
    sandbox.fails("seal --key-file k --passphrase a", 2, "cannot be used with");
    assert_eq!(sandbox.names(), ["a"]);
}

#[test]
fn a_key_is_never_replaced() {
    let sandbox = Sandbox::new();
    let before = sandbox.read("k");
    sandbox.fails("key new -o k", 1, "k: exists already; a key is never replaced");
    assert_eq!(sandbox.read("k"), before);
    let text = sandbox.run("key new");
    assert_eq!((text.code, text.out.len()), (0, 65));
    sandbox.ok("key new --raw --suite aes-128-gcm -o small");
    assert_eq!(sandbox.read("small").len(), 16);
    sandbox.write("a", "text");
    sandbox.fails("seal --key-file small a", 2, "hint: a key of this length is for --suite aes-128-gcm");
    sandbox.ok("seal --key-file small a --suite aes-128-gcm");
    sandbox.ok("open --key-file small a.seal -o b");
}

#[test]
fn every_suite_seals_and_says_its_name() {
    let sandbox = Sandbox::new();
    sandbox.write("a", text(40_000));
    for suite in sealwright::Suite::ALL {
        sandbox.ok(&format!("key new --suite {suite} -o {suite}"));
        sandbox.ok(&format!("seal --key-file {suite} --suite {suite} a -o {suite}.seal"));
        let seen = String::from_utf8(sandbox.run(&format!("inspect {suite}.seal")).out).unwrap();
        assert!(seen.contains(&format!("suite    {suite}\n")), "{seen}");
        // The preamble states the suite.
        sandbox.ok(&format!("open --key-file {suite} {suite}.seal -o {suite}.open"));
        assert!(sandbox.read(&format!("{suite}.open")) == text(40_000), "{suite}");
        let mut bytes = sandbox.read(&format!("{suite}.seal"));
        bytes[20_000] ^= 1;
        sandbox.write("b.seal", bytes);
        sandbox.fails(&format!("open --key-file {suite} b.seal -o b"), 3, "not authentic");
    }
}

#[test]
fn associated_data_must_be_the_same() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    sandbox.write("ad", "invoice 7");
    sandbox.ok("seal --key-file k a --ad-file ad");
    sandbox.fails("open --key-file k a.seal -o b", 4, "associated data");
    sandbox.fails("open --key-file k a.seal -o b --ad invoice", 4, "associated data");
    let opened = sandbox.sh("sealwright open --key-file k a.seal -o - --ad 'invoice 7'");
    assert_eq!((opened.code, opened.out.as_slice()), (0, &b"text"[..]));
    assert_eq!(sandbox.names(), ["a", "a.seal", "ad"]);
}
