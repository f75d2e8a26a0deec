//! A run of all studies that is killed repeatedly continues, and ends with the results of an undisturbed run.
#![allow(clippy::unwrap_used)]

use std::{
    collections::BTreeMap,
    env, fs,
    hash::{BuildHasher, Hasher, RandomState},
    io::Write,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use sealwright_transcripts::status_of_new;

use super::{Failure, Ran, can_write, finished, run_studies};
use crate::{
    error::StudyError,
    journal::Journal,
    paper::Paper,
    progress::Progress,
    quantity::Quantity,
    results::Results,
    study::{Note, Options, Outcome, Study},
};

/// The environment variable that passes the folder of the run to the process that is killed.
const FOLDER: &str = "SEALWRIGHT_TEST_OF_KILLED_STUDIES";

/// The arguments of a child process that runs `the_run_that_is_killed`.
const CHILD: [&str; 3] = ["--ignored", "--exact", "run::tests::the_run_that_is_killed"];

/// A study that takes a moment, always has the same result, and records each start.
struct Short(&'static str);

impl Study for Short {
    fn name(&self) -> &'static str {
        self.0
    }

    fn paper(&self) -> &'static Paper {
        crate::files::Files.paper()
    }

    fn printed(&self) -> Vec<Quantity> {
        Vec::new()
    }

    fn run(&self, options: &Options, progress: &mut Progress<'_>) -> Result<Outcome, StudyError> {
        let begun = options.results.with_file_name("begun");
        let mut begun = fs::OpenOptions::new().append(true).create(true).open(begun).unwrap();
        begun.write_all(format!("{}\n", self.0).as_bytes()).unwrap();
        progress.expect(2);
        let mut outcome = Outcome { summary: format!("what {} found", self.0), ..Outcome::default() };
        for step in ["first", "second"] {
            progress.step(step);
            thread::sleep(Duration::from_millis(8));
            outcome.notes.push(Note::new(step, self.0.repeat(20_000)));
        }
        Ok(outcome)
    }
}

static SHORT: [&dyn Study; 5] = [&Short("a"), &Short("b"), &Short("c"), &Short("d"), &Short("e")];

fn options(folder: &Path) -> Options {
    // Any file can serve as the program here; a small one, because the test program is large and is hashed
    let binary = Some(folder.join("program"));
    Options { quick: true, results: folder.join("results"), binary, ..Options::default() }
}

#[test]
#[ignore = "is killed: run as a child by a_run_that_is_killed_goes_on_and_ends_with_the_same_results"]
fn the_run_that_is_killed() {
    let folder = env::var_os(FOLDER).expect("the test that starts it names a folder");
    let options = options(Path::new(&folder));
    let journal = Journal::open(&options).unwrap();
    let ran = run_studies(&SHORT, &journal, &options, Duration::ZERO, &mut |_| {});
    assert_eq!((ran.results.len(), ran.failures.len()), (SHORT.len(), 0));
    fs::write(Path::new(&folder).join("kept"), ran.kept.len().to_string()).unwrap();
    journal.done().unwrap();
}

fn child(folder: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(CHILD).env(FOLDER, folder);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("program"), "a program").unwrap();
    folder
}

/// The stored outcomes so far. A document must be complete or absent.
fn outcomes(folder: &Path) -> BTreeMap<&'static str, String> {
    let load = |study: &&'static dyn Study| {
        let results = Results::load(&folder.join("results"), study.name()).unwrap()?;
        Some((study.name(), serde_json::to_string(&results.outcome).unwrap()))
    };
    SHORT.iter().filter_map(load).collect()
}

/// How often each study was started.
fn begun(folder: &Path) -> BTreeMap<String, usize> {
    let mut begun = BTreeMap::new();
    for name in fs::read_to_string(folder.join("begun")).unwrap_or_default().lines() {
        *begun.entry(name.to_owned()).or_default() += 1;
    }
    begun
}

