//! Directories that are sealed file by file, and sealed again: after an interrupt, by two processes at once, and with
//! inputs that stay.
#![allow(clippy::unwrap_used)]

mod support;

use std::{
    fs::{self, File},
    io::Write,
    os::unix::fs::{MetadataExt, chown},
    process::{Child, Stdio},
    thread,
    time::Duration,
};

use sealwright_transcripts::{Sandbox, finished, have, skipped, until};

use crate::support::writer;

/// A regression: what an interrupted run had sealed, after it had replaced files and removed their inputs, was reported
/// as not authentic forever.
#[test]
fn what_an_interrupted_run_sealed_is_listed_by_the_next() {
    const LINE: &str = "seal --key-file k --each --remove -f d";
    for more in [false, true] {
        let sandbox = Sandbox::new();
        for name in ["a", "b", "sub/c"] {
            sandbox.write(&format!("d/{name}"), "first");
        }
        sandbox.ok("seal --key-file k --each --remove d");
        let manifest = sandbox.read("d/.seal-manifest");
        sandbox.write("d/a", "newer");
        sandbox.write("d/sub/new", "new");
        sandbox.ok(&format!("{LINE} -q"));
        // As if the run had been killed before it wrote the manifest.
        sandbox.write("d/.seal-manifest", manifest);
        if more {
            sandbox.write("d/later", "later");
        }
        sandbox.fails("open --key-file k --each d -o opened", 3, "d/a.seal: not authentic");
        let said = sandbox.run(LINE);
        assert_eq!(said.code, 1, "{}", said.err);
        for word in ["d/a.seal: is not the file that the manifest lists; ", "d/sub/new.seal: is not in the manifest; "]
        {
            assert!(said.err.contains(&format!("sealwright: warning: {word}the new one lists it\n")), "{}", said.err);
        }
        assert_eq!(but_skipped(&said.err).lines().count(), 2, "{}", said.err);
        sandbox.ok("open --key-file k --each d -o again --manifest");
        assert_eq!((sandbox.read("again/a"), sandbox.read("again/sub/new")), (b"newer".to_vec(), b"new".to_vec()));
        assert_eq!(sandbox.path("again/later").exists(), more);
        // If everything is as listed, nothing is written.
        let manifest = sandbox.read("d/.seal-manifest");
        sandbox.ok(&format!("{LINE} -q"));
        assert!(sandbox.read("d/.seal-manifest") == manifest);
    }
}

/// A regression: a file that was sealed into the directory separately was silently left out of the new manifest.
#[test]
fn a_file_that_no_manifest_lists_is_listed_or_the_cause_of_a_failure() {
    let sandbox = Sandbox::new();
    sandbox.write("d/a", "first");
    sandbox.write("t", "by itself");
    sandbox.ok("seal --key-file k --each --remove d");
    sandbox.ok("seal -q --key-file other t -o d/t.seal");
    sandbox.write("d/b", "second");
    let said = sandbox.run("seal --key-file k --each --remove -f -q d");
    assert!(said.code == 4 && said.err.contains("d/t.seal: "), "{} {}", said.code, said.err);
    assert!(said.err.contains("hint: it stays, so the manifest has to list it"), "{}", said.err);
    assert!(sandbox.path("d/b").exists());
    sandbox.ok("seal -q --key-file k t -f -o d/t.seal");
    let said = sandbox.run("seal --key-file k --each --remove -f d");
    let word = "sealwright: warning: d/t.seal: is not in the manifest; the new one lists it\n";
    assert_eq!((said.code, but_skipped(&said.err).as_str()), (0, word));
    sandbox.ok("open --key-file k --each d -o opened --manifest");
    assert_eq!((sandbox.read("opened/t"), sandbox.read("opened/b")), (b"by itself".to_vec(), b"second".to_vec()));
    // A damaged file keeps its entry, so that the damage is detected.
    sandbox.write("d/t.seal", "damaged");
    sandbox.write("d/c", "third");
    let said = sandbox.run("seal --key-file k --each --remove -f d");
    assert!(said.code == 0 && said.err.contains("; the manifest lists what it was\n"), "{} {}", said.code, said.err);
    sandbox.fails("open --key-file k --each d -o again", 3, "d/t.seal: not authentic");
}

