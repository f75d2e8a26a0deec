//! Interrupted halfway: nothing unfinished is left, and the exit code is 130.
#![allow(clippy::unwrap_used)]

use std::{
    io::Write,
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use sealwright_transcripts::{Sandbox, text};

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Waits with a limit: a program that ignores the signal fails the test instead of blocking it.
fn end_of(mut child: Child) -> ExitStatus {
    let patience = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if Instant::now() > patience {
            child.kill().unwrap();
            panic!("it did not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn an_interrupt_halfway_leaves_no_partial_output() {
    for (name, verb) in
        [("INT", "seal"), ("TERM", "seal"), ("HUP", "open"), ("INT", "open"), ("QUIT", "seal"), ("QUIT", "open")]
    {
        let sandbox = Sandbox::new();
        sandbox.write("a", text(5_000_000));
        sandbox.ok("seal --key-file k a");
        let input = sandbox.read(if verb == "seal" { "a" } else { "a.seal" });
        let mut command = sandbox.heeding_signals("sealwright");
        let mut child = command.args([verb, "--key-file", "k", "-o", "out"]).stdin(Stdio::piped()).spawn().unwrap();
        // Half of the input, then a pipe that stays open without data.
        let mut pipe = child.stdin.take().unwrap();
        // A pipe buffers little, so when this returns, most of it was read.
        pipe.write_all(&input[..input.len() / 2]).unwrap();
        signal(&child, name);
        assert_eq!(end_of(child).code(), Some(130), "{name} {verb}");
        assert_eq!(sandbox.names(), ["a", "a.seal"], "{name} {verb}");
    }
}

/// A regression: the unpacked part of a directory was left under a hidden name, as plaintext that nobody knew of.
#[test]
fn an_interrupt_halfway_leaves_nothing_of_a_directory() {
    for (name, long) in [("INT", 1), ("TERM", 1), ("HUP", 1), ("QUIT", 1), ("INT", 40)] {
        let sandbox = Sandbox::new();
        // Many short files, which several threads write; or a few long ones.
        (0..3000 / long).for_each(|i| sandbox.write(&format!("d/{}/{i}", i % 9), text(2000 * long)));
        sandbox.ok("seal --key-file k d -o sealed");
        let input = sandbox.read("sealed");
        let mut command = sandbox.heeding_signals("sealwright");
        let mut child = command.args(["open", "--key-file", "k", "-C", "out"]).stdin(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(&input[..input.len() / 3 * 2]).unwrap();
        let out = || std::fs::read_dir(sandbox.path("out")).map_or(0, Iterator::count);
        // It is filled under a hidden name.
        let patience = Instant::now() + Duration::from_secs(30);
        while out() == 0 {
            assert!(Instant::now() < patience, "{name}: it does not begin");
            std::thread::sleep(Duration::from_millis(1));
        }
        signal(&child, name);
        assert_eq!(end_of(child).code(), Some(130), "{name}");
        assert_eq!(out(), 0, "{name}");
    }
}

#[test]
fn a_file_that_was_there_before_stays() {
    let sandbox = Sandbox::new();
    sandbox.write("out", "precious");
    let mut command = sandbox.heeding_signals("sealwright");
    let mut child = command.args(["seal", "--key-file", "k", "-f", "-o", "out"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(&text(5_000_000)).unwrap();
    signal(&child, "INT");
    assert_eq!(end_of(child).code(), Some(130));
    assert_eq!((sandbox.names(), sandbox.read("out")), (vec!["out".to_owned()], b"precious".to_vec()));
}

/// A signal that was ignored when the program started stays ignored, as with `nohup`.
#[test]
fn a_hangup_that_is_ignored_stays_ignored() {
    let sandbox = Sandbox::new();
    let mut child = Command::new("sh")
        .args(["-c", "trap '' HUP; exec \"$0\" seal --key-file k -o out"])
        .arg(sealwright_transcripts::binaries().join("sealwright"))
        .current_dir(sandbox.path(""))
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(&text(3_000_000)).unwrap();
    signal(&child, "HUP");
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it ended");
    drop(pipe);
    assert_eq!(end_of(child).code(), Some(0));
    assert_eq!(sandbox.names(), ["out"]);
}

/// Standard error is closed: signals are handled and exit codes are right nevertheless.
#[test]
fn signals_and_codes_do_not_need_standard_error() {
    let sandbox = Sandbox::new();
    let (read, write) = std::io::pipe().unwrap();
    let mut child = sandbox
        .heeding_signals("sealwright")
        .args(["seal", "--key-file", "k", "-o", "out"])
        .stdin(Stdio::piped())
        .stderr(write)
        .spawn()
        .unwrap();
    drop(read);
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(&text(3_000_000)).unwrap();
    signal(&child, "TERM");
    assert_eq!(end_of(child).code(), Some(130));
    assert_eq!(sandbox.names(), [""; 0]);
    for (line, code) in [("seal --key-file missing k -o x", 1), ("seal --frobnicate", 2), ("seal k", 2), ("", 2)] {
        let (read, write) = std::io::pipe().unwrap();
        drop(read);
        let status = sandbox.command().args(line.split_whitespace()).stderr(write).status().unwrap();
        assert_eq!(status.code(), Some(code), "{line}");
    }
}

/// Exceeding a limit on file sizes is an ordinary error, and leaves nothing behind.
#[test]
fn a_file_size_limit_is_an_ordinary_error() {
    let sandbox = Sandbox::new();
    sandbox.write("a", text(5_000_000));
    let said = sandbox.sh("ulimit -f 1000; sealwright seal --key-file k a");
    assert_eq!((said.code, said.err.as_str()), (1, "sealwright: a.seal: cannot write: File too large\n"));
    assert_eq!(sandbox.names(), ["a"]);
}