/// The studies that ended according to the journal.
fn ended(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("results/journal.jsonl")).unwrap_or_default();
    let names = text.lines().filter(|line| line.contains("\"ended\"") && line.ends_with('}')).filter_map(|line| {
        let (_, rest) = line.split_once("\"study\":\"")?;
        Some(rest.split('"').next()?.to_owned())
    });
    names.collect()
}

/// A random number from 0 to 1.
fn chance() -> f64 {
    (RandomState::new().build_hasher().finish() >> 11) as f64 / (1_u64 << 53) as f64
}

#[test]
fn a_run_that_is_killed_goes_on_and_ends_with_the_same_results() {
    let whole = folder();
    let moment = Instant::now();
    assert!(child(whole.path()).status().unwrap().success());
    let takes = moment.elapsed();
    let right = outcomes(whole.path());
    assert_eq!(right.len(), SHORT.len());
    let (mut kills, mut kept) = (0, 0);
    for number in 0.. {
        if number >= 6 && kills > 0 && kept > 0 {
            break;
        }
        assert!(number < 60, "{kills} kills, {kept} studies kept");
        let folder = folder();
        let folder = folder.path();
        for turn in 0_u32.. {
            assert!(turn < 100, "it never ended");
            let (before, done) = (begun(folder), ended(folder));
            let mut running = child(folder).spawn().unwrap();
            // Later turns get more time, as the machine may be slower than in the first run
            let (start, moment) = (Instant::now(), takes.mul_f64((0.9 + 0.05 * f64::from(turn)) * chance()));
            while start.elapsed() < moment {
                // A reader during the run must also find complete documents only
                outcomes(folder);
                thread::sleep(Duration::from_millis(1));
            }
            running.kill().unwrap();
            let ended_by_itself = running.wait().unwrap().code().is_some();
            // Studies that had ended must not start again
            let now = begun(folder);
            for name in &done {
                assert_eq!(before.get(name), now.get(name), "{name}, turn {turn}");
            }
            let found = outcomes(folder);
            assert!(found.iter().all(|(name, outcome)| right[name] == *outcome), "turn {turn}");
            if ended_by_itself {
                assert_eq!(found, right);
                let told: usize = fs::read_to_string(folder.join("kept")).unwrap().parse().unwrap();
                assert_eq!(told, done.len(), "turn {turn}");
                kept += told;
                break;
            }
            kills += 1;
            // It was killed after it had completed the run
            if folder.join("kept").exists() {
                break;
            }
        }
    }
    eprintln!("{kills} kills, {kept} studies kept");
    assert!(kills > 0 && kept > 0, "{kills} kills, {kept} studies kept");
}

/// A study that lacks a folder.
struct Broken;

impl Study for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }

    fn paper(&self) -> &'static Paper {
        crate::files::Files.paper()
    }

    fn printed(&self) -> Vec<Quantity> {
        Vec::new()
    }

    fn run(&self, _: &Options, _: &mut Progress<'_>) -> Result<Outcome, StudyError> {
        Err(StudyError::io("the folder for trial files")(std::io::ErrorKind::NotFound.into()))
    }
}

/// The parts of `ran` that failed, with the errors and hints.
fn failed(ran: &Ran) -> Vec<(&'static str, String)> {
    let said = |failure: &Failure| format!("{} ({})", failure.error, failure.hint.clone().unwrap_or_default());
    ran.failures.iter().map(|failure| (failure.part, said(failure))).collect()
}

