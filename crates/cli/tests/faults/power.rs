//! A power failure at any moment of a job: every possible state of the disk is the old or the new one, and after the
//! end of the job it is the new one.

use sealwright_transcripts::{Sandbox, have};

use crate::{
    disk::{Call, Found, Part, Run},
    jobs::{JOBS, Job, REMOVE, REPLACE, SEAL, UNPACK, UNPACK_MANY, leftovers, may_be_left, sandbox},
};

/// Whether the job is either done or undone, apart from permitted hidden names.
fn either(job: &Job, sandbox: &Sandbox) -> bool {
    ((job.undone)(sandbox) || (job.done)(sandbox))
        && leftovers(&sandbox.path("")).iter().all(|name| may_be_left(job, sandbox, name))
}

/// The states that violate the guarantee, and the number of all states.
fn broken(job: &Job, run: &Run, calls: &[Call]) -> (Vec<String>, usize) {
    let disk = Sandbox::new();
    let (during, after) = run.cuts(calls);
    let (mut wrong, mut states) = (Vec::new(), 0);
    let mut judge = |found: &Found, right: &dyn Fn() -> bool| {
        let unsynced = found.values().flatten().any(|(_, whole)| !whole);
        let parts: &[Part] = if unsynced { &[Part::Nothing, Part::Half, Part::Zeros, Part::All] } else { &[Part::All] };
        for part in parts {
            run.make(found, *part, &disk);
            states += 1;
            if !right() {
                wrong.push(format!("{}: {part:?}: {found:?}", job.line));
            }
        }
    };
    during.iter().for_each(|found| judge(found, &|| either(job, &disk)));
    after.iter().for_each(|found| judge(found, &|| (job.done)(&disk)));
    (wrong, states)
}

fn recorded(job: &Job) -> Run {
    let sandbox = sandbox();
    (job.before)(&sandbox);
    Run::of(&sandbox, job.line)
}

#[test]
fn the_power_goes_at_any_moment() {
    if !have("strace") {
        return;
    }
    let mut states = 0;
    for job in JOBS.iter().chain([&UNPACK_MANY]) {
        let run = recorded(job);
        let (wrong, count) = broken(job, &run, &run.calls);
        assert!(wrong.is_empty(), "{wrong:#?}");
        eprintln!("{}: {} calls, {count} states", job.line, run.calls.len());
        states += count;
    }
    eprintln!("{states} states of the disk");
}

/// The same runs with their syncs removed: the model must find states that violate the guarantee.
#[test]
fn without_syncing_the_model_sees_a_loss() {
    if !have("strace") {
        return;
    }
    for job in [SEAL, REPLACE, REMOVE, UNPACK, UNPACK_MANY] {
        let run = recorded(&job);
        let careless: Vec<Call> =
            run.calls.iter().filter(|call| !matches!(call, Call::Sync(_) | Call::SyncAll)).cloned().collect();
        assert!(careless.len() < run.calls.len(), "{}: nothing is synced", job.line);
        assert!(!broken(&job, &run, &careless).0.is_empty(), "{}: nothing is lost", job.line);
    }
}
