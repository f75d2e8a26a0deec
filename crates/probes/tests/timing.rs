//! Times of every mode for two kinds of secrets, in short: a difference must be seen three times to count. `cargo xtask
//! constant-time` takes more samples, of the release build, at every level.
#![allow(clippy::unwrap_used)]

use std::process::Command;

use sealwright_transcripts::skipped;

#[test]
fn times_do_not_tell_secrets_apart() {
    let level = sealwright::Isa::best().name();
    let run = Command::new(env!("CARGO_BIN_EXE_timing")).args(["1000", level]).output().unwrap();
    let out = String::from_utf8_lossy(&run.stdout);
    match run.status.code() {
        Some(0) => assert!(out.contains("planted") && out.contains("0 differ, 0 undecided"), "{out}"),
        Some(4) => skipped(format_args!("this machine is too busy to tell times apart\n{out}")),
        _ => panic!("{out}{}", String::from_utf8_lossy(&run.stderr)),
    }
}

#[test]
fn wrong_words_are_told() {
    for words in [&[][..], &["99"], &["1000", "mmx"]] {
        let run = Command::new(env!("CARGO_BIN_EXE_timing")).args(words).output().unwrap();
        assert_eq!((run.status.code(), run.stderr.starts_with(b"timing: ")), (Some(2), true), "{words:?}");
    }
}
