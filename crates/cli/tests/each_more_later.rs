//! Directories that are sealed file by file, and to which more is sealed later: existing files stay listed.
#![allow(clippy::unwrap_used)]

mod support;

use std::{fs, process::Stdio};

use sealwright_transcripts::Sandbox;

use crate::support::writer;

/// A regression: when more was sealed, earlier files were reported as "not in the manifest".
#[test]
fn a_directory_is_sealed_bit_by_bit() {
    let sandbox = Sandbox::new();
    sandbox.write("d/a", "first");
    sandbox.ok("seal --key-file k --each --remove d");
    sandbox.write("d/sub/b", "second");
    sandbox.fails("seal --key-file k --each --remove d", 1, "exists already");
    sandbox.ok("seal --key-file k --each --remove -f -q d");
    sandbox.ok("open --key-file k --each d -o opened --manifest -q");
    assert_eq!((sandbox.read("opened/a"), sandbox.read("opened/sub/b")), (b"first".to_vec(), b"second".to_vec()));
    // A manifest that cannot be opened is not lost.
    sandbox.write("d/c", "third");
    let manifest = sandbox.read("d/.seal-manifest");
    let said = sandbox.run("seal --key-file other --each --remove -f -q d");
    assert!(said.code == 4 && said.err.contains("d/.seal-manifest: wrong key"), "{} {}", said.code, said.err);
    assert!(sandbox.read("d/.seal-manifest") == manifest && sandbox.path("d/c").exists());
    // A file that is gone is no longer listed, and that is reported.
    fs::remove_file(sandbox.path("d/a.seal")).unwrap();
    let said = sandbox.run("seal --key-file k --each --remove -f d");
    assert!(
        said.code == 0 && said.err.contains("warning: d/a.seal: is missing; the manifest lists it"),
        "{}",
        said.err
    );
    assert_eq!(said.err.matches("is missing").count(), 1, "{}", said.err);
    sandbox.ok("open --key-file k --each d -o again --manifest -q");
    assert!(sandbox.path("again/c").exists() && sandbox.path("again/sub/b").exists());
}

/// If a file fails, the manifest lists what was sealed, or there is none; never that of files that were replaced.
#[test]
fn no_manifest_stays_beside_files_that_it_does_not_list() {
    let sandbox = Sandbox::new();
    sandbox.write("d/a", "text");
    sandbox.write("d/b", "text");
    sandbox.ok("seal --key-file k --each d");
    fs::remove_file(sandbox.path("d/b.seal")).unwrap();
    fs::create_dir(sandbox.path("d/b.seal")).unwrap();
    sandbox.write("d/a", "newer");
    assert_eq!(sandbox.run("seal --key-file k --each -f -q d").code, 1);
    sandbox.ok("open --key-file k --each d -o opened --manifest -q");
    assert_eq!(sandbox.read("opened/a"), b"newer");
    let said = sandbox.run("seal --key-file other --each -f -q d");
    assert!(said.code == 1 && said.err.contains("the old one was removed"), "{} {}", said.code, said.err);
    assert!(!sandbox.path("d/.seal-manifest").exists());
}

/// A regression: the manifest of the next run made them not authentic.
#[test]
fn what_a_run_sealed_that_failed_is_listed_by_the_next() {
    let sandbox = Sandbox::new();
    sandbox.write("d/a", "first");
    sandbox.write("d/sub/b", "second");
    sandbox.write("d/sub/b.seal", "in the way");
    let line = "seal --key-file k --each --remove d";
    let said = sandbox.run(line);
    assert!(said.code == 1 && said.err.contains("no manifest was written"), "{} {}", said.code, said.err);
    assert!(!sandbox.path("d/a").exists() && sandbox.path("d/sub/b").exists());
    fs::remove_file(sandbox.path("d/sub/b.seal")).unwrap();
    let said = sandbox.run(line);
    let word = "sealwright: warning: d: had no manifest; the new one lists 1 file as found there\n";
    assert!(said.code == 0 && said.err.contains(word), "{} {}", said.code, said.err);
    sandbox.ok("open --key-file k --each d -o opened --manifest");
    assert_eq!((sandbox.read("opened/a"), sandbox.read("opened/sub/b")), (b"first".to_vec(), b"second".to_vec()));
}

