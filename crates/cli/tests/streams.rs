//! Pipes, descriptors, terminals and full disks.
#![allow(clippy::unwrap_used)]

use std::process::{Command, Stdio};

use sealwright_transcripts::{Sandbox, finished, have, text};

#[test]
fn pipes_on_both_ends() {
    let sandbox = Sandbox::new();
    for len in [0, 1, 16384, 3_000_001] {
        sandbox.write("a", text(len));
        let said =
            sandbox.sh("cat a | sealwright seal --key-file k | cat | sealwright open --key-file k - -o - | cmp - a");
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{len}");
        // A pipe and a file make the same format
        let said =
            sandbox.sh("sealwright seal --key-file k <a -o - >b && sealwright open --key-file k b -o c -f && cmp a c");
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{len}");
    }
}

/// It was sealed to its own end, for ever.
#[test]
fn the_input_is_not_the_end_of_the_output() {
    let sandbox = Sandbox::new();
    sandbox.write("a", text(100_000));
    sandbox.ok("seal --key-file k a");
    for line in [
        "seal --key-file k a -o - >>a",
        "seal --key-file k a -o - --armor >>a",
        "open --key-file k a.seal -o - >>a.seal",
    ] {
        let (before, said) = (sandbox.read("a.seal"), sandbox.sh(&format!("ulimit -f 20000; sealwright {line}")));
        assert!(said.code == 2 && said.err.contains("is both input and output"), "{line}: {} {}", said.code, said.err);
        assert!(sandbox.read("a") == text(100_000) && sandbox.read("a.seal") == before, "{line}");
    }
}

#[test]
fn a_cut_pipe_gives_only_proven_bytes_and_the_code_for_it() {
    let sandbox = Sandbox::new();
    sandbox.write("a", text(3_000_000));
    sandbox.ok("seal --key-file k a");
    let said = sandbox.sh("head -c 2500000 a.seal | sealwright open --key-file k");
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.starts_with("sealwright: standard input: not authentic"), "{}", said.err);
    assert!(!said.out.is_empty() && text(3_000_000).starts_with(&said.out));
}

#[test]
fn passphrases_and_keys_from_descriptors_and_commands() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    sandbox.write("pass", "correct horse\nanother line\n");
    for (seal, open) in [
        ("--passphrase-fd 3 3<pass", "--passphrase-command 'head -n 1 pass'"),
        ("--passphrase-command 'cat pass'", "--passphrase-fd 0 <pass"),
        ("--key-fd 5 5<k", "--key-file k"),
        ("--key-file k", "--key-fd 0 <k"),
    ] {
        let script =
            format!("sealwright seal --cost 1MiB -f a {seal} && sealwright open a.seal -f -o b {open} && cmp a b");
        let said = sandbox.sh(&script);
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{script}");
    }
}

#[test]
fn sources_that_give_nothing_say_so() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    sandbox.fails("seal a --passphrase-fd 77", 1, "file descriptor 77 is not open");
    sandbox.fails("seal a --key-fd 77", 1, "file descriptor 77 is not open");
    sandbox.fails("seal - --passphrase-fd 0", 2, "both the key and the text");
    for (source, code, word) in [
        ("--passphrase-fd 0 </dev/null", 2, "the passphrase is empty"),
        ("--passphrase-command true", 1, "printed nothing"),
        ("--passphrase-command 'echo x; exit 7'", 1, "failed (exit status: 7)"),
        ("--passphrase-command no-such-program", 1, "failed"),
    ] {
        let said = sandbox.sh(&format!("sealwright seal a {source}"));
        assert_eq!(said.code, code, "{source}: {}", said.err);
        assert!(said.err.contains(word), "{source}: {}", said.err);
    }
    assert_eq!(sandbox.names(), ["a"]);
}

#[test]
fn a_full_disk_is_a_failure() {
    let sandbox = Sandbox::new();
    sandbox.write("a", text(100_000));
    sandbox.ok("seal --key-file k a");
    for line in ["seal --key-file k a -o /dev/full -f", "open --key-file k a.seal -o /dev/full -f"] {
        sandbox.fails(line, 1, "No space left on device");
    }
    for script in ["seal --key-file k a -o -", "inspect a.seal", "key new", "--help"] {
        let said = sandbox.sh(&format!("sealwright {script} >/dev/full"));
        assert_eq!(said.code, 1, "{script}: {}", said.err);
        assert!(said.err.contains("No space left on device"), "{script}: {}", said.err);
    }
    assert_eq!(sandbox.names(), ["a", "a.seal"]);
}

