//! Runs the steps and counts their results.

use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};

use crate::{
    limit::{self, Limit},
    programs,
    target_folder::FOLDER,
};

/// The variable that names the file to which the results are also written, for the process that runs this one.
pub(crate) const RESULTS: &str = "SEALWRIGHT_XTASK_RESULTS";

/// The variable that names the file to which programs of a step write, line by line, what they skip.
pub(crate) const SKIPPED: &str = "SEALWRIGHT_SKIPPED";

/// The results of the steps so far.
pub(crate) struct Steps {
    root: PathBuf,
    /// The path of this program at its start: the tests build it again.
    program: PathBuf,
    /// A number within this process: each `Steps` has its own file for what is skipped.
    number: usize,
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
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let (program, number) = (env::current_exe().unwrap_or_default(), NUMBER.fetch_add(1, Ordering::Relaxed));
        Steps { root, program, number, results: Results::default() }
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
        env::var_os(FOLDER).map_or_else(|| self.root.join("target"), PathBuf::from)
    }

    /// The file for what is skipped. Checks pass it to their programs in [`SKIPPED`]; [`Steps::run`] does so itself.
    pub(crate) fn skips(&self) -> PathBuf {
        self.target().join(format!("skipped-{}-{}", std::process::id(), self.number))
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
        match programs::cargo().args(words).current_dir(&self.root).output() {
            Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Runs cargo in the workspace; it must exit with 0. Returns whether it did.
    pub(crate) fn cargo(&mut self, name: &str, words: &[&str], environment: &[(&str, &str)]) -> bool {
        self.run(name, Path::new(programs::cargo().get_program()), words, environment)
    }

    /// Runs a program in the workspace; it must exit with 0. Returns whether it did.
    pub(crate) fn run(
        &mut self,
        name: &str,
        program: &Path,
        words: &[impl AsRef<OsStr>],
        env: &[(&str, &str)],
    ) -> bool {
        let cost = self.begin(name);
        let mut command = Command::new(program);
        command.args(words).current_dir(&self.root).env(SKIPPED, self.skips()).envs(env.iter().copied());
        let status = command.status();
        let (cpu, seconds, expired) = self.paid(name, cost);
        self.told(name);
        match status {
            _ if expired => self.too_long(name),
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

    /// Begins a step. Removes the file that an earlier process with the same number may have left.
    fn begin(&self, name: &str) -> (Cost, Limit) {
        println!("\n== {name}");
        let _ = std::fs::remove_file(self.skips());
        (Cost::begin(), Limit::begin(limit::STEP))
    }

    /// Counts what programs reported as skipped (`sealwright_transcripts::skipped`) in a file, and removes the file.
    fn told(&mut self, name: &str) {
        let text = std::fs::read_to_string(self.skips()).unwrap_or_default();
        let _ = std::fs::remove_file(self.skips());
        self.parts(name, text.lines());
    }

    /// Counts parts of a step that were skipped.
    fn parts<'a>(&mut self, name: &str, lines: impl Iterator<Item = &'a str>) {
        for line in lines.collect::<std::collections::BTreeSet<_>>() {
            println!("   {name}: skipped: {line}");
            self.results.skipped.push(format!("{name}: {line}"));
        }
    }

    /// Notes what a step cost; returns its CPU seconds and seconds, and whether it was ended as too long.
    fn paid(&mut self, name: &str, (cost, limit): (Cost, Limit)) -> (f64, f64, bool) {
        let expired = limit.end();
        let (cpu, seconds) = cost.end();
        self.results.costs.push((name.into(), cpu, seconds));
        (cpu, seconds, expired)
    }

    /// Runs a check that is written in Rust.
    pub(crate) fn check(&mut self, name: &str, check: impl FnOnce(&Steps) -> Checked) {
        let cost = self.begin(name);
        let checked = check(self);
        let (_, _, expired) = self.paid(name, cost);
        self.told(name);
        match checked {
            _ if expired => self.too_long(name),
            Checked::Right(what) => self.pass(name, &what),
            Checked::Partly(what, skipped) => {
                self.parts(name, skipped.iter().map(String::as_str));
                self.pass(name, &what);
            }
            Checked::Wrong(what) => self.fail(name, &what.join("\n   ")),
            Checked::Cannot(why) => self.skip(name, &why),
        }
    }

    fn pass(&mut self, name: &str, what: &str) {
        println!("   {name}: passed: {what}");
        self.results.passed += 1;
    }

    pub(crate) fn fail(&mut self, name: &str, what: &str) {
        println!("   {name}: FAILED: {what}");
        self.results.failed.push(name.into());
    }

    /// Fails a step whose processes were ended.
    fn too_long(&mut self, name: &str) {
        let minutes = limit::STEP.as_secs() / 60;
        let why = format!("ended after {minutes} minutes (the last output above says where it was)");
        self.fail(name, &why);
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

/// The cost of a step: wall-clock time and CPU time.
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

/// The result of a check.
pub(crate) enum Checked {
    /// Nothing is wrong; the text says what was checked.
    Right(String),
    /// Nothing is wrong in the parts that could be checked; the lines list the others.
    Partly(String, Vec<String>),
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

    /// Right if a program printed what is expected.
    pub(crate) fn printed(said: Result<String, String>, expected: &str) -> Self {
        match said {
            Ok(text) if text == expected => Checked::Right("as expected".into()),
            Ok(text) => Checked::Wrong(vec![format!("it printed:\n{text}")]),
            Err(why) => Checked::Wrong(vec![why]),
        }
    }

    /// As [`Checked::of`], where parts may have been skipped.
    pub(crate) fn partly(wrong: Vec<String>, what: String, skipped: Vec<String>) -> Self {
        if wrong.is_empty() && !skipped.is_empty() { Checked::Partly(what, skipped) } else { Checked::of(wrong, what) }
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

    /// Of a program, of one that a check runs, and of a check itself; each once, and none that an earlier process left.
    #[test]
    fn parts_that_are_skipped_count() {
        let root = env::temp_dir().join(format!("sealwright-skipped-{}", std::process::id()));
        std::fs::create_dir_all(root.join("target")).expect("a folder");
        let mut steps = Steps::new(root.clone());
        std::fs::create_dir_all(steps.target()).expect("a folder");
        std::fs::write(steps.skips(), "left behind\n").expect("a file");
        let say = |what: &str| format!("echo {what} >>\"$SEALWRIGHT_SKIPPED\"");
        assert!(steps.run("run", Path::new("sh"), &["-c", &format!("{0}; {0}", say("one"))], &[]));
        steps.check("check", |steps| {
            let status = Command::new("sh").args(["-c", &say("two")]).env(SKIPPED, steps.skips()).status();
            Checked::of(status.err().iter().map(ToString::to_string).collect(), String::new())
        });
        steps.check("parts", |_| Checked::partly(vec![], String::new(), vec!["three".into(), "four".into()]));
        steps.check("wrong", |_| Checked::partly(vec!["it".into()], String::new(), vec!["five".into()]));
        assert_eq!(steps.results.skipped, ["run: one", "check: two", "parts: four", "parts: three"]);
        assert_eq!((steps.results.passed, &steps.results.failed[..]), (3, &["wrong".to_owned()][..]));
        assert!(!steps.skips().exists());
        std::fs::remove_dir_all(root).expect("it was made here");
    }
}
