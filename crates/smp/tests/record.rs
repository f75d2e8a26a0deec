//! A program with threads is recorded and simulated, where QEMU and a C compiler are.
#![allow(clippy::unwrap_used)]

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    process::Command,
};

use sealwright_smp::{
    Config, Outcome,
    access::Operation,
    record::{RecordError, Recording, on_path, qemu},
    run::{Simulation, Workload},
    scheme::SchemeName,
    trace::Trace,
};
use sealwright_transcripts::skipped;

/// Compiles a program of the tests.
fn program(folder: &Path, source: &str, name: &str, flags: &[&str]) -> PathBuf {
    let program = folder.join(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(source);
    let cc = Command::new("cc").args(["-O1", "-pthread", "-o"]).arg(&program).arg(source).args(flags).status();
    assert!(cc.unwrap().success());
    program
}

fn recording(program: PathBuf, folder: &Path) -> Recording {
    let (prefix, cache) = (folder.join("trace"), Some(folder.join("cache")));
    Recording { program, arguments: vec![], prefix, cache, replace: false }
}

/// Whether this machine can record; says so where not.
fn can_record() -> bool {
    let missing = qemu().err().map(|missing| missing.what).or_else(|| on_path("cc").is_none().then(|| "no cc".into()));
    missing.iter().for_each(skipped);
    missing.is_none()
}

/// What a thread refers to, or synchronises by, in one way.
fn objects(trace: &Trace, thread: usize, kind: Operation) -> HashSet<u64> {
    let (mut found, mut steps) = (HashSet::new(), Vec::new());
    let mut source = trace.open(64).unwrap().swap_remove(thread);
    loop {
        source.fill(&mut steps).unwrap();
        if steps.is_empty() {
            return found;
        }
        found.extend(steps.iter().filter(|step| step.kind == kind).map(|step| step.address));
    }
}

#[test]
fn a_program_with_threads_is_recorded_and_runs_in_the_machine() {
    if !can_record() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let recording = recording(program(folder.path(), "threads.c", "threads", &[]), folder.path());
    let mut told = 0;
    let recorded = recording.run(&mut |records| told = records).unwrap();
    assert_eq!((recorded.files.len(), recorded.code), (4, Some(0)), "the first thread and its three");
    assert_eq!(recorded.records.iter().sum::<u64>(), told);
    assert!(recorded.records[1..].iter().all(|&records| records > 4096), "each reads all words: {recorded:?}");
    assert!(matches!(recording.run(&mut |_| {}), Err(RecordError::Exists(_))), "a trace is not replaced unasked");

    let trace = Trace::find(&recording.prefix).unwrap();
    // The first thread raises semaphores as it makes them, and waits for others: no semaphore goes on with the count of
    // an earlier one
    let (raised, awaited) = (objects(&trace, 0, Operation::Post), objects(&trace, 0, Operation::Wait));
    assert!(raised.len() >= 5 && awaited.len() == 4, "{raised:x?} {awaited:x?}");
    assert!(raised.is_disjoint(&awaited), "{raised:x?} {awaited:x?}");
    // Whatever takes a lock is told, and what takes none is not
    let summary = trace.check(64).unwrap();
    assert_eq!((summary.strays, summary.unplayed), (0, 0));
    // Each thread writes a hundred times behind a lock for writers, and takes another lock and a semaphore
    assert!(summary.synchronisations > 3 * (2 * 100 + 2 + 2), "{summary:?}");
    for scheme in [SchemeName::CLEAR, SchemeName::find("gcm").unwrap()] {
        let mut config = Config::default();
        config.machine.processors = trace.threads();
        config.scheme.name = scheme;
        let mut simulation = Simulation::new(config, Workload::Trace(trace.clone()));
        simulation.check = true;
        let report = simulation.run(&mut |_| {}).unwrap();
        assert_eq!((report.outcome, report.wrong_reads), (Outcome::Completed, Some(0)), "{scheme}");
        let number = |path: &str| report.stats.number(path);
        assert_eq!(number("wait.barriers"), 1.0, "a barrier for three of four threads opens");
        assert!(number("transfers.count") > 100.0 && number("wait.processors") > 0.0, "{}", report.stats.text());
        // Nobody begins before it is made: the first thread's stores to 4096 words of others come after
        assert!(number("loads") > 3.0 * 4096.0 && number("stores") > 4096.0);
    }
}

#[test]
fn threads_of_c11_named_semaphores_and_what_looks_at_locks() {
    if !can_record() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut recording = recording(program(folder.path(), "others.c", "others", &[]), folder.path());
    // Neither ld.so nor QEMU takes this for one name
    recording.cache = Some(folder.path().join("a cache, and: more"));
    let recorded = recording.run(&mut |_| {}).unwrap();
    assert_eq!((recorded.files.len(), recorded.code), (3, Some(0)), "{recorded:?}");
    let trace = Trace::find(&recording.prefix).unwrap();
    let summary = trace.check(64).unwrap();
    // Each round a lock and a semaphore; the second lock of a round is its holder's
    assert_eq!((summary.strays, summary.synchronisations > 2 * 300 * 4), (0, true), "{summary:?}");
    assert!(summary.synchronisations < 2 * 300 * 5, "{summary:?}");
    let words = |thread| objects(&trace, thread, Operation::Store).len();
    assert!(words(1).max(words(2)) > 4096, "the thread of C11 writes all words");
    // The mutex, the words and the semaphore's object are all that both lock; the first is alone in its lines
    let locks: HashSet<u64> = objects(&trace, 1, Operation::Lock);
    for thread in 1..3 {
        for kind in [Operation::Load, Operation::Store] {
            let alone = objects(&trace, thread, kind).into_iter().find(|at| locks.contains(&(at & !255)));
            assert_eq!(alone, None, "what libc does in a lock is not traced");
        }
    }
    let mut config = Config::default();
    config.machine.processors = trace.threads();
    let report = Simulation::new(config, Workload::Trace(trace)).run(&mut |_| {}).unwrap();
    assert_eq!(report.outcome, Outcome::Completed);
}

#[test]
fn what_cannot_be_recorded_is_told() {
    if !can_record() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let alone = Path::new("/bin/true").to_owned();
    let why = recording(alone, folder.path()).run(&mut |_| {}).unwrap_err().to_string();
    assert!(why.contains("made no thread"), "{why}");
    let closed = program(folder.path(), "threads.c", "closed", &["-static"]);
    assert!(matches!(recording(closed, folder.path()).run(&mut |_| {}), Err(RecordError::Closed(_))));
    let text = folder.path().join("text");
    std::fs::write(&text, "no program").unwrap();
    assert!(recording(text, folder.path()).run(&mut |_| {}).is_err());
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "no half of a trace is left: {left:?}");
}
