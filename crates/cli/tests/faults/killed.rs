//! Killed at each call in turn, and at moments by chance: no output is partial.

use std::{
    env, fs,
    hash::{BuildHasher, Hasher, RandomState},
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use sealwright_transcripts::{Sandbox, have};

use crate::{
    every_call,
    jobs::{EACH, Job, OPEN, PACK, PADDED, REKEY, REMOVE, REPLACE, SEAL, UNPACK, leftovers, opens, sandbox},
};

/// The job is done or it is not; only a whole file, or a directory, has a hidden name.
fn nothing_is_partial(job: &Job, sandbox: &Sandbox, what: &str) {
    assert!((job.undone)(sandbox) || (job.done)(sandbox), "{what}");
    for name in leftovers(&sandbox.path("")) {
        let path = sandbox.path(&name);
        assert!(path.is_file() && opens(sandbox, &name, "--key-file k", &sandbox.read("a")), "{what}: {name}");
        fs::remove_file(path).unwrap();
    }
}

/// The program is killed at each call in turn. A text that was being written had no name yet.
#[test]
fn killed_at_any_call() {
    if !have("strace") {
        return;
    }
    for job in [SEAL, REPLACE, REMOVE, OPEN, PACK, UNPACK, EACH] {
        let injections = every_call(&job, "signal=KILL", |sandbox, _, what| nothing_is_partial(&job, sandbox, what));
        assert!(injections > 2, "{}: killed {injections} times", job.line);
    }
}

/// How often each job is killed. `SEALWRIGHT_KILLS=1000` makes a long run of the test.
fn kills() -> u32 {
    env::var("SEALWRIGHT_KILLS").map_or(12, |times| times.parse().unwrap())
}

/// A number from 0 to 1.
fn chance() -> f64 {
    (RandomState::new().build_hasher().finish() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Runs a job and kills it after `moment`. Returns whether that ended it.
fn killed_after(job: &Job, sandbox: &Sandbox, moment: Duration) -> bool {
    let mut child = sandbox.command().args(job.line.split(' ')).stderr(Stdio::null()).spawn().unwrap();
    thread::sleep(moment);
    child.kill().unwrap();
    child.wait().unwrap().code().is_none()
}

#[test]
fn killed_at_random_moments() {
    for job in [SEAL, REPLACE, REMOVE, OPEN, PADDED, REKEY, PACK, UNPACK, EACH] {
        if cfg!(not(feature = "public-keys")) && job.line.starts_with("rekey") {
            continue;
        }
        let sandbox = sandbox();
        (job.before)(&sandbox);
        let start = Instant::now();
        sandbox.ok(job.line);
        let whole = start.elapsed();
        let mut killed = 0;
        for turn in 0..kills() {
            (job.before)(&sandbox);
            let moment = whole.mul_f64(chance());
            killed += u32::from(killed_after(&job, &sandbox, moment));
            nothing_is_partial(&job, &sandbox, &format!("{}: kill {turn}, after {moment:?}", job.line));
        }
        assert!(killed > 0, "{}: it always ended before", job.line);
    }
}
