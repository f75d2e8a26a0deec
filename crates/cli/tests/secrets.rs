//! Arguments in the wrong place may be secrets: no error repeats them.
#![allow(clippy::unwrap_used)]

use sealwright_transcripts::Sandbox;

/// A key of 32 bytes.
const HEX: &str = "8f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f1";

/// Runs an invalid command line that contains `secret`.
fn keeps(sandbox: &Sandbox, line: &str, secret: &str, word: &str) {
    let said = sandbox.run(line);
    assert_eq!(said.code, 2, "{line}: {}", said.err);
    assert!(said.err.contains(word) && said.err.contains("\nhint: "), "{line}: {}", said.err);
    let (secret, said) = (secret.to_ascii_lowercase(), said.err.to_ascii_lowercase());
    let parts = secret.as_bytes().windows(secret.len().min(20));
    for part in parts.map(|part| std::str::from_utf8(part).unwrap()) {
        assert!(!said.contains(part), "{line}: {said}");
    }
}

#[test]
fn values_that_no_option_takes_are_not_repeated() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    let long = "SEAL-SECRET-KEY-1".to_owned() + &"q".repeat(52);
    let enc = "enc -aes-256-cbc -pbkdf2 -in a -out b";
    for (line, secret, word) in [
        ("seal --passphrase=hunter2 a".to_owned(), "hunter2", "--passphrase takes no value"),
        ("seal --passphrase-fd=hunter2 a".into(), "hunter2", "--passphrase-fd <N> takes the number of a descriptor"),
        ("open --passphrase-fd 271828182845 a".into(), "271828182845", "--passphrase-fd <N> takes the number"),
        (format!("open --key-fd={HEX} a"), HEX, "--key-fd <N> takes the number of a descriptor"),
        (format!("{enc} -iv 00 -K{HEX}"), HEX, "unexpected argument '--K...' found"),
        (format!("{enc} -iv 00 --K{HEX}"), HEX, "unexpected argument '--K...' found"),
        (format!("{enc} -khunter2"), "hunter2", "unexpected argument '--k...' found"),
        (format!("{enc} -passhunter2"), "hunter2", "unexpected argument '--pass...' found"),
        (format!("{enc} -pass fd:hunter2"), "hunter2", "-pass fd: takes the number of a descriptor"),
        (format!("{enc} {long}"), &long, "unexpected argument found"),
        (long.clone(), &long, "unrecognized subcommand"),
        (format!("seal --key-file k a --suite {HEX}"), HEX, "invalid value for '--suite <SUITE>'"),
        (format!("seal --key-file k a --cost={HEX}"), HEX, "invalid value for '--cost <SIZE>'"),
        (format!("seal --key-file k a --threads {long}"), &long, "invalid value for '--threads <N>'"),
        (format!("open --key-file k a -o b --range {HEX}"), HEX, "invalid value for '--range <A..B>'"),
        (format!("open --key-file k a -o b --max-cost {long}"), &long, "invalid value for '--max-cost <MEMORY"),
    ] {
        keeps(&sandbox, &line, secret, word);
    }
    // An SSH key starts like an option.
    let said = sandbox.sh("sealwright open -i \"$(printf -- '-----BEGIN X KEY-----\nb3BlbnNzaC1rZXktdjE\n')\" a");
    assert!(said.code == 2 && !said.err.contains("b3Blbn"), "{}", said.err);
    // A misspelt option is still named, and so are files.
    sandbox.fails("seal --passfrase a", 2, "unexpected argument '--passfrase' found\nhint: a similar argument exists");
    sandbox.fails("enc -rot13 -in a", 2, "'--rot13'");
    sandbox.fails("enc -aes-256-cbc -kfile a -keyfile a -iv 00", 2, "--kfile <FILE>");
    assert!(!sandbox.path("b").exists());
}

