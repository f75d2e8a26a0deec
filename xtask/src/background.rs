//! Jobs that `test` runs beside its steps, which mostly use only one processor: the release build beside the tests, so
//! that it is done at the steps `sizes` and `release`; and the checks of the cores after the tests. The steps have the
//! highest priority, then the build, for which one of them waits, then the cores.

use std::{
    fs, io,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use crate::steps::{RESULTS, Steps};

/// The running build.
pub(crate) struct Beside(Option<Child>);

impl Beside {
    /// Begins the build of the release binaries. A failure here repeats in the step `release`, which reports it.
    pub(crate) fn begin(steps: &Steps) -> Beside {
        let mut command = Command::new("nice");
        command.args(["-n", "10"]).arg(steps.program()).arg("release");
        Beside(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok())
    }

    /// Waits for its end.
    pub(crate) fn end(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.wait();
        }
    }
}

/// A command with several steps that runs in its own process.
pub(crate) struct Apart {
    command: &'static str,
    child: Child,
    printed: PathBuf,
    results: PathBuf,
}

impl Apart {
    /// Begins `cargo xtask COMMAND`. Its output is kept until its end.
    pub(crate) fn begin(steps: &Steps, command: &'static str) -> io::Result<Apart> {
        let path = |kind: &str| steps.target().join(format!("{command}-beside.{kind}"));
        let (printed, results) = (path("log"), path("json"));
        // Removes the results of an earlier run.
        match fs::remove_file(&results) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let log = fs::File::create(&printed)?;
        let mut child = Command::new("nice");
        child
            .args(["-n", "19"])
            .arg(steps.program())
            .arg(command)
            .env(RESULTS, &results)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        Ok(Apart { command, child: child.spawn()?, printed, results })
    }

    /// Waits for its end, prints what it printed, and counts its results as those of `steps`.
    pub(crate) fn end(mut self, steps: &mut Steps) {
        let ended = self.child.wait();
        print!("{}", String::from_utf8_lossy(&fs::read(&self.printed).unwrap_or_default()));
        let results = fs::read(&self.results).map_err(|error| error.to_string());
        if let Err(why) = results.and_then(|results| steps.add(&results)) {
            let status = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
            steps.fail(self.command, &format!("it ended without results ({status}): {why}"));
        }
    }
}