#[test]
fn one_study_that_fails_does_not_end_the_others_and_is_tried_again() {
    let folder = folder();
    let options = options(folder.path());
    let run = || {
        let journal = Journal::open(&options).unwrap();
        let studies: [&dyn Study; 3] = [&Short("a"), &Broken, &Short("b")];
        finished(run_studies(&studies, &journal, &options, Duration::ZERO, &mut |_| {}), &journal)
    };
    for kept in [0, 2] {
        let ran = run();
        assert_eq!(ran.results.iter().map(|results| &results.study[..]).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(ran.kept.len(), kept);
        let [("broken", said)] = &failed(&ran)[..] else { panic!("{ran:?}") };
        assert!(said.contains("the folder for trial files") && said.contains("TMPDIR"), "{said}");
    }
}

/// What was measured is handed on although it could not be stored, and is measured again by the next run.
#[test]
fn results_that_cannot_be_stored_are_not_lost() {
    let folder = folder();
    let options = options(folder.path());
    fs::create_dir_all(options.results.join("a.json/in the way")).unwrap();
    let journal = Journal::open(&options).unwrap();
    let ran = run_studies(&SHORT[..1], &journal, &options, Duration::ZERO, &mut |_| {});
    assert_eq!((ran.results.len(), failed(&ran)[0].0), (1, "a"));
    assert!(Journal::open(&options).unwrap().kept("a").is_none());
}

#[test]
fn a_page_that_cannot_be_written_leaves_the_run_open() {
    let folder = folder();
    let options = Options { report: folder.path().join("report"), ..options(folder.path()) };
    fs::create_dir_all(options.report.join("index.html/in the way")).unwrap();
    let journal = Journal::open(&options).unwrap();
    let found = Results::new("files", true, Duration::ZERO, Outcome::default()).from_run(&options, Vec::new(), None);
    found.store(&options.results).unwrap();
    journal.ended("files", 1.0).unwrap();
    let ran = finished(Ran { results: vec![found], ..Ran::default() }.reported(&options), &journal);
    let [("report", said)] = &failed(&ran)[..] else { panic!("{ran:?}") };
    assert!(said.contains("sealwright-lab report") && ran.page.is_none(), "{said}");
    assert!(Journal::open(&options).unwrap().results("files").is_some(), "the run is not complete");
    fs::remove_dir_all(options.report.join("index.html")).unwrap();
    assert!(finished(Ran::default().reported(&options), &journal).failures.is_empty());
    assert!(Journal::open(&options).unwrap().results("files").is_none());
}

#[test]
fn folders_are_tried_before_anything_is_measured() {
    let folder = folder();
    let good = Options { report: folder.path().join("report"), ..options(folder.path()) };
    can_write(&good).unwrap();
    assert_eq!(fs::read_dir(&good.results).unwrap().count(), 0);
    // Nothing can be created there, not even by root
    let nowhere = || "/proc/self".into();
    for bad in [Options { results: nowhere(), ..good.clone() }, Options { report: nowhere(), ..good.clone() }] {
        if cfg!(target_os = "linux") {
            let error = super::run_one("files", &bad, &mut |_| panic!("it measures")).unwrap_err();
            assert!(error.to_string().starts_with("/proc/self: "), "{error}");
        }
    }
}

/// Results of another program are not used.
#[test]
fn another_program_begins_anew() {
    let folder = folder();
    let folder = folder.path();
    let options = options(folder);
    let journal = Journal::open(&options).unwrap();
    run_studies(&SHORT[..2], &journal, &options, Duration::ZERO, &mut |_| {});
    fs::write(folder.join("program"), "another program").unwrap();
    assert!(child(folder).status().unwrap().success());
    assert_eq!(fs::read_to_string(folder.join("kept")).unwrap(), "0");
    assert!(begun(folder).iter().all(|(name, times)| *times == 1 + usize::from(["a", "b"].contains(&&name[..]))));
}

/// Nor are results of another laboratory that runs the same `sealwright`.
#[test]
fn another_laboratory_begins_anew() {
    let folder = folder();
    let folder = folder.path();
    let options = options(folder);
    let journal = Journal::open(&options).unwrap();
    run_studies(&SHORT[..2], &journal, &options, Duration::ZERO, &mut |_| {});
    // Bytes appended to a program do not change what it does, but they change its hash
    let other = folder.join("laboratory");
    fs::copy(env::current_exe().unwrap(), &other).unwrap();
    fs::OpenOptions::new().append(true).open(&other).unwrap().write_all(b"changed").unwrap();
    let mut again = Command::new(&other);
    again.args(CHILD).env(FOLDER, folder).stdout(Stdio::null());
    assert!(status_of_new(&mut again).success());
    assert_eq!(fs::read_to_string(folder.join("kept")).unwrap(), "0");
}
