//! Key pairs and several keys for one file, on the command line: sealing, opening, changing keys, verifying, reading in
//! part.
#![cfg(feature = "public-keys")]
#![allow(clippy::unwrap_used)]

use std::os::unix::fs::MetadataExt;

use sealwright_transcripts::{Sandbox, skipped, text};

/// A sandbox with the pairs `me` and `eva`: `me.id` and `me.pub`, `eva.id` and `eva.pub`.
fn with_pairs() -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["me", "eva"] {
        let made = sandbox.run(&format!("key new --pair -o {name}.id"));
        assert_eq!((made.code, made.err.as_str()), (0, ""));
        assert!(made.out.starts_with(b"seal1") && made.out.ends_with(b"\n"));
        sandbox.write(&format!("{name}.pub"), made.out);
        assert_eq!(sandbox.mode(&format!("{name}.id")), 0o600);
    }
    sandbox
}

/// Opens `file` with `keys` and compares the text with `a`.
fn opens(sandbox: &Sandbox, file: &str, keys: &str) -> bool {
    let said = sandbox.run(&format!("open {file} {keys} -o -"));
    assert!(said.code == 0 || said.out.is_empty());
    if said.code != 0 {
        assert_eq!(said.code, 4, "{keys}: {}", said.err);
    }
    said.code == 0 && said.out == sandbox.read("a")
}

/// A regression: a recipient that was added again silently got a second slot.
#[test]
fn nobody_is_a_recipient_twice() {
    let sandbox = with_pairs();
    sandbox.write("a", "text");
    sandbox.ok("seal a -R me.pub -R me.pub --key-file k");
    let said = String::from_utf8(sandbox.run("inspect a.seal").out).unwrap();
    assert!(said.contains("opens    with any of 1 secret key, 1 raw key\n"), "{said}");
    let said = sandbox.run("rekey a.seal -i me.id --add-file eva.pub --add-file eva.pub");
    assert_eq!(said.out, b"a.seal: 1 added, 0 removed, 3 keys can open it\n");
    let before = sandbox.read("a.seal");
    let word = "a.seal: the holder of a raw key is a recipient already\nhint: nothing was changed; leave it out";
    sandbox.fails("rekey a.seal -i me.id --add-key-file k", 1, word);
    sandbox.fails("rekey a.seal -i me.id --add-key-file other --add-file eva.pub", 1, " is a recipient already");
    assert!(sandbox.read("a.seal") == before);
    // A recipient can be removed and added in one command.
    sandbox.sh("sealwright rekey -q a.seal -i me.id --remove-file eva.pub --add-file eva.pub");
    assert!(opens(&sandbox, "a.seal", "-i eva.id"));
}

/// A link stays a link; the keys of its target are changed.
#[test]
fn keys_change_in_the_file_that_a_link_leads_to() {
    let sandbox = with_pairs();
    sandbox.write("a", "text");
    sandbox.ok("seal a -R me.pub -R eva.pub -o there");
    std::os::unix::fs::symlink("there", sandbox.path("link")).unwrap();
    assert_eq!(sandbox.run("rekey -q link -i me.id --remove-file eva.pub").code, 0);
    assert!(std::fs::symlink_metadata(sandbox.path("link")).unwrap().is_symlink());
    assert!(opens(&sandbox, "there", "-i me.id") && !opens(&sandbox, "there", "-i eva.id"));
}

/// Root can change the keys of another user's file, which keeps its owner.
#[test]
fn who_owns_a_file_keeps_it() {
    let sandbox = with_pairs();
    sandbox.write("a", "text");
    sandbox.ok("seal a -R me.pub");
    if std::os::unix::fs::chown(sandbox.path("a.seal"), Some(65_534), Some(65_534)).is_err() {
        skipped("only root can give a file away");
        return;
    }
    sandbox.chmod("a.seal", 0o600);
    assert_eq!(sandbox.run("rekey -q a.seal -i me.id --add-file eva.pub").code, 0);
    let meta = std::fs::metadata(sandbox.path("a.seal")).unwrap();
    assert_eq!((meta.uid(), meta.gid(), sandbox.mode("a.seal")), (65_534, 65_534, 0o600));
    assert!(opens(&sandbox, "a.seal", "-i eva.id"));
}

