//! `rekey --each`: keys are changed for the owner's own files in a directory, and for no other files.
#![cfg(feature = "public-keys")]
#![allow(clippy::unwrap_used)]

use sealwright_file::chunk;
use sealwright_transcripts::Sandbox;

const ADDED: &str = "--add-file bob.pub -i me.id";

/// Key pairs, a sealed directory with its copy `clean`, and a file that was sealed elsewhere.
fn sealed() -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["me", "bob"] {
        sandbox.write(&format!("{name}.pub"), sandbox.run(&format!("key new --pair -o {name}.id")).out);
    }
    sandbox.write("clean/a", "first");
    sandbox.write("clean/sub/b", "second");
    sandbox.ok("seal --each --remove -R me.pub clean");
    sandbox.write("t", "secret");
    sandbox.ok("seal -R me.pub t -o secret.seal");
    sandbox.sh("cp -r clean d");
    sandbox
}

/// An attack: somebody who can write to the directory puts a copy of, or a link to, any file of its owner there, to be
/// given access to it. And a pipe would block the command forever.
#[test]
fn what_was_put_into_a_directory_gets_no_keys() {
    let sandbox = sealed();
    let (secret, a) = (sandbox.read("secret.seal"), sandbox.read("d/a.seal"));
    // The header of one file before the body of another one that the manifest lists.
    let header = secret.len() - chunk::sealed_len(6) as usize;
    assert_eq!(header, a.len() - chunk::sealed_len(5) as usize);
    sandbox.write("forged.seal", [&secret[..header], &a[header..]].concat());
    let not_sealed = "d/.seal-manifest: not authentic: this is not a sealed file";
    for (plant, planted, code, word) in [
        ("cp secret.seal d/x.seal", "d/x.seal", 3, "d/x.seal: not authentic: is not in the manifest"),
        ("cp secret.seal d/a.seal", "d/a.seal", 3, "d/a.seal: not authentic: it is not the file"),
        ("cp forged.seal d/a.seal", "d/a.seal", 4, "d/a.seal: "),
        ("cp secret.seal d/.seal-manifest", "d/.seal-manifest", 1, "d/.seal-manifest: it holds no manifest"),
        (
            "cp secret.seal d/sub/.seal-manifest",
            "d/sub/.seal-manifest",
            1,
            "d/sub/.seal-manifest: it holds no manifest",
        ),
        ("ln -sf ../secret.seal d/.seal-manifest", "secret.seal", 3, not_sealed),
        ("ln -s ../../secret.seal d/sub/.seal-manifest", "secret.seal", 0, ""),
        ("rm d/.seal-manifest; mkfifo d/.seal-manifest", "secret.seal", 3, not_sealed),
        ("mkfifo d/sub/.seal-manifest", "secret.seal", 0, ""),
        ("rm d/.seal-manifest", "d/a.seal", 3, "d: not authentic: has no manifest\nhint: without one, --each gives"),
    ] {
        sandbox.sh(&format!("rm -rf d; cp -r clean d; {plant}"));
        let before = sandbox.read(planted);
        let said = sandbox.sh(&format!("timeout 60 sealwright rekey --each -q d {ADDED}"));
        assert!(said.code == code && said.err.contains(word), "{plant}: {} {}", said.code, said.err);
        assert!(sandbox.read(planted) == before && sandbox.read("secret.seal") == secret, "{plant}");
    }
    // A pipe that is named explicitly is refused as well.
    let said = sandbox.sh(&format!("mkfifo pipe; timeout 60 sealwright rekey pipe {ADDED}"));
    assert!(said.code == 1 && said.err.contains("pipe: cannot be written: only regular files"), "{}", said.err);
}

