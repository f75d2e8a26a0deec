//! `enc` beside the real `openssl`: the same bytes, both ways.
#![allow(clippy::unwrap_used)]

use sealwright_transcripts::{Sandbox, have, text};

const CIPHERS: [&str; 6] = ["aes-128-cbc", "aes-192-cbc", "aes-256-cbc", "aes-128-ctr", "aes-192-ctr", "aes-256-ctr"];
const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const IV: &str = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";
const LENGTHS: [usize; 6] = [0, 1, 16, 1000, 262_144, 1_000_003];

/// Runs the same words through both, in the direction each, and compares bytes.
fn both_agree(sandbox: &Sandbox, words: &str) {
    let script = format!(
        "openssl enc -e {words} -in a -out theirs && sealwright enc -e {words} -in a -out ours -force && cmp ours theirs && \
         sealwright enc -d {words} -in theirs -out back -force && cmp a back"
    );
    let said = sandbox.sh(&script);
    assert_eq!(said.code, 0, "{words}\n{}{}", said.err, String::from_utf8_lossy(&said.out));
}

/// A fresh salt each time: no same bytes, but each opens the other's.
fn each_reads_the_other(sandbox: &Sandbox, words: &str) {
    let script = format!(
        "openssl enc -e {words} <a | sealwright enc -d {words} | cmp - a && \
         sealwright enc -e {words} <a >ours && openssl enc -d {words} <ours | cmp - a"
    );
    let said = sandbox.sh(&script);
    assert_eq!(said.code, 0, "{words}\n{}{}", said.err, String::from_utf8_lossy(&said.out));
}

#[test]
fn keys_in_hexadecimal() {
    if !have("openssl") {
        return;
    }
    let sandbox = Sandbox::new();
    for cipher in CIPHERS {
        let digits = if cipher.contains("128") {
            32
        } else if cipher.contains("192") {
            48
        } else {
            64
        };
        for len in LENGTHS {
            sandbox.write("a", text(len));
            both_agree(&sandbox, &format!("-{cipher} -K {} -iv {IV}", &KEY[..digits]));
        }
    }
    sandbox.write("a", text(1000));
    let words = format!("-K {KEY} -iv {IV}");
    both_agree(&sandbox, &format!("-AES-256-CBC {words} -a"));
    both_agree(&sandbox, &format!("-aes256 {words} -base64 -A"));
    sandbox.write("a", text(4096));
    both_agree(&sandbox, &format!("-aes-256-cbc {words} -nopad"));
}

#[test]
fn passphrases() {
    if !have("openssl") {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("secret", "correct horse\n");
    for cipher in CIPHERS {
        sandbox.write("a", text(10_000));
        each_reads_the_other(&sandbox, &format!("-{cipher} -pbkdf2 -pass file:secret"));
    }
    each_reads_the_other(&sandbox, "-aes-256-cbc -pbkdf2 -iter 1234 -md sha512 -pass file:secret -a");
    each_reads_the_other(&sandbox, "-aes-256-cbc -iter 7 -kfile secret -salt");
    both_agree(&sandbox, "-aes-256-cbc -pbkdf2 -S 0123456789abcdef -pass file:secret");
    both_agree(&sandbox, "-aes-256-cbc -pbkdf2 -nosalt -pass file:secret");
    let old = sandbox.sh("openssl enc -aes-256-cbc -pass file:secret <a 2>/dev/null | sealwright enc -d -aes-256-cbc -pass file:secret | cmp - a");
    assert_eq!(old.code, 0, "{}", old.err);
    assert!(old.err.starts_with("sealwright: warning: without -pbkdf2"), "{}", old.err);
    let fd = sandbox.sh("sealwright enc -aes-128-cbc -pbkdf2 -pass fd:7 -in a 7<secret | openssl enc -d -aes-128-cbc -pbkdf2 -pass file:secret | cmp - a");
    assert_eq!((fd.code, fd.err.as_str()), (0, ""));
}

#[test]
fn gcm_is_ours_alone_and_authentic() {
    let sandbox = Sandbox::new();
    sandbox.write("a", text(1000));
    let words = format!("-aes-256-gcm -K {KEY} -iv {}", &IV[..24]);
    sandbox.ok(&format!("enc {words} -in a -out b"));
    sandbox.ok(&format!("enc -d {words} -in b -out c"));
    assert_eq!((sandbox.read("b").len(), sandbox.read("c")), (1016, text(1000)));
    let mut forged = sandbox.read("b");
    forged[500] ^= 1;
    sandbox.write("b", &forged);
    sandbox.fails(&format!("enc -d {words} -in b -out d"), 3, "not authentic");
    assert_eq!(sandbox.names(), ["a", "b", "c"]);
    if have("openssl") {
        assert_ne!(sandbox.sh(&format!("openssl enc {words} -in a -out x")).code, 0);
    }
}

#[test]
fn silent_repairs_and_open_secrets_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    sandbox.write("secret", "x\n");
    sandbox.fails(&format!("enc -aes-256-cbc -K 00 -iv {IV} -in a -out b"), 2, "64 are needed\nhint: openssl enc pads");
    sandbox.fails(&format!("enc -aes-256-cbc -K {KEY}00 -iv {IV} -in a -out b"), 2, "64 are needed");
    sandbox.fails(&format!("enc -aes-256-cbc -K {KEY} -in a -out b"), 2, "--iv");
    sandbox.fails(
        "enc -aes-256-cbc -pbkdf2 -pass pass:s3cr3t -in a -out b",
        2,
        "list of processes\nhint: use -pass file:",
    );
    sandbox.fails("enc -aes-256-cbc -pbkdf2 -k s3cr3t -in a -out b", 2, "list of processes");
    sandbox.fails("enc -aes-256-cbc -pbkdf2 -pass env:HOME -in a -out b", 2, "child process");
    let bare = sandbox.run("enc -aes-256-cbc -pbkdf2 -pass s3cr3t -in a -out b");
    assert!(bare.code == 2 && !bare.err.contains("s3cr3t"), "{}", bare.err);
    sandbox.fails("enc -aes-256-cbc -pbkdf2 -pass stdin", 2, "both the passphrase and the text");
    sandbox.fails("enc -aes-256-gcm -pbkdf2 -pass file:secret -in a -out b", 2, "GCM takes -K and -iv");
    sandbox.fails("enc -aes-256-ecb -pass file:secret -in a -out b", 2, "unknown cipher aes-256-ecb; known are");
    assert_eq!(sandbox.names(), ["a", "secret"]);
    sandbox.ok("enc -aes-256-cbc -pbkdf2 -pass file:secret -in a -out b");
    sandbox.fails("enc -aes-256-cbc -pbkdf2 -pass file:secret -in a -out b", 1, "exists already");
}

#[test]
fn a_key_file_instead_of_a_key_on_the_command_line() {
    let sandbox = Sandbox::new();
    sandbox.write("a", text(100));
    sandbox.ok(&format!("enc -aes-256-cbc -keyfile k -iv {IV} -in a -out b"));
    let hex = String::from_utf8(sandbox.read("k")).unwrap();
    sandbox.ok(&format!("enc -d -aes-256-cbc -K {} -iv {IV} -in b -out c", hex.trim()));
    assert_eq!(sandbox.read("c"), text(100));
}