/// A regression: an armored file was reported as not a sealed file.
#[test]
fn armor_is_read_as_a_whole() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    sandbox.ok("key new -o k2");
    sandbox.ok("seal --key-file k --key-file k2 --armor a -o armored");
    let word = "armored: it is armored, and armor is only read as a whole\nhint: open it whole";
    sandbox.fails("rekey armored --key-file k --remove-key-file k2", 1, word);
    sandbox.fails("open --key-file k armored --range 0..1 -o x", 1, word);
    sandbox.fails("open --key-file k armored --entry d/a -o x", 1, word);
    sandbox.ok("open --key-file k armored -o b");
    sandbox.write("cut", &sandbox.read("armored")[..20]);
    sandbox.fails("open --key-file k cut -o x", 3, "not authentic");
}

#[test]
fn a_file_for_several_people() {
    let sandbox = with_pairs();
    sandbox.write("a", text(40_000));
    let public = String::from_utf8(sandbox.read("eva.pub")).unwrap();
    sandbox.ok(&format!("seal a -R me.pub -r {} --key-file k", public.trim()));
    assert!(opens(&sandbox, "a.seal", "-i me.id"));
    assert!(opens(&sandbox, "a.seal", "-i eva.id"));
    assert!(opens(&sandbox, "a.seal", "--key-file k"));
    assert!(!opens(&sandbox, "a.seal", "--key-file other"));
    assert!(opens(&sandbox, "a.seal", "--key-file other -i eva.id"));
}

#[test]
fn each_identity_is_checked() {
    let sandbox = with_pairs();
    sandbox.write("a", "text");
    sandbox.ok("seal a -R me.pub");
    let none = "a.seal: none of the given keys or passphrases opens it\nhint: -i names";
    sandbox.fails("open a.seal -i eva.id -o b", 4, none);
    for (given, what) in [("--key-file k", "a raw key"), ("-p", "a passphrase")] {
        let word =
            format!("a.seal: the secret key of a pair is needed, not {what}\nhint: use -i with its identity file");
        sandbox.fails(&format!("open a.seal {given} -o b"), 4, &word);
    }
    // Without a key, the hint is suitable for opening.
    for line in ["open a.seal -o b", "verify a.seal", "inspect --list a.seal"] {
        sandbox.fails(line, 2, "no key: name --identity, --key-file");
        let said = sandbox.run(line);
        assert!(
            said.err.contains("hint: `sealwright inspect FILE` tells") && !said.err.contains("key new"),
            "{}",
            said.err
        );
    }
    sandbox.fails("verify a.seal --key-file none", 1, "hint: `sealwright inspect FILE` tells which kind of key");
    sandbox.fails("verify a.seal --key-file .", 1, "sealwright: .: is a directory, and a key file is needed");
    sandbox.fails("open a.seal -i missing -o b", 1, "missing: cannot open: No such file");
    // A public key is reported as such before its file's permissions, which the user would otherwise change in vain.
    for mode in [0o644, 0o600] {
        sandbox.chmod("me.pub", mode);
        let word = "me.pub: cannot be used as a key file: it is a public key\nhint: the secret key is in the identity file (-i)";
        sandbox.fails("open a.seal -i me.pub -o b", 1, word);
        let word = "me.pub: cannot be used as a key file: it is a public key, not a raw one\nhint: `seal -R` seals";
        sandbox.fails("seal a --key-file me.pub -o b", 1, word);
    }
    sandbox.write("word", "not a key\n");
    sandbox.chmod("word", 0o600);
    sandbox.fails("open a.seal -i word -o b", 1, "sealwright: word, line 1: not a secret key of Sealwright");
    sandbox.fails("seal a -R me.id -o b", 1, "me.id, line 2: it is the secret key of a pair\nhint: -i opens");
    sandbox.fails("seal a -r seal1oops -o b", 2, "the recipient cannot be used: ");
    let secret = String::from_utf8(sandbox.read("me.id")).unwrap();
    let secret = secret.lines().last().unwrap();
    let said = sandbox.run(&format!("seal a -r {secret} -o b"));
    assert!(said.code == 2 && !said.err.contains(secret), "{}", said.err);
    sandbox.chmod("me.id", 0o644);
    sandbox.fails("open a.seal -i me.id -o b", 1, "me.id: cannot be used as a key file: others may read it");
    assert!(!sandbox.path("b").exists());
}

