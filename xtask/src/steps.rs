//! Runs the steps and counts their results.

use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::Instant,
};

/// The results of the steps so far.
pub(crate) struct Steps {
    root: PathBuf,
    passed: usize,
    failed: Vec<String>,
    skipped: Vec<String>,
}

impl Steps {
    pub(crate) fn new(root: PathBuf) -> Self {
        Steps { root, passed: 0, failed: Vec::new(), skipped: Vec::new() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder in which cargo builds.
    pub(crate) fn target(&self) -> PathBuf {
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| self.root.join("target"), PathBuf::from)
    }

    /// A program of the release build.
    pub(crate) fn release(&self, program: &str) -> PathBuf {
        self.target().join("release").join(program)
    }

    /// The output of `cargo metadata` for this workspace.
    pub(crate) fn metadata(&self) -> Result<serde_json::Value, String> {
        let words = ["metadata", "--no-deps", "--format-version", "1"];
        serde_json::from_str(&self.cargo_output(&words)?).map_err(|error| format!("cargo metadata: {error}"))
    }

    /// Runs cargo and returns its standard output.
    pub(crate) fn cargo_output(&self, words: &[&str]) -> Result<String, String> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        match Command::new(cargo).args(words).current_dir(&self.root).output() {
            Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Runs cargo in the workspace.
    pub(crate) fn cargo(&mut self, name: &str, words: &[&str], environment: &[(&str, &str)]) {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        self.run(name, &PathBuf::from(cargo), words, environment);
    }

    /// Runs a program in the workspace; it must exit with 0.
    pub(crate) fn run(&mut self, name: &str, program: &Path, words: &[impl AsRef<OsStr>], env: &[(&str, &str)]) {
        announce(name);
        let start = Instant::now();
        let mut command = Command::new(program);
        command.args(words).current_dir(&self.root).envs(env.iter().copied());
        match command.status() {
            Ok(status) if status.success() => {
                println!("   {name}: passed in {:.0} s", start.elapsed().as_secs_f64());
                self.passed += 1;
            }
            Ok(status) => self.fail(name, &status.to_string()),
            Err(error) => self.fail(name, &format!("{}: {error}", program.display())),
        }
    }

    /// Runs a check that is written in Rust.
    pub(crate) fn check(&mut self, name: &str, check: impl FnOnce(&Steps) -> Checked) {
        announce(name);
        match check(self) {
            Checked::Right(what) => {
                println!("   {name}: passed: {what}");
                self.passed += 1;
            }
            Checked::Wrong(what) => self.fail(name, &what.join("\n   ")),
            Checked::Cannot(why) => self.skip(name, &why),
        }
    }

    pub(crate) fn fail(&mut self, name: &str, what: &str) {
        println!("   {name}: FAILED: {what}");
        self.failed.push(name.into());
    }

    pub(crate) fn skip(&mut self, name: &str, why: &str) {
        println!("   {name}: skipped: {why}");
        self.skipped.push(name.into());
    }

    /// Prints the summary.
    pub(crate) fn close(self) -> ExitCode {
        println!();
        for name in &self.skipped {
            println!("skipped: {name}");
        }
        for name in &self.failed {
            println!("FAILED: {name}");
        }
        println!("{} passed, {} failed, {} skipped", self.passed, self.failed.len(), self.skipped.len());
        if self.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

fn announce(name: &str) {
    println!("\n== {name}");
}

/// The result of a check.
pub(crate) enum Checked {
    /// Nothing is wrong; the text says what was checked.
    Right(String),
    /// What is wrong, one line for each defect.
    Wrong(Vec<String>),
    /// The check could not run; the text says why.
    Cannot(String),
}

impl Checked {
    /// `Right(what)` if `wrong` is empty, otherwise `Wrong(wrong)`.
    pub(crate) fn of(wrong: Vec<String>, what: String) -> Self {
        if wrong.is_empty() { Checked::Right(what) } else { Checked::Wrong(wrong) }
    }
}
