//! Runs test programs until one fails. Their output must show that a test failed: a program that does not start, or
//! that is ended from outside, says nothing about the change in it.

use std::{
    io::{BufRead, BufReader, Read},
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use super::{programs::Program, switch::VARIABLE};

/// The result of the tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// All of so many.
    Passed(usize),
    Failed,
    /// Not in the time they have.
    Hung,
    /// No test failed, and not all passed: why.
    NotRun(String),
}

/// SIGHUP, SIGINT, SIGKILL and SIGTERM come from outside: from a user, or from a system without memory.
pub(super) const FROM_OUTSIDE: [i32; 4] = [1, 2, 9, 15];

/// How often a silent program is checked for its end, and how long its last output may take to arrive.
const TICK: Duration = Duration::from_millis(10);
const LAST: Duration = Duration::from_secs(1);

/// Runs the programs one after the other until one of them fails, with the change of this number.
pub(super) fn run(programs: &[Program], names: &[String], change: Option<usize>, time: Duration) -> Ended {
    let (end, mut all) = (Instant::now() + time, 0);
    for program in programs {
        match run_one(program, names, change, end) {
            Ended::Passed(tests) => all += tests,
            other => return other,
        }
    }
    Ended::Passed(all)
}

fn run_one(program: &Program, names: &[String], change: Option<usize>, end: Instant) -> Ended {
    let mut command = Command::new(&program.program);
    // Two changes are tried at a time, each in one thread; then a test's name also comes before it begins.
    command.args(names).current_dir(&program.folder).env("RUST_TEST_THREADS", "1").process_group(0);
    // Kernels without optimization that choose between changes have variables by the hundred, each with a place of its
    // own.
    command.env("RUST_MIN_STACK", (64 << 20).to_string());
    command.env("CARGO_MANIFEST_DIR", &program.folder).stdin(Stdio::null()).stderr(Stdio::null());
    match change {
        Some(number) => command.env(VARIABLE, number.to_string()),
        None => command.env_remove(VARIABLE),
    };
    let not_run = |why: &dyn std::fmt::Display| Ended::NotRun(format!("{}: {why}", program.program.display()));
    let mut child = match command.stdout(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) => return not_run(&error),
    };
    let hear = lines(child.stdout.take());
    match watch(&mut child, &hear, end) {
        Ok((said, Some(status))) => verdict(&said, status).unwrap_or_else(|why| not_run(&why)),
        Ok((said, None)) => {
            kill(&child);
            let _ = child.wait();
            if said.failed { Ended::Failed } else { Ended::Hung }
        }
        Err(error) => {
            kill(&child);
            not_run(&error)
        }
    }
}

/// The lines of an output. The last one may not be whole: that is a test that ended the program.
fn lines(output: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (say, hear) = mpsc::channel();
    thread::spawn(move || {
        let lines = output.into_iter().flat_map(|output| BufReader::new(output).split(b'\n')).map_while(Result::ok);
        // Output after the first failure is ignored.
        let _ = lines.map(|line| say.send(line)).find(Result::is_err);
    });
    hear
}

/// What a program printed, and how it ended; none if it still runs, because a test failed or the time is over.
fn watch(
    child: &mut Child,
    hear: &Receiver<Vec<u8>>,
    end: Instant,
) -> Result<(Said, Option<ExitStatus>), std::io::Error> {
    let mut said = Said::default();
    loop {
        match hear.recv_timeout(TICK) {
            Ok(line) => said.take(&line),
            // What the program started may hold its output, so that the end of one is not the end of the other.
            Err(why) => {
                if let Some(status) = child.try_wait()? {
                    if rest(&mut said, hear) {
                        kill(child);
                    }
                    return Ok((said, Some(status)));
                }
                if why == RecvTimeoutError::Disconnected {
                    thread::sleep(TICK);
                }
            }
        }
        if said.failed || Instant::now() >= end {
            return Ok((said, None));
        }
    }
}

/// Takes the last output of an ended program; returns whether a process that it started still holds its output.
fn rest(said: &mut Said, hear: &Receiver<Vec<u8>>) -> bool {
    loop {
        match hear.recv_timeout(LAST) {
            Ok(line) => said.take(&line),
            Err(why) => return why == RecvTimeoutError::Timeout,
        }
    }
}

/// Ends a program and the processes that it started.
fn kill(child: &Child) {
    let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).stderr(Stdio::null()).status();
}

/// What the tests of one thread printed.
#[derive(Default)]
pub(super) struct Said {
    pub(super) passed: usize,
    pub(super) failed: bool,
    /// A test has begun, and its end was not reported.
    pub(super) running: bool,
}