#[test]
fn identity_files() {
    let sandbox = with_pairs();
    sandbox.write("a", "text");
    // Several keys in one file, with comments and empty lines; a raw key file also works.
    let both = [&sandbox.read("eva.id")[..], b"\n# mine\n\n", &sandbox.read("me.id")].concat();
    sandbox.write("both.id", both);
    sandbox.chmod("both.id", 0o600);
    sandbox.ok("seal a -R me.pub");
    assert!(opens(&sandbox, "a.seal", "-i both.id"));
    sandbox.ok("seal a --key-file k -o raw.seal");
    assert!(opens(&sandbox, "raw.seal", "-i eva.id -i k"));
    let public = sandbox.run("key public -i both.id");
    assert_eq!(public.out, [sandbox.read("eva.pub"), sandbox.read("me.pub")].concat());
    sandbox.fails("key public -i k", 1, "k: holds no secret key of a pair, and only these have public keys\nhint: ");
    // Printed if no file is named; an existing file is never replaced.
    let printed = sandbox.run("key new --pair");
    assert!(printed.code == 0 && printed.out.starts_with(b"# Public key: seal1"), "{}", printed.err);
    sandbox.fails("key new --pair -o me.id", 1, "me.id: exists already; a key is never replaced");
    sandbox.fails("key new --pair --raw -o x", 2, "cannot be used with");
}

#[test]
fn an_identity_file_with_a_passphrase() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    let made = sandbox.sh("sealwright key new --pair --passphrase-command 'echo horse' -o me.id");
    assert_eq!((made.code, made.err.as_str()), (0, ""));
    sandbox.write("me.pub", made.out);
    assert!(!sandbox.read("me.id").windows(10).any(|part| part == b"SECRET-KEY"));
    sandbox.ok("seal a -R me.pub");
    // The passphrase is asked for on the terminal, and there is none.
    for line in ["open a.seal -i me.id -o b", "key public -i me.id"] {
        let word =
            "no terminal to ask for a passphrase: No such device or address\nhint: in scripts name a file that has no";
        sandbox.fails(line, 1, word);
    }
    sandbox.fails("key new --pair -p -o x", 1, "\nhint: in scripts use --passphrase-command\n");
    sandbox.fails("seal a -p -o x", 1, "\nhint: in scripts use --key-file, --passphrase-fd or --passphrase-command\n");
    sandbox.fails(
        "enc -aes-256-cbc -pbkdf2 -in a -out x",
        1,
        "\nhint: in scripts use -pass file:FILE, -pass fd:N or -kfile",
    );
    // It is an ordinary sealed file.
    let opened = sandbox.sh("sealwright open --passphrase-command 'echo horse' me.id -o plain.id");
    assert_eq!((opened.code, opened.err.as_str()), (0, ""));
    assert!(opens(&sandbox, "a.seal", "-i plain.id"));
}

