//! Signed files and detached signatures: valid for what was signed, and for nothing else.
#![cfg(feature = "signatures")]
#![allow(clippy::unwrap_used)]

use sealwright_transcripts::{Sandbox, text};

/// A sandbox with the signing keys `me` and `eva` (`me.sign`, `me.verify`, `eva.sign`, `eva.verify`), and a key pair.
fn with_keys() -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["me", "eva"] {
        let made = sandbox.run(&format!("key new --signing -o {name}.sign"));
        assert_eq!((made.code, made.err.as_str()), (0, ""));
        assert!(made.out.starts_with(b"seal-verify1"));
        sandbox.write(&format!("{name}.verify"), made.out);
        assert_eq!(sandbox.mode(&format!("{name}.sign")), 0o600);
    }
    sandbox.write("a", text(100_000));
    sandbox
}

#[test]
fn a_signed_file_opens_for_who_asks_for_its_signer() {
    let sandbox = with_keys();
    for (i, more) in ["", "--pad", "--armor", "--pad --armor"].iter().enumerate() {
        sandbox.ok(&format!("seal --key-file k --sign me.sign a -o {i}.seal {more}"));
        sandbox.ok(&format!("open --key-file k --signer me.verify {i}.seal -o {i}"));
        sandbox.ok(&format!("open --key-file k --signer eva.verify --signer me.verify {i}.seal -o {i} --force"));
        assert!(sandbox.read(&i.to_string()) == text(100_000), "{more}");
        // Through pipes, and without verification.
        let piped = sandbox.sh(&format!("cat {i}.seal | sealwright open --key-file k --signer me.verify"));
        assert!(piped.code == 0 && piped.out == text(100_000), "{more} {}", piped.err);
        let unasked = sandbox.run(&format!("open --key-file k {i}.seal -o -"));
        assert!(unasked.code == 0 && unasked.out == text(100_000), "{more}");
    }
    for len in [0, 1, 3388, 3389, 3390, 16_384 - 3389, 16_384, 1 << 20] {
        sandbox.write("b", text(len));
        sandbox.ok("seal --key-file k --sign me.sign b -o b.seal --force");
        sandbox.ok("open --key-file k --signer me.verify b.seal --force");
        assert!(sandbox.read("b") == text(len), "{len}");
    }
}

/// A regression: a pipe or device that was named with -o, or an armored file, received the text of another signer
/// before the error.
#[test]
fn a_stream_gets_nothing_of_another_signers_text() {
    let sandbox = with_keys();
    sandbox.ok("seal --key-file k --sign eva.sign a -o a.seal");
    sandbox.ok("seal --key-file k --sign eva.sign a -o a.asc --armor");
    sandbox.ok("seal --key-file k a -o unsigned.seal");
    for (input, code) in [("a.seal", 4), ("a.asc", 4), ("unsigned.seal", 3)] {
        // The pipe is open at both ends before the program begins: with an ordinary open, either side could wait for
        // ever for another that had come and gone.
        for output in ["-o - >p", "-f -o p", "-o /dev/stdout >p"] {
            let line = format!(
                "rm -f p got; mkfifo p; exec 3<>p 4<p; cat <&4 3<&- >got & exec 4<&-; \
                 sealwright open --key-file k --signer me.verify {input} {output} 3<&-; said=$?; exec 3<&-; wait; exit $said"
            );
            let said = sandbox.sh(&line);
            assert_eq!((said.code, sandbox.read("got").len()), (code, 0), "{input} {output}: {}", said.err);
        }
        let said = sandbox.sh(&format!("sealwright open --key-file k --signer me.verify -o - <{input}"));
        assert_eq!((said.code, said.out.len()), (code, 0), "{input}: {}", said.err);
    }
    for input in ["a.seal", "a.asc"] {
        let said = sandbox.sh(&format!("sealwright open --key-file k --signer eva.verify {input} -o - | cmp - a"));
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{input}");
    }
}

