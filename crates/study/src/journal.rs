//! `results/journal.jsonl` records which studies of a run of all studies have ended, so that an interrupted run can
//! continue.
//!
//! A run continues the previous one if that was not completed, began less than a day ago, and used exactly the same
//! programs (this one and the `sealwright` that it runs), the same machine, grid and budget. Otherwise a new run
//! measures everything.

use std::{collections::BTreeMap, fs::File, time::Duration};

use schemars::JsonSchema;
use sealwright_measure::{Machine, Record, Store, machine::age, store};
use serde::{Deserialize, Serialize};

use crate::{
    attacks,
    error::StudyError,
    provenance::{Programs, sha256},
    results::{ATTACKS, Results, load_attacks},
    study::Options,
};

/// The name of the journal in the results directory.
const NAME: &str = "journal";

/// The time during which an interrupted run can be continued.
const WAITS: Duration = Duration::from_secs(24 * 3600);

/// What must be equal for results to belong to the same run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Run {
    /// SHA-256 of the program that measures.
    program: String,
    /// SHA-256 of the `sealwright` program that it runs; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sealwright: Option<String>,
    /// The processor with its family, cores, levels, memory and system.
    machine: String,
    quick: bool,
    /// Memory of the server in the study of sessions in bytes, if it was specified.
    budget: Option<u64>,
}

/// A line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(crate) enum Entry {
    /// A run has begun.
    Begun(Run),
    /// A study of the run has ended and its results are stored.
    Ended {
        study: String,
        quick: bool,
        seconds: f64,
        /// SHA-256 of the document that it wrote; absent if it wrote none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        document: Option<String>,
    },
    /// The run has completed.
    Done,
}

/// The run in progress.
#[derive(Debug)]
pub(crate) struct Journal {
    store: Store,
    run: Run,
    /// What an interrupted run has completed, if this run continues one.
    kept: Option<Kept>,
    /// Seconds that each study took in its last run on the same grid.
    seconds: BTreeMap<String, f64>,
}

#[derive(Debug, PartialEq)]
struct Kept {
    begun: String,
    /// The studies that ended, each with the SHA-256 of its document.
    studies: Vec<(String, Option<String>)>,
}

impl Journal {
    /// Continues an interrupted run, or begins a new one.
    pub(crate) fn open(options: &Options) -> Result<Journal, StudyError> {
        Journal::of(options, Run::here(options)?)
    }

    /// As [`open`](Self::open), for a run of these programs on this machine.
    fn of(options: &Options, run: Run) -> Result<Journal, StudyError> {
        let path = || options.results.join(format!("{NAME}.jsonl"));
        let failed = || StudyError::io(path().display().to_string());
        let store = Store::open(&options.results).map_err(failed())?;
        let lines = match store.lines::<Entry>(NAME) {
            Err(error) if options.fresh && store::hint(&error).is_some() => {
                store.set_aside(NAME).map_err(failed())?;
                Vec::new()
            }
            lines => lines.map_err(|error| StudyError::Journal(path(), error))?,
        };
        let kept = Some(&lines).filter(|_| !options.fresh).and_then(|lines| interrupted(lines, &run));
        if kept.is_none() {
            store.append(NAME, &Entry::Begun(run.clone())).map_err(failed())?;
        }
        let seconds = lines.into_iter().filter_map(|line| match line.result {
            Entry::Ended { study, quick, seconds, .. } if quick == options.quick => Some((study, seconds)),
            _ => None,
        });
        let seconds = seconds.collect();
        Ok(Journal { store, run, kept, seconds })
    }

    /// The time when the interrupted run began, if `study` ended in it.
    pub(crate) fn kept(&self, study: &str) -> Option<&str> {
        let kept = self.kept.as_ref()?;
        kept.studies.iter().any(|(name, _)| name == study).then_some(&kept.begun[..])
    }

    /// The stored results of `study`, if they come from the interrupted run.
    pub(crate) fn results(&self, study: &str) -> Option<Results> {
        let begun = self.kept(study)?;
        let results = Results::load(self.store.folder(), study).ok().flatten()?;
        // Meanwhile the study may have been run separately, perhaps with another program or budget
        let Run { program, sealwright, machine, quick, budget } = &self.run;
        let by = &results.provenance;
        let same = (&by.program, &by.sealwright, &by.budget, &results.quick) == (program, sealwright, budget, quick)
            && results.machine.identity() == *machine;
        (same && *results.machine.date >= *begun).then_some(results)
    }

    /// The outcomes of all attacks, if they ended in that run and their document has not changed since.
    pub(crate) fn attacks(&self) -> Option<attacks::Report> {
        let (_, document) = self.kept.as_ref()?.studies.iter().rfind(|(name, _)| name == ATTACKS)?;
        (document.is_some() && self.document(ATTACKS) == *document)
            .then(|| load_attacks(self.store.folder()).ok().flatten())?
    }

    /// SHA-256 of the stored document of `study`.
    fn document(&self, study: &str) -> Option<String> {
        sha256(File::open(self.store.folder().join(format!("{study}.json"))).ok()?).ok()
    }

