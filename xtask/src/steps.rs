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
    /// What each step cost: its name, CPU seconds, seconds.
    costs: Vec<(String, f64, f64)>,
}

impl Steps {
    pub(crate) fn new(root: PathBuf) -> Self {
        Steps { root, passed: 0, failed: Vec::new(), skipped: Vec::new(), costs: Vec::new() }
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

    /// Runs cargo in the workspace; it must exit with 0. Returns whether it did.
    pub(crate) fn cargo(&mut self, name: &str, words: &[&str], environment: &[(&str, &str)]) -> bool {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        self.run(name, &PathBuf::from(cargo), words, environment)
    }

    /// Runs a program in the workspace; it must exit with 0. Returns whether it did.
    pub(crate) fn run(
        &mut self,
        name: &str,
        program: &Path,
        words: &[impl AsRef<OsStr>],
        env: &[(&str, &str)],
    ) -> bool {
        announce(name);
        let cost = Cost::begin();
        let mut command = Command::new(program);
        command.args(words).current_dir(&self.root).envs(env.iter().copied());
        let status = command.status();
        let (cpu, seconds) = self.paid(name, cost);
        match status {
            Ok(status) if status.success() => {
                println!("   {name}: passed in {seconds:.0} s, {cpu:.0} CPU s");
                self.passed += 1;
                return true;
            }
            Ok(status) => self.fail(name, &status.to_string()),
            Err(error) => self.fail(name, &format!("{}: {error}", program.display())),
        }
        false
    }

    /// Notes what a step cost; returns its CPU seconds and seconds.
    fn paid(&mut self, name: &str, cost: Cost) -> (f64, f64) {
        let (cpu, seconds) = cost.end();
        self.costs.push((name.into(), cpu, seconds));
        (cpu, seconds)
    }

    /// Runs a check that is written in Rust.
    pub(crate) fn check(&mut self, name: &str, check: impl FnOnce(&Steps) -> Checked) {
        announce(name);
        let cost = Cost::begin();
        let checked = check(self);
        self.paid(name, cost);
        match checked {
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
    pub(crate) fn close(mut self) -> ExitCode {
        self.costs.sort_by(|a, b| b.1.total_cmp(&a.1));
        if self.costs.len() > 1 {
            let all: f64 = self.costs.iter().map(|(_, cpu, _)| cpu).sum();
            println!("\nCPU minutes: {:.1}, of which", all / 60.0);
            for (name, cpu, seconds) in self.costs.iter().take(8) {
                println!("   {:>5.1}  {name} ({:.1} minutes)", cpu / 60.0, seconds / 60.0);
            }
        }
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

/// The time that a step takes, by the clock and of all processors.
pub(crate) struct Cost {
    start: Instant,
    cpu: f64,
}

impl Cost {
    pub(crate) fn begin() -> Self {
        Cost { start: Instant::now(), cpu: children() }
    }

    /// CPU seconds and seconds since the beginning.
    pub(crate) fn end(self) -> (f64, f64) {
        (children() - self.cpu, self.start.elapsed().as_secs_f64())
    }
}

/// CPU seconds of all ended child processes: `cutime` and `cstime` of proc(5), in hundredths.
fn children() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default();
    let ticks = |at: usize| fields.split_whitespace().nth(at).and_then(|field| field.parse::<f64>().ok());
    (ticks(13).unwrap_or(0.0) + ticks(14).unwrap_or(0.0)) / 100.0
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
