//! Interrupted halfway: nothing unfinished stays, the code is 130.
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

/// Waits, but not for ever: a program that does not heed the signal fails the test instead of hanging it.
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

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < patience, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_interrupt_halfway_leaves_no_partial_output() {
    for (name, verb) in [("INT", "seal"), ("TERM", "seal"), ("HUP", "open"), ("INT", "open")] {
        let sandbox = Sandbox::new();
        sandbox.write("a", text(5_000_000));
        sandbox.ok("seal --key-file k a");
        let input = sandbox.read(if verb == "seal" { "a" } else { "a.seal" });
        let mut child =
            sandbox.command().args([verb, "--key-file", "k", "-o", "out"]).stdin(Stdio::piped()).spawn().unwrap();
        // Halfway, and then a pipe that stays open and silent
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(&input[..input.len() / 2]).unwrap();
        until("a partial file appears", || sandbox.names().len() > 2);
        signal(&child, name);
        assert_eq!(end_of(child).code(), Some(130), "{name} {verb}");
        assert_eq!(sandbox.names(), ["a", "a.seal"], "{name} {verb}");
    }
}

#[test]
fn a_file_that_was_there_before_stays() {
    let sandbox = Sandbox::new();
    sandbox.write("out", "precious");
    let mut child =
        sandbox.command().args(["seal", "--key-file", "k", "-f", "-o", "out"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(&text(5_000_000)).unwrap();
    until("a partial file appears", || sandbox.names().len() > 1);
    signal(&child, "INT");
    assert_eq!(end_of(child).code(), Some(130));
    assert_eq!((sandbox.names(), sandbox.read("out")), (vec!["out".to_owned()], b"precious".to_vec()));
}