/// A regression: the process waited for its own lock, and failed.
#[test]
fn directories_that_overlap_are_taken_once() {
    let sandbox = sealed();
    let said = sandbox.run(&format!("rekey --each d ./d d/a.seal d/.seal-manifest {ADDED}"));
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let told = String::from_utf8(said.out).unwrap();
    assert_eq!(told.lines().filter(|line| line.ends_with(": 1 added, 0 removed, 2 keys can open it")).count(), 3);
    assert_eq!(told.lines().count(), 3, "{told}");
    // With a manifest of its own in a subdirectory.
    sandbox.write("e/sub/b", "text");
    sandbox.ok("seal --each --remove -R me.pub e/sub");
    sandbox.write("e/a", "text");
    assert_eq!(sandbox.run("seal --each --remove -q -R me.pub -i me.id e").code, 0);
    sandbox.ok(&format!("rekey --each -q e/sub e {ADDED}"));
    sandbox.ok("open --each --manifest e -o opened -i bob.id");
    sandbox.ok("open --each --manifest e/sub -o below -i bob.id");
    // It lists a file that was replaced since.
    sandbox.write("e/sub/b", "newer");
    sandbox.ok("seal --each --remove -q -f -R me.pub -i me.id e");
    let said = sandbox.run("rekey --each -q e --add-key-file k -i me.id");
    let word = "e/sub/.seal-manifest: not authentic: does not list what e/.seal-manifest lists";
    assert!(said.code == 3 && said.err.contains(word), "{} {}", said.code, said.err);
}

/// A regression: the warning named the wrong manifests, and missed one above the working directory.
#[test]
fn manifests_that_keep_their_keys_are_named() {
    let sandbox = sealed();
    let said = sandbox.sh("cd d/sub; sealwright rekey b.seal --add-file ../../bob.pub -i ../../me.id");
    assert!(said.code == 0 && said.err.contains("/d/.seal-manifest: its keys were not changed"), "{}", said.err);
    sandbox.ok(&format!("rekey -q d/a.seal ./d/.seal-manifest {ADDED}"));
    sandbox.ok("rekey d/a.seal ./d/.seal-manifest --remove-file bob.pub -i me.id");
}

/// The manifest is opened with the same associated data as the files.
#[test]
fn associated_data_is_given_to_rekey() {
    let sandbox = sealed();
    sandbox.write("f/a", "text");
    sandbox.ok("seal --each --remove -R me.pub --ad 7 f");
    sandbox.fails(&format!("rekey --each f {ADDED}"), 4, "f/.seal-manifest: ");
    sandbox.ok(&format!("rekey --each -q f --ad 7 {ADDED}"));
    sandbox.fails(&format!("rekey f/a.seal --ad 7 {ADDED}"), 2, "for directories with --each");
    sandbox.ok("open --each --manifest f -o opened -i bob.id --ad 7");
}

/// Whoever has the public keys can make a manifest for them.
#[cfg(feature = "signatures")]
#[test]
fn a_manifest_may_have_to_be_signed() {
    let sandbox = sealed();
    sandbox.write("me.verify", sandbox.run("key new --signing -o me.sign").out);
    sandbox.write("s/a", "text");
    sandbox.ok("seal --each --remove -R me.pub --sign me.sign s");
    sandbox.ok(&format!("rekey --each -q s --signer me.verify {ADDED}"));
    sandbox.ok("open --each --manifest s -o opened -i bob.id --signer me.verify");
    sandbox.fails(&format!("rekey --each -q d --signer me.verify {ADDED}"), 3, "d/.seal-manifest: ");
    sandbox.fails("open --each d -o x -i bob.id", 4, "d/.seal-manifest: none of the given keys");
}

/// Each directory has a lock, and each lock takes a descriptor.
#[test]
fn more_directories_than_files_may_be_open_get_keys() {
    let sandbox = sealed();
    sandbox.sh("for i in $(seq 40); do cp -r clean n$i; done");
    let said = sandbox.sh(&format!("ulimit -Sn 32; exec sealwright rekey --each -q {ADDED} n*"));
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let said = sandbox.sh("sealwright verify -i bob.id --each --manifest -q n*");
    assert_eq!((said.code, said.err.as_str()), (0, ""));
}
