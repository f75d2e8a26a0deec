//! Situations that are not errors, but can lose a key or a text: a warning or a refusal.
#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt;

use sealwright_transcripts::{Sandbox, text};

const READ: &str = "standard output is a file that others may read\nhint: chmod 600 it; -o FILE makes one";

#[test]
fn a_secret_in_a_file_that_others_may_read_is_told() {
    let sandbox = Sandbox::new();
    let mut told = vec![("", READ), (" --raw -o -", READ)];
    if cfg!(feature = "public-keys") {
        told.push((" --pair", READ));
    }
    for (options, said) in told {
        let loose = sandbox.sh(&format!("umask 022; sealwright key new{options} > loose; cat loose"));
        assert!(loose.code == 0 && !loose.out.is_empty() && loose.err.contains(said), "{options}: {}", loose.err);
        let own =
            sandbox.sh(&format!("umask 077; sealwright key new{options} > own; sealwright key new{options} | cat"));
        assert_eq!((own.code, own.err.as_str()), (0, ""), "{options}");
        for name in ["loose", "own"] {
            std::fs::remove_file(sandbox.path(name)).unwrap();
        }
    }
}

/// Files that are meant for others may be readable by them.
#[test]
#[cfg(feature = "public-keys")]
fn a_public_key_in_a_file_that_others_may_read_is_no_secret() {
    let sandbox = Sandbox::new();
    let made = sandbox.sh(
        "umask 022; sealwright key new --pair -o my.id > my.pub && sealwright key public -i my.id > again && cmp my.pub again",
    );
    assert_eq!((made.code, made.err.as_str()), (0, ""));
    if cfg!(feature = "signatures") {
        let made = sandbox.sh("umask 022; sealwright key new --signing -o my.sign > my.verify");
        assert_eq!((made.code, made.err.as_str()), (0, ""));
    }
}

#[test]
fn a_key_that_is_sealed_with_the_rest_is_told() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("d")).unwrap();
    sandbox.ok("key new -o d/own");
    sandbox.write("d/text", "text");
    let told = "/d/own: is itself sealed, and may be needed to open the sealed files: keep a copy elsewhere";
    for line in ["seal --key-file d/own d -o one", "seal --key-file d/own --each d -C many"] {
        let said = sandbox.run(line);
        assert!(said.code == 0 && said.err.contains(told), "{line}: {} {}", said.code, said.err);
        assert_eq!(sandbox.run(&format!("{line} -f -q")).err, "", "{line}");
    }
    let said = sandbox.run("seal --key-file d/own d/text -o two");
    assert!(said.code == 0 && !said.err.contains("warning"), "{}", said.err);
}

#[test]
fn a_directory_with_nothing_sealed_is_not_opened() {
    let sandbox = Sandbox::new();
    sandbox.write("full/text", "text");
    sandbox.ok("seal --key-file k --each --remove full");
    std::fs::create_dir(sandbox.path("mount")).unwrap();
    sandbox.write("plain/text", "not sealed");
    let why = "mount: holds no sealed file and no manifest\nhint: is it the right directory, and is it mounted?";
    let said = sandbox.run("open --key-file k --each mount -C out");
    assert_eq!((said.code, said.err), (1, format!("sealwright: {why}\n")));
    // Other directories are opened all the same.
    sandbox.fails("open --key-file k --each full mount -C out", 1, why);
    assert_eq!(sandbox.read("out/full/text"), b"text");
    sandbox.fails("open --key-file k --each plain", 1, "plain: holds no sealed file and no manifest");
}

/// A regression: the directory could no longer be opened, with errors as if it had been attacked.
#[test]
fn a_file_that_is_sealed_into_a_directory_with_a_manifest_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write("d/a", "first");
    sandbox.write("d/sub/b", "second");
    sandbox.ok("seal --key-file k --each d");
    let told =
        "warning: d/.seal-manifest: does not list what was sealed now; `seal --each -f` on its directory rewrites it";
    sandbox.write("d/sub/c", "third");
    for line in ["-f d/a", "d/sub/c", "-f --each d/sub", "-f d/sub"] {
        let said = sandbox.run(&format!("seal --key-file k {line}"));
        assert!(said.code == 0 && said.err.matches(told).count() == 1, "{line}: {}", said.err);
        assert_eq!(sandbox.run(&format!("seal --key-file k -q -f {line}").replace("-f -f", "-f")).err, "", "{line}");
    }
    assert_eq!(sandbox.run("open --key-file k --each d -C out").code, 3);
    std::fs::remove_file(sandbox.path("d/sub.seal")).unwrap();
    // A subdirectory's manifest is another one.
    let said = sandbox.run("seal --key-file k --each -f d");
    assert!(said.code == 0 && !said.err.contains(told), "{}", said.err);
    sandbox.ok("open -q --key-file k --each d -C whole");
}

#[test]
fn nothing_is_written_beside_a_device() {
    let sandbox = Sandbox::new();
    let why = "/dev/null: is a device, so no output is written beside it\nhint: -o OUT names the output";
    sandbox.fails("seal --key-file k /dev/null", 2, why);
    sandbox.ok("seal --key-file k /dev/null -o empty.seal");
    assert_eq!(sandbox.run("open --key-file k empty.seal -o -").out, b"");
}

/// A regression: the text of another signer was passed to the reading program before the error.
#[cfg(feature = "signatures")]
#[test]
fn nothing_of_another_signer_s_text_is_written() {
    let sandbox = Sandbox::new();
    for name in ["me", "mal"] {
        sandbox.sh(&format!("sealwright key new --signing -o {name}.sign > {name}.verify"));
    }
    sandbox.write("a", text(100_000));
    sandbox.ok("seal --key-file k --sign mal.sign a -o mal.seal");
    sandbox.ok("seal --key-file k --sign me.sign a -o me.seal");
    sandbox.ok("seal --key-file k a -o unsigned.seal");
    for (name, code) in [("mal", 4), ("unsigned", 3)] {
        let said = sandbox.run(&format!("open --key-file k --signer me.verify {name}.seal -o -"));
        assert_eq!((said.code, said.out.len()), (code, 0), "{name}: {}", said.err);
    }
    assert_eq!(sandbox.run("open --key-file k --signer me.verify me.seal -o -").out, text(100_000));
}

/// A file that was named as a key file must have the permissions of one.
#[test]
fn a_key_file_that_was_named_is_for_its_owner_alone() {
    let sandbox = Sandbox::new();
    sandbox.sh("umask 000; sealwright key new -o mine");
    assert_eq!(std::fs::metadata(sandbox.path("mine")).unwrap().permissions().mode() & 0o777, 0o600);
}