#[test]
fn keys_change_while_the_body_stays() {
    let sandbox = with_pairs();
    sandbox.write("a", text(3_000_000));
    sandbox.ok("seal a -R me.pub");
    sandbox.chmod("a.seal", 0o640);
    let before = sandbox.read("a.seal");
    let said = sandbox.run("rekey a.seal -i me.id --add-file eva.pub --add-key-file k");
    assert_eq!(
        (said.code, said.out.as_slice()),
        (0, &b"a.seal: 2 added, 0 removed, 3 keys can open it\n"[..]),
        "{}",
        said.err
    );
    for keys in ["-i me.id", "-i eva.id", "--key-file k"] {
        assert!(opens(&sandbox, "a.seal", keys), "{keys}");
    }
    let after = sandbox.read("a.seal");
    let body = before.len() - (16 + 4 + 16 + 1120 + 104 + 32);
    assert!(before[before.len() - body..] == after[after.len() - body..]);
    assert_eq!(sandbox.mode("a.seal"), 0o640);

    // A recipient that was added removes others, given by public key, and by the raw key itself.
    assert_eq!(sandbox.run("rekey -q a.seal -i eva.id --remove-file me.pub --remove-key-file k").code, 0);
    assert!(!opens(&sandbox, "a.seal", "-i me.id"));
    assert!(opens(&sandbox, "a.seal", "-i eva.id"));

    // A passphrase is added, then changed.
    let add = |word: &str, with: &str| {
        sandbox
            .sh(&format!("sealwright rekey -q a.seal {with} --cost 1MiB --add-passphrase-command 'echo {word}'"))
            .code
    };
    assert_eq!(add("one", "-i eva.id"), 0);
    assert_eq!(add("two", "--passphrase-command 'echo one' --remove-passphrases"), 0);
    let by =
        |word: &str| sandbox.sh(&format!("echo {word} | sealwright open --passphrase-fd 0 a.seal -o - | cmp - a")).code;
    assert_eq!((by("two"), by("one") == 0), (0, false));

    // A failed command leaves the file unchanged.
    let now = sandbox.read("a.seal");
    sandbox.fails("rekey a.seal -i me.id --add-key-file k", 4, "none of the given keys or passphrases opens it");
    sandbox.fails("rekey a.seal -i eva.id --add-passphrase", 1, "\nhint: in scripts use --add-passphrase-command\n");
    let word = " is a recipient already\nhint: nothing was changed; leave it out";
    sandbox.fails("rekey a.seal -i eva.id --add-file eva.pub", 1, "a.seal: seal1");
    sandbox.fails("rekey a.seal -i eva.id --add-file me.pub --add-file eva.pub", 1, word);
    sandbox.fails("rekey a.seal -i eva.id --remove-file me.pub", 1, "a key that is to be removed does not open it");
    sandbox.fails("rekey a.seal -i eva.id --remove-file eva.pub --remove-passphrases", 1, "no key that could open");
    sandbox.fails("rekey a.seal -i eva.id", 2, "nothing to change");
    sandbox.ok("seal a --key-file k -o one.seal");
    sandbox.fails(
        "rekey one.seal --key-file k --add-file me.pub",
        1,
        "one key, which cannot be changed\nhint: open it",
    );
    assert!(sandbox.read("a.seal") == now);
    assert!(sandbox.names().iter().all(|name| !name.starts_with('.')), "{:?}", sandbox.names());
}

/// A regression: both copied the old file, so that the change of the first was lost although both reported success.
#[test]
fn two_changes_at_once_are_both_made() {
    let sandbox = with_pairs();
    sandbox.write("a", text(40_000));
    sandbox.write("bob.pub", sandbox.run("key new --pair -o bob.id").out);
    for _ in 0..10 {
        sandbox.ok("seal -f a -R me.pub -R bob.pub");
        let said = sandbox.sh("sealwright rekey -q a.seal -i me.id --remove-file bob.pub & \
             sealwright rekey -q a.seal -i me.id --add-file eva.pub && wait $!");
        assert_eq!((said.code, said.err.as_str()), (0, ""));
        assert!(!opens(&sandbox, "a.seal", "-i bob.id") && opens(&sandbox, "a.seal", "-i eva.id"));
    }
}

#[test]
fn what_can_be_known_without_a_key() {
    let sandbox = with_pairs();
    sandbox.write("a", "text");
    sandbox.ok("seal a -R me.pub -R eva.pub --key-file k");
    let said = String::from_utf8(sandbox.run("inspect a.seal").out).unwrap();
    assert!(said.contains("opens    with any of 2 secret keys, 1 raw key\n"), "{said}");
    let said: serde_json::Value = serde_json::from_slice(&sandbox.run("inspect --json a.seal").out).unwrap();
    assert_eq!(said["key_source"], "recipients");
    assert_eq!(said["slots"].as_array().unwrap().len(), 3);
}

#[test]
fn files_are_verified_without_being_written() {
    let sandbox = with_pairs();
    sandbox.write("a", text(100_000));
    sandbox.ok("seal a -R me.pub");
    let said = sandbox.run("verify a.seal -i me.id");
    assert_eq!((said.code, said.out.as_slice()), (0, &b"a.seal: authentic and complete, 100000 bytes of text\n"[..]));
    let said = sandbox.sh("sealwright verify -q -i me.id <a.seal");
    assert_eq!((said.code, said.out.len()), (0, 0), "{}", said.err);
    let mut torn = sandbox.read("a.seal");
    torn.truncate(50_000);
    sandbox.write("torn.seal", torn);
    let said = sandbox.run("verify a.seal torn.seal -i me.id");
    assert_eq!(said.code, 3);
    assert!(said.err.starts_with("sealwright: torn.seal: not authentic: "), "{}", said.err);
    assert_eq!(sandbox.run("verify a.seal -i eva.id").code, 4);
    assert_eq!(sandbox.run("verify missing -i eva.id").code, 1);
}

