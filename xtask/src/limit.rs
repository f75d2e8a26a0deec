//! Ends the processes of a step that hangs: a test run that never ends tells nobody which test it was.

use std::{
    collections::BTreeSet,
    process::{Command, Stdio},
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::Duration,
};

/// The time for a step: over twice what the longest one takes on two busy processors.
pub(crate) const STEP: Duration = Duration::from_secs(40 * 60);

/// A time limit for the processes that this one starts until [`Limit::end`].
pub(crate) struct Limit {
    ended: Sender<()>,
    watch: JoinHandle<bool>,
}

impl Limit {
    /// Begins the time. Processes that this one has already started are not ended: they run beside the step.
    pub(crate) fn begin(time: Duration) -> Limit {
        let (ended, end) = mpsc::channel();
        let before = children(std::process::id());
        let watch = thread::spawn(move || {
            let expired = end.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            while expired && end.recv_timeout(Duration::from_millis(200)) == Err(RecvTimeoutError::Timeout) {
                kill(&before);
            }
            expired
        });
        Limit { ended, watch }
    }

    /// Ends the time. Returns whether the limit was reached, and processes were ended.
    pub(crate) fn end(self) -> bool {
        drop(self.ended);
        self.watch.join().unwrap_or(true)
    }
}

/// Ends the children of this process, except those in `but`, and all processes below them.
fn kill(but: &BTreeSet<u32>) {
    let mut all: Vec<u32> = children(std::process::id()).difference(but).copied().collect();
    let mut at = 0;
    while let Some(&process) = all.get(at) {
        all.extend(children(process));
        at += 1;
    }
    if !all.is_empty() {
        let numbers = all.iter().map(u32::to_string);
        let _ = Command::new("kill").arg("-KILL").args(numbers).stderr(Stdio::null()).status();
    }
}

/// The processes that any thread of a process has started, by proc(5).
fn children(process: u32) -> BTreeSet<u32> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let of_thread = |path: std::path::PathBuf| std::fs::read_to_string(path.join("children")).unwrap_or_default();
    let lists = threads.map(|thread| of_thread(thread.path()));
    lists.flat_map(|list| list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_hangs_is_ended() {
        let this = std::env::current_exe().expect("this program");
        // In a process of its own: here, processes of other tests would be ended too.
        let ran = Command::new(this).args(["--exact", "limit::tests::alone", "--ignored"]).output().expect("a process");
        assert!(ran.status.success() && String::from_utf8_lossy(&ran.stdout).contains("1 passed"), "{ran:?}");
    }

    /// A process that ignores signals, with one below it, is ended; one that ran before is not.
    #[test]
    #[ignore = "it is run by the test above"]
    fn alone() {
        let mut before = Command::new("sleep").arg("100").spawn().expect("a process");
        let limit = Limit::begin(Duration::from_millis(300));
        let status = Command::new("sh").args(["-c", "trap '' TERM INT; sleep 100 & wait"]).status().expect("a process");
        assert!(!status.success());
        assert!(limit.end(), "the limit was reached");
        assert!(before.try_wait().expect("a child").is_none(), "it ran before the step");
        before.kill().expect("it is running");
        let _ = before.wait();
        let limit = Limit::begin(STEP);
        assert!(Command::new("true").status().expect("a process").success());
        assert!(!limit.end());
    }
}
