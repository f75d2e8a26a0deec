//! The tests of the crates that read foreign bytes under the address sanitizer, after a planted fault that it must see.

use std::{env, process::Command};

use crate::{
    instrument::Instrument,
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
    match run(steps, words) {
        Ok(checked) => checked,
        Err(why) => Checked::Wrong(vec![why]),
    }
}

fn run(steps: &Steps, words: &[String]) -> Result<Checked, String> {
    let wanted: Vec<&str> = if words.is_empty() { CRATES.to_vec() } else { words.iter().map(String::as_str).collect() };
    if let Some(unknown) = wanted.iter().find(|name| !CRATES.contains(name)) {
        return Err(format!("{unknown}: the crates are {}", CRATES.join(", ")));
    }
    planted(steps)?;
    let mut wrong = Vec::new();
    for name in &wanted {
        // Documentation tests are linked by another program, which knows nothing of the sanitizer.
        let status =
            cargo(steps, &["test", "-p", name, "--all-features", "--no-fail-fast", "--lib", "--tests"])?.status();
        if !status.is_ok_and(|status| status.success()) {
            wrong.push(format!("{name}: its tests fail under the address sanitizer"));
        }
    }
    Ok(Checked::of(wrong, format!("{} crates, and the planted fault was seen", wanted.len())))
}

/// A program that reads behind the end of its memory must be ended.
fn planted(steps: &Steps) -> Result<(), String> {
    let words = ["run", "-p", "sealwright-probes", "--bin", "behind-the-end"];
    let output = cargo(steps, &words)?.output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() || !said.contains("heap-buffer-overflow") {
        return Err(format!("the sanitizer did not see the planted fault: {}\n{said}", output.status));
    }
    Ok(())
}

/// Cargo, with a folder of its own: what is built with the sanitizer is of no use to others.
fn cargo(steps: &Steps, words: &[&str]) -> Result<Command, String> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(words).arg("--target-dir").arg(steps.target().join("sanitize")).current_dir(steps.root());
    // What ends with the process is not lost; `detect_leaks` would count it.
    cargo.env("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1");
    Instrument::Tests.wrap(&mut cargo)?;
    Ok(cargo)
}
