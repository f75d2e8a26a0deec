//! The origin of results: the program that measured them, and a summary of its samples.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
    sync::OnceLock,
};

use schemars::JsonSchema;
use sealwright_measure::Comparison;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The program and its samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// The commit that the program was built from, with `+` if there were changes; empty if it is unknown.
    pub commit: String,
    /// SHA-256 of the program that measured.
    pub program: String,
    /// SHA-256 of the `sealwright` program that it ran to measure whole processes; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealwright: Option<String>,
    /// Memory of the server in the study of sessions in bytes, if it was specified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<u64>,
    /// Every comparison, in order.
    #[serde(default)]
    pub comparisons: Vec<Recorded>,
}

/// Summary of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recorded {
    /// The step of the study.
    pub step: String,
    /// The seed of the random order of rounds and of the bootstrap.
    pub seed: u64,
    /// Whether every interval became as narrow as requested.
    pub narrow: bool,
    /// The candidates.
    pub trials: Vec<RecordedTrial>,
}

/// Summary of a candidate's samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedTrial {
    /// Its name.
    pub name: String,
    /// Iterations of a sample.
    pub iterations: u64,
    /// Number of samples.
    pub rounds: usize,
    /// For each start: minimum, quartiles and maximum of its samples, in seconds per iteration.
    pub quantiles: Vec<[f64; 5]>,
}

impl Recorded {
    pub(crate) fn new(step: &str, found: &Comparison) -> Recorded {
        let trial = |trial: &sealwright_measure::Trial| RecordedTrial {
            name: trial.name.clone(),
            iterations: trial.iterations,
            rounds: trial.samples.len(),
            quantiles: trial.quantiles(),
        };
        let trials = found.trials.iter().map(trial).collect();
        Recorded { step: step.to_owned(), seed: found.seed, narrow: found.narrow, trials }
    }
}

impl Provenance {
    /// The provenance of results from this program and from the `sealwright` that it runs.
    pub(crate) fn here(commit: &str, sealwright: Option<&Path>, comparisons: Vec<Recorded>) -> Provenance {
        let Programs { program, sealwright } = Programs::here(sealwright).unwrap_or_default();
        Provenance { commit: commit.to_owned(), program, sealwright, budget: None, comparisons }
    }
}

/// SHA-256 of the programs that produce figures. If either changes, figures may change.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Programs {
    pub(crate) program: String,
    pub(crate) sealwright: Option<String>,
}

impl Programs {
    /// This program, and the `sealwright` that it runs. This program is hashed only once, as its file may be replaced
    /// while it runs; the other one is hashed each time, as it may change in between.
    pub(crate) fn here(sealwright: Option<&Path>) -> io::Result<Programs> {
        static THIS: OnceLock<String> = OnceLock::new();
        let program = match THIS.get() {
            Some(program) => program.clone(),
            None => {
                let program = this()?;
                THIS.get_or_init(|| program).clone()
            }
        };
        let sealwright = sealwright.map(|path| sha256(File::open(path)?)).transpose()?;
        Ok(Programs { program, sealwright })
    }
}

/// SHA-256 of the running program. On Linux, this is the right file even if it was replaced on disk.
fn this() -> io::Result<String> {
    sha256(File::open("/proc/self/exe").or_else(|_| File::open(std::env::current_exe()?))?)
}

/// SHA-256 of a file, in hexadecimal.
pub(crate) fn sha256(mut file: File) -> io::Result<String> {
    let (mut hash, mut part) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut part)? {
            0 => break,
            read => hash.update(&part[..read]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwright_measure::{Meter, Work};

    use super::*;
    use crate::progress::Progress;

    #[test]
    fn a_comparison_leaves_its_quartiles() {
        let mut tell = |_: crate::progress::Step<'_>| {};
        let mut progress = Progress::new("s", &mut tell);
        let meter = Meter::quick().rounds(5, 5).budget(std::time::Duration::from_millis(5));
        progress.step("some step");
        progress.compare(&meter, &mut [&mut Work::new("work", || {})]).unwrap();
        let found = Provenance::here("abc", None, progress.recorded());
        let [Recorded { step, trials, .. }] = &found.comparisons[..] else { panic!("{found:?}") };
        assert_eq!((&step[..], &trials[0].name[..], trials[0].rounds), ("some step", "work", 5));
        let [quantiles] = trials[0].quantiles[..] else { panic!("one start") };
        assert!(quantiles.is_sorted(), "{quantiles:?}");
        assert_eq!((&found.commit[..], found.program.len()), ("abc", 64));
        assert!(progress.recorded().is_empty());
    }
}
