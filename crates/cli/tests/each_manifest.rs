//! Directories that are sealed file by file: swapped, renamed, replaced, added and missing files are reported.
#![allow(clippy::unwrap_used)]

use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

use sealwright_file::{FileList, Key, Output, OutputOptions, Sealing};
use sealwright_transcripts::{Sandbox, text};

const OPEN: &str = "open --key-file k --each sealed/d -o opened";

fn sealed() -> Sandbox {
    let sandbox = Sandbox::new();
    for (name, len) in [("d/a", 5), ("d/b", 5), ("d/sub/c", 40_000), ("d/sub/e/f", 0)] {
        sandbox.write(name, text(len));
    }
    sandbox.ok("seal --key-file k --each d -C sealed");
    sandbox
}

fn rename(sandbox: &Sandbox, from: &str, to: &str) {
    fs::rename(sandbox.path(from), sandbox.path(to)).unwrap();
}

#[test]
fn what_was_sealed_opens() {
    let sandbox = sealed();
    sandbox.ok(&format!("{OPEN} --manifest"));
    for name in ["a", "b", "sub/c", "sub/e/f"] {
        assert!(sandbox.read(&format!("opened/{name}")) == sandbox.read(&format!("d/{name}")), "{name}");
    }
    assert!(!sandbox.path("opened/.seal-manifest").exists());
    // The directory as a whole can be renamed or moved.
    rename(&sandbox, "sealed/d", "elsewhere");
    sandbox.ok("open --key-file k --each elsewhere -o again --manifest");
    // Each file opens on its own, under any name.
    rename(&sandbox, "elsewhere/a.seal", "x.seal");
    sandbox.ok("open --key-file k x.seal");
}

#[test]
fn swapped_files_are_named() {
    let sandbox = sealed();
    rename(&sandbox, "sealed/d/a.seal", "x");
    rename(&sandbox, "sealed/d/sub/c.seal", "sealed/d/a.seal");
    rename(&sandbox, "x", "sealed/d/sub/c.seal");
    let said = sandbox.run(OPEN);
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("sealed/d/a.seal") && said.err.contains("sealed as sub/c.seal"), "{}", said.err);
    assert!(said.err.contains("sealed/d/sub/c.seal") && said.err.contains("sealed as a.seal"), "{}", said.err);
    assert!(!sandbox.path("opened/a").exists() && !sandbox.path("opened/sub/c").exists());
    assert!(sandbox.path("opened/b").exists(), "the others open");
}

#[test]
fn renamed_added_and_missing_files_are_named() {
    let sandbox = sealed();
    rename(&sandbox, "sealed/d/b.seal", "sealed/d/new.seal");
    let said = sandbox.run(OPEN);
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("sealed/d/b.seal: not authentic: is missing"), "{}", said.err);
    assert!(said.err.contains("sealed/d/new.seal: not authentic: is not in the manifest"), "{}", said.err);
    assert!(sandbox.path("opened/a").exists() && !sandbox.path("opened/new").exists());
}

/// The shell's `DIR/*` does not include the manifest.
#[test]
fn a_manifest_is_asked_for_with_the_names_of_directories() {
    let sandbox = sealed();
    for line in [
        "verify --key-file k --each --manifest sealed/d/a.seal",
        "open --key-file k --each --manifest sealed/d/a.seal -C out",
        "open --key-file k --each -o out",
        "seal --key-file k --each -o out",
    ] {
        let said = sandbox.run(line);
        assert_eq!(said.code, 2, "{line}: {}", said.err);
        assert!(!sandbox.path("out").exists(), "{line}");
    }
}

