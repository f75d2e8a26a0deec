//! Tests of the crates that read untrusted input, under the address sanitizer, which must first report a planted fault.
//! The sanitizers for threads and for uninitialized memory are in [`crate::sanitize_std`].

use std::{env, fs, path::PathBuf, process::Command};

use crate::{
    instrument::{Instrument, STACK},
    programs, sanitize_std,
    steps::{Checked, SKIPPED, Steps},
};

/// Crates with tests that run within one program. Those of the command line start others under limits of memory, which
/// the sanitizer's own memory exceeds.
const CRATES: &[&str] = &[
    KERNELS,
    "sealwright-session",
    "sealwright-stream",
    "sealwright-file",
    "sealwright-vectors",
    "sealwright-hostile",
    "sealwright-smp",
    "sealwright-relay",
];

/// The crate with the kernels, and that of the tests which give them the edges of pages.
const KERNELS: &str = "sealwright";
const PROBES: &str = "sealwright-probes";
/// Their tests: those of every kernel at every level, and in the long form all others that run within one program. What
/// kernels are given there ends at a guard page; the sanitizer also sees what they do to their own variables and
/// tables.
const SHORT: &[&str] = &["guards", "limits"];
const MORE: &[&str] = &[
    "aes",
    "batch",
    "call_forms",
    "cbc_hmac",
    "chacha",
    "committing",
    "compat",
    "counter",
    "gcm",
    "gcm_siv",
    "gscm",
    "multi_key",
    "ocb",
    "raw",
    "referee",
    "rkc",
    "serpent",
    "suites",
    "xaes",
];
/// The variable that asks for the long form, if it is `all`.
const LONG: &str = "SEALWRIGHT_SANITIZE";

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
    let (kernels, others): (Vec<&str>, Vec<&str>) = wanted.iter().copied().partition(|name| *name == KERNELS);
    let mut wrong = Vec::new();
    let mut seen = vec!["the planted fault was seen".to_owned()];
    if !kernels.is_empty() {
        let long = env::var(LONG).is_ok_and(|asked| asked == "all");
        let levels = planted_in_kernels(steps, long)?;
        seen.push(format!("and in the kernels at {}", levels.join(", ")));
        wrong.extend(failed(&mut kernels_tests(steps, long)?, "the kernels' tests")?);
    }
    if !others.is_empty() {
        // Together, so that the crates they share are built once. Documentation tests are linked by another program,
        // which knows nothing of the sanitizer.
        let mut cargo = cargo(steps, &["test", "--all-features", "--no-fail-fast", "--lib", "--tests"])?;
        for name in others {
            cargo.args(["--package", name]);
        }
        wrong.extend(failed(&mut cargo, "tests")?);
    }
    Ok(Checked::of(wrong, format!("{} crates; {}", wanted.len(), seen.join(" "))))
}

/// Cargo, with the crates compiled for the sanitizer. The kernels are not optimised, which takes a fraction of the time
/// to compile.
fn cargo(steps: &Steps, words: &[&str]) -> Result<Command, String> {
    let mut cargo = programs::cargo();
    cargo.args(words).args(["--config", "profile.dev.package.sealwright.opt-level=0"]);
    cargo.args(["--config", "profile.dev.package.sealwright.codegen-units=64"]);
    // In a separate folder: builds with the sanitizer are of no use for other steps.
    cargo.arg("--target-dir").arg(folder(steps)).current_dir(steps.root());
    Instrument::Tests.wrap(&mut cargo)?;
    cargo.env(STACK.0, STACK.1).env(SKIPPED, steps.skips());
    Ok(cargo)
}

fn folder(steps: &Steps) -> PathBuf {
    steps.target().join("sanitize")
}

fn failed(cargo: &mut Command, what: &str) -> Result<Option<String>, String> {
    let passed = quiet(cargo).status().map_err(|error| format!("cargo: {error}"))?.success();
    Ok((!passed).then(|| format!("{what} fail under the address sanitizer: see above")))
}

/// The tests of the kernels. Both packages at once, so that they have one set of features, and the kernels are compiled
/// once.
fn kernels_tests(steps: &Steps, long: bool) -> Result<Command, String> {
    let mut cargo =
        cargo(steps, &["test", "--all-features", "--no-fail-fast", "--package", KERNELS, "--package", PROBES])?;
    if long {
        cargo.arg("--lib");
    }
    for test in SHORT.iter().chain(if long { MORE } else { &[] }) {
        cargo.args(["--test", test]);
    }
    Ok(cargo)
}

/// Kernels that are given one byte too many must be ended at each level of this machine, whether they read or write it.
/// Returns the levels.
fn planted_in_kernels(steps: &Steps, long: bool) -> Result<Vec<String>, String> {
    const PROGRAM: &str = "kernels-behind-the-end";
    // Cargo builds the programs of a package with its tests.
    if !kernels_tests(steps, long)?.arg("--no-run").status().is_ok_and(|status| status.success()) {
        return Err("the kernels' tests do not compile".into());
    }
    let program = folder(steps).join("debug").join(PROGRAM);
    let start = |words: &[&str]| quiet(Command::new(&program).args(words)).output().map_err(|error| error.to_string());
    let levels: Vec<String> = String::from_utf8_lossy(&start(&[])?.stdout).lines().map(str::to_owned).collect();
    for (level, what) in levels.iter().flat_map(|level| ["text", "ad"].map(|what| (level, what))) {
        let output = start(&[level, what])?;
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.success() || !said.contains("heap-buffer-overflow") {
            return Err(format!("the sanitizer did not see the fault in the kernels at {level}, {what}: {said}"));
        }
    }
    match levels.is_empty() {
        true => Err(format!("{PROGRAM} names no level")),
        false => Ok(levels),
    }
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

/// A program that reads past the end of its memory must be ended. It is compiled in the same way as crates by cargo.
fn planted(steps: &Steps) -> Result<(), String> {
    let folder = folder(steps);
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

/// What ends with the process is not lost; `detect_leaks` would count it. A signal at a guard page ends a process as
/// always: tests wait for it.
fn quiet(command: &mut Command) -> &mut Command {
    command.env("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1:handle_segv=0:handle_sigbus=0")
}
