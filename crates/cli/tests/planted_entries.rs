//! Directory entries that somebody else creates, before or during a run: pipes, links and other directories.
#![allow(clippy::unwrap_used)]

use std::{
    fs::{self, File},
    io::Read,
    os::unix::fs::{OpenOptionsExt, symlink},
};

use sealwright_transcripts::Sandbox;

/// An attack: a pipe at the derived name of an output would receive the text.
#[test]
fn a_pipe_in_the_place_of_an_output_gets_nothing() {
    const NONBLOCK: i32 = 0o4000;
    for link in [false, true] {
        let sandbox = Sandbox::new();
        for name in ["a", "b", "d/c", "e/f"] {
            sandbox.write(name, "text");
        }
        sandbox.ok("seal --key-file k --remove b");
        sandbox.ok("seal --key-file k --each --remove e");
        sandbox.sh("mkdir out");
        for (line, place) in [
            ("seal --key-file k a", "a.seal"),
            ("seal --key-file k -C out a", "out/a.seal"),
            ("seal --key-file k --each d", "d/c.seal"),
            ("seal --key-file k --each d -C out", "out/d/c.seal"),
            ("seal --key-file k --each d", "d/.seal-manifest"),
            ("seal --key-file k d", "d.seal"),
            ("open --key-file k b.seal", "b"),
            ("open --key-file k --each e", "e/f"),
            #[cfg(feature = "signatures")]
            ("sign -s s a", "a.sig"),
        ] {
            if line.starts_with("sign") {
                sandbox.run("key new --signing -o s");
            }
            let pipe = if link { "pipe" } else { place };
            let made = format!("mkdir -p out/d; mkfifo {pipe} && {}", if link { "ln -s $PWD/pipe" } else { ": " });
            assert_eq!(sandbox.sh(&format!("{made} {place}")).code, 0, "{line}");
            let mut options = File::options();
            let mut reader = options.read(true).write(true).custom_flags(NONBLOCK).open(sandbox.path(pipe)).unwrap();
            for (option, word) in [("", "exists already"), (" -f", "it is not a regular file")] {
                let said = sandbox.run(&format!("{line}{option}"));
                // A manifest that exists is refused before anything is sealed, or replaced if it is a regular file.
                let word = if place.ends_with("manifest") && !option.is_empty() { "" } else { word };
                assert!(said.code != 0 && said.err.contains(word), "{link} {line}{option}: {}", said.err);
                assert!(reader.read(&mut [0; 64]).is_err(), "{link} {line}{option}: something came out");
            }
            sandbox.sh(&format!("rm -r {place} pipe out/d d/c.seal d/.seal-manifest"));
        }
        // A derived output name that is a link to a file is refused too; a named output is written through it.
        sandbox.write("precious", "precious");
        symlink("precious", sandbox.path("a.seal")).unwrap();
        sandbox.fails("seal --key-file k a", 1, "a.seal: exists already");
        sandbox.fails("seal --key-file k -f a", 1, "a.seal: cannot be written: it is not a regular file");
        assert_eq!(sandbox.read("precious"), b"precious");
        sandbox.ok("seal --key-file k -f a -o a.seal");
        assert_ne!(sandbox.read("precious"), b"precious");
    }
}

/// An attack: a directory is replaced by a link while the passphrase is typed, so that files from elsewhere would be
/// sealed and removed.
#[test]
fn a_directory_that_is_swapped_meanwhile_is_not_followed() {
    for (swap, kept) in [
        // A link to somebody's files, and a link to the same files.
        ("mv d/sub moved; ln -s ../elsewhere d/sub", "moved"),
        ("mv d/sub moved; ln -s ../moved d/sub", "moved"),
        ("mv d/sub/a moved; mkfifo d/sub/a", ""),
    ] {
        for (verb, name) in [("seal --cost 1MiB", "a"), ("open", "a.seal")] {
            let sandbox = Sandbox::new();
            for path in ["d/sub/a", "elsewhere/a"] {
                sandbox.write(path, "text");
            }
            if verb == "open" {
                let sealed = sandbox.sh(
                    "for each in d elsewhere; do sealwright seal --cost 1MiB --passphrase-command 'echo pw' --each --remove $each; rm $each/.seal-manifest; done",
                );
                assert_eq!(sealed.code, 0, "{}", sealed.err);
            }
            let swap = swap.replace("sub/a", &format!("sub/{name}"));
            let line = format!("{verb} --each --remove --passphrase-command '({swap}) >&2; echo pw' d");
            let said = sandbox.sh(&format!("timeout 60 sealwright {line}"));
            let word = format!("d/sub/{name}: is no longer a regular file, or is reached through a symbolic link");
            assert!(said.code == 1 && said.err.contains(&word), "{line}: {} {}", said.code, said.err);
            let made = if verb == "open" { "a" } else { "a.seal" };
            for directory in ["elsewhere", "d/sub", kept] {
                assert!(!sandbox.path(directory).join(made).exists(), "{line}: {directory}");
            }
            let there = |directory: &str| sandbox.path(directory).join(name).exists();
            assert!(there("elsewhere") && (kept.is_empty() || there(kept)), "{line}");
        }
    }
}

