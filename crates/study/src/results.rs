//! The JSON document that a study writes into the results directory.

use std::{path::Path, time::Duration};

use schemars::JsonSchema;
use sealwright_measure::{Machine, Store, state::Ticks, store::UnreadableError};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    attacks, bench,
    error::StudyError,
    provenance::{Provenance, Recorded},
    studies::names,
    study::{Options, Outcome},
};

/// One run of one study.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Results {
    /// The study's name.
    pub study: String,
    /// Sealwright's version.
    pub version: String,
    /// Whether it was run with `--quick`.
    pub quick: bool,
    /// Wall time of the whole run in seconds.
    pub seconds: f64,
    /// The machine.
    pub machine: Machine,
    /// The program that measured it, and a summary of its samples.
    #[serde(default)]
    pub provenance: Provenance,
    /// Its outcome.
    pub outcome: Outcome,
}

impl Results {
    /// The results of a run that has just ended on this machine.
    pub fn new(study: &str, quick: bool, took: Duration, outcome: Outcome) -> Results {
        Results {
            study: study.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            quick,
            seconds: took.as_secs_f64(),
            machine: Machine::here(sealwright::Isa::available().iter().map(|isa| isa.name())),
            provenance: Provenance::default(),
            outcome,
        }
    }

    /// Adds the provenance: the programs, the comparisons, and the steal time since `since`.
    #[must_use]
    pub fn from_run(self, options: &Options, comparisons: Vec<Recorded>, since: Option<&Ticks>) -> Results {
        let by = Provenance::here(&options.commit, options.binary.as_deref(), comparisons);
        let provenance = Provenance { budget: options.budget, ..by };
        Results { machine: self.machine.since(since), provenance, ..self }
    }

    /// Writes the results atomically as `<study>.json` into `folder`.
    ///
    /// # Errors
    /// When the folder or the file cannot be written.
    pub fn store(&self, folder: &Path) -> Result<(), StudyError> {
        let write = || Store::open(folder)?.write(&self.study, self);
        write().map_err(StudyError::io(format!("{}/{}.json", folder.display(), self.study)))
    }

    /// The last stored run of `study` in `folder`, or `None` if there is none.
    ///
    /// # Errors
    /// When the document is there but cannot be read.
    pub fn load(folder: &Path, study: &str) -> Result<Option<Results>, StudyError> {
        let found: Option<Results> = read(folder, study)?;
        match found {
            Some(other) if other.study != study => {
                let what = format!("it has the results of the study `{}`", other.study);
                Err(StudyError::Results(folder.join(format!("{study}.json")), UnreadableError::misplaced(what)))
            }
            found => Ok(found),
        }
    }
}

/// All results in a folder.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The results of the studies, in the order of the studies.
    pub results: Vec<Results>,
    /// The results of `bench`, if there are any.
    pub bench: Option<bench::Report>,
    /// The outcomes of all attacks, if there are any.
    pub attacks: Option<attacks::Report>,
    /// The files that cannot be read, and why.
    pub left_out: Vec<StudyError>,
}

impl Loaded {
    /// Reads what can be read of the results in `folder`.
    pub fn from(folder: &Path) -> Loaded {
        let mut left_out = Vec::new();
        let results = names().filter_map(|study| readable(Results::load(folder, study), &mut left_out)).collect();
        let bench = readable(load_bench(folder), &mut left_out);
        let attacks = readable(load_attacks(folder), &mut left_out);
        Loaded { results, bench, attacks, left_out }
    }
}

/// The document, unless there is none or it cannot be read, which is added to `left_out`.
pub fn readable<T>(found: Result<Option<T>, StudyError>, left_out: &mut Vec<StudyError>) -> Option<T> {
    found.unwrap_or_else(|error| {
        left_out.push(error);
        None
    })
}

/// The name of `bench` among the studies and of its results file.
pub const BENCH: &str = "bench";

/// Writes the report of `bench` atomically as `bench.json` into `folder`.
///
/// # Errors
/// When the folder or the file cannot be written.
pub fn keep_bench(report: &bench::Report, folder: &Path) -> Result<(), StudyError> {
    let write = || Store::open(folder)?.write(BENCH, report);
    write().map_err(StudyError::io(format!("{}/{BENCH}.json", folder.display())))
}

/// The last stored report of `bench` in `folder`; `None` if there is none.
///
/// # Errors
/// When the document is there but cannot be read.
pub fn load_bench(folder: &Path) -> Result<Option<bench::Report>, StudyError> {
    read(folder, BENCH)
}

/// The name of the attacks among the studies and of their results file.
pub const ATTACKS: &str = "attacks";

/// Writes the outcomes of all attacks atomically as `attacks.json` into `folder`.
///
/// # Errors
/// When the folder or the file cannot be written.
pub fn keep_attacks(report: &attacks::Report, folder: &Path) -> Result<(), StudyError> {
    let write = || Store::open(folder)?.write(ATTACKS, report);
    write().map_err(StudyError::io(format!("{}/{ATTACKS}.json", folder.display())))
}

/// The last stored outcomes of all attacks in `folder`; `None` if there are none.
///
/// # Errors
/// When the document is there but cannot be read.
pub fn load_attacks(folder: &Path) -> Result<Option<attacks::Report>, StudyError> {
    read(folder, ATTACKS)
}

fn read<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<Option<T>, StudyError> {
    if !folder.is_dir() {
        return Ok(None);
    }
    let record = Store::open(folder).and_then(|store| store.read::<T>(name));
    let path = || folder.join(format!("{name}.json"));
    record.map(|record| record.map(|record| record.result)).map_err(|e| StudyError::Results(path(), e))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs;

    use super::*;
    use crate::{check, report};

    #[test]
    fn a_damaged_file_is_left_out_of_the_report_but_not_of_the_check() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { results: folder.path().into(), report: folder.path().join("p"), ..Options::default() };
        let results = Results::new("files", true, Duration::from_secs(1), Outcome::default());
        results.store(folder.path()).unwrap();
        check::folder(folder.path(), "").unwrap();
        // Not JSON, another study's results, and a file cut short
        fs::write(folder.path().join("bus.json"), "<html>").unwrap();
        fs::copy(folder.path().join("files.json"), folder.path().join("cores.json")).unwrap();
        fs::write(folder.path().join("bench.json"), "{\"schema\"").unwrap();
        let report::Written { page, left_out } = report::write(&options).unwrap();
        let page = fs::read_to_string(page).unwrap();
        for (error, name) in left_out.iter().zip(["bus.json", "cores.json", "bench.json"]) {
            assert!(error.to_string().contains(name) && page.contains(name) && error.hint().is_some(), "{error}");
        }
        assert_eq!(left_out.len(), 3);
        assert!(left_out[1].to_string().contains("the study `files`"), "{}", left_out[1]);
        for name in ["bench.json", "bus.json", "cores.json"] {
            assert!(check::folder(folder.path(), "").is_err(), "{name}");
            fs::remove_file(folder.path().join(name)).unwrap();
        }
        check::folder(folder.path(), "").unwrap();
        fs::write(folder.path().join("files.json"), "").unwrap();
        assert!(matches!(report::write(&options), Err(StudyError::Results(..))), "nothing else is there");
    }
}
