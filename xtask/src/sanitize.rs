//! The tests of the crates that read foreign bytes under the address sanitizer, after a planted fault that it must see. The sanitizers
//! for threads and undefined memory are in [`crate::sanitize_std`].

use std::{env, fs, process::Command};

use crate::{
    instrument::Instrument,
    sanitize_std,
    steps::{Checked, Steps},
};

/// Crates with tests that run within one program. Those of the command line start others under limits of memory, which the
/// sanitizer's own memory exceeds.
const CRATES: &[&str] = &[
    "sealwright-session",
    "sealwright-stream",
    "sealwright-file",
    "sealwright-vectors",
    "sealwright-hostile",
    "sealwright-smp",
    "sealwright-relay",
];

pub(crate) fn check(steps: &Steps, words: &[String]) -> Checked {
    if words == ["--make-root"] {
        return sanitize_std::ROOT.make(steps);
    }
    let other = sanitize_std::ALL.into_iter().find(|other| words.first().is_some_and(|word| word == other.word));
    if let Some(other) = other {
        return match known(other.crates, &words[1..]) {
            Ok(crates) => sanitize_std::check(steps, &other, &crates),
            Err(why) => Checked::Wrong(vec![why]),
        };
    }
    match run(steps, words) {
        Ok(checked) => checked,
        Err(why) => Checked::Wrong(vec![why]),
    }
}

fn run(steps: &Steps, words: &[String]) -> Result<Checked, String> {
    let wanted = known(CRATES, words)?;
    planted(steps)?;
    // Together, so that the crates they share are built once. Documentation tests are linked by another program, which knows
    // nothing of the sanitizer.
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["test", "--all-features", "--no-fail-fast", "--lib", "--tests"]);
    for name in &wanted {
        cargo.args(["--package", name]);
    }
    // A folder of its own: what is built with the sanitizer is of no use to others.
    cargo.arg("--target-dir").arg(steps.target().join("sanitize")).current_dir(steps.root());
    Instrument::Tests.wrap(&mut cargo)?;
    let passed = quiet(&mut cargo).status().map_err(|error| format!("cargo: {error}"))?.success();
    let wrong = if passed { vec![] } else { vec!["tests fail under the address sanitizer: see above".to_owned()] };
    Ok(Checked::of(wrong, format!("{} crates, and the planted fault was seen", wanted.len())))
}

/// The crates that are named, or all.
fn known<'a>(all: &[&'a str], words: &'a [String]) -> Result<Vec<&'a str>, String> {
    let wanted: Vec<&str> = if words.is_empty() { all.to_vec() } else { words.iter().map(String::as_str).collect() };
    match wanted.iter().find(|name| !all.contains(name)) {
        Some(unknown) => {
            let hint = "hint: cargo xtask sanitize sealwright-session sealwright-stream";
            Err(format!("{unknown}: the crates are {}\n   {hint}", all.join(", ")))
        }
        None => Ok(wanted),
    }
}

/// A program that reads behind the end of its memory must be ended. It is compiled the way in which cargo has crates compiled.
fn planted(steps: &Steps) -> Result<(), String> {
    let folder = steps.target().join("sanitize");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let program = folder.join("behind-the-end");
    let mut compiler = Command::new(env::current_exe().map_err(|error| error.to_string())?);
    compiler.args(["rustc", "--edition", "2024", "-o"]).arg(&program);
    compiler.arg(steps.root().join("crates/probes/src/bin/behind_the_end.rs"));
    Instrument::Tests.wrap(&mut compiler)?;
    let compiled = compiler.env("CARGO_PKG_NAME", "sealwright-probes").status();
    if !compiled.is_ok_and(|status| status.success()) {
        return Err("the planted fault does not compile".into());
    }
    let output = quiet(&mut Command::new(&program)).output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() || !said.contains("heap-buffer-overflow") {
        return Err(format!("the sanitizer did not see the planted fault: {}\n{said}", output.status));
    }
    Ok(())
}

/// What ends with the process is not lost; `detect_leaks` would count it.
fn quiet(command: &mut Command) -> &mut Command {
    command.env("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1")
}