/// A regression: such a directory never got a manifest.
#[test]
fn a_directory_gets_its_manifest_where_nothing_is_left_to_be_sealed() {
    let sandbox = Sandbox::new();
    sandbox.write("d/a", "first");
    sandbox.write("d/b", "second");
    let line = "seal --key-file k --each --remove -q d";
    sandbox.ok(line);
    let remove = || fs::remove_file(sandbox.path("d/.seal-manifest")).unwrap();
    remove();
    let said = sandbox.run(line);
    let word = "sealwright: warning: d: had no manifest; the new one lists 2 files as found there\n";
    assert_eq!((said.code, said.err.as_str()), (0, word));
    sandbox.ok("open --key-file k --each d -o opened --manifest");
    assert_eq!((sandbox.read("opened/a"), sandbox.read("opened/b")), (b"first".to_vec(), b"second".to_vec()));
    // The manifest lists everything that stays, or is not written.
    remove();
    sandbox.write("d/c", "third");
    let said = sandbox.run("seal --key-file other --each --remove -q d");
    let hint = "hint: it stays, so the manifest has to list it: give a key that opens it, or use -C DIR\n";
    assert!(said.code == 4 && said.err.ends_with(hint), "{} {}", said.code, said.err);
    assert!(sandbox.path("d/c").exists() && !sandbox.path("d/.seal-manifest").exists());
    // A file that is not a sealed one is not listed; there is only a warning.
    sandbox.write("d/x.seal", "no sealed file");
    let said = sandbox.run("seal --key-file k --each --remove d");
    assert_eq!(said.code, 0, "{}", said.err);
    let word = "sealwright: warning: d/x.seal: not authentic: ";
    assert!(said.err.contains(word) && said.err.contains("; the manifest will not list it\n"), "{}", said.err);
    assert!(said.err.contains("lists 2 files as found there"), "{}", said.err);
    fs::remove_file(sandbox.path("d/x.seal")).unwrap();
    sandbox.ok("open --key-file k --each d -o again --manifest");
    assert!(sandbox.path("again/c").exists());
    // An empty directory has nothing to list.
    fs::create_dir(sandbox.path("empty")).unwrap();
    sandbox.ok("seal --key-file k --each empty");
    assert!(!sandbox.path("empty/.seal-manifest").exists());
}

/// Public keys alone open nothing, so earlier files could not be listed.
#[cfg(feature = "public-keys")]
#[test]
fn a_directory_for_key_pairs_is_added_to() {
    let sandbox = Sandbox::new();
    sandbox.write("me.pub", sandbox.run("key new --pair -o me.id").out);
    for manifest in [true, false] {
        sandbox.sh("rm -rf d opened");
        sandbox.write("d/a", "first");
        sandbox.ok("seal --each --remove -R me.pub d");
        if !manifest {
            fs::remove_file(sandbox.path("d/.seal-manifest")).unwrap();
        }
        sandbox.write("d/b", "second");
        sandbox.fails("seal --each --remove -f -R me.pub d", 4, "none of the given keys or passphrases opens it");
        let said = sandbox.run("seal --each --remove -f -q -R me.pub -i me.id d");
        let word = "sealwright: warning: d: had no manifest; the new one lists 1 file as found there\n";
        assert_eq!((said.code, said.err.as_str()), (0, if manifest { "" } else { word }));
        sandbox.ok("open --each -i me.id d -o opened --manifest");
        assert_eq!((sandbox.read("opened/a"), sandbox.read("opened/b")), (b"first".to_vec(), b"second".to_vec()));
    }
    sandbox.fails("seal -R me.pub -i me.id k -o x", 2, "--each");
}

