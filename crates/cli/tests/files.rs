//! Files and directories: what is sealed opens again, nothing is lost, replaced or left half done.
#![allow(clippy::unwrap_used)]

mod common;

use std::{fs, path::Path};

use common::{Desk, text};

#[test]
fn a_directory_of_real_files_comes_back_as_it_was() {
    let desk = Desk::new();
    // This crate's own sources, a program, and the sizes around chunk and span
    copy_tree(Path::new(env!("CARGO_MANIFEST_DIR")).join("src").as_path(), &desk.path("d/src"));
    fs::copy("/bin/sh", desk.path("d/sh")).unwrap();
    for len in [0, 1, 16383, 16384, 16385, 64 * 16384 - 1, 64 * 16384, 64 * 16384 + 1, 3_000_001] {
        desk.write(&format!("d/sizes/{len}"), text(len));
    }
    desk.chmod("d/sizes/1", 0o640);
    desk.chmod("d/sizes", 0o710);
    desk.ok("seal --key-file k -r d -C sealed");
    assert_eq!((desk.mode("sealed/d/sizes/1.seal"), desk.mode("sealed/d/sizes")), (0o640, 0o710));
    assert_eq!(desk.mode("sealed/d/sh.seal"), desk.mode("d/sh"));
    desk.ok("open --key-file k -r sealed/d -o opened --preserve");
    let before: Vec<_> =
        desk.names().into_iter().filter_map(|name| Some(name.strip_prefix("d/")?.to_owned())).collect();
    let after: Vec<_> =
        desk.names().into_iter().filter_map(|name| Some(name.strip_prefix("opened/")?.to_owned())).collect();
    assert!(before.len() > 20);
    assert_eq!(before, after);
    for name in before.iter().filter(|name| !name.is_empty() && !name.ends_with('/')) {
        assert!(desk.read(&format!("d/{name}")) == desk.read(&format!("opened/{name}")), "{name}");
        assert_eq!(desk.mode(&format!("d/{name}")), desk.mode(&format!("opened/{name}")), "{name}");
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
    let desk = Desk::new();
    desk.write("a", "text");
    desk.chmod("a", 0o664);
    desk.ok("seal --key-file k a");
    assert_eq!(desk.mode("a.seal"), 0o664);
    desk.ok("open --key-file k a.seal -o b");
    assert_eq!(desk.mode("b"), 0o600);
}

#[test]
fn nothing_is_replaced_without_force() {
    let desk = Desk::new();
    desk.write("a", "text");
    desk.write("a.seal", "precious");
    desk.fails("seal --key-file k a", 1, "a.seal: exists already\nhint: use --force");
    assert_eq!(desk.read("a.seal"), b"precious");
    desk.ok("seal --key-file k a --force");
    desk.fails("open --key-file k a.seal", 1, "a: exists already");
    assert_eq!(desk.names(), ["a", "a.seal"]);
}

#[test]
fn one_file_is_not_input_and_output_by_whatever_name() {
    let desk = Desk::new();
    desk.write("a", "text");
    std::os::unix::fs::symlink("a", desk.path("link")).unwrap();
    for output in ["a", "./a", "link"] {
        let said = desk.run(&format!("seal --key-file k a --force -o {output}"));
        assert_ne!(said.code, 0, "{output}");
        assert_eq!(desk.read("a"), b"text");
    }
    // The shell has opened it before we could look
    let said = desk.sh("sealwright seal --key-file k <a -o a --force");
    assert_eq!((said.code, desk.read("a").as_slice()), (2, &b"text"[..]), "{}", said.err);
}

#[test]
fn inputs_are_removed_only_after_success() {
    let desk = Desk::new();
    desk.write("a", "text");
    desk.ok("seal --key-file k a --remove");
    assert_eq!(desk.names(), ["a.seal"]);
    desk.fails("open --key-file other a.seal --remove", 4, "a.seal: wrong key");
    assert_eq!(desk.names(), ["a.seal"]);
    desk.ok("open --key-file k a.seal --remove");
    assert_eq!(desk.names(), ["a"]);
    desk.fails("seal --key-file k a --remove -o -", 2, "--remove");
    desk.fails("seal --key-file k --remove -o x -", 2, "--remove");
}

#[test]
fn one_bad_file_does_not_stop_the_others_and_the_worst_code_counts() {
    let desk = Desk::new();
    for name in ["a", "b", "c", "d"] {
        desk.write(name, name);
    }
    let said = desk.run("seal --key-file k a missing b c d -C out --threads 3");
    assert_eq!(said.code, 1);
    assert_eq!(said.err, "sealwright: missing: No such file or directory\n");
    let mut torn = desk.read("out/a.seal");
    torn.pop();
    desk.write("out/a.seal", &torn);
    desk.ok("seal --key-file other b -o out/b.seal --force");
    let said = desk.run("open --key-file k -r out -C back");
    assert_eq!(said.code, 4, "{}", said.err);
    assert_eq!(said.err.lines().filter(|line| line.starts_with("sealwright: ")).count(), 2, "{}", said.err);
    assert_eq!(desk.names().iter().filter(|name| name.starts_with("back/out/")).count(), 3);
    assert_eq!((desk.read("back/out/c"), desk.read("back/out/d")), (b"c".to_vec(), b"d".to_vec()));
}

#[test]
fn directories_need_r_and_leave_links_and_sealed_files_alone() {
    let desk = Desk::new();
    desk.write("d/a", "text");
    desk.write("d/old.seal", "sealed long ago");
    std::os::unix::fs::symlink("a", desk.path("d/link")).unwrap();
    desk.fails("seal --key-file k d", 1, "d: is a directory\nhint: -r");
    let said = desk.run("seal --key-file k -r d");
    assert_eq!(said.code, 0);
    assert!(said.err.contains("d/link: skipped, symbolic links are not followed\n"), "{}", said.err);
    assert!(said.err.contains("d/old.seal: skipped, its name says it is sealed already\n"), "{}", said.err);
    assert_eq!(desk.names(), ["d/", "d/a", "d/a.seal", "d/link", "d/old.seal"]);
    assert_eq!(desk.run("seal --key-file k -q -r d -C out").err, "");
}

#[test]
fn an_output_directory_inside_the_input_does_not_feed_itself() {
    let desk = Desk::new();
    desk.write("d/a", "text");
    let said = desk.run("seal --key-file k -r d -C d/out");
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(desk.names(), ["d/", "d/a", "d/out/", "d/out/d/", "d/out/d/a.seal"]);
}

#[test]
fn hundreds_of_files_at_once() {
    let desk = Desk::new();
    for i in 0..300 {
        desk.write(&format!("d/{i}"), text(i * 97));
    }
    desk.ok("seal --key-file k -r d --remove --threads 4");
    assert_eq!(desk.names().len(), 301);
    desk.ok("open --key-file k -r d --threads 2 --no-sync");
    for i in 0..300 {
        assert!(desk.read(&format!("d/{i}")) == text(i * 97));
    }
}

#[test]
fn keys_of_others_are_refused() {
    let desk = Desk::new();
    desk.write("a", "text");
    assert_eq!(desk.mode("k"), 0o600);
    desk.chmod("k", 0o640);
    desk.fails("seal --key-file k a", 1, "hint: chmod 600");
    desk.fails("seal --key-file missing a", 1, "hint: `sealwright key new");
    desk.fails("seal --key-file a a", 1, "a: is no usable key file");
    desk.fails("seal a", 2, "no key");
    desk.fails("seal --key-file k --passphrase a", 2, "cannot be used with");
    assert_eq!(desk.names(), ["a"]);
}

#[test]
fn a_key_is_never_replaced() {
    let desk = Desk::new();
    let before = desk.read("k");
    desk.fails("key new -o k", 1, "k: exists already; a key is never replaced");
    assert_eq!(desk.read("k"), before);
    let text = desk.run("key new");
    assert_eq!((text.code, text.out.len()), (0, 65));
    desk.ok("key new --raw --suite aes-128-gcm -o small");
    assert_eq!(desk.read("small").len(), 16);
    desk.write("a", "text");
    desk.fails("seal --key-file small a", 2, "hint: a key of this length is for --suite aes-128-gcm");
    desk.ok("seal --key-file small a --suite aes-128-gcm");
    desk.ok("open --key-file small a.seal -o b");
}

#[test]
fn every_suite_seals_and_says_its_name() {
    let desk = Desk::new();
    desk.write("a", text(40_000));
    for suite in sealwright::Suite::ALL {
        desk.ok(&format!("key new --suite {suite} -o {suite}"));
        desk.ok(&format!("seal --key-file {suite} --suite {suite} a -o {suite}.seal"));
        let seen = String::from_utf8(desk.run(&format!("inspect {suite}.seal")).out).unwrap();
        assert!(seen.contains(&format!("suite    {suite}\n")), "{seen}");
        // The file says which suite it is
        desk.ok(&format!("open --key-file {suite} {suite}.seal -o {suite}.open"));
        assert!(desk.read(&format!("{suite}.open")) == text(40_000), "{suite}");
        let mut bytes = desk.read(&format!("{suite}.seal"));
        bytes[20_000] ^= 1;
        desk.write("b.seal", bytes);
        desk.fails(&format!("open --key-file {suite} b.seal -o b"), 3, "not authentic");
    }
}

#[test]
fn associated_data_must_be_the_same() {
    let desk = Desk::new();
    desk.write("a", "text");
    desk.write("ad", "invoice 7");
    desk.ok("seal --key-file k a --ad-file ad");
    desk.fails("open --key-file k a.seal -o b", 4, "associated data");
    desk.fails("open --key-file k a.seal -o b --ad invoice", 4, "associated data");
    let opened = desk.sh("sealwright open --key-file k a.seal -o - --ad 'invoice 7'");
    assert_eq!((opened.code, opened.out.as_slice()), (0, &b"text"[..]));
    assert_eq!(desk.names(), ["a", "a.seal", "ad"]);
}