    /// The time that `study` took in its last run on this grid.
    pub(crate) fn took(&self, study: &str) -> Option<Duration> {
        self.seconds.get(study).and_then(|&seconds| Duration::try_from_secs_f64(seconds).ok())
    }

    /// Records that `study` has ended and its results are stored.
    pub(crate) fn ended(&self, study: &str, seconds: f64) -> Result<(), StudyError> {
        let document = self.document(study);
        self.append(&Entry::Ended { study: study.to_owned(), quick: self.run.quick, seconds, document })
    }

    /// Records that the run is complete.
    pub(crate) fn done(&self) -> Result<(), StudyError> {
        self.append(&Entry::Done)
    }

    fn append(&self, entry: &Entry) -> Result<(), StudyError> {
        self.store
            .append(NAME, entry)
            .map_err(StudyError::io(format!("{}/{NAME}.jsonl", self.store.folder().display())))
    }
}

impl Run {
    /// The run of these programs on this machine.
    fn here(options: &Options) -> Result<Run, StudyError> {
        let Programs { program, sealwright } = Programs::here(options.binary.as_deref())
            .map_err(StudyError::io("this program and the sealwright beside it"))?;
        let machine = Machine::here(sealwright::Isa::available().iter().map(|isa| isa.name()));
        Ok(Run { program, sealwright, machine: machine.identity(), quick: options.quick, budget: options.budget })
    }
}

/// What the last run in `lines` has completed, if it was interrupted and matches `run`.
fn interrupted(lines: &[Record<Entry>], run: &Run) -> Option<Kept> {
    let last = lines.iter().rposition(|line| matches!(line.result, Entry::Begun(_)))?;
    let (begun, after) = lines[last..].split_first()?;
    let same = begun.result == Entry::Begun(run.clone());
    let over = after.iter().any(|line| line.result == Entry::Done);
    if !same || over || age(&begun.date)? > WAITS {
        return None;
    }
    let studies = after.iter().filter_map(|line| match &line.result {
        Entry::Ended { study, document, .. } => Some((study.clone(), document.clone())),
        _ => None,
    });
    Some(Kept { begun: begun.date.clone(), studies: studies.collect() })
}

