//! Interrupted halfway: nothing unfinished stays, the code is 130.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    io::Write,
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use common::{Desk, text};

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
        let desk = Desk::new();
        desk.write("a", text(5_000_000));
        desk.ok("seal --key-file k a");
        let input = desk.read(if verb == "seal" { "a" } else { "a.seal" });
        let mut child =
            desk.command().args([verb, "--key-file", "k", "-o", "out"]).stdin(Stdio::piped()).spawn().unwrap();
        // Halfway, and then a pipe that stays open and silent
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(&input[..input.len() / 2]).unwrap();
        until("a partial file appears", || desk.names().len() > 2);
        signal(&child, name);
        assert_eq!(end_of(child).code(), Some(130), "{name} {verb}");
        assert_eq!(desk.names(), ["a", "a.seal"], "{name} {verb}");
    }
}

#[test]
fn a_file_that_was_there_before_stays() {
    let desk = Desk::new();
    desk.write("out", "precious");
    let mut child =
        desk.command().args(["seal", "--key-file", "k", "-f", "-o", "out"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(&text(5_000_000)).unwrap();
    until("a partial file appears", || desk.names().len() > 1);
    signal(&child, "INT");
    assert_eq!(end_of(child).code(), Some(130));
    assert_eq!((desk.names(), desk.read("out")), (vec!["out".to_owned()], b"precious".to_vec()));
}

#[test]
fn measuring_can_be_interrupted() {
    let desk = Desk::new();
    let child = desk.command().args(["bench", "--json", "--bytes", "64"]).stdout(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "INT");
    assert_eq!(end_of(child).code(), Some(130));
}