/// Many programs save a file by renaming a new one over it: the new one is sealed, and removed.
#[test]
fn a_file_that_is_saved_anew_meanwhile_is_sealed_as_it_is_then() {
    let sandbox = Sandbox::new();
    sandbox.write("d/a", "old");
    let save = "echo new >d/.a; mv d/.a d/a";
    let sealed = sandbox
        .sh(&format!("sealwright seal --each --remove --cost 1MiB --passphrase-command '({save}) >&2; echo pw' d"));
    assert!(sealed.code == 0 && !sandbox.path("d/a").exists(), "{}", sealed.err);
    assert_eq!(sandbox.sh("echo pw | sealwright open --passphrase-fd 0 d/a.seal").code, 0);
    assert_eq!(sandbox.read("d/a"), b"new\n");
}

/// A regression: the sealed file was put beside the target of the link, under the target's name.
#[test]
fn a_link_to_a_directory_keeps_its_name_and_place() {
    let sandbox = Sandbox::new();
    sandbox.write("elsewhere/src/x", "text");
    symlink("elsewhere/src", sandbox.path("link")).unwrap();
    sandbox.ok("seal --key-file k link");
    sandbox.ok("seal --key-file k link/ -C out");
    assert!(sandbox.path("link.seal").is_file() && sandbox.path("out/link.seal").is_file());
    assert_eq!(fs::read_dir(sandbox.path("elsewhere")).unwrap().count(), 1);
    sandbox.ok("open --key-file k link.seal -C opened");
    assert_eq!(sandbox.read("opened/link/x"), b"text");
    // Without a name of its own, it gets the name of the directory that it stands for.
    for (i, name) in [".", "./", "x/..", "../src"].iter().enumerate() {
        let said = sandbox.sh(&format!(
            "mkdir -p {i}/src/x; cd {i}/src; sealwright seal --key-file ../../k {name}; test -f ../src.seal"
        ));
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{name}");
    }
}

/// Outputs are not written through a link that somebody else created below a directory.
#[test]
fn outputs_do_not_go_through_planted_links() {
    let sandbox = Sandbox::new();
    for path in ["d/sub/a", "elsewhere/a.seal", "out/d/x"] {
        sandbox.write(path, "precious");
    }
    symlink("../../elsewhere", sandbox.path("out/d/sub")).unwrap();
    sandbox.fails("seal --key-file k --each -f -C out d", 1, "out/d/sub: is a symbolic link");
    assert_eq!(sandbox.read("elsewhere/a.seal"), b"precious");
    std::fs::remove_dir_all(sandbox.path("out/d")).unwrap();
    symlink("../elsewhere", sandbox.path("out/d")).unwrap();
    sandbox.fails("seal --key-file k --each -f -C out d", 1, "out/d: is a symbolic link");
    assert!(!sandbox.path("elsewhere/sub").exists());
}

/// A manifest that cannot be written is detected before any file is removed.
#[test]
fn files_whose_manifest_has_no_place_are_not_sealed() {
    let sandbox = Sandbox::new();
    sandbox.write("d/a", "text");
    symlink("../m", sandbox.path("d/.seal-manifest")).unwrap();
    sandbox.fails(
        "seal --key-file k --each -f --remove d",
        1,
        "d/.seal-manifest: cannot be written: it is not a regular file",
    );
    assert!(sandbox.path("d/a").exists() && !sandbox.path("d/a.seal").exists());
}

/// An attack: a link under the name of a page that is still being written, which was known beforehand.
#[test]
fn manual_pages_do_not_go_through_planted_links() {
    let sandbox = Sandbox::new();
    sandbox.write("precious", "precious");
    sandbox.write("man/sealwright-seal.1", "an old page");
    symlink("../precious", sandbox.path("man/.sealwright.1.new")).unwrap();
    let made = sandbox.run("man -C man");
    assert_eq!((made.code, made.err.as_str()), (0, ""));
    assert_eq!(sandbox.read("precious"), b"precious");
    for name in ["sealwright.1", "sealwright-seal.1"] {
        let path = sandbox.path("man").join(name);
        assert!(fs::symlink_metadata(&path).unwrap().is_file() && sandbox.mode(&format!("man/{name}")) == 0o644);
        assert!(sandbox.read(&format!("man/{name}")).starts_with(b".ie"), "{name}");
    }
    std::fs::remove_file(sandbox.path("man/sealwright.1")).unwrap();
    symlink("../precious", sandbox.path("man/sealwright.1")).unwrap();
    sandbox.fails("man -C man", 1, "man/sealwright.1: cannot be written: it is not a regular file");
    assert_eq!(sandbox.read("precious"), b"precious");
}