#[cfg(feature = "fuzz")]
#[path = "journal_fuzz.rs"]
pub(crate) mod fuzz;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{results::keep_attacks, study::Outcome};

    fn options(folder: &std::path::Path) -> Options {
        Options { quick: true, results: folder.to_owned(), ..Options::default() }
    }

    fn results(quick: bool) -> Results {
        Results::new("files", quick, Duration::from_secs(1), Outcome::default())
    }

    #[test]
    fn an_interrupted_run_goes_on_where_it_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let options = options(folder.path());
        let journal = Journal::open(&options).unwrap();
        assert!(journal.kept("files").is_none() && journal.took("files").is_none());
        results(true).from_run(&options, Vec::new(), None).store(folder.path()).unwrap();
        journal.ended("files", 31.0).unwrap();

        let again = Journal::open(&options).unwrap();
        assert!(again.results("files").is_some() && again.results("messages").is_none());
        assert_eq!(again.took("files"), Some(Duration::from_secs(31)));
        let fresh = Options { fresh: true, ..options.clone() };
        assert!(Journal::open(&fresh).unwrap().results("files").is_none());
    }

    #[test]
    fn a_run_that_ended_keeps_nothing_from_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let options = options(folder.path());
        let journal = Journal::open(&options).unwrap();
        results(true).from_run(&options, Vec::new(), None).store(folder.path()).unwrap();
        journal.ended("files", 31.0).unwrap();
        journal.done().unwrap();
        assert!(Journal::open(&options).unwrap().results("files").is_none());
    }

    #[test]
    fn a_damaged_journal_has_a_hint_and_is_set_aside_by_a_fresh_run() {
        let folder = tempfile::tempdir().unwrap();
        let options = options(folder.path());
        Journal::open(&options).unwrap().ended("files", 31.0).unwrap();
        let path = folder.path().join("journal.jsonl");
        let damaged = std::fs::read_to_string(&path).unwrap().replace("files", "\u{0}");
        std::fs::write(&path, &damaged).unwrap();
        let error = Journal::open(&options).unwrap_err();
        assert!(error.to_string().contains("journal.jsonl: line 2"), "{error}");
        assert!(error.hint().unwrap().contains("--fresh"), "{error}");
        Journal::open(&Options { fresh: true, ..options.clone() }).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("journal.jsonl.damaged")).unwrap(), damaged);
        Journal::open(&options).unwrap();
    }

    #[test]
    fn another_grid_program_machine_or_day_is_another_run() {
        let run = Run { program: "p".into(), sealwright: None, machine: "m".into(), quick: true, budget: None };
        let line = |date: &str, result| Record { schema: 1, date: date.into(), result };
        let now = sealwright_measure::machine::now();
        let ended = Entry::Ended { study: "files".into(), quick: true, seconds: 1.0, document: None };
        let lines = |date: &str, run: &Run| [line(date, Entry::Begun(run.clone())), line(date, ended.clone())];
        let kept = interrupted(&lines(&now, &run), &run).unwrap();
        assert_eq!(kept, Kept { begun: now.clone(), studies: vec![("files".into(), None)] });
        for other in [
            Run { program: "q".into(), ..run.clone() },
            Run { sealwright: Some("s".into()), ..run.clone() },
            Run { machine: "n".into(), ..run.clone() },
            Run { quick: false, ..run.clone() },
            Run { budget: Some(1 << 30), ..run.clone() },
        ] {
            assert_eq!(interrupted(&lines(&now, &other), &run), None);
        }
        assert_eq!(interrupted(&lines("2020-01-01T00:00:00Z", &run), &run), None);
        assert_eq!(interrupted(&[], &run), None);
    }

    /// Virtual machines give processors of different families the same name.
    #[test]
    fn a_machine_of_another_family_is_another_machine() {
        let run = |family: &str| {
            let mut machine = Machine { cpu: "AMD EPYC".into(), ..Machine::here(["avx512"]) };
            machine.state.family = Some(family.into());
            let machine = machine.identity();
            Run { program: "p".into(), sealwright: None, machine, quick: true, budget: None }
        };
        let (zen4, zen5) = (run("25, 17, 1"), run("26, 2, 1"));
        let result = Entry::Begun(zen4.clone());
        let lines = [Record { schema: 1, date: sealwright_measure::machine::now(), result }];
        assert!(interrupted(&lines, &zen4).is_some() && interrupted(&lines, &zen5).is_none());
    }

    #[test]
    fn results_of_another_machine_or_budget_do_not_pass_for_the_runs() {
        let folder = tempfile::tempdir().unwrap();
        let options = options(folder.path());
        Journal::open(&options).unwrap().ended("files", 31.0).unwrap();
        let again = || Journal::open(&options).unwrap().results("files");
        let mine = results(true).from_run(&options, Vec::new(), None);
        mine.store(folder.path()).unwrap();
        assert!(again().is_some());
        let budgeted = Options { budget: Some(1 << 30), ..options.clone() };
        results(true).from_run(&budgeted, Vec::new(), None).store(folder.path()).unwrap();
        assert!(again().is_none(), "another budget");
        let mut other = mine;
        other.machine.state.family = Some("26, 2, 99".into());
        other.store(folder.path()).unwrap();
        assert!(again().is_none(), "another machine");
    }

    #[test]
    fn attacks_that_ended_are_not_run_again() {
        let folder = tempfile::tempdir().unwrap();
        let options = options(folder.path());
        let journal = Journal::open(&options).unwrap();
        let report =
            |seconds| attacks::Report { small: true, seconds, ..attacks::Report::of(Machine::here(["portable"])) };
        keep_attacks(&report(1.0), folder.path()).unwrap();
        let again = || Journal::open(&options).unwrap().attacks();
        assert!(again().is_none(), "they have not ended");
        journal.ended(ATTACKS, 1.0).unwrap();
        assert_eq!(again().unwrap().seconds, 1.0);
        // Meanwhile the attacks were run separately
        keep_attacks(&report(2.0), folder.path()).unwrap();
        assert!(again().is_none());
    }

    #[test]
    fn results_of_a_study_run_by_itself_meanwhile_do_not_pass_for_the_runs() {
        let folder = tempfile::tempdir().unwrap();
        let options = options(folder.path());
        let journal = Journal::open(&options).unwrap();
        journal.ended("files", 31.0).unwrap();
        results(false).store(folder.path()).unwrap();
        assert!(Journal::open(&options).unwrap().results("files").is_none());
    }

    /// Measurements run in this program and in the `sealwright` beside it, and either may have changed.
    #[test]
    fn a_run_knows_this_program_and_the_one_that_it_runs() {
        let folder = tempfile::tempdir().unwrap();
        let this = crate::provenance::sha256(std::fs::File::open(std::env::current_exe().unwrap()).unwrap()).unwrap();
        let binary = folder.path().join("sealwright");
        let run = |text: &str| {
            std::fs::write(&binary, text).unwrap();
            Run::here(&Options { binary: Some(binary.clone()), ..options(folder.path()) }).unwrap()
        };
        let (one, other) = (run("one"), run("other"));
        assert_eq!((&one.program, &other.program), (&this, &this));
        assert_ne!(one, other);
        assert_eq!(one, run("one"));
    }

    #[test]
    fn results_of_another_program_do_not_pass_for_the_runs() {
        let folder = tempfile::tempdir().unwrap();
        let options = options(folder.path());
        Journal::open(&options).unwrap().ended("files", 31.0).unwrap();
        let mine = results(true).from_run(&options, Vec::new(), None);
        mine.store(folder.path()).unwrap();
        let again = || Journal::open(&options).unwrap().results("files");
        assert!(again().is_some());
        let mut other = mine.clone();
        other.provenance.program = "0".repeat(64);
        other.store(folder.path()).unwrap();
        assert!(again().is_none(), "another laboratory");
        let mut other = mine;
        other.provenance.sealwright = Some("0".repeat(64));
        other.store(folder.path()).unwrap();
        assert!(again().is_none(), "another sealwright");
    }
}