/// A listed file is missing if anything but a file that can be opened has its name; also if no file is left at all.
#[test]
fn what_stands_in_for_a_listed_file_is_missing() {
    let stand_in = |what: &str, path: &Path| match what {
        "a directory" => fs::create_dir(path).unwrap(),
        "a link" => symlink("sub/c.seal", path).unwrap(),
        "a pipe" => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
        _ => {}
    };
    for what in ["nothing", "a directory", "a link", "a pipe"] {
        for all in [true, false] {
            let sandbox = sealed();
            for name in if all { &["a", "b", "sub/c", "sub/e/f"][..] } else { &["a"] } {
                let path = sandbox.path(&format!("sealed/d/{name}.seal"));
                fs::remove_file(&path).unwrap();
                stand_in(what, &path);
            }
            for option in ["", " --manifest"] {
                let said = sandbox.run(&format!("{OPEN} -q -f{option}"));
                assert_eq!(said.code, 3, "{what}{option}: {}", said.err);
                let line = "sealwright: sealed/d/a.seal: not authentic: is missing, although";
                assert!(said.err.contains(line), "{what}{option}: {}", said.err);
                assert!(
                    !sandbox.path("opened/a").exists() && sandbox.path("opened/b").exists() != all,
                    "{what}{option}"
                );
            }
        }
    }
    // A directory that was replaced by a link is not followed.
    let sandbox = sealed();
    rename(&sandbox, "sealed/d/sub", "elsewhere");
    symlink(sandbox.path("elsewhere"), sandbox.path("sealed/d/sub")).unwrap();
    sandbox.fails(&format!("{OPEN} -q"), 3, "sealed/d/sub/c.seal: not authentic: is missing");
    // Neither files nor a manifest.
    fs::create_dir(sandbox.path("empty")).unwrap();
    sandbox.fails("open --key-file k --each empty -o out -q --manifest", 3, "empty: not authentic: has no manifest");
    // Like a backup that is not mounted: success is not reported if nothing was verified or no keys were changed.
    let nothing = "empty: holds no sealed file and no manifest\nhint: ";
    sandbox.fails("verify --key-file k --each empty", 1, nothing);
    sandbox.fails("verify --key-file k --each -q empty", 1, nothing);
    sandbox.fails("verify --key-file k --each --manifest empty", 3, "empty: not authentic: has no manifest");
    sandbox.fails("verify --key-file k --each d", 1, "d: holds no sealed file and no manifest");
    #[cfg(feature = "public-keys")]
    sandbox.fails("rekey --key-file k --remove-passphrases --each empty", 1, nothing);
    sandbox.fails("open --key-file k --each empty -o out", 1, nothing);
    // A manifest without entries states that nothing is missing.
    let key = Key::read_file(sandbox.path("k")).unwrap();
    let manifest = Output::file(sandbox.path("empty/.seal-manifest"), OutputOptions::default()).unwrap();
    FileList::default().seal(&Sealing::new(&key), manifest).unwrap();
    sandbox.ok("verify --key-file k --each -q empty");
}

/// A file that is damaged, or that has no output name, is not reported as missing.
#[test]
fn what_is_found_is_not_missing() {
    let sandbox = sealed();
    sandbox.write("sealed/d/a.seal", "not sealed");
    let said = sandbox.run(OPEN);
    assert!(said.code == 3 && !said.err.contains("missing"), "{}", said.err);
    sandbox.write("opened/b", "in the way");
    let said = sandbox.run(OPEN);
    assert!(said.err.contains("opened/b: exists already") && !said.err.contains("missing"), "{}", said.err);
}

/// A file from an earlier run is authentic under the same key, but not the one that is listed.
#[test]
fn older_versions_are_named() {
    let sandbox = sealed();
    rename(&sandbox, "sealed/d/a.seal", "old");
    sandbox.write("d/a", "newer text");
    sandbox.fails("seal --key-file k --each d -C sealed", 1, "exists already");
    assert!(!sandbox.path("sealed/d/a.seal").exists(), "nothing is sealed beside a manifest that stays");
    sandbox.ok("seal --key-file k --each d -C sealed --force");
    rename(&sandbox, "old", "sealed/d/a.seal");
    sandbox.fails(OPEN, 3, "it is not the file that was sealed under this name");
}

#[test]
fn the_manifest_itself_is_protected() {
    let sandbox = sealed();
    sandbox.fails("open --key-file k sealed/d/.seal-manifest -o x", 1, "holds the manifest");
    let mut bytes = sandbox.read("sealed/d/.seal-manifest");
    *bytes.last_mut().unwrap() ^= 1;
    sandbox.write("sealed/d/.seal-manifest", &bytes);
    sandbox.fails(OPEN, 3, ".seal-manifest: not authentic");
    assert!(!sandbox.path("opened/a").exists());
    // A sealed file with other content is not a manifest.
    fs::copy(sandbox.path("sealed/d/a.seal"), sandbox.path("sealed/d/.seal-manifest")).unwrap();
    sandbox.fails(OPEN, 1, "holds no manifest");
    fs::remove_file(sandbox.path("sealed/d/.seal-manifest")).unwrap();
    sandbox.fails(&format!("{OPEN} --manifest"), 3, "has no manifest");
    let said = sandbox.run(OPEN);
    assert!(said.code == 0 && said.err.contains("warning") && said.err.contains("has no manifest"), "{}", said.err);
}

/// A manifest also covers subdirectories. A manifest from elsewhere in a subdirectory does not replace it.
#[test]
fn the_outermost_manifest_counts() {
    let sandbox = sealed();
    sandbox.write("d/sub/c", "newer");
    sandbox.ok("seal --key-file k --each d/sub -C old");
    sandbox.ok("open --key-file k --each sealed/d -C above --manifest");
    assert!(sandbox.read("above/d/sub/c") == text(40_000));
    // Files of another run, with the manifest that belongs to them.
    fs::copy(sandbox.path("old/sub/c.seal"), sandbox.path("sealed/d/sub/c.seal")).unwrap();
    fs::copy(sandbox.path("old/sub/.seal-manifest"), sandbox.path("sealed/d/sub/.seal-manifest")).unwrap();
    sandbox.fails("open --key-file k --each sealed -C again", 3, "it is not the file that was sealed under this name");
}

