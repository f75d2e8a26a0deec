//! Runs the steps and counts their results.

use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::Instant,
};

/// The variable that names the file to which the results are also written, for the process that runs this one.
pub(crate) const RESULTS: &str = "SEALWRIGHT_XTASK_RESULTS";

/// The results of the steps so far.
pub(crate) struct Steps {
    root: PathBuf,
    /// Where this program was when it began: the tests build it anew.
    program: PathBuf,
    results: Results,
}

#[derive(Default)]
struct Results {
    passed: usize,
    failed: Vec<String>,
    skipped: Vec<String>,
    /// What each step cost: its name, CPU seconds, seconds.
    costs: Vec<(String, f64, f64)>,
}

impl Results {
    /// The content of the file that [`Steps::add`] reads.
    fn written(&self) -> Result<Vec<u8>, String> {
        let all = (self.passed, &self.failed, &self.skipped, &self.costs);
        serde_json::to_vec(&all).map_err(|error| error.to_string())
    }
}

impl Steps {
    pub(crate) fn new(root: PathBuf) -> Self {
        Steps { root, program: env::current_exe().unwrap_or_default(), results: Results::default() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// This program, to run another of its commands.
    pub(crate) fn program(&self) -> &Path {
        &self.program
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
        let told = self.target().join(format!("skipped-{}", std::process::id()));
        command.args(words).current_dir(&self.root).env("SEALWRIGHT_SKIPPED", &told).envs(env.iter().copied());
        let status = command.status();
        let (cpu, seconds) = self.paid(name, cost);
        self.told(name, &told);
        match status {
            Ok(status) if status.success() => {
                println!("   {name}: passed in {seconds:.0} s, {cpu:.0} CPU s");
                self.results.passed += 1;
                return true;
            }
            Ok(status) => self.fail(name, &status.to_string()),
            Err(error) => self.fail(name, &format!("{}: {error}", program.display())),
        }
        false
    }

    /// Counts what tests say that they skipped (`sealwright_transcripts::skipped`), in a file, which is removed.
    fn told(&mut self, name: &str, file: &Path) {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let _ = std::fs::remove_file(file);
        for line in text.lines().collect::<std::collections::BTreeSet<_>>() {
            println!("   {name}: skipped: {line}");
            self.results.skipped.push(format!("{name}: {line}"));
        }
    }

    /// Notes what a step cost; returns its CPU seconds and seconds.
    fn paid(&mut self, name: &str, cost: Cost) -> (f64, f64) {
        let (cpu, seconds) = cost.end();
        self.results.costs.push((name.into(), cpu, seconds));
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
                self.results.passed += 1;
            }
            Checked::Wrong(what) => self.fail(name, &what.join("\n   ")),
            Checked::Cannot(why) => self.skip(name, &why),
        }
    }

    pub(crate) fn fail(&mut self, name: &str, what: &str) {
        println!("   {name}: FAILED: {what}");
        self.results.failed.push(name.into());
    }

    pub(crate) fn skip(&mut self, name: &str, why: &str) {
        println!("   {name}: skipped: {why}");
        self.results.skipped.push(name.into());
    }

    /// Adds the results of another process, from the file that it wrote.
    pub(crate) fn add(&mut self, file: &[u8]) -> Result<(), String> {
        type Written = (usize, Vec<String>, Vec<String>, Vec<(String, f64, f64)>);
        let (passed, failed, skipped, costs): Written =
            serde_json::from_slice(file).map_err(|error| error.to_string())?;
        self.results.passed += passed;
        self.results.failed.extend(failed);
        self.results.skipped.extend(skipped);
        self.results.costs.extend(costs);
        Ok(())
    }

    /// Prints the summary.
    pub(crate) fn close(self) -> ExitCode {
        let mut results = self.results;
        results.costs.sort_by(|a, b| b.1.total_cmp(&a.1));
        if results.costs.len() > 1 {
            let all: f64 = results.costs.iter().map(|(_, cpu, _)| cpu).sum();
            println!("\nCPU minutes: {:.1}, of which", all / 60.0);
            for (name, cpu, seconds) in results.costs.iter().take(8) {
                println!("   {:>5.1}  {name} ({:.1} minutes)", cpu / 60.0, seconds / 60.0);
            }
        }
        println!();
        for name in &results.skipped {
            println!("skipped: {name}");
        }
        for name in &results.failed {
            println!("FAILED: {name}");
        }
        println!("{} passed, {} failed, {} skipped", results.passed, results.failed.len(), results.skipped.len());
        let written = env::var_os(RESULTS)
            .map_or(Ok(()), |path| std::fs::write(path, results.written()?).map_err(|error| error.to_string()));
        if let Err(why) = &written {
            println!("the results cannot be written: {why}");
        }
        if results.failed.is_empty() && written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_another_process_count() -> Result<(), String> {
        let mut here = Steps::new(PathBuf::new());
        here.check("right", |_| Checked::Right(String::new()));
        let mut there = Steps::new(PathBuf::new());
        there.check("right too", |_| Checked::Right(String::new()));
        there.check("wrong", |_| Checked::Wrong(vec![]));
        there.check("cannot", |_| Checked::Cannot(String::new()));
        let file = there.results.written()?;
        here.add(&file)?;
        assert_eq!(here.results.passed, 2);
        assert_eq!(here.results.failed, ["wrong"]);
        assert_eq!(here.results.skipped, ["cannot"]);
        assert_eq!(here.results.costs.len(), 4);
        assert_eq!(here.close(), ExitCode::FAILURE);
        // A file that was not written to its end.
        let mut cut = Steps::new(PathBuf::new());
        assert!(cut.add(&file[..file.len() - 1]).is_err());
        Ok(())
    }
}
