//! Candidates: work in this process, and whole processes.

use std::{
    fmt, io,
    process::{Command, Stdio},
    time::Duration,
};

use crate::{
    clock::{ChildTime, Clock, ThreadCpu, Wall, run_child},
    random::Random,
};

/// One of several ways to do the same work, which the [`Meter`](crate::Meter) compares.
pub trait Candidate {
    /// The name in the results.
    fn name(&self) -> &str;

    /// Does the work `iterations` times and returns the time that it took, by a suitable clock: wall time around a
    /// loop, the user time of a child process, or the time that another program printed.
    ///
    /// # Errors
    /// If the work fails; the comparison then ends with that error.
    fn run(&mut self, iterations: u64) -> io::Result<Duration>;

    /// Changes what stays the same from sample to sample and affects the time, such as where buffers lie; called before
    /// every round, untimed. Returns whether there was anything to change.
    ///
    /// # Errors
    /// If it fails; the comparison then ends with that error.
    fn renew(&mut self, _random: &mut Random) -> io::Result<bool> {
        Ok(false)
    }

    /// The iterations of one sample if they must not be calibrated; `Some(1)` for a whole process.
    fn iterations(&self) -> Option<u64> {
        None
    }

    /// The iterations of a sample are a multiple of this: those that are only done together.
    fn together(&self) -> u64 {
        1
    }
}

/// Work in this process, timed around a loop of `iterations` calls, by default with the wall clock.
pub struct Work<F> {
    name: String,
    work: F,
    counted: Counted,
}

impl<F: FnMut()> Work<F> {
    /// A candidate called `name`; one call of `work` is one iteration. Pass results through [`std::hint::black_box`].
    pub fn new(name: impl Into<String>, work: F) -> Self {
        Work { name: name.into(), work, counted: Counted::Wall }
    }

    /// Uses the CPU time of the calling thread instead: for single-threaded work on a machine that is also used by
    /// others.
    #[must_use]
    pub fn by_thread_cpu(self) -> Self {
        Work { counted: Counted::Cpu, ..self }
    }
}

impl<F: FnMut()> Candidate for Work<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&mut self, iterations: u64) -> io::Result<Duration> {
        let clock: &dyn Clock = if self.counted == Counted::Wall { &Wall::new() } else { &ThreadCpu };
        let start = clock.now();
        for _ in 0..iterations {
            (self.work)();
        }
        Ok(clock.now() - start)
    }
}

impl<F> fmt::Debug for Work<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Which time of a child process counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// User time, as `time` prints it and as papers quote it.
    User,
    /// User and system time together.
    Cpu,
    /// Wall time.
    Wall,
}

/// A whole process. One run is one iteration and one sample.
pub struct Process<F> {
    name: String,
    counted: Counted,
    command: F,
    runs: Vec<ChildTime>,
}

impl<F: FnMut() -> Command> Process<F> {
    /// A process that `command` starts for every run. Its standard input and output are null unless `command` redirects
    /// them to files; `command` must remove files of earlier runs.
    pub fn new(name: impl Into<String>, counted: Counted, command: F) -> Self {
        Process { name: name.into(), counted, command, runs: Vec::new() }
    }

    /// All runs so far, including warm-up, with all their times.
    pub fn runs(&self) -> &[ChildTime] {
        &self.runs
    }
}

impl<F: FnMut() -> Command> Candidate for Process<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&mut self, iterations: u64) -> io::Result<Duration> {
        let mut total = Duration::ZERO;
        for _ in 0..iterations {
            let used = run_child(&mut (self.command)())?;
            if !used.status.success() {
                return Err(io::Error::other(format!("{}: {}", self.name, used.status)));
            }
            self.runs.push(used);
            total += match self.counted {
                Counted::User => used.user,
                Counted::Cpu => used.user + used.system,
                Counted::Wall => used.wall,
            };
        }
        Ok(total)
    }

    fn iterations(&self) -> Option<u64> {
        Some(1)
    }
}

impl<F> fmt::Debug for Process<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("name", &self.name).field("runs", &self.runs.len()).finish_non_exhaustive()
    }
}

/// `program` with null standard streams: the basis of a [`Process`] that works on files.
pub fn quiet(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn work_runs_as_often_as_told() {
        let mut calls = 0;
        let mut work = Work::new("count", || calls += 1);
        work.run(17).unwrap();
        work.run(3).unwrap();
        assert_eq!((work.name(), work.iterations()), ("count", None));
        assert_eq!(calls, 20);
    }

    #[test]
    fn thread_cpu_time_leaves_sleep_out() {
        let sleep = || std::thread::sleep(Duration::from_millis(30));
        assert!(Work::new("wall", sleep).run(1).unwrap() >= Duration::from_millis(30));
        assert!(Work::new("cpu", sleep).by_thread_cpu().run(1).unwrap() < Duration::from_millis(20));
    }

    #[test]
    fn a_process_gives_the_time_that_counts_and_keeps_the_rest() {
        let sleep = || {
            let mut command = quiet("sleep");
            command.arg("0.03");
            command
        };
        let mut by_wall = Process::new("sleep", Counted::Wall, sleep);
        let mut by_user = Process::new("sleep", Counted::User, sleep);
        assert_eq!(by_wall.iterations(), Some(1));
        assert!(by_wall.run(1).unwrap() >= Duration::from_millis(30));
        assert!(by_user.run(1).unwrap() < Duration::from_millis(30));
        by_user.run(1).unwrap();
        assert_eq!(by_user.runs().len(), 2);
        assert!(by_user.runs()[0].wall >= Duration::from_millis(30));
    }

    #[test]
    fn a_failing_process_is_an_error_with_its_name() {
        let mut failing = Process::new("false", Counted::Cpu, || quiet("false"));
        let text = failing.run(1).unwrap_err().to_string();
        assert!(text.starts_with("false: exit status: 1"), "{text}");
    }
}