/// The secret key itself, in place of the name of its file.
#[cfg(all(feature = "public-keys", feature = "signatures"))]
#[test]
fn a_key_in_place_of_its_file_is_not_repeated() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    sandbox.ok("seal --key-file k a");
    assert_eq!(sandbox.run("key new --pair -o my.id").code + sandbox.run("key new --signing -o my.sign").code, 0);
    let secret_of = |file: &str| {
        let text = String::from_utf8(sandbox.read(file)).unwrap();
        text.lines().last().unwrap().to_owned()
    };
    let (secret, signing) = (secret_of("my.id"), secret_of("my.sign"));
    let small = secret.to_ascii_lowercase();
    for (line, secret) in [
        (format!("open a.seal -i {secret}"), &*secret),
        (format!("open a.seal -i {small}"), &small),
        (format!("open a.seal -i my.id -i {HEX}"), HEX),
        (format!("open a.seal --key-file {}", &HEX[..32]), &HEX[..32]),
        (format!("key public -i {secret}"), &secret),
        (format!("seal --key-file k --sign {signing} a -o b"), &signing),
        (format!("sign -s {signing} a"), &signing),
        (format!("verify --signer {signing} --key-file k a.seal"), &signing),
        (format!("seal --key-file {HEX} a -o b"), HEX),
        (format!("seal -R {secret} a -o b"), &secret),
        (format!("rekey a.seal --key-file k --add-key-file {HEX}"), HEX),
        (format!("enc -aes-192-cbc -keyfile {} -iv 00 -in a -out b", &HEX[..48]), &HEX[..48]),
        (format!("enc -aes-256-cbc -kfile {HEX} -in a -out b"), HEX),
        (format!("enc -aes-256-cbc -pass file:{HEX} -in a -out b"), HEX),
        // In place of the name of another file.
        (format!("seal --key-file k --ad-file {secret} a -o b"), &secret),
        (format!("open --key-file k --ad-file {HEX} a.seal -o b"), HEX),
        (format!("inspect --list --key-file k --ad-file {HEX} a.seal"), HEX),
        (format!("seal a --key-file k {HEX}"), HEX),
        (format!("seal --each --key-file k {small} -C b"), &small),
        (format!("open --key-file k {secret} -o b"), &secret),
        (format!("verify --key-file k a.seal {HEX}"), HEX),
        (format!("inspect {secret}"), &secret),
        (format!("inspect --list --key-file k {secret}"), &secret),
        (format!("rekey {HEX} --key-file k --add-key-file other"), HEX),
        (format!("sign -s my.sign {HEX}"), HEX),
        (format!("enc -aes-256-cbc -pass file:k -in {HEX} -out b"), HEX),
    ] {
        keeps(&sandbox, &line, secret, "sealwright: (a key, not shown): is a key, not the name of a file");
    }
    // A whole identity file, substituted by the shell.
    let said = sandbox.sh("sealwright open a.seal -i \"$(cat my.id)\" -o b");
    assert!(said.code == 2 && !said.err.contains(&secret[20..40]), "{}", said.err);
    assert!(!sandbox.path("b").exists() && !sandbox.path("a.sig").exists());
    // A file may have such a name.
    std::fs::rename(sandbox.path("k"), sandbox.path(HEX)).unwrap();
    sandbox.ok(&format!("open --key-file ./{HEX} a.seal -o b"));
    // And texts may be named by hashes.
    std::fs::rename(sandbox.path(HEX), sandbox.path("k")).unwrap();
    std::fs::rename(sandbox.path("a"), sandbox.path(HEX)).unwrap();
    sandbox.ok(&format!("seal --key-file k --ad-file {HEX} {HEX}"));
}

/// A regression: a key that was lost in a closed pipe or stream was reported as made.
#[cfg(all(feature = "public-keys", feature = "signatures"))]
#[test]
fn a_new_key_that_reaches_nobody_is_a_failure() {
    let sandbox = Sandbox::new();
    let failed = "sealwright: standard output: cannot write: ";
    for line in ["key new", "key new --raw", "key new --pair", "key new --signing", "key new --pair -o p"] {
        let said = sandbox.sh(&format!("sealwright {line} >&-"));
        assert!(said.code == 1 && said.err.starts_with(failed), "{line}: {} {}", said.code, said.err);
        assert_eq!(sandbox.names(), [""; 0], "{line}");
    }
    assert_eq!(sandbox.run("key new --pair -o id").code, 0);
    for line in [
        "key new",
        "key new --pair",
        "key new --signing",
        "key new --pair -o p",
        "key new --signing -o s",
        "key public -i id",
    ] {
        // The reader has ended by then.
        let said = sandbox.sh(&format!("{{ sleep 0.5; sealwright {line}; echo $? >code; }} | true; cat code"));
        assert!(said.out == b"1\n" && said.err.contains(failed), "{line}: {}", said.err);
    }
    assert_eq!(sandbox.sh("sealwright key public -i id >&-").code, 1);
}