impl Said {
    pub(super) fn take(&mut self, line: &[u8]) {
        let ends = |end: &str| line.ends_with(end.as_bytes());
        if line.starts_with(b"test result: ") {
            self.running = false;
            self.failed |= line.starts_with(b"test result: FAILED");
        } else if line.starts_with(b"test ") && line.windows(5).any(|five| five == b" ... ") {
            self.passed += usize::from(ends(" ok"));
            self.failed |= ends(" FAILED");
            let ignored = line.windows(13).any(|word| word == b" ... ignored,") || ends(" ... ignored");
            self.running = !(ends(" ok") || ends(" FAILED") || ignored);
        }
    }
}

/// What a program's exit status says about its tests.
fn verdict(said: &Said, status: ExitStatus) -> Result<Ended, String> {
    if said.failed {
        return Ok(Ended::Failed);
    }
    if status.success() {
        return Ok(Ended::Passed(said.passed));
    }
    if said.running && !status.signal().is_some_and(|signal| FROM_OUTSIDE.contains(&signal)) {
        return Ok(Ended::Failed);
    }
    Err(format!("{status}, and no test failed"))
}

#[cfg(test)]
mod tests {
    use std::{path::PathBuf, time::Duration};

    use super::{Ended, Program, Said, VARIABLE, run};

    /// The result of a shell script that gets the change's number.
    fn ended(script: &str, seconds: u64) -> Ended {
        let shell = Program { program: PathBuf::from("/bin/sh"), folder: PathBuf::from("/") };
        let script = script.replace("NUMBER", &format!("${VARIABLE}"));
        run(&[shell.clone(), shell], &["-c".to_owned(), script], Some(7), Duration::from_secs(seconds))
    }

    #[test]
    fn the_end_of_tests_is_known() {
        assert_eq!(ended("echo test a ... ok; echo test b ... ok; test NUMBER = 7", 60), Ended::Passed(4));
        assert_eq!(ended("test NUMBER = 8 || echo test a ... FAILED; exit 101", 60), Ended::Failed);
        assert_eq!(ended("echo 'test a ... ok'; echo 'test b ... FAILED'; sleep 600", 60), Ended::Failed, "at once");
        assert_eq!(ended("sleep 600 & sleep 600", 1), Ended::Hung, "with all that it started");
        assert_eq!(ended("exec >/dev/null; sleep 600", 1), Ended::Hung, "though its output has ended");
        assert_eq!(ended("while :; do echo test a ... ok; done", 1), Ended::Hung, "though it is not silent");
    }

    #[test]
    fn a_test_that_ends_its_program_fails() {
        for end in ["kill -SEGV $$", "kill -ABRT $$", "exit 1", "echo; exit 101"] {
            assert_eq!(ended(&format!("echo test a ... ok; printf 'test b ... '; {end}"), 60), Ended::Failed, "{end}");
        }
        // A child of the test printed something before the word.
        assert_eq!(ended("printf 'test a ... x\\nFAILED\\n\\ntest result: FAILED. 0'; exit 101", 60), Ended::Failed);
    }

    #[test]
    fn what_no_test_says_is_no_failure() {
        let not_run = |ended: Ended| assert!(matches!(ended, Ended::NotRun(_)), "{ended:?}");
        let missing = Program { program: PathBuf::from("/none/program"), folder: PathBuf::from("/") };
        not_run(run(&[missing], &[], Some(7), Duration::from_secs(60)));
        for end in [
            "exec /none/program",
            "kill -SEGV $$",
            "exit 101",
            "echo running 1 test; exit 101",
            "echo test a ... ok; exit 3",
            "echo test a ... ignored; exit 3",
            "echo test a ... ignored, because; exit 3",
            "printf 'test a ... '; kill -KILL $$",
            "printf 'test a ... '; kill -TERM $$",
        ] {
            not_run(ended(end, 60));
        }
    }

    #[test]
    fn a_program_has_ended_though_what_it_started_holds_its_output() {
        assert_eq!(ended("echo test a ... ok; sleep 600 & exit 0", 30), Ended::Passed(2));
        assert_eq!(ended("echo test a ... FAILED; sleep 600 & exit 101", 30), Ended::Failed);
    }

    #[test]
    fn lines_of_other_kinds_are_no_tests() {
        let mut said = Said::default();
        for line in
            ["running 3 tests", "test of something", "failures:", "", "a test b ... FAILED", "---- c ... FAILED"]
        {
            said.take(line.as_bytes());
        }
        assert!(!said.failed && !said.running && said.passed == 0);
    }
}