/// The old manifest cannot be opened, and all files that it lists are replaced: an interrupt would leave it beside the
/// new ones.
#[test]
fn a_manifest_of_files_that_are_all_replaced_goes_before_them() {
    let sandbox = Sandbox::new();
    sandbox.write("d/a", "text");
    sandbox.ok("seal --key-file other --each d");
    assert!(sandbox.sh("mkfifo pipe").code == 0);
    let child = begun(&sandbox, "seal --key-file k --each -q -f d pipe");
    let pipe = writer(&sandbox, "pipe");
    assert!(!sandbox.path("d/.seal-manifest").exists());
    drop(pipe);
    assert_eq!(end_of(child), (0, String::new()));
    sandbox.ok("open --key-file k --each d -o opened --manifest -q");
}

/// The messages, except those about files that were left out because of their names.
fn but_skipped(said: &str) -> String {
    said.split_inclusive('\n').filter(|line| !line.contains(": skipped, its name ")).collect()
}

fn begun(sandbox: &Sandbox, line: &str) -> Child {
    sandbox.command().args(line.split_whitespace()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until the process waits for the lock on a directory: it keeps the directory open for longer than to read it.
fn waits_for(sandbox: &Sandbox, child: &mut Child, directory: &str) {
    let directory = fs::canonicalize(sandbox.path(directory)).unwrap();
    let descriptors = format!("/proc/{}/fd", child.id());
    let open = || {
        let mut all = fs::read_dir(&descriptors).into_iter().flatten().flatten().map(|entry| entry.path());
        all.find(|descriptor| fs::read_link(descriptor).is_ok_and(|leads| leads == directory))
    };
    until("it waits", || {
        let before = open();
        thread::sleep(Duration::from_millis(200));
        assert!(child.try_wait().unwrap().is_none(), "it did not wait");
        before.is_some() && before == open()
    });
}

fn end_of(child: Child) -> (i32, String) {
    let ended = finished(child.wait_with_output().unwrap());
    (ended.code, ended.err)
}

/// A regression: each run wrote a manifest of only the files that it had sealed, and the last one remained.
#[test]
fn of_two_that_seal_into_one_directory_the_second_waits() {
    let sandbox = Sandbox::new();
    for i in 0..8 {
        sandbox.write(&format!("d/{i}"), "text");
    }
    sandbox.ok("seal --key-file k --each d -C out");
    assert!(sandbox.sh("mkfifo pipe").code == 0);
    // A run that has begun and cannot end.
    let first = begun(&sandbox, "seal --key-file k --each -f d pipe -C out");
    let mut pipe = writer(&sandbox, "pipe");
    let before = sandbox.read("out/d/.seal-manifest");
    let mut second = begun(&sandbox, "seal --key-file k --each -f d -C out");
    waits_for(&sandbox, &mut second, "out/d");
    assert!(sandbox.read("out/d/.seal-manifest") == before);
    pipe.write_all(b"text").unwrap();
    drop(pipe);
    assert_eq!((end_of(first), end_of(second)), ((0, String::new()), (0, String::new())));
    sandbox.ok("open --key-file k --each out/d -o opened --manifest");
}

/// A program that ignores the lock, such as `cp`, is detected at the end.
#[test]
fn a_manifest_that_was_replaced_meanwhile_is_kept() {
    let sandbox = Sandbox::new();
    sandbox.write("d/a", "text");
    sandbox.ok("seal --key-file k --each d");
    assert!(sandbox.sh("mkfifo pipe").code == 0);
    let child = begun(&sandbox, "seal --key-file k --each -f -q d pipe");
    let pipe = writer(&sandbox, "pipe");
    sandbox.write("d/.seal-manifest", "another");
    drop(pipe);
    let (code, said) = end_of(child);
    let word = "sealwright: d/.seal-manifest: was changed or replaced meanwhile and is kept\nhint: another program";
    assert!(code == 1 && said.starts_with(word), "{code} {said}");
    assert_eq!(sandbox.read("d/.seal-manifest"), b"another");
}

/// A regression: a complete backup of a read-only directory got no manifest.
#[test]
fn an_input_that_cannot_be_removed_is_sealed_all_the_same() {
    let sandbox = Sandbox::new();
    sandbox.write("d/a", "text");
    sandbox.write("e/b", "text");
    let root = fs::metadata(sandbox.path("d")).unwrap().uid() == 0;
    if root && !have("setpriv") {
        return;
    }
    let (user, owner) =
        if root { ("setpriv --reuid=65534 --regid=65534 --clear-groups", Some(65534)) } else { ("", None) };
    chown(sandbox.path("k"), owner, None).unwrap();
    chown(sandbox.path("e"), owner, None).unwrap();
    sandbox.chmod("d", 0o555);
    sandbox.chmod("", 0o777);
    let said = sandbox.sh(&format!("exec {user} sealwright seal --key-file k --each --remove d e -C out"));
    sandbox.chmod("d", 0o755);
    if [126, 127].contains(&said.code) {
        skipped(format_args!("the program cannot be run by somebody else: {}", said.err));
        return;
    }
    assert_eq!((said.code, said.err.as_str()), (1, "sealwright: d/a: cannot remove: Permission denied\n"));
    assert!(sandbox.path("d/a").exists() && !sandbox.path("e/b").exists());
    chown(sandbox.path("k"), root.then_some(0), None).unwrap();
    sandbox.ok("open --key-file k --each out/d out/e -C opened --manifest");
}

/// A regression: for two directories with the same output directory, the manifest listed only the second one's files.
#[test]
fn directories_of_one_name_share_a_manifest() {
    let sandbox = Sandbox::new();
    sandbox.write("x/d/a", "one");
    sandbox.write("y/d/b", "two");
    sandbox.ok("seal --key-file k --each x/d y/d -C out");
    sandbox.ok("open --key-file k --each out/d -C opened --manifest");
    assert_eq!((sandbox.read("opened/d/a"), sandbox.read("opened/d/b")), (b"one".to_vec(), b"two".to_vec()));
}

/// A regression: the manifest stayed in the emptied directory, and all later runs failed.
#[test]
fn round_trips_need_no_force() {
    let sandbox = Sandbox::new();
    for name in ["a", "b", "sub/c"] {
        sandbox.write(&format!("d/{name}"), name);
    }
    for _ in 0..2 {
        sandbox.ok("seal --key-file k --each --remove d");
        assert!(sandbox.path("d/.seal-manifest").exists() && !sandbox.path("d/a").exists());
        sandbox.ok("open --key-file k --each --remove d");
        assert_eq!(sandbox.names(), ["d/", "d/a", "d/b", "d/sub/", "d/sub/c"]);
    }
    // Halfway: files that an earlier run may have opened and removed are reported as missing, not as forged.
    sandbox.ok("seal --key-file k --each --remove d");
    fs::remove_file(sandbox.path("d/a.seal")).unwrap();
    sandbox.write("d/a", "a");
    let said = sandbox.run("open --key-file k --each --remove -q d");
    assert_eq!(said.code, 1, "{}", said.err);
    let word = "sealwright: d/a.seal: is missing, although the manifest of its directory lists it\nhint: d/a is there";
    assert!(said.err.starts_with(word), "{}", said.err);
    assert!(sandbox.path("d/b").exists() && sandbox.path("d/.seal-manifest").exists());
    // Without --remove, this program cannot have removed them.
    sandbox.ok("seal --key-file k --each --remove -q -f d");
    fs::rename(sandbox.path("d/b.seal"), sandbox.path("d/b")).unwrap();
    sandbox.fails("open --key-file k --each d -o opened", 3, "d/b.seal: not authentic: is missing");
}

/// A regression: files of the user were not sealed because of their names.
#[test]
fn a_copy_has_files_of_every_name() {
    let sandbox = Sandbox::new();
    for name in ["a", "mine.seal", ".seal-manifest", "sub/.seal-manifest"] {
        sandbox.write(&format!("d/{name}"), name);
    }
    sandbox.ok("seal --key-file k --each d -C out");
    sandbox.ok("open --key-file k --each out/d -C back --manifest");
    for name in ["a", "mine.seal", ".seal-manifest", "sub/.seal-manifest"] {
        assert_eq!(sandbox.read(&format!("back/d/{name}")), name.as_bytes(), "{name}");
    }
    // In place, files with such names may have been sealed before, which is reported.
    fs::remove_file(sandbox.path("d/.seal-manifest")).unwrap();
    let said = sandbox.run("seal --key-file k --each d");
    for word in ["d/mine.seal: skipped, its name", "d/sub/.seal-manifest: skipped, it lists files"] {
        assert!(said.code == 0 && said.err.contains(word), "{}", said.err);
    }
    assert!(!sandbox.path("d/mine.seal.seal").exists());
}

/// A regression: the keys of the files changed, but not those of their manifest.
#[cfg(feature = "public-keys")]
#[test]
fn the_keys_of_a_directory_change_with_its_manifest() {
    let sandbox = Sandbox::new();
    for name in ["me", "bob"] {
        sandbox.write(&format!("{name}.pub"), sandbox.run(&format!("key new --pair -o {name}.id")).out);
    }
    sandbox.write("d/a", "first");
    sandbox.write("d/sub/b", "second");
    sandbox.ok("seal --each --remove -R me.pub d");
    let added = "--add-file bob.pub -i me.id";
    sandbox.fails(&format!("rekey d {added}"), 1, "d: is a directory\nhint: --each");
    let said = sandbox.run(&format!("rekey d/a.seal {added}"));
    let warned = |err: &str, word: &str| err == format!("sealwright: warning: d/.seal-manifest: {word}\n");
    let word = "its keys were not changed; --each changes them together with those of its files";
    assert!(said.code == 0 && warned(&said.err, word), "{}", said.err);
    sandbox.ok("rekey -q d/a.seal --remove-file bob.pub -i me.id");
    let said = sandbox.run(&format!("rekey --each d {added}"));
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let said = String::from_utf8(said.out).unwrap();
    for name in ["d/a.seal", "d/sub/b.seal", "d/.seal-manifest"] {
        assert!(said.contains(&format!("{name}: 1 added, 0 removed, 2 keys can open it\n")), "{said}");
    }
    sandbox.ok("open --each d -o opened --manifest -i bob.id");
    sandbox.ok("rekey --each -q d --remove-file bob.pub -i me.id");
    for file in ["d/a.seal", "d/sub/b.seal"] {
        sandbox.fails(&format!("verify {file} -i bob.id"), 4, "none of the given keys");
    }
    sandbox.fails("open --each d -o x -i bob.id", 4, "d/.seal-manifest: none of the given keys");
    sandbox.ok("open --each d -o again --manifest -i me.id");
    // A warning if a later run seals for fewer recipients.
    sandbox.ok("rekey --each -q d --add-file bob.pub -i me.id");
    sandbox.write("d/c", "third");
    let said = sandbox.run("seal --each --remove -f -R me.pub -i me.id d");
    let word = "1 of 2 keys can open the new manifest; `rekey --each` adds others";
    assert!(said.code == 0 && warned(&but_skipped(&said.err), word), "{}", said.err);
    // It waits for the lock.
    let lock = File::open(sandbox.path("d")).unwrap();
    lock.lock().unwrap();
    let mut child = begun(&sandbox, "rekey --each -q d --add-key-file k -i me.id");
    waits_for(&sandbox, &mut child, "d");
    drop(lock);
    until("the end", || child.try_wait().unwrap().is_some());
    assert_eq!(end_of(child), (0, String::new()));
}
