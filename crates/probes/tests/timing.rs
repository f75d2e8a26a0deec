//! A short timing test of every mode with two kinds of secrets: a difference counts only if it is seen three times, and
//! again in another process, whose memory is at other addresses. `cargo xtask constant-time` takes more samples, of the
//! release build, at every level.
#![allow(clippy::unwrap_used)]

use std::{collections::BTreeSet, process::Command};

use sealwright_transcripts::skipped;

/// The questions whose times differ: level, mode and what is asked. Nothing if the machine was too busy for one of
/// them.
fn differ() -> Option<BTreeSet<String>> {
    let level = sealwright::Isa::best().name();
    let run = Command::new(env!("CARGO_BIN_EXE_timing")).args(["1000", level]).output().unwrap();
    let out = String::from_utf8_lossy(&run.stdout);
    match run.status.code() {
        Some(0) => assert!(out.contains("planted") && out.contains("0 differ, 0 undecided"), "{out}"),
        Some(4) => {
            skipped(format_args!("this machine is too busy to tell times apart\n{out}"));
            return None;
        }
        Some(1) => eprintln!("{out}"),
        _ => panic!("{out}{}", String::from_utf8_lossy(&run.stderr)),
    }
    let lines = out.lines().filter(|line| line.contains("DIFFERS"));
    Some(lines.filter_map(|line| Some(line.split_once(" t = ")?.0.to_owned())).collect())
}

#[test]
fn times_do_not_tell_secrets_apart() {
    let Some(first) = differ().filter(|first| !first.is_empty()) else { return };
    let Some(second) = differ() else { return };
    let both: Vec<&String> = first.intersection(&second).collect();
    assert!(both.is_empty(), "{both:#?}");
    skipped(format_args!("in one process of two, times differ: {first:?}"));
}

#[test]
fn wrong_words_are_told() {
    for words in [&[][..], &["99"], &["1000", "mmx"]] {
        let run = Command::new(env!("CARGO_BIN_EXE_timing")).args(words).output().unwrap();
        assert_eq!((run.status.code(), run.stderr.starts_with(b"timing: ")), (Some(2), true), "{words:?}");
    }
}
