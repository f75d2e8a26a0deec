//! Messages: they name what was wrong and where, say only what is proven, and hint at what to do.
#![allow(clippy::unwrap_used)]

use sealwright_transcripts::{Sandbox, text};

/// A sandbox with `a.seal`, `d.seal` with a directory, `g.seal`, which two keys open, and `f`.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("a", text(9169));
    sandbox.write("d/e", "text");
    sandbox.write("f", "text");
    sandbox.ok("seal --key-file k a --remove");
    sandbox.ok("seal --key-file k d");
    sandbox.ok("seal --key-file k --key-file other f -o g.seal");
    sandbox
}

/// A regression: a changed byte of the layout was believed, and the message said that the file holds a directory.
#[test]
fn what_a_header_says_is_told_only_if_it_is_authentic() {
    let sandbox = sandbox();
    let genuine = sandbox.read("a.seal");
    for content in [1, 2] {
        let mut changed = genuine.clone();
        changed[11] = content;
        sandbox.write("a.seal", &changed);
        let wrong = "a.seal: wrong key, or the header or the associated data was changed";
        for rest in ["-o b", "-o -", "", "-C out", "--remove", "--range 0..1 -o b", "--entry d/e -o b"] {
            sandbox.fails(&format!("open --key-file k a.seal {rest}"), 4, wrong);
        }
        sandbox.fails("verify --key-file k a.seal", 4, wrong);
        let piped = sandbox.sh("sealwright open --key-file k <a.seal >/dev/null");
        assert!(piped.code == 4 && piped.err.contains("standard input: wrong key"), "{}", piped.err);
    }
    // Of an authentic one it is told.
    for rest in ["-o b", "-o -"] {
        sandbox.fails(&format!("open --key-file k d.seal {rest}"), 1, "d.seal: it holds a directory\nhint: -C DIR");
    }
    sandbox.fails("open --key-file k d.seal --remove", 2, "d.seal: --remove does not remove sealed directories");
    sandbox.fails("open --key-file k d.seal --range 0..1 -o b", 2, "d.seal: --range is for sealed files");
    sandbox.fails("open --key-file other d.seal --remove", 4, "d.seal: wrong key");
}

/// Otherwise a script would take nothing for the text that it asked for.
#[test]
fn a_range_begins_within_the_text() {
    let sandbox = sandbox();
    let text = text(9169);
    for range in ["9169..", "99999..", "9169..9170", "99999..100000"] {
        let said = format!(
            "a.seal: --range begins at byte {}, but the text has 9169 bytes\nhint: ",
            &range[..range.find('.').unwrap()]
        );
        sandbox.fails(&format!("open --key-file k --range {range} a.seal -o b"), 1, &said);
        assert!(!sandbox.path("b").exists());
    }
    for (range, part) in [("9000..20000", &text[9000..]), ("9168..", &text[9168..]), ("..", &text[..]), ("7..7", b"")] {
        sandbox.ok(&format!("open --key-file k --range {range} a.seal -f -o b"));
        assert_eq!(sandbox.read("b"), part, "{range}");
    }
    // The start of an empty text is within it.
    sandbox.write("empty", "");
    sandbox.ok("seal --key-file k empty");
    for range in ["..", "0..5"] {
        sandbox.ok(&format!("open --key-file k --range {range} empty.seal -f -o b"));
    }
    sandbox.fails("open --key-file k --range 1.. empty.seal -f -o b", 1, "the text has 0 bytes");
}

#[test]
fn a_message_names_the_option_or_file_and_what_to_do() {
    let sandbox = sandbox();
    sandbox.write("short", [7; 16]);
    sandbox.chmod("short", 0o600);
    for (line, code, said) in [
        ("seal --key-file . f", 1, ".: is a directory, and a key file is needed\nhint: name a file in it"),
        ("open -i d a.seal", 1, "d: is a directory, and an identity file is needed\nhint: "),
        ("seal -R d f", 1, "d: is a directory, and a file with public keys is needed\nhint: "),
        ("seal --key-file k --sign d f", 1, "d: is a directory, and the file of a signing key is needed\nhint: "),
        ("seal --key-file k --ad-file d f", 1, "d: is a directory, and a file with associated data is needed\nhint: "),
        (
            "seal --key-file - f",
            1,
            "-: cannot open: No such file or directory\nhint: standard input is /dev/stdin here, and --key-fd 0",
        ),
        ("open -i - a.seal", 1, "-: cannot open: No such file or directory\nhint: standard input is /dev/stdin here"),
        ("seal -p --cost 10TiB f", 2, "invalid value '10TiB' for '--cost <SIZE>': it must be less than 4 TiB\nhint: "),
        (
            "seal -p --cost 8KiB f",
            2,
            "invalid value '8KiB' for '--cost <SIZE>': Argon2id with 4 lanes needs at least 32 KiB",
        ),
        ("seal --suite aes-128-gcm --key-file k f", 2, ": k: the key has 32 bytes, but aes-128-gcm takes 16\nhint: "),
        (
            "seal --key-file short f",
            2,
            ": short: the key has 16 bytes, but aes-256-gcm takes 32\nhint: a key of this length is for --suite aes-128-gcm",
        ),
        ("vectors check --isa foo f", 2, "--isa foo: not an instruction-set level of this machine; it has portable"),
        ("vectors check d", 1, "d: is a directory\nhint: name the files: d/*.json"),
        (
            "rekey g.seal --key-file k --remove-key-file k --remove-key-file other",
            1,
            "g.seal: no key that could open the file would be left\nhint: nothing was changed; add another key",
        ),
        (
            "seal --passphrase-command false f",
            1,
            "the passphrase command failed (exit status: 1)\nhint: run it in a shell",
        ),
        ("seal --passphrase-command true f", 1, "the passphrase command printed nothing\nhint: run it in a shell"),
        ("seal --key-file k f -C f", 1, ": f: is not a directory\nhint: -C names a directory, -o a file"),
        ("open --key-file k a.seal -C f", 1, ": f: is not a directory\nhint: "),
    ] {
        sandbox.fails(line, code, said);
    }
    assert!(!sandbox.path("f.seal").exists());
}

#[test]
fn an_empty_file_is_said_to_be_empty() {
    let sandbox = sandbox();
    sandbox.write("b.seal", "");
    for line in ["open --key-file k b.seal", "verify --key-file k b.seal", "inspect b.seal"] {
        sandbox.fails(line, 3, "b.seal: not authentic: it is empty\nhint: fetch the file again");
    }
    let piped = sandbox.sh("sealwright open --key-file k </dev/null");
    assert!(piped.code == 3 && piped.err.contains("standard input: not authentic: it is empty"), "{}", piped.err);
}