#[test]
fn verify_says_who_signed() {
    let sandbox = with_keys();
    sandbox.ok("seal --key-file k --sign me.sign a");
    let said = sandbox.run("verify --key-file k --signer me.verify a.seal");
    let checked = String::from_utf8(said.out).unwrap();
    assert!(said.code == 0 && checked.contains("100000 bytes of text; signed by "), "{checked}{}", said.err);
    let unchecked = String::from_utf8(sandbox.run("verify --key-file k a.seal").out).unwrap();
    assert!(unchecked.contains("which is not verified without --signer"), "{unchecked}");
    sandbox.fails("verify --key-file k --signer eva.verify a.seal", 4, "a.seal: it is signed by another key");
    sandbox.fails("open --key-file k --signer eva.verify a.seal -o b", 4, "it is signed by another key");
    sandbox.ok("seal --key-file k a -o plain.seal");
    sandbox.fails("open --key-file k --signer me.verify plain.seal -o b", 3, "plain.seal: it is not signed");
    assert!(!sandbox.path("b").exists());
    sandbox.fails("open --key-file k --signer me.verify --range 0..5 a.seal -o -", 2, "a part of a file");
    let part = sandbox.run("open --key-file k --range 99990.. a.seal -o -");
    assert!(part.code == 0 && part.out == text(100_000)[99_990..], "the signature is not text");
}

#[test]
fn directories_are_signed_too() {
    let sandbox = with_keys();
    sandbox.write("d/x", text(50_000));
    sandbox.ok("seal --key-file k --sign me.sign d");
    sandbox.ok("open --key-file k --signer me.verify d.seal -C out");
    assert!(sandbox.read("out/d/x") == text(50_000));
    sandbox.fails("open --key-file k --signer eva.verify d.seal -C none", 4, "signed by another key");
    assert!(!sandbox.path("none/d").exists());
    sandbox.ok("seal --key-file k --sign me.sign --each d -C each");
    sandbox.ok("open --key-file k --signer me.verify --each each/d -o back --manifest");
    sandbox.fails("open --key-file k --signer eva.verify --each each/d -o none2", 4, ".seal-manifest: it is signed by");
    let listed = sandbox.run("inspect --list --key-file k d.seal");
    assert!(listed.code == 0 && String::from_utf8(listed.out).unwrap().contains("d/x"), "{}", listed.err);
}

/// An attack: somebody with the key but not the signing key adds files and a manifest of them, so that the next run
/// would sign all of it.
#[test]
fn no_manifest_of_somebody_else_is_signed() {
    let sandbox = with_keys();
    sandbox.write("d/x", "mine");
    sandbox.write("more/y", "later");
    sandbox.ok("seal --key-file k --sign me.sign --each d -o each");
    for forged in ["", "--sign eva.sign"] {
        sandbox.write("d/x", "forged");
        sandbox.ok(&format!("seal --key-file k {forged} --each d -o forged"));
        sandbox.sh("cp -r forged/. each; rm -r forged");
        let manifest = sandbox.read("each/.seal-manifest");
        let line = "seal --key-file k --sign me.sign --each -f more -o each";
        let said = sandbox.run(line);
        assert!([3, 4].contains(&said.code), "{forged}: {} {}", said.code, said.err);
        assert!(
            said.err.contains("each/.seal-manifest: it is ")
                && said.err.contains("has to be signed by --sign or one of --signer"),
            "{}",
            said.err
        );
        assert!(sandbox.read("each/.seal-manifest") == manifest && !sandbox.path("each/y.seal").exists());
    }
    // Whoever seals all the files vouches for them.
    sandbox.write("d/x", "mine");
    sandbox.ok("seal --key-file k --sign me.sign --each -f d -o each");
    sandbox.ok("seal --key-file k --sign me.sign --each -f more -o each");
    sandbox.ok("open --key-file k --signer me.verify --each each -o back --manifest");
    assert_eq!((sandbox.read("back/x"), sandbox.read("back/y")), (b"mine".to_vec(), b"later".to_vec()));
}

/// A regression: the name of standard input was used to name the signature.
#[test]
fn standard_input_has_no_name_for_a_signature() {
    let sandbox = with_keys();
    for input in ["-", "/dev/stdin", "/dev/fd/0"] {
        let said = sandbox.sh(&format!("cat a | sealwright sign -s me.sign {input}"));
        let word = "standard input has no name for its signature\nhint: use -o SIG";
        assert!(said.code == 2 && said.err.contains(word), "{input}: {}", said.err);
        let said = sandbox.sh(&format!("cat a | sealwright sign -s me.sign {input} -o a.sig -f"));
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{input}");
        sandbox.ok("verify --signer me.verify --detached a -q");
    }
    let said = sandbox.sh("cat me.sign | sealwright sign -s /dev/stdin - -o x.sig");
    assert!(said.code == 2 && said.err.contains("standard input cannot be both"), "{}", said.err);
}