#[test]
fn a_part_of_the_text() {
    let sandbox = with_pairs();
    let whole = text(100_000);
    sandbox.write("a", &whole);
    sandbox.ok("seal a -R me.pub");
    for (range, part) in [
        ("1000..2000", &whole[1000..2000]),
        ("16380..16390", &whole[16380..16390]),
        ("99990..", &whole[99990..]),
        ("..5", &whole[..5]),
        ("..", &whole[..]),
        ("7..7", &[][..]),
        ("99999..200000", &whole[99999..]),
    ] {
        let said = sandbox.run(&format!("open a.seal -i me.id --range {range} -o -"));
        assert!(said.code == 0 && said.out == part, "{range}: {}", said.err);
    }
    sandbox.ok("open a.seal -i me.id --range 5..10 -o part");
    assert_eq!((sandbox.read("part").as_slice(), sandbox.mode("part")), (&whole[5..10], 0o600));
    // A truncation is detected even if the part that is read is complete.
    let mut torn = sandbox.read("a.seal");
    torn.pop();
    sandbox.write("torn.seal", torn);
    sandbox.fails("open torn.seal -i me.id --range 0..10 -o x", 3, "not authentic");
    // A part of the text must not be written under the name of the whole, or replace it with -f.
    sandbox.fails(
        "open torn.seal -i me.id --range 0..10",
        2,
        "--range needs -o OUT\nhint: -o - writes to standard output",
    );
    let word = "sealwright: invalid value '10' for '--range <A..B>': `10` is not a range such as 1000..2000\n";
    sandbox.fails("open a.seal -i me.id --range 10 -o x", 2, word);
    sandbox.fails("open a.seal -i me.id --range 5..3 -o x", 2, "<A..B>': `5..3` ends before it begins\n");
    sandbox.fails("open a.seal -i me.id --max-cost lots -o x", 2, "': `lots` is not MEMORY[,PASSES[,LANES]]");
    // Also if another option conflicts with the one that is required.
    let word = "--entry needs -o OUT\nhint: -o - writes to standard output";
    sandbox.fails("open a.seal -i me.id --entry d/a -C out", 2, word);
    sandbox.fails("open a.seal -i me.id --entry d/a", 2, word);
    sandbox.fails("open a.seal -i me.id --range 0..1 --manifest -o x", 2, "--manifest is for directories with --each");
    assert_eq!(sandbox.sh("sealwright open -i me.id --range 0..10 -o x <a.seal").code, 2);
    assert!(!sandbox.path("x").exists());
}

#[test]
fn armor() {
    let sandbox = with_pairs();
    for len in [0, 1, 47, 48, 100_000, 3_000_000] {
        sandbox.write("a", text(len));
        sandbox.ok("seal -a a -R me.pub -f");
        let armored = String::from_utf8(sandbox.read("a.seal")).unwrap();
        assert!(
            armored.starts_with("-----BEGIN SEALED FILE-----\n") && armored.ends_with("\n-----END SEALED FILE-----\n")
        );
        assert!(armored.lines().all(|line| line.len() <= 64));
        // It opens like any other, from a file and from a pipe, and with CRLF line ends.
        assert!(opens(&sandbox, "a.seal", "-i me.id"));
        sandbox.write("dos.seal", armored.replace('\n', "\r\n"));
        let said =
            sandbox.sh("sealwright open -i me.id <dos.seal -o - | cmp - a && sealwright verify -q -i me.id a.seal");
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{len}");
    }
    let armored = String::from_utf8(sandbox.read("a.seal")).unwrap();
    let said = sandbox.sh("sealwright seal -a --key-file k <a | sealwright open --key-file k -o - | cmp - a");
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    for (damaged, word) in [
        (armored.replacen("\n", "\n\n", 1), "armor"),
        (armored.replace("-----END SEALED FILE-----\n", ""), "armor"),
        (format!("{armored}more"), "armor"),
        (
            armored.lines().take(1000).fold(String::new(), |text, line| text + line + "\n")
                + "-----END SEALED FILE-----\n",
            "not authentic",
        ),
    ] {
        sandbox.write("b.seal", damaged);
        sandbox.fails("open -i me.id b.seal -o b", 3, word);
    }
    assert!(!sandbox.path("b").exists());
    assert_eq!(sandbox.run("inspect a.seal").code, 0);
}