/// `-pass stdin` reads only its line: what follows belongs to the next reader.
#[test]
fn a_passphrase_from_standard_input_leaves_the_next_line() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    let said = sandbox
        .sh("printf 'pw\nrest\n' | (sealwright enc -aes-256-cbc -pbkdf2 -pass stdin -in a -out b; cat); \
             printf pw | sealwright enc -d -aes-256-cbc -pbkdf2 -pass stdin -in b");
    assert_eq!((said.code, said.out.as_slice(), said.err.as_str()), (0, &b"rest\ntext"[..], ""));
}

/// Each kind of key in place of each other: the error names its kind and its use, and does not repeat it.
#[cfg(all(feature = "public-keys", feature = "signatures"))]
#[test]
fn a_key_of_another_kind_is_told_as_that() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    sandbox.ok("seal --key-file k a");
    for (pair, secret, public) in [("--pair", "my.id", "my.pub"), ("--signing", "my.sign", "my.verify")] {
        sandbox.write(public, sandbox.run(&format!("key new {pair} -o {secret}")).out);
    }
    sandbox.write("my.ssh", format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n", "b3BlbnNzaC1rZXk".repeat(5)));
    let (pair, signing) = ("it is the secret key of a pair\nhint: -i opens", "it is a signing key\nhint: --sign signs");
    let (public, verifying) = ("it is a public key", "it is a verification key, which is public\nhint: ");
    let (raw, identity, sign) =
        ("open a.seal -o b --key-file", "open a.seal -o b -i", "seal --key-file k a -o b --sign");
    let (recipients, signer) = ("seal a -o b -R", "open --key-file k a.seal -o b --signer");
    for (line, file, word) in [
        (raw, "my.id", pair),
        (raw, "my.sign", signing),
        (raw, "my.pub", "it is a public key, not a raw one\nhint: "),
        (raw, "my.verify", verifying),
        (identity, "my.sign", signing),
        (identity, "my.pub", public),
        (identity, "my.verify", verifying),
        (sign, "my.id", pair),
        (sign, "my.pub", public),
        (sign, "my.verify", verifying),
        (recipients, "my.id", pair),
        (recipients, "my.sign", signing),
        (recipients, "my.verify", "it is a verification key, which is public\nhint: --signer verifies"),
        (signer, "my.id", pair),
        (signer, "my.sign", signing),
        (signer, "my.pub", "it is a public key\nhint: -R seals"),
        (recipients, "my.ssh", "it is a private key for SSH\nhint: -i opens with it; -R seals for its public key"),
        (signer, "my.ssh", "it is a private key for SSH\nhint: -i"),
    ] {
        let said = sandbox.run(&format!("{line} {file}"));
        assert!(said.code == 1 && said.err.contains(word), "{line} {file}: {}", said.err);
        let text = String::from_utf8(sandbox.read(file)).unwrap();
        let key = text.lines().last().unwrap();
        assert!(!said.err.contains(&key[20..60]), "{line} {file}: {}", said.err);
    }
    let word_of = |file: &str| String::from_utf8(sandbox.read(file)).unwrap().lines().last().unwrap().to_owned();
    for (file, word) in [("my.id", pair), ("my.sign", signing), ("my.verify", verifying)] {
        let key = word_of(file);
        let said = sandbox.run(&format!("seal a -o b -r {key}"));
        let word = format!("the recipient cannot be used: {word}");
        assert!(said.code == 2 && said.err.contains(&word) && !said.err.contains(&key[20..60]), "{file}: {}", said.err);
    }
    // The name of a file in place of a key.
    for (line, option) in [
        ("seal a -o b -r my.pub", "-R FILE"),
        ("rekey a.seal --key-file k --add my.pub", "--add-file FILE"),
        ("rekey a.seal --key-file k --remove my.pub", "--remove-file FILE"),
    ] {
        let word = format!("not a public key of Sealwright\nhint: {option} takes the keys in a file");
        sandbox.fails(line, 2, &word);
    }
    // A document that others may read: the error does not concern its permissions.
    sandbox.fails("open a.seal -o b -i a", 1, "a, line 1: not a secret key of Sealwright");
    assert!(!sandbox.path("b").exists());
}