/// Nor are files of another signer listed in a new manifest.
#[test]
fn no_files_of_somebody_else_are_signed_for() {
    let sandbox = with_keys();
    sandbox.write("d/x", "theirs");
    sandbox.write("more/y", "mine");
    let line = "seal -q --key-file k --sign me.sign --each more -o each";
    for (signed, code) in [("", 3), ("--sign eva.sign", 4)] {
        sandbox.sh("rm -rf each");
        sandbox.ok(&format!("seal --key-file k {signed} --each d -o each"));
        std::fs::remove_file(sandbox.path("each/.seal-manifest")).unwrap();
        let said = sandbox.run(line);
        assert_eq!(said.code, code, "{signed}: {}", said.err);
        assert!(
            said.err.starts_with("sealwright: each/x.seal: it is ")
                && said.err.contains("has to be signed by --sign or one of --signer"),
            "{}",
            said.err
        );
        assert!(!sandbox.path("each/y.seal").exists());
    }
    // The signer can be named, with a manifest and without.
    let said = sandbox.run(&format!("{line} --signer eva.verify"));
    let word = "sealwright: warning: each: had no manifest; the new one lists 1 file as found there\n";
    assert_eq!((said.code, said.err.as_str()), (0, word));
    sandbox.ok("open --key-file k --signer me.verify --signer eva.verify --each each -o back --manifest");
    assert_eq!((sandbox.read("back/x"), sandbox.read("back/y")), (b"theirs".to_vec(), b"mine".to_vec()));
    sandbox.ok("seal --key-file k --sign eva.sign --each d -o theirs");
    sandbox.ok("seal --key-file k --sign me.sign --signer eva.verify --each -f more -o theirs");
    sandbox.fails("seal --key-file k --signer eva.verify d/x", 2, "--each");
}

#[test]
fn inspect_tells_that_a_file_is_signed() {
    let sandbox = with_keys();
    sandbox.ok("seal --key-file k --sign me.sign a");
    sandbox.ok("seal --key-file k a -o plain.seal");
    for (name, signed) in [("a.seal", true), ("plain.seal", false)] {
        let said = String::from_utf8(sandbox.run(&format!("inspect {name}")).out).unwrap();
        assert_eq!(said.contains("  signed   yes\n"), signed, "{said}");
        let said: serde_json::Value =
            serde_json::from_slice(&sandbox.run(&format!("inspect --json {name}")).out).unwrap();
        assert_eq!(said["signed"], signed, "{said}");
    }
}

#[test]
fn a_signature_beside_a_file() {
    let sandbox = with_keys();
    sandbox.chmod("a", 0o644);
    let signed = sandbox.sh("sealwright sign -s me.sign --comment 'version 2' a");
    assert_eq!((signed.code, signed.err.as_str()), (0, ""));
    assert_eq!(sandbox.mode("a.sig"), 0o644);
    let said = sandbox.run("verify --signer me.verify --detached a");
    assert_eq!(String::from_utf8(said.out).unwrap(), "a: the signature is valid, with the comment: version 2\n");
    let piped = sandbox.sh("sealwright verify --signer me.verify --signature a.sig - < a");
    assert_eq!(piped.code, 0, "{}", piped.err);
    sandbox.fails("verify --signer eva.verify --detached a", 4, "a: it is signed by another key");
    sandbox.fails("sign -s me.sign a", 1, "a.sig: exists already");
    sandbox.ok("sign -s me.sign a --force -o a.sig");
    sandbox.fails("verify --detached a", 2, "--signer");
    sandbox.fails("verify --signer me.verify --detached missing", 1, "missing.sig");
    sandbox.fails(
        "verify --signer me.verify --signature a a",
        3,
        "a: not authentic: this is not a file with a signature",
    );
    let mut other = text(100_000);
    other[99_999] ^= 1;
    sandbox.write("a", other);
    sandbox.fails("verify --signer me.verify --detached a", 3, "a: not authentic: the signature is not valid");
}