/// An attack: the manifest and files of the given directory are removed, and a manifest in a subdirectory must not
/// replace them.
#[test]
fn a_manifest_below_does_not_stand_in_for_one_that_is_gone() {
    let sandbox = sealed();
    sandbox.ok("seal --key-file k --each d/sub -C old");
    sandbox.sh("rm sealed/d/a.seal sealed/d/b.seal sealed/d/.seal-manifest; cp old/sub/.seal-manifest sealed/d/sub");
    sandbox.sh("cp -r old/sub/. sealed/d/sub");
    let said = sandbox.run(&format!("{OPEN} --manifest"));
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(
        said.err.starts_with("sealwright: sealed/d: not authentic: has no manifest\nhint: there are"),
        "{}",
        said.err
    );
    assert!(!sandbox.path("opened/sub/c").exists());
    let said = sandbox.run(OPEN);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(
        said.err.starts_with("sealwright: warning: sealed/d: has no manifest of its own, so files missing"),
        "{}",
        said.err
    );
    // Every directory that has a manifest of its own.
    sandbox.ok("open --key-file k --each sealed/d/sub -o sub --manifest");
}

/// Opening a named pipe would block forever.
#[test]
fn a_manifest_is_a_regular_file() {
    let sandbox = sealed();
    for make in ["mkfifo", "ln -s /dev/zero"] {
        sandbox.sh(&format!("cd sealed/d; rm .seal-manifest; {make} .seal-manifest"));
        let (read, written) =
            ("not authentic: this is not a sealed file", "cannot be written: it is not a regular file");
        for (line, code, word) in [
            (OPEN, 3, read),
            ("seal --key-file k --each -f d/sub -o sealed/d", 1, written),
            ("open --key-file k --each sealed/d --manifest", 3, read),
        ] {
            let said = sandbox.sh(&format!("timeout 60 sealwright {line}"));
            let word = format!("sealed/d/.seal-manifest: {word}");
            assert!(said.code == code && said.err.contains(&word), "{make} {line}: {} {}", said.code, said.err);
        }
    }
}

#[test]
fn no_manifest_is_written_where_a_file_failed() {
    let sandbox = Sandbox::new();
    sandbox.write("d/a", "text");
    sandbox.write("d/b", "text");
    sandbox.write("d/b.seal", "in the way");
    let said = sandbox.run("seal --key-file k --each d");
    assert!(said.code == 1 && said.err.contains("no manifest was written"), "{} {}", said.code, said.err);
    assert!(sandbox.path("d/a.seal").exists() && !sandbox.path("d/.seal-manifest").exists());
}

#[test]
fn padding_and_armor_change_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("d/a", text(70_000));
    sandbox.write("d/b", text(70_000));
    sandbox.ok("seal --key-file k --each d -C sealed --pad --armor --ad 7");
    sandbox.ok("open --key-file k --each sealed/d -o opened --manifest --ad 7");
    assert!(sandbox.read("opened/a") == text(70_000));
    rename(&sandbox, "sealed/d/a.seal", "sealed/d/b.seal");
    sandbox.fails("open --key-file k --each sealed/d -o again --ad 7", 3, "sealed as a.seal");
}

/// A regression: manifests below a refused directory were opened all the same, and other given directories were not.
#[test]
fn what_is_refused_is_the_directory_that_was_named() {
    let sandbox = sealed();
    sandbox.ok("seal -q --key-file k --each d/sub -o sealed/d/below");
    fs::remove_file(sandbox.path("sealed/d/.seal-manifest")).unwrap();
    // Made unreadable: an error about it shows that it was opened.
    sandbox.ok("seal --key-file other --each d/sub -o sealed/d/another");
    for line in ["sealed/d sealed/d/below -C out", "sealed/d sealed/d/below"] {
        let said = sandbox.run(&format!("open --key-file k --each --manifest {line}"));
        assert_eq!(said.code, 3, "{line}: {}", said.err);
        assert!(said.err.contains("sealed/d: not authentic: has no manifest"), "{line}: {}", said.err);
        assert!(!said.err.contains("another") && !said.err.contains("would be written"), "{line}: {}", said.err);
    }
    assert!(sandbox.read("sealed/d/below/c") == text(40_000) && sandbox.path("out/below/c").exists());
    let said = sandbox.run("open --key-file k --each --manifest sealed/d");
    assert!(said.code == 3 && !said.err.contains("another"), "{}", said.err);
}

