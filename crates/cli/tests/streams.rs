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
        // A pipe and a file give the same format.
        let said =
            sandbox.sh("sealwright seal --key-file k <a -o - >b && sealwright open --key-file k b -o c -f && cmp a c");
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{len}");
    }
}

/// A regression: the input was appended to itself forever.
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
    sandbox.fails("seal - --passphrase-fd 0", 2, "both the text and a key");
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

/// A regression: the rest of standard input, which was empty, was sealed.
#[test]
fn standard_input_is_one_thing() {
    let sandbox = Sandbox::new();
    sandbox.sh("mkfifo pipe; echo text > a");
    for (source, line) in [
        ("cat k", "seal --key-file /dev/stdin -o x"),
        ("cat k", "seal --key-file /dev/fd/0 -o x"),
        ("cat k", "seal --key-file k --ad-file /proc/self/fd/0 -o x"),
        ("cat k", "seal --key-fd 0 /dev/stdin -o x"),
        ("cat k", "seal --key-fd 0 --ad-file /dev/stdin a -o x"),
        ("cat k", "open --key-file /dev/stdin -o x"),
        ("cat k", "verify --key-file /dev/stdin"),
        ("cat k", "verify --key-file /dev/stdin /dev/fd/0"),
        ("cat k", "enc -aes-256-cbc -keyfile /dev/stdin -iv 00 -out x"),
        ("cat k", "enc -aes-256-cbc -pbkdf2 -pass file:/dev/stdin -out x"),
        // The same pipe under another name.
        ("cat k >pipe & true", "seal --key-file pipe -o x <pipe"),
    ] {
        let said = sandbox.sh(&format!("{{ {source}; }} | timeout 60 sealwright {line}"));
        assert_eq!(said.code, 2, "{line}: {}", said.err);
        assert!(said.err.contains("sealwright: standard input cannot be "), "{line}: {}", said.err);
        assert!(!sandbox.path("x").exists(), "{line}");
    }
    // If the text is elsewhere, standard input may be the key.
    let said = sandbox.sh("cat k | sealwright seal --key-fd 0 a && sealwright open --key-file k a.seal -o - | cmp - a");
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    // No output name can be derived from its names.
    for line in ["seal --key-file k /dev/stdin -C out", "seal --key-file k --remove /dev/stdin"] {
        assert_eq!(sandbox.sh(&format!("cat a | sealwright {line}")).code, 2, "{line}");
    }
    let said = sandbox.sh("cat a | sealwright seal --key-file k /dev/stdin | sealwright open --key-file k | cmp - a");
    assert_eq!((said.code, said.err.as_str()), (0, ""));
}

/// A regression: the end of the pipe never came.
#[test]
fn a_passphrase_command_need_not_end_its_output() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    for (command, code, word) in [
        ("yes x", 0, ""),
        ("echo x; sleep 60 2>/dev/null &", 0, ""),
        ("echo x; seq 100000", 0, ""),
        ("echo x; kill -PIPE $$", 1, "the passphrase command failed (signal: 13"),
        ("yes | tr -d \"\\n\"", 1, "no passphrase has more than 4096 bytes"),
    ] {
        let start = std::time::Instant::now();
        let said = sandbox.sh(&format!("sealwright seal -f --cost 64KiB a --passphrase-command '{command}'"));
        assert!(said.code == code && said.err.contains(word), "{command}: {} {}", said.code, said.err);
        assert!(start.elapsed().as_secs() < 30, "{command}");
        if code == 0 {
            let said = sandbox.sh("echo x | sealwright open --passphrase-fd 0 a.seal -o - | cmp - a");
            assert_eq!((said.code, said.err.as_str()), (0, ""), "{command}");
        }
    }
}

/// A regression: it was accepted as a level for any processor, and had no effect.
#[test]
fn a_level_of_another_processor_is_refused() {
    let sandbox = Sandbox::new();
    let other = if std::env::consts::ARCH == "aarch64" { "avx2" } else { "neon" };
    let said = sandbox.sh(&format!("SEALWRIGHT_ISA={other} sealwright key new"));
    assert!(
        said.code == 2 && said.err.contains(&format!("SEALWRIGHT_ISA={other}: not one of portable")),
        "{}",
        said.err
    );
    assert_eq!(sandbox.sh("SEALWRIGHT_ISA=$(printf '\\377') sealwright key new").code, 2);
    assert_eq!(sandbox.sh("SEALWRIGHT_ISA=portable sealwright key new").code, 0);
    assert_eq!(sandbox.sh("SEALWRIGHT_ISA= sealwright key new").code, 0);
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
    // It does not hide a worse exit code, and the rest is processed. It is reported once.
    sandbox.write("bad.seal", "no sealed file");
    for line in ["verify --key-file k", "inspect"] {
        let said = sandbox.sh(&format!("sealwright {line} a.seal a.seal bad.seal gone.seal >/dev/full"));
        assert_eq!(said.code, 3, "{line}: {}", said.err);
        assert!(said.err.contains("bad.seal: not authentic") && said.err.contains("gone.seal: "), "{}", said.err);
        assert_eq!(said.err.matches("standard output").count(), 1, "{line}: {}", said.err);
    }
    // No partial page is left if there is no space.
    let said = sandbox.sh("ulimit -f 1; exec sealwright man -C man");
    assert!(said.code == 1 && said.err.contains("File too large"), "{} {}", said.code, said.err);
    assert_eq!(std::fs::read_dir(sandbox.path("man")).unwrap().count(), 0);
}

#[test]
fn a_closed_pipe_fails_sealing_but_not_looking() {
    let sandbox = Sandbox::new();
    sandbox.write("a", text(3_000_000));
    sandbox.ok("seal --key-file k a");
    let script = |line: &str| format!("{{ sealwright {line}; echo $? >code; }} | true; cat code");
    // `true` may end before or after the program writes: a large output meets the closed pipe in either case.
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

/// Runs a command on a pseudo-terminal, and types `typed` once it asks for a passphrase.
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
    // The prompt for a new passphrase differs from that for the old one, and its cost is reported.
    #[cfg(feature = "public-keys")]
    {
        sandbox.ok("seal --key-file k --key-file other a -o both.seal");
        let said = on_terminal(
            &sandbox,
            "echo Passphrase; sealwright rekey --key-file k both.seal --add-passphrase --cost 1MiB",
            "tWo\\ntWo\\n",
        );
        let screen = String::from_utf8_lossy(&said.out).into_owned();
        assert!(said.code == 0 && screen.contains("New passphrase: "), "{screen}");
        let said = sandbox
            .sh("sealwright rekey gone.seal --key-file k --cost 2GiB --add-passphrase-command 'echo x'; \
             sealwright rekey gone.seal --key-file k --cost 2GiB --add-key-file other");
        assert_eq!(said.err.matches("warning: files that cost ").count(), 1, "{}", said.err);
    }
}