#[test]
fn no_signature_replaces_what_it_is_made_from() {
    let sandbox = with_keys();
    let key = sandbox.read("me.sign");
    sandbox.write("b", "another");
    sandbox.sh("ln -s a soft; ln a hard; ln -s me.sign key; cp b a.sig");
    for (output, force) in ["a", "./a", "soft", "hard"].iter().flat_map(|output| [(output, "-f"), (output, "")]) {
        sandbox.fails(
            &format!("sign -s me.sign {force} -o {output} a"),
            2,
            &format!("{output}: is both input and output"),
        );
    }
    for output in ["me.sign", "key"] {
        let said = format!("{output}: is both input and output\nhint: name another output");
        sandbox.fails(&format!("sign -s me.sign -f -o {output} a"), 2, &said);
        sandbox.fails(&format!("sign -s key -f -o {output} a"), 2, &said);
    }
    // The signature's path would be that of another file to be signed, or of the key.
    sandbox.fails("sign -s me.sign -f b a a.sig", 2, "a.sig: is both input and output");
    sandbox.sh("cp me.sign b.sig");
    sandbox.fails("sign -s b.sig -f a b", 2, "b.sig: is both input and output");
    let said = sandbox.sh("sealwright sign -s me.sign -f -o a - <a");
    assert!(said.code == 2 && said.err.contains("a: is both input and output"), "{}", said.err);
    assert!(sandbox.read("a") == text(100_000) && sandbox.read("me.sign") == key && sandbox.read("b.sig") == key);
    assert_eq!(sandbox.read("a.sig"), b"another", "nothing was signed before the refusal");
    sandbox.ok("sign -s me.sign -f -o a.sig a");
}

#[test]
fn a_signature_to_standard_output() {
    let sandbox = with_keys();
    for name in ["-", "/dev/stdout"] {
        let said = sandbox.sh(&format!("echo before >s; sealwright sign -s me.sign -o {name} a >>s; echo after >>s"));
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{name}");
        let written = String::from_utf8(sandbox.read("s")).unwrap();
        assert!(written.starts_with("before\n-----BEGIN") && written.ends_with("-----\nafter\n"), "{written}");
        let piped = sandbox.sh(&format!(
            "sealwright sign -s me.sign -o {name} a | cat >p; sealwright verify --signer me.verify --signature p a"
        ));
        assert_eq!((piped.code, piped.err.as_str()), (0, ""), "{name}");
    }
}

/// Every character of a signature file is checked.
#[test]
fn a_changed_signature_does_not_hold() {
    let sandbox = with_keys();
    sandbox.write("b", "text");
    sandbox.sh("sealwright sign -s me.sign --comment hello b");
    let signature = sandbox.read("b.sig");
    for at in (0..signature.len()).step_by(97).chain([0, 37, 60, 62, 70, signature.len() - 40]) {
        let mut changed = signature.clone();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        sandbox.write("c.sig", &changed);
        let said = sandbox.run("verify --signer me.verify --signature c.sig b");
        assert!([3, 4].contains(&said.code) && said.out.is_empty(), "{at}: {} {}", said.code, said.err);
    }
    sandbox.write("c.sig", &signature[..signature.len() / 2]);
    sandbox.fails("verify --signer me.verify --signature c.sig b", 3, "this is not a file with a signature");
}

#[test]
fn keys_are_read_with_care() {
    let sandbox = with_keys();
    // A public key is reported as such before its file's permissions, which the user would otherwise change in vain.
    for mode in [0o644, 0o600] {
        sandbox.chmod("me.verify", mode);
        let word =
            "me.verify: cannot be used as a key file: it is a verification key, which is public\nhint: the secret";
        sandbox.fails("sign -s me.verify a", 1, word);
    }
    sandbox.write("word", "not a key\n");
    sandbox.chmod("word", 0o600);
    sandbox.fails("sign -s word a", 1, "sealwright: word, line 1: not a signing key of Sealwright");
    let word = "sealwright: me.sign, line 2: it is a signing key\nhint: --sign signs with it";
    sandbox.fails("verify --signer me.sign --detached a", 1, word);
    let word = "sealwright: .: cannot read: Is a directory";
    sandbox.fails("verify --signer me.verify --signature . a", 1, word);
    let word = "me.verify: not authentic: this is not a file with a signature\nhint: `sealwright sign FILE` writes one, FILE.sig";
    sandbox.fails("verify --signer me.verify --signature me.verify a", 3, word);
    sandbox.fails("seal --key-file k --sign missing a", 1, "missing: cannot open");
    let made = sandbox.run("key new --signing --passphrase-command 'echo' -o sealed.sign");
    assert_ne!(made.code, 0, "an empty passphrase");
    let made = sandbox.sh("sealwright key new --signing --passphrase-command 'echo correct horse' -o sealed.sign");
    assert!(made.code == 0 && !sandbox.read("sealed.sign").starts_with(b"#"), "{}", made.err);
    sandbox.fails("key new --passphrase-command true -o x", 2, "a passphrase works only with --pair or --signing");
}
