//! Files for SSH keys: sealed for the content of a `.pub` file, opened with keys made by `ssh-keygen`.
#![cfg(feature = "ssh")]
#![allow(clippy::unwrap_used)]

use std::{fs, path::Path};

use sealwright_transcripts::{Sandbox, text};

/// A sandbox with the keys of `tests/keys` and the text `a`.
fn with_keys() -> Sandbox {
    let sandbox = Sandbox::new();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/keys")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        sandbox.write(name, fs::read(&path).unwrap());
        sandbox.chmod(name, 0o600);
    }
    sandbox.write("a", text(40_000));
    sandbox
}

fn opens(sandbox: &Sandbox, file: &str, identity: &str) -> bool {
    let said = sandbox.run(&format!("open {file} -i {identity} -o -"));
    if said.code != 0 {
        assert_eq!((said.code, said.out.len()), (4, 0), "{identity}: {}", said.err);
    }
    said.code == 0 && said.out == sandbox.read("a")
}

#[test]
fn each_kind_of_key_opens_what_was_sealed_for_it_alone() {
    let sandbox = with_keys();
    for key in ["ed25519", "rsa"] {
        sandbox.ok(&format!("seal a -R {key}.pub -o {key}.seal"));
        for other in ["ed25519", "rsa"] {
            assert_eq!(opens(&sandbox, &format!("{key}.seal"), other), key == other, "{key} {other}");
        }
    }
    // For all keys at once, including one of our own pairs, and with a key as an argument.
    let word = String::from_utf8(sandbox.read("ed25519.pub")).unwrap();
    let word = word.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let sealed = sandbox.sh(&format!("sealwright seal a -r '{word}' -R rsa.pub --key-file k -o all.seal"));
    assert_eq!((sealed.code, sealed.err.as_str()), (0, ""));
    assert!(opens(&sandbox, "all.seal", "ed25519") && opens(&sandbox, "all.seal", "rsa"));
    let seen = String::from_utf8(sandbox.run("inspect all.seal").out).unwrap();
    assert!(seen.contains("opens    with any of 2 SSH keys, 1 raw key\n"), "{seen}");
    let seen = String::from_utf8(sandbox.run("inspect --json all.seal").out).unwrap();
    assert!(seen.contains(r#"{"kind":"ssh-ed25519"}"#) && seen.contains(r#"{"kind":"ssh-rsa"}"#), "{seen}");
}

/// The public key in an encrypted private key file is readable.
#[test]
fn a_key_for_ssh_is_not_sealed_away() {
    let sandbox = with_keys();
    for key in ["ed25519", "ed25519_encrypted", "rsa"] {
        sandbox.fails(&format!("seal -R {key}.pub --remove a {key}"), 2, "holds a key that opens the sealed files");
        assert!(sandbox.path(key).exists() && !sandbox.path("a.seal").exists());
    }
    std::fs::write(sandbox.path("pem"), "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n").unwrap();
    sandbox.fails("seal -R rsa.pub --remove a pem", 2, "may be the private key of a recipient");
    assert!(sandbox.path("pem").exists() && !sandbox.path("a.seal").exists());
    sandbox.ok("seal -R rsa.pub --remove ed25519");
}

#[test]
fn an_encrypted_key_asks_for_its_passphrase() {
    let sandbox = with_keys();
    sandbox.ok("seal a -R ed25519_encrypted.pub");
    // `script` provides a terminal; the passphrase is typed once it is asked for.
    let typed = |passphrase: &str| {
        let open = "sealwright open a.seal -i ed25519_encrypted -o b --force";
        sandbox.sh(&format!("rm -f screen; (for _ in $(seq 300); do grep -qi passphrase screen 2>/dev/null && break; sleep 0.1; done; echo '{passphrase}'; sleep 5) | script -qefc '{open}' screen"))
    };
    let wrong = typed("wrong horse");
    assert_eq!(wrong.code, 4, "{}", String::from_utf8_lossy(&wrong.out));
    assert!(!sandbox.path("b").exists());
    let right = typed("correct horse");
    assert_eq!(right.code, 0, "{}", String::from_utf8_lossy(&right.out));
    assert!(sandbox.read("b") == text(40_000));
}

#[test]
fn the_public_key_of_an_ssh_key_is_printed() {
    let sandbox = with_keys();
    for key in ["ed25519", "rsa"] {
        let said = sandbox.run(&format!("key public -i {key}"));
        let wanted = String::from_utf8(sandbox.read(&format!("{key}.pub"))).unwrap();
        let printed = String::from_utf8(said.out).unwrap();
        assert_eq!(printed.trim().split(' ').collect::<Vec<_>>(), wanted.split(' ').take(2).collect::<Vec<_>>());
    }
}

#[test]
fn rekey_knows_ssh_keys() {
    let sandbox = with_keys();
    sandbox.ok("seal a -R ed25519.pub --key-file k -o x.seal");
    let said = sandbox.run("rekey x.seal -i ed25519 --add-file rsa.pub --remove-file ed25519.pub");
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert!(opens(&sandbox, "x.seal", "rsa") && !opens(&sandbox, "x.seal", "ed25519"));
    sandbox.fails("rekey x.seal -i rsa --remove-file ed25519.pub", 1, "that is to be removed does not open it");
}

#[test]
fn what_cannot_be_used_says_why() {
    let sandbox = with_keys();
    sandbox.ok("seal a -R ed25519.pub");
    sandbox.fails("open a.seal -i ecdsa -o b", 1, "only ssh-ed25519 and ssh-rsa keys can be used");
    sandbox.fails("open a.seal -i rsa_pem -o b", 1, "ssh-keygen -p");
    sandbox.chmod("ed25519", 0o644);
    sandbox.fails("open a.seal -i ed25519 -o b", 1, "others may read it");
    let mut key = sandbox.read("ed25519");
    key[60] = if key[60] == b'A' { b'B' } else { b'A' };
    sandbox.write("broken", key);
    sandbox.chmod("broken", 0o600);
    sandbox.fails("open a.seal -i broken -o b", 1, "not complete, or damaged");
    sandbox.fails("seal a -R ecdsa.pub -o b", 1, "ecdsa.pub, line 1: only ssh-ed25519 and ssh-rsa keys can be used");
    // 1024 bits
    sandbox.fails("seal a -R rsa_short.pub -o b", 1, "at least 2048 bits");
    assert!(!sandbox.path("b").exists());
}

#[test]
fn a_changed_slot_opens_nothing() {
    let sandbox = with_keys();
    for key in ["ed25519", "rsa"] {
        sandbox.ok(&format!("seal a -R {key}.pub -o {key}.seal"));
        let sealed = sandbox.read(&format!("{key}.seal"));
        // A slot: a head of 4 bytes, a mark of 16, then the input of the slot key's derivation, then the file key.
        for at in [12, 16, 20, 36, 60] {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            sandbox.write("changed.seal", changed);
            let said = sandbox.run(&format!("open changed.seal -i {key} -o -"));
            assert!(said.out.is_empty() && [3, 4].contains(&said.code), "{key} {at}: {} {}", said.code, said.err);
        }
    }
}
