//! The test programs: building them, and running them until one fails.

use std::{
    env,
    io::{BufRead, BufReader},
    ops::Range,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::switch::VARIABLE;

/// A test program, and the folder in which cargo would start it.
#[derive(Clone, Debug)]
pub(super) struct Program {
    program: PathBuf,
    folder: PathBuf,
}

/// What the compiler does not accept: an error with the bytes of the files that it is about, those it is mainly about first.
pub(super) struct Fault {
    pub(super) said: String,
    pub(super) places: Vec<(String, Range<usize>)>,
}

/// What came of building.
pub(super) enum Built {
    Programs(Vec<Program>),
    Faults(Vec<Fault>),
}

/// Words for cargo that come with a value.
const WITH_VALUE: [&str; 7] = ["--test", "--bin", "--example", "--bench", "--features", "--config", "--profile"];

/// The words of `cargo test` without those that select tests by name, and those.
pub(super) fn split(words: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut cargo, mut tests, mut value) = (Vec::new(), Vec::new(), false);
    for word in words {
        let of_cargo = value || word.starts_with('-');
        value = !value && WITH_VALUE.contains(&word.as_str());
        if of_cargo { &mut cargo } else { &mut tests }.push(word.clone());
    }
    (cargo, tests)
}

/// The kernels as fast as they compile, which takes far longer than the tests.
const KERNELS: &str = "profile.dev.package.sealwright.opt-level=0";

/// Builds the test programs, with the words that `cargo test` has.
pub(super) fn build(tree: &Path, target: &Path, words: &[String]) -> Result<Built, String> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["test", "--no-run", "--message-format", "json", "--config", KERNELS]).args(words);
    // Fewer features make fewer kernels.
    if !words.iter().any(|word| word == "--features") {
        command.arg("--all-features");
    }
    command.current_dir(tree).env("CARGO_TARGET_DIR", target).env("CARGO_INCREMENTAL", "1");
    let output = command.stderr(Stdio::piped()).output().map_err(|error| format!("cargo test: {error}"))?;
    let (mut programs, mut faults) = (Vec::new(), Vec::new());
    for line in output.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let Ok(of) = serde_json::from_slice::<Value>(line) else { continue };
        if of["profile"]["test"] == true
            && let Some(program) = of["executable"].as_str()
        {
            let manifest = Path::new(of["manifest_path"].as_str().unwrap_or_default());
            let folder = manifest.parent().unwrap_or(tree).to_owned();
            programs.push(Program { program: program.into(), folder });
        }
        if of["message"]["level"] == "error" {
            faults.push(fault(&of["message"]));
        }
    }
    if output.status.success() {
        return Ok(Built::Programs(programs));
    }
    // The last one only counts the others.
    faults.retain(|fault| !fault.places.is_empty());
    if faults.is_empty() {
        return Err(format!("cargo test: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(Built::Faults(faults))
}

fn fault(message: &Value) -> Fault {
    let mut places = Vec::new();
    collect(message, true, &mut places);
    collect(message, false, &mut places);
    Fault { said: message["rendered"].as_str().unwrap_or_default().to_owned(), places }
}

fn collect(message: &Value, primary: bool, places: &mut Vec<(String, Range<usize>)>) {
    for span in message["spans"].as_array().into_iter().flatten().filter(|span| span["is_primary"] == primary) {
        let byte = |name: &str| span[name].as_u64().and_then(|at| usize::try_from(at).ok());
        if let (Some(file), Some(start), Some(end)) = (span["file_name"].as_str(), byte("byte_start"), byte("byte_end"))
        {
            places.push((file.to_owned(), start..end));
        }
    }
    for child in message["children"].as_array().into_iter().flatten() {
        collect(child, primary, places);
    }
}

/// How the tests ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Passed,
    Failed,
    /// Not in the time they have.
    Hung,
}

/// Runs the programs one after the other until one of them fails, with the change of this number.
pub(super) fn run(programs: &[Program], names: &[String], change: Option<usize>, time: Duration) -> Ended {
    let end = Instant::now() + time;
    for program in programs {
        let ended = run_one(program, names, change, end.saturating_duration_since(Instant::now()));
        if ended != Ended::Passed {
            return ended;
        }
    }
    Ended::Passed
}

fn run_one(program: &Program, names: &[String], change: Option<usize>, time: Duration) -> Ended {
    let mut command = Command::new(&program.program);
    // Two changes are tried at a time, each in one thread.
    command.args(names).current_dir(&program.folder).env("RUST_TEST_THREADS", "1").process_group(0);
    // Kernels without optimization that choose between changes have variables by the hundred, each with a place of its own.
    command.env("RUST_MIN_STACK", (64 << 20).to_string());
    command.env("CARGO_MANIFEST_DIR", &program.folder).stdin(Stdio::null()).stderr(Stdio::null());
    match change {
        Some(number) => command.env(VARIABLE, number.to_string()),
        None => command.env_remove(VARIABLE),
    };
    let Ok(mut child) = command.stdout(Stdio::piped()).spawn() else { return Ended::Failed };
    let (said, hear) = mpsc::channel();
    let output = child.stdout.take();
    thread::spawn(move || {
        // The first test that fails is enough; the end of the output means that the program ended, or will.
        let mut lines = output.into_iter().flat_map(|output| BufReader::new(output).split(b'\n')).map_while(Result::ok);
        let failed = lines.any(|line| line.starts_with(b"test ") && line.ends_with(b" FAILED"));
        let _ = said.send(failed);
    });
    let heard = hear.recv_timeout(time);
    if heard != Ok(false) {
        // With the programs that it started
        let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).stderr(Stdio::null()).status();
    }
    let status = child.wait();
    match heard {
        Err(_) => Ended::Hung,
        Ok(false) if status.is_ok_and(|status| status.success()) => Ended::Passed,
        Ok(_) => Ended::Failed,
    }
}

#[cfg(test)]
mod tests {
    use std::{path::PathBuf, time::Duration};

    use super::{Ended, Program, VARIABLE, run, split};

    #[test]
    fn names_of_tests_are_not_words_of_cargo() {
        let words = ["--lib", "replay", "--test", "raw", "ring"].map(str::to_owned);
        assert_eq!(
            split(&words),
            (["--lib", "--test", "raw"].map(str::to_owned).to_vec(), vec!["replay".into(), "ring".into()])
        );
    }

    /// What a shell makes of the change's number.
    fn ended(script: &str, seconds: u64) -> Ended {
        let shell = Program { program: PathBuf::from("/bin/sh"), folder: PathBuf::from("/") };
        let script = script.replace("NUMBER", &format!("${VARIABLE}"));
        run(&[shell.clone(), shell], &["-c".to_owned(), script], Some(7), Duration::from_secs(seconds))
    }

    #[test]
    fn the_end_of_tests_is_known() {
        assert_eq!(ended("test NUMBER = 7", 60), Ended::Passed);
        assert_eq!(ended("test NUMBER = 8", 60), Ended::Failed);
        assert_eq!(ended("echo 'test a ... ok'; echo 'test b ... FAILED'; sleep 600", 60), Ended::Failed, "at once");
        assert_eq!(ended("sleep 600 & sleep 600", 1), Ended::Hung, "with all that it started");
    }
}
