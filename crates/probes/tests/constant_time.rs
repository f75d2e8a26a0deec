//! The kernels under valgrind with undefined secrets, as this profile compiles them. `cargo xtask constant-time` does
//! the same with the release build.
#![allow(clippy::unwrap_used)]

use std::process::Command;

use sealwright_transcripts::skipped;

#[test]
fn nothing_depends_on_secrets_but_the_planted_leaks() {
    let program = env!("CARGO_BIN_EXE_constant-time");
    let suppressions = concat!("--suppressions=", env!("CARGO_MANIFEST_DIR"), "/verdict.supp");
    let run = Command::new("valgrind").args(["--quiet", "--error-limit=no", suppressions, program]).output();
    let Ok(run) = run else {
        skipped("there is no valgrind here");
        return;
    };
    let (out, errors) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{out}{errors}");
    assert!(out.contains("portable") && out.contains("planted"), "{out}");
    assert!(!out.contains("WRONG"), "{out}{errors}");
    let ran = out.lines().last().and_then(|line| line.split_once(';')).map_or("", |(ran, _)| ran);
    if cfg!(target_arch = "x86_64") && !ran.ends_with(", sse") {
        skipped("of the levels, valgrind ran portable only");
    }
}

#[test]
fn without_valgrind_the_program_says_so() {
    let run = Command::new(env!("CARGO_BIN_EXE_constant-time")).output().unwrap();
    assert_eq!(run.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&run.stderr).contains("hint: cargo xtask constant-time"));
}
