//! What is seldom so: names that are hardly names, a parent that ignores its children, a system without /proc.
#![allow(clippy::unwrap_used)]

use sealwright_transcripts::{Sandbox, skipped};

/// How the command ended was not known, and its passphrase not taken.
#[test]
fn a_passphrase_command_works_where_ends_are_ignored() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    let ignoring = |line: &str| sandbox.sh(&format!("exec env --ignore-signal=CHLD sealwright {line}"));
    let said = ignoring("seal --cost 1MiB --passphrase-command 'echo pw' a");
    if said.code == 125 {
        return skipped(format_args!("env cannot ignore signals here: {}", said.err));
    }
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let opened = sandbox.sh("echo pw | sealwright open --passphrase-fd 0 a.seal -o -");
    assert_eq!(opened.out, b"text");
    // Neither is a failure taken for a success, nor does the command itself ignore the ends of its own.
    let said = ignoring("open --passphrase-command 'echo pw; exit 3' a.seal -o -");
    assert!(said.code == 1 && said.err.contains("the passphrase command failed (exit status: 3)"), "{}", said.err);
    let said =
        ignoring("open --passphrase-command 'grep -q SigIgn.*00010000$ /proc/self/status || echo pw' a.seal -o -");
    assert_eq!((said.code, said.out.as_slice()), (0, &b"text"[..]), "{}", said.err);
}