/// A regression: hints named -i and --max-cost, which `seal` did not have.
#[test]
fn hints_name_options_that_there_are() {
    let sandbox = Sandbox::new();
    let help = String::from_utf8(sandbox.run("seal --help").out).unwrap();
    let has = |option: &str| help.split([' ', ',', '\n']).any(|word| word == option);
    let check = |script: &str, code: i32| {
        sandbox.write("d/b", "second");
        let said = sandbox.sh(&format!("sealwright seal {script}"));
        assert_eq!(said.code, code, "{script}: {}", said.err);
        assert!(said.err.contains("\nhint: "), "{script}: {}", said.err);
        for hint in said.err.lines().filter_map(|line| line.strip_prefix("hint: ")) {
            // Options of other verbs are in backquotes, with the verb.
            let own: String = hint.split('`').step_by(2).collect();
            let words = own.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            for option in words.filter(|word| word.starts_with('-') && word.len() > 1) {
                assert!(has(option), "{script}: {option}: {hint}");
            }
        }
    };
    let sealed_with = |key: &str| {
        sandbox.sh("rm -rf d");
        sandbox.write("d/a", "first");
        let said = sandbox.sh(&format!("sealwright seal --cost 64KiB --each --remove {key} d"));
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{key}");
    };
    sealed_with("--key-file k");
    check("--each -f --remove --key-file other d", 4);
    check("--each -f --remove --passphrase-command 'echo x' d", 4);
    sealed_with("--passphrase-command 'echo x'");
    check("--each -f --remove --key-file other d", 4);
    // Trying it would take 3 GiB.
    let mut manifest = sandbox.read("d/.seal-manifest");
    manifest[16..20].copy_from_slice(&(3_u32 << 20).to_be_bytes());
    sandbox.write("d/.seal-manifest", manifest);
    check("--each -f --remove --cost 64KiB --passphrase-command 'echo x' d", 1);
    check("--key-file k missing.seal --key-file none d/b", 1);
    check("--key-file k d/a.seal d/b -o out", 2);
    check("--each d", 2);
    #[cfg(feature = "public-keys")]
    {
        sandbox.write("me.pub", sandbox.run("key new --pair -o me.id").out);
        sealed_with("-R me.pub");
        check("--each -f --remove -R me.pub d", 4);
        check("--each -f --remove --key-file k d", 4);
    }
}

/// Otherwise, with --quiet, an older version could return unnoticed.
#[test]
fn what_is_listed_anew_is_said_also_when_little_is() {
    let sandbox = Sandbox::new();
    let line = "seal --key-file k --each --remove -f -q d";
    sandbox.write("d/a", "older");
    sandbox.write("d/b", "text");
    sandbox.ok(line);
    fs::rename(sandbox.path("d/a.seal"), sandbox.path("old")).unwrap();
    for (code, word) in [
        (0, "sealwright: warning: d/a.seal: is missing; the manifest lists it, the new one will not\n"),
        (0, "sealwright: warning: d/a.seal: is not in the manifest; the new one lists it\n"),
    ] {
        let said = sandbox.run(line);
        assert_eq!((said.code, said.err.as_str()), (code, word));
        fs::copy(sandbox.path("old"), sandbox.path("d/a.seal")).unwrap();
    }
    // A file that could not be sealed keeps its entry.
    sandbox.write("d/a", "newer");
    sandbox.ok("seal --key-file k --each -f -q d");
    fs::copy(sandbox.path("old"), sandbox.path("d/a.seal")).unwrap();
    assert!(sandbox.sh("mkfifo pipe").code == 0);
    let mut command = sandbox.command();
    let child = command.args("seal --key-file k --each -f -q --threads 1 pipe d".split_whitespace());
    let child = child.stderr(Stdio::piped()).spawn().unwrap();
    let pipe = writer(&sandbox, "pipe");
    fs::remove_file(sandbox.path("d/a")).unwrap();
    drop(pipe);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(1));
    sandbox.fails("verify --key-file k --each --manifest -q d", 3, "d/a.seal: not authentic: it is not the file");
    let said = sandbox.run(line);
    let word = "sealwright: warning: d/a.seal: is not the file that the manifest lists; the new one lists it\n";
    assert_eq!((said.code, said.err.as_str()), (1, word));
}