#[test]
fn a_closed_pipe_fails_sealing_but_not_looking() {
    let sandbox = Sandbox::new();
    sandbox.write("a", text(3_000_000));
    sandbox.ok("seal --key-file k a");
    let script = |line: &str| format!("{{ sealwright {line}; echo $? >code; }} | true; cat code");
    // `true` may end before or after: a big output meets the closed pipe either way
    assert_eq!(sandbox.sh(&script("seal --key-file k a -o -")).out, b"1\n");
    let names = "a.seal ".repeat(2000);
    let said = sandbox.sh(&script(&format!("inspect {names}")));
    assert_eq!((said.out.as_slice(), said.err.as_str()), (&b"0\n"[..], ""));
}

#[test]
fn progress_for_programs() {
    let sandbox = Sandbox::new();
    sandbox.write("a", text(100_000));
    sandbox.write("b", text(1000));
    let said = sandbox.run("seal --key-file k a b --progress json");
    let last = said.err.lines().last().unwrap();
    let last: serde_json::Value = serde_json::from_str(last).unwrap();
    assert_eq!((last["finished"].as_bool(), last["files"].as_u64()), (Some(true), Some(2)), "{last}");
    assert_eq!((last["bytes"].as_u64(), last["total_bytes"].as_u64()), (Some(101_000), Some(101_000)), "{last}");
}

/// Runs a line on a pseudo terminal, with `typed` typed into it once it asks for a passphrase, or nothing.
fn on_terminal(sandbox: &Sandbox, line: &str, typed: &str) -> sealwright_transcripts::Finished {
    let asked = if typed.is_empty() {
        "sleep 1"
    } else {
        "for _ in $(seq 300); do grep -q Passphrase screen 2>/dev/null && break; sleep 0.1; done"
    };
    let script = format!("rm -f screen; ({asked}; printf '{typed}'; sleep 2) | script -qefc '{line}' screen");
    let mut command = Command::new("sh");
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_sealwright")).parent().unwrap();
    command.env("PATH", format!("{}:{}", binary.display(), std::env::var("PATH").unwrap()));
    finished(command.args(["-c", &script]).current_dir(sandbox.path("")).stdin(Stdio::null()).output().unwrap())
}

#[test]
fn sealed_bytes_do_not_go_to_a_terminal() {
    if !have("script") {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    let said = on_terminal(&sandbox, "sealwright seal --key-file k <a", "");
    assert_eq!(said.code, 2);
    assert!(String::from_utf8_lossy(&said.out).contains("standard output is a terminal"));
    let said = on_terminal(&sandbox, "sealwright seal --key-file k -o - <a", "");
    assert_eq!(said.code, 0);
    let said = on_terminal(&sandbox, "sealwright enc -aes-256-ctr -pass file:k -pbkdf2 -in a", "");
    assert_eq!(said.code, 2);
    let said = on_terminal(&sandbox, "sealwright enc -aes-256-ctr -pass file:k -pbkdf2 -in a -a", "");
    assert!(said.code == 0 && String::from_utf8_lossy(&said.out).contains("U2FsdGVkX1"));
}

#[test]
fn passphrases_are_asked_twice_and_not_echoed() {
    if !have("script") {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    let said = on_terminal(&sandbox, "sealwright seal -p --cost 1MiB a", "tRuE-1\\ntRuE-1\\n");
    let screen = String::from_utf8_lossy(&said.out).into_owned();
    assert_eq!(said.code, 0, "{screen}");
    assert!(screen.contains("Passphrase: ") && screen.contains("Again") && !screen.contains("tRuE-1"), "{screen}");
    let said = on_terminal(&sandbox, "sealwright seal -p --cost 1MiB -f a", "one\\ntwo\\n");
    assert_eq!(said.code, 1);
    assert!(String::from_utf8_lossy(&said.out).contains("not the same"));
    let opened = sandbox.sh("echo tRuE-1 | sealwright open --passphrase-fd 0 a.seal -o -");
    assert_eq!(opened.out, b"text");
}
