//! `enc` compared with the real `openssl`: the same bytes, in both directions.
#![allow(clippy::unwrap_used)]

use sealwright_transcripts::{Sandbox, have, text};

const CIPHERS: [&str; 6] = ["aes-128-cbc", "aes-192-cbc", "aes-256-cbc", "aes-128-ctr", "aes-192-ctr", "aes-256-ctr"];
const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const IV: &str = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";
const LENGTHS: [usize; 6] = [0, 1, 16, 1000, 262_144, 1_000_003];

/// Runs both programs with the same arguments and compares their output.
fn both_agree(sandbox: &Sandbox, words: &str) {
    let script = format!(
        "openssl enc -e {words} -in a -out theirs && sealwright enc -e {words} -in a -out ours -force && cmp ours theirs && \
         sealwright enc -d {words} -in theirs -out back -force && cmp a back"
    );
    let said = sandbox.sh(&script);
    assert_eq!(said.code, 0, "{words}\n{}{}", said.err, String::from_utf8_lossy(&said.out));
}

/// With a fresh salt each time, the outputs differ, but each program decrypts the other's.
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

/// -pass and -kfile end the line differently, as in openssl.
#[test]
fn lines_end_where_openssl_ends_them() {
    if !have("openssl") {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("a", text(1000));
    let words = "-aes-128-cbc -pbkdf2 -iter 3";
    let full = ["x".repeat(127), "x".repeat(1023)];
    for (secret, end) in ["secret", &full[0], &full[1]]
        .into_iter()
        .flat_map(|secret| ["", "\n", "\r\n", "\r\r\n", "\r", "\nnext\n"].map(|end| (secret, end)))
    {
        sandbox.write("pw", format!("{secret}{end}"));
        let sources: &[_] = match secret {
            "secret" => &["-pass file:pw", "-pass fd:7", "-pass stdin", "-kfile pw"],
            _ => &["-pass file:pw", "-kfile pw"],
        };
        for &source in sources {
            let refused = match source {
                "-kfile pw" => secret.len() > 127,
                _ => secret.len() == 1023 && end.starts_with('\r'),
            };
            let script = format!(
                "exec 7<pw; openssl enc -e {words} {source} -in a -out theirs <pw || exit 9; exec 7<pw
                 sealwright enc -d {words} {source} -in theirs -out b -force <pw && cmp a b && exec 7<pw &&
                 sealwright enc -e {words} {source} -in a -out ours -force <pw && exec 7<pw &&
                 openssl enc -d {words} {source} -in ours -out b <pw && cmp a b"
            );
            let said = sandbox.sh(&script);
            if refused {
                assert!(
                    said.code == 1 && said.err.contains("reads only the first") && said.err.contains("\nhint: "),
                    "{}",
                    said.err
                );
            } else {
                assert_eq!((said.code, said.err.as_str()), (0, ""), "{} bytes, {end:?}, {source}", secret.len());
            }
        }
    }
    sandbox.write("pw", "\n");
    each_reads_the_other(&sandbox, &format!("{words} -pass file:pw"));
    for (line, source) in [("", "-pass file:pw"), ("", "-kfile pw"), ("\n", "-kfile pw"), ("\r\n", "-kfile pw")] {
        sandbox.write("pw", line);
        assert_ne!(sandbox.sh(&format!("openssl enc {words} {source} -in a -out c")).code, 0);
        sandbox.fails(&format!("enc {words} {source} -in a -out d"), 1, "pw: there is no passphrase\nhint: ");
    }
    sandbox.write("pw", "secret\0more\n");
    sandbox.fails(&format!("enc {words} -pass file:pw -in a -out c"), 1, "pw: the line has a zero byte");
    sandbox.fails(&format!("enc {words} -kfile pw -in a -out c"), 1, "pw: the line has a zero byte");
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
    sandbox.fails(
        &format!("enc -aes-256-cbc -K 00 -iv {IV} -in a -out b"),
        2,
        "64 are needed\nhint: openssl enc silently pads",
    );
    sandbox.fails(&format!("enc -aes-256-cbc -K {KEY}00 -iv {IV} -in a -out b"), 2, "64 are needed");
    sandbox.fails(&format!("enc -aes-256-cbc -K {KEY} -in a -out b"), 2, "aes-256-cbc needs -iv");
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
    sandbox.fails(
        "enc -aes-256-xts -pass file:secret -in a -out b",
        2,
        "cipher aes-256-xts is not supported; those that are: aes-",
    );
    sandbox.fails(
        "enc -camellia-256-cbc -pass file:secret -in a",
        2,
        "cipher camellia-256-cbc is not supported; those",
    );
    sandbox.fails(
        "enc -aes-256-ecb -pbkdf2 -pass file:secret -in a -out b",
        2,
        "is supported for decryption only\nhint: use seal",
    );
    assert_eq!(sandbox.names(), ["a", "secret"]);
    sandbox.ok("enc -aes-256-cbc -pbkdf2 -pass file:secret -in a -out b");
    let word = "b: exists already\nhint: -force replaces it, -out names another output\n";
    sandbox.fails("enc -aes-256-cbc -pbkdf2 -pass file:secret -in a -out b", 1, word);
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

/// Salt, key and IV as `openssl` prints them, with -p and with -P.
#[test]
fn keys_are_printed_as_openssl_prints_them() {
    if !have("openssl") {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("a", text(1000));
    sandbox.write("secret", "correct horse\n");
    let key = format!("-K {} -iv {IV}", &KEY[..32]);
    for words in [
        "-e -aes-256-cbc -pbkdf2 -S 0123456789abcdef -pass file:secret",
        "-d -aes-192-cbc -iter 3 -nosalt -pass file:secret",
        "-d -aes-128-ecb -iter 3 -nosalt -pass file:secret",
        &format!("-e -aes-128-ctr {key}"),
        &format!("-d -aes-128-cfb {key}"),
    ] {
        // With -K there is no salt; OpenSSL 3.0 then prints uninitialised memory.
        let known = if words.contains("-K") { "grep -v ^salt=" } else { "cat" };
        let said = sandbox.sh(&format!(
            "openssl enc {words} -P -in a | {known} >theirs; sealwright enc {words} -P -in a >ours && cmp ours theirs"
        ));
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{words}");
    }
    // A salt at the start of the file, written and read.
    let said = sandbox.sh("words='-aes-256-cbc -pbkdf2 -pass file:secret'
         sealwright enc -e $words -p -in a -out e >said && openssl enc -d $words -p -in e -out b >theirs && cmp a b &&
         cmp said theirs && sealwright enc -d $words -P -in e >again && cmp again theirs");
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", String::from_utf8_lossy(&said.out));
    // If no text is read, standard input may contain the passphrase.
    let said = sandbox.sh("words='enc -aes-256-cbc -pbkdf2 -S 0123456789abcdef -P -pass stdin'
         openssl $words <secret >theirs; sealwright $words <secret >ours && cmp ours theirs");
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    sandbox.fails("enc -d -aes-256-cbc -pbkdf2 -P -pass stdin", 2, "standard input cannot be both");
    sandbox.fails("enc -aes-256-cbc -pbkdf2 -pass file:secret -p -in a", 2, "-p would mix the key with the output");
}

#[test]
fn no_output_replaces_what_it_is_made_from() {
    let sandbox = Sandbox::new();
    sandbox.write("a", text(1000));
    sandbox.write("pw", "correct horse\n");
    sandbox.sh("ln -s pw soft; ln pw hard");
    let key = sandbox.read("k");
    let words = "enc -aes-256-cbc -pbkdf2 -in a";
    for output in ["pw", "./pw", "soft", "hard"] {
        let said = format!("{output}: is both input and output\nhint: name another output");
        sandbox.fails(&format!("{words} -pass file:pw -out {output} -force"), 2, &said);
        sandbox.fails(&format!("{words} -kfile pw -out {output} -force"), 2, &said);
        sandbox.fails(&format!("{words} -pass file:pw -out {output}"), 2, &said);
    }
    sandbox.fails(&format!("enc -aes-256-cbc -keyfile k -iv {IV} -in a -out k -force"), 2, "k: is both input and");
    sandbox.fails(&format!("{words} -pass file:pw -out a -force"), 2, "a: is both input and output");
    for script in ["-in a -pass fd:7 -out pw 7<pw", "-in a -pass stdin -out pw <pw", "-pass file:pw -out a <a"] {
        let said = sandbox.sh(&format!("sealwright enc -aes-256-cbc -pbkdf2 -force {script}"));
        assert!(said.code == 2 && said.err.contains("is both input and output"), "{script}\n{}", said.err);
    }
    assert!(sandbox.read("a") == text(1000) && sandbox.read("pw") == b"correct horse\n" && sandbox.read("k") == key);
}

#[test]
fn dev_stdout_is_standard_output() {
    let sandbox = Sandbox::new();
    sandbox.write("a", text(1000));
    let words = format!("enc -aes-256-cbc -keyfile k -iv {IV} -in a");
    sandbox.ok(&format!("{words} -out b"));
    for name in ["-", "/dev/stdout"] {
        let said = sandbox.sh(&format!("cp a s; sealwright {words} -out {name} >>s; cat a b | cmp - s"));
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{name}");
        let piped = sandbox.run(&format!("{words} -out {name}"));
        assert!((piped.code, piped.err.as_str()) == (0, "") && piped.out == sandbox.read("b"), "{name}");
        let printed = sandbox.run(&format!("{words} -p -out {name}"));
        assert!(printed.code == 2 && printed.out.is_empty(), "{name}");
        assert!(printed.err.contains("-p would mix the key with the output\nhint: "), "{}", printed.err);
    }
}

#[test]
fn options_without_effect_are_taken() {
    let sandbox = Sandbox::new();
    sandbox.write("a", text(1000));
    sandbox.write("secret", "correct horse\n");
    let said = sandbox.run("enc -aes-256-cbc -nosalt -pbkdf2 -pass file:secret -A -bufsize 64k -v -in a -out b");
    assert_eq!((said.code, said.err.as_str()), (0, "bytes read   :     1000\nbytes written:     1008\n"));
    sandbox.fails(
        "enc -aes-256-cbc -pbkdf2 -pass file:secret -bufsize big -in a -out c",
        2,
        "SIZE>': `big` is not a number of bytes",
    );
}

/// Existing files with ciphers that should not be used for new ones.
#[cfg(feature = "enc-more")]
#[test]
fn other_ciphers() {
    if !have("openssl") {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("a", text(300_000));
    sandbox.write("secret", "correct horse\n");
    for cipher in ["des3", "des-ede3-cbc", "des-ede3-cfb", "des-ede3-ofb", "des-ede3", "aes-192-ecb"] {
        let words = format!("-{cipher} -pbkdf2 -pass file:secret");
        let said = sandbox.sh(&format!("openssl enc -e {words} <a | sealwright enc -d {words} | cmp - a"));
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{cipher}");
        sandbox.fails(&format!("enc -e {words} -in a -out b"), 2, "is supported for decryption only");
    }
    for cipher in ["chacha20", "aes-192-cfb", "aes-128-ofb"] {
        each_reads_the_other(&sandbox, &format!("-{cipher} -pbkdf2 -pass file:secret"));
    }
}

/// A regression: the output was written although nobody got its key.
#[test]
fn keys_that_cannot_be_printed_are_reported() {
    let sandbox = Sandbox::new();
    sandbox.write("secret", "correct horse\n");
    sandbox.write("a", text(1000));
    for more in [format!("-aes-256-cbc -K {KEY} -iv {IV}"), "-aes-128-ctr -pbkdf2 -pass file:secret".into()] {
        for print in ["-p -out b", "-P"] {
            let said = sandbox.sh(&format!("sealwright enc {more} -in a {print} >/dev/full"));
            let word = "sealwright: standard output: cannot write: No space left on device";
            assert!(said.code == 1 && said.err.starts_with(word), "{more} {print}: {} {}", said.code, said.err);
            assert_eq!(sandbox.names(), ["a", "secret"], "{more} {print}");
        }
    }
    // A reader that has seen enough is no failure.
    let said = sandbox.sh(&format!("sealwright enc -aes-256-cbc -K {KEY} -iv {IV} -in a -p -out b | true"));
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert_eq!(sandbox.read("b").len(), 1008);
}
