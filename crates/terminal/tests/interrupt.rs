//! What an interrupted program prints, and that it ends even if standard error is blocked. Each test runs its own
//! executable again as a child process.
#![allow(clippy::unwrap_used, missing_docs)]

use std::{
    env,
    io::{self, Read},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use sealwright_terminal::{interrupt, say};

/// Set in the child process of a test.
const STARTED: &str = "SEALWRIGHT_TEST_INTERRUPT";

/// Runs `test` in a child process, with standard error connected to a pipe.
fn start(test: &str) -> (Child, io::PipeReader) {
    let (heard, said) = io::pipe().unwrap();
    let mut command = Command::new("env");
    command.arg("--default-signal=TERM").arg(env::current_exe().unwrap()).args(["--exact", test, "--nocapture"]);
    let child = command.env(STARTED, "yes").stdout(Stdio::null()).stderr(said).spawn().unwrap();
    (child, heard)
}

fn is_started() -> bool {
    env::var_os(STARTED).is_some()
}

fn terminate(child: &Child) {
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
}

/// The exit code of the child; the test fails if it does not end.
fn code(mut child: Child) -> Option<i32> {
    let patience = Instant::now() + Duration::from_secs(30);
    loop {
        match child.try_wait().unwrap() {
            Some(status) => return status.code(),
            None if Instant::now() > patience => {
                child.kill().unwrap();
                panic!("it did not end");
            }
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

#[test]
fn an_interrupt_is_told_with_its_hint() {
    if is_started() {
        interrupt::hint("run it again");
        interrupt::listen(|| say("cleaned up")).unwrap();
        say("at work");
        std::thread::sleep(Duration::from_secs(60));
        return;
    }
    let (child, mut heard) = start("an_interrupt_is_told_with_its_hint");
    heard.read_exact(&mut [0; "at work\n".len()]).unwrap();
    terminate(&child);
    let mut rest = String::new();
    heard.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "cleaned up\nsealwright: interrupted\nhint: run it again\n");
    assert_eq!(code(child), Some(130));
}

/// The pipe of standard error is full (`2>&1 | less`): a thread that writes to it blocks and holds its lock. A signal
/// must end the program nevertheless.
#[test]
fn an_interrupt_does_not_wait_for_who_reads_standard_error() {
    if is_started() {
        interrupt::listen(|| {}).unwrap();
        loop {
            say("x".repeat(1000));
        }
    }
    let (child, mut heard) = start("an_interrupt_does_not_wait_for_who_reads_standard_error");
    heard.read_exact(&mut [0; 1]).unwrap();
    // The pipe fills during this time.
    std::thread::sleep(Duration::from_millis(300));
    terminate(&child);
    assert_eq!(code(child), Some(130));
}