/// A regression: each was listed under the other one's name.
#[test]
fn files_that_were_swapped_are_not_listed_anew() {
    let sandbox = Sandbox::new();
    let line = "seal --key-file k --each --remove -f -q d";
    for name in ["d/x", "d/y"] {
        sandbox.write(name, name);
    }
    sandbox.ok(line);
    sandbox.sh("cd d; mv x.seal z; mv y.seal x.seal; mv z y.seal; cp x.seal copy.seal");
    for name in ["d/new", "d/newer"] {
        sandbox.write(name, name);
        let said = sandbox.run(line);
        assert_eq!(said.code, 1, "{}", said.err);
        for (name, was, will) in
            [("x", "y", "lists what it was"), ("y", "x", "lists what it was"), ("copy", "y", "will not list it")]
        {
            let word =
                format!("warning: d/{name}.seal: is the file that was sealed as {was}.seal; the manifest {will}\n");
            assert!(said.err.contains(&word), "{}", said.err);
        }
        sandbox.fails("open --key-file k --each d -o opened -f", 3, "it is the file that was sealed as y.seal");
    }
    // A renamed file is listed under its new name.
    sandbox.sh("cd d; mv x.seal z; mv y.seal x.seal; mv z y.seal; rm copy.seal; mv x.seal renamed.seal");
    sandbox.write("d/newest", "text");
    let said = sandbox.run(line);
    assert!(said.code == 0 && said.err.contains("d/renamed.seal: is not in the manifest; "), "{}", said.err);
    sandbox.ok("open --key-file k --each d -o again --manifest");
}

/// A regression: the next run listed it as the file that it had replaced.
#[test]
fn a_file_that_was_moved_over_another_keeps_its_own_entry() {
    let sandbox = Sandbox::new();
    let line = "seal --key-file k --each --remove -f -q d";
    for name in ["d/x", "d/y"] {
        sandbox.write(name, name);
    }
    sandbox.ok(line);
    sandbox.sh("mv d/y.seal d/x.seal");
    for name in ["d/new", "d/newer"] {
        sandbox.write(name, name);
        let said = sandbox.run(line);
        let word = "warning: d/x.seal: is the file that was sealed as y.seal; the manifest lists what it was\n";
        assert_eq!((said.code, said.err), (1, format!("sealwright: {word}")));
        sandbox.fails("open --key-file k --each d -o opened -f", 3, "it is the file that was sealed as y.seal");
    }
    sandbox.sh("mv d/x.seal d/y.seal");
    let said = sandbox.run(line);
    assert!(said.code == 0 && said.err.contains("d/x.seal: is missing; "), "{}", said.err);
    sandbox.ok("open --key-file k --each d -o again --manifest");
}

/// A regression: with more directories than open files were permitted, each manifest was considered unreadable and
/// removed.
#[test]
fn manifests_outlast_a_limit_of_open_files() {
    let sandbox = Sandbox::new();
    let manifest = |i| format!("d{i}/.seal-manifest");
    (0..40).for_each(|i| sandbox.write(&format!("d{i}/a"), "text"));
    assert_eq!(sandbox.sh("sealwright seal --key-file k --each -q d*").code, 0);
    let before: Vec<_> = (0..40).map(|i| sandbox.read(&manifest(i))).collect();
    let said = sandbox.sh("ulimit -n 32; exec sealwright seal --key-file k --each -q -f d*");
    assert!(said.code == 1 && said.err.contains(": too many files are open\n"), "{} {}", said.code, said.err);
    for (i, before) in before.iter().enumerate() {
        assert!(sandbox.read(&manifest(i)) == *before, "{i}");
    }
    // If the hard limit permits more, the limit is raised.
    let said = sandbox.sh("ulimit -Sn 32; exec sealwright seal --key-file k --each -q -f d*");
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let said = sandbox.sh("sealwright verify --key-file k --each --manifest -q d*");
    assert_eq!((said.code, said.err.as_str()), (0, ""));
}
