//! The JSON document that a study writes into the results directory.

use std::{path::Path, time::Duration};

use schemars::JsonSchema;
use sealwright_measure::{Machine, Store, state::Ticks};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    attacks, bench,
    error::StudyError,
    provenance::{Provenance, Recorded},
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
        read(folder, study)
    }
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
    record.map(|record| record.map(|record| record.result)).map_err(|e| StudyError::Results(path(), e.to_string()))
}
