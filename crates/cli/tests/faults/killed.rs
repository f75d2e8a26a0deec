//! Killed at each system call in turn, and at random moments: no output is partial.

use std::{
    env,
    hash::{BuildHasher, Hasher, RandomState},
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use sealwright_transcripts::{Finished, Sandbox, have};

use crate::{
    CALLS, every_call,
    jobs::{JOBS, Job, clear, leftovers, may_be_left, sandbox},
};

/// Checks that the job is either done or undone, apart from permitted hidden names.
fn nothing_is_partial(job: &Job, sandbox: &Sandbox, what: &str) {
    assert!((job.undone)(sandbox) || (job.done)(sandbox), "{what}");
    for name in leftovers(&sandbox.path("")) {
        assert!(may_be_left(job, sandbox, &name), "{what}: {name}");
        clear(sandbox, &[&name]);
    }
}

/// Killed at each system call in turn. A file that was being written had no name yet.
#[test]
fn killed_at_any_call() {
    if !have("strace") {
        return;
    }
    let mut all = 0;
    for job in JOBS {
        let check = |sandbox: &Sandbox, _: &Finished, what: &str| nothing_is_partial(job, sandbox, what);
        let injections = every_call(job, &CALLS, "signal=KILL", check);
        assert!(injections > 2, "{}: killed {injections} times", job.line);
        eprintln!("{}: killed at {injections} calls", job.line);
        all += injections;
    }
    eprintln!("killed at {all} calls");
}

/// The number of kills per job. `SEALWRIGHT_KILLS=1000` makes a long run.
fn kills() -> u32 {
    env::var("SEALWRIGHT_KILLS").map_or(12, |times| times.parse().unwrap())
}

/// A random number from 0 to 1.
fn chance() -> f64 {
    (RandomState::new().build_hasher().finish() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Runs a job and kills it after `moment`. Returns whether it was still running.
fn killed_after(job: &Job, sandbox: &Sandbox, moment: Duration) -> bool {
    let mut child = sandbox.command().args(job.line.split(' ')).stderr(Stdio::null()).spawn().unwrap();
    thread::sleep(moment);
    child.kill().unwrap();
    child.wait().unwrap().code().is_none()
}

#[test]
fn killed_at_random_moments() {
    for job in JOBS {
        let sandbox = sandbox();
        (job.before)(&sandbox);
        let start = Instant::now();
        sandbox.ok(job.line);
        let mut whole = start.elapsed();
        let mut killed = 0;
        for turn in 0..kills() {
            (job.before)(&sandbox);
            let moment = whole.mul_f64(chance());
            let start = Instant::now();
            let was_killed = killed_after(job, &sandbox, moment);
            if !was_killed {
                // It had ended: the first run was slower than the others.
                whole = whole.min(start.elapsed());
            }
            killed += u32::from(was_killed);
            nothing_is_partial(job, &sandbox, &format!("{}: kill {turn}, after {moment:?}", job.line));
        }
        eprintln!("{}: killed {killed} times of {}", job.line, kills());
        // A few of a dozen kills may come too late by chance; on a busy machine, most.
        let fewest = if kills() < 100 { 1 } else { kills() / 4 };
        assert!(killed >= fewest, "{}: killed {killed} times of {}, the others had ended", job.line, kills());
    }
}