/// A regression: it was described as an ordinary file.
#[test]
fn a_manifest_is_told_from_other_files() {
    let sandbox = sealed();
    sandbox.ok("seal --key-file k --armor d/a -o armored");
    for (file, holds, content, armored) in [
        ("sealed/d/.seal-manifest", "  holds    a manifest of the files in its directory\n", "list", false),
        ("sealed/d/a.seal", "", "bytes", false),
        ("armored", "  armored  yes\n", "bytes", true),
    ] {
        let said = String::from_utf8(sandbox.run(&format!("inspect {file}")).out).unwrap();
        assert!(said.contains(holds) && said.contains("holds") == (content == "list"), "{said}");
        let said: serde_json::Value =
            serde_json::from_slice(&sandbox.run(&format!("inspect --json {file}")).out).unwrap();
        assert_eq!((said["content"].as_str(), said["armored"].as_bool()), (Some(content), Some(armored)), "{file}");
    }
}

/// A backup could formerly be checked only by writing its text.
#[test]
fn a_directory_is_verified_without_being_written() {
    const VERIFY: &str = "verify --key-file k --each --manifest sealed/d";
    let sandbox = sealed();
    let said = sandbox.run(VERIFY);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let told = String::from_utf8(said.out).unwrap();
    assert!(told.starts_with("sealed/d/.seal-manifest: authentic, lists 4 files\n"), "{told}");
    assert!(told.contains("sealed/d/sub/c.seal: authentic and complete, 40000 bytes of text\n"), "{told}");
    assert_eq!(told.lines().count(), 5, "{told}");
    sandbox.ok(&format!("{VERIFY} -q"));
    sandbox.fails("verify --key-file k sealed/d", 1, "sealed/d: is a directory\nhint: --each");
    sandbox.fails("verify --key-file k --each", 2, "--each needs the names of directories");
    sandbox.fails("verify --key-file other --each sealed/d -q", 4, "sealed/d/.seal-manifest: wrong key");
    let before = sandbox.names();
    // Swapped; renamed, added and missing; an older version; damaged.
    for (change, words) in [
        (
            "mv a.seal x; mv b.seal a.seal; mv x b.seal",
            &["a.seal: not authentic: it is not the file", "sealed as b.seal"][..],
        ),
        (
            "mv a.seal new.seal",
            &["a.seal: not authentic: is missing", "new.seal: not authentic: is not in the manifest"],
        ),
        ("sealwright seal --key-file ../../k -f ../../d/a -o a.seal", &["a.seal: not authentic: it is not the file"]),
        ("printf x >>b.seal", &["b.seal: not authentic: "]),
        ("rm .seal-manifest", &["sealed/d: not authentic: has no manifest"]),
    ] {
        let sandbox = sealed();
        assert_eq!(sandbox.sh(&format!("cd sealed/d; {change}")).code, 0, "{change}");
        let said = sandbox.run(&format!("{VERIFY} -q"));
        assert_eq!(said.code, 3, "{change}: {}", said.err);
        assert!(words.iter().all(|word| said.err.contains(word)), "{change}: {}", said.err);
    }
    assert_eq!(sandbox.names(), before);
}

/// A regression: a directory of that name was used in its place.
#[test]
fn a_dash_is_standard_input_also_beside_a_directory_of_that_name() {
    let sandbox = sealed();
    fs::create_dir(sandbox.path("-")).unwrap();
    let said = sandbox.sh("sealwright verify --key-file k - <sealed/d/a.seal");
    assert_eq!((said.code, said.err.as_str()), (0, ""));
}

/// A regression: the opened text of a file with such a name replaced the manifest.
#[test]
fn no_file_is_opened_over_a_manifest() {
    let sandbox = Sandbox::new();
    sandbox.write("d/.seal-manifest", "a file of the user");
    sandbox.write("d/a", "text");
    sandbox.ok("seal --key-file k --each d -C out");
    let manifest = sandbox.read("out/d/.seal-manifest");
    sandbox.fails("open --key-file k --each -q -f out/d", 2, "out/d/.seal-manifest: is both input and output");
    assert!(sandbox.read("out/d/.seal-manifest") == manifest && sandbox.path("out/d/a").exists());
}

/// A regression: the second run sealed what the first one had written.
#[test]
fn what_is_sealed_into_is_not_sealed() {
    let sandbox = Sandbox::new();
    for name in ["g/a", "h/b"] {
        sandbox.write(name, "text");
    }
    fs::create_dir(sandbox.path("out")).unwrap();
    for line in ["g h -C g/out", "g h out -C out", "g -o g/one"] {
        sandbox.ok(&format!("seal --key-file k --each -q -f {line}"));
        let names = sandbox.names();
        sandbox.ok(&format!("seal --key-file k --each -q -f {line}"));
        assert_eq!(sandbox.names(), names, "{line}");
        sandbox.sh("rm -r g/out g/one out; mkdir out");
    }
}
