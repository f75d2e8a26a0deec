//! Commands refuse words that they do not know before they do anything, and say what to write instead.
#![allow(clippy::unwrap_used)]

use std::process::Command;

/// What the command printed, and whether it was content.
fn said(words: &[&str]) -> (String, bool) {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask")).args(words).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&text).into_owned(), output.status.success())
}

#[test]
fn wrong_words_get_a_hint() {
    let wrong: &[(&[&str], &str)] = &[
        (&["constant-time", "now"], "now: it takes no words"),
        (&["crash", "--times", "0"], "a number from 1"),
        (&["crash", "10"], "a number from 1"),
        (&["mutants", "sesion"], "crates/sesion: there is no such crate"),
        (&["mutants", "session", "src/nothing.rs"], "crates/session/src/nothing.rs: there is no such file"),
        (&["reproducible", "weel"], "weel: it builds program, lab, capi, wheel"),
        (&["sanitize", "sealwright-lab"], "sealwright-lab: the crates are sealwright, sealwright-session"),
        (&["sanitize", "threads", "sealwright-lab"], "sealwright-lab: the crates are sealwright-session"),
        (&["sanitize", "memory", "sealwright-relay"], "sealwright-relay: the crates are sealwright-session"),
        (&["aarch64", "--lops"], "--lops: known are --make-root and --loops"),
        (
            &["sbom", "sealwright-cli", "--target", "x"],
            "--target: --no-default-features, --all-features and --features",
        ),
        (&["links", "--wirte"], "--wirte: --write is all it takes"),
        (&["supply", "--advisories"], "--advisories: other words than it takes"),
        (&["supply", "--lits"], "--lits: other words than it takes"),
        (&["unit", "-p", "x"], "cargo xtask unit: -p: it takes no words"),
        (&["python", "-k", "name"], "cargo xtask python: -k: it takes no words"),
        (&["release", "--foo"], "cargo xtask release: --foo: it takes no words"),
        (&["test", "--anything"], "cargo xtask test: --anything: it takes no words"),
        (&["install-c"], "it takes one folder"),
        (&["install-c", "--foo"], "--foo: no such option"),
        (&["fuzz", "figures", "open"], "open: one target at a time"),
        (&["sbom", "sealwright-nothing"], "sealwright-nothing: no package of this workspace"),
        (&["sbom", "sealwright-cli", "sealwright-capi"], "sealwright-capi: one package at a time"),
        (&["notices", "sealwright-nothing"], "sealwright-nothing: no package of this workspace"),
        (&["notices", "sealwright-capi", "-o"], "-o takes a file"),
        (&["install-c", "/nowhere", "--target"], "--target takes a system"),
        (&["upstream", "aes"], "aes: it takes no words"),
        (&["fuzz", "opn"], "no target opn: armor"),
        (&["fuzz", "open", "--seconds"], "--seconds takes a number from 1"),
        (&["fuzz", "open", "enc"], "enc: one target at a time"),
        (&["fuz"], "cargo xtask fuz: there is no such command"),
    ];
    for (words, why) in wrong {
        let (text, content) = said(words);
        assert!(!content && text.contains(why), "{words:?}: {text}");
        assert!(text.contains("hint: cargo xtask "), "{words:?}: {text}");
    }
}

/// Each command that the help lists by itself is one of those above.
#[test]
fn the_help_names_them() {
    let (text, content) = said(&["help"]);
    assert!(content);
    let (_, by_themselves) = text.split_once("Not part of `test`").unwrap();
    let commands: Vec<&str> = by_themselves
        .lines()
        .skip(1)
        .filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')))
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(commands, ["constant-time", "crash", "long", "reproducible", "sanitize", "sbom", "notices", "upstream"]);
}
