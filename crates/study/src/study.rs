//! The trait of a study, which repeats a paper's measurements and produces tables, figures and claims with verdicts.

use std::{path::PathBuf, time::Duration};

use schemars::JsonSchema;
use sealwright_measure::Table;
use serde::{Deserialize, Serialize};

use crate::{
    error::StudyError, figure::Figure, judgement::Judged, paper::Paper, progress::Progress, quantity::Quantity,
};

/// A study that repeats a paper. To add one, implement this trait in a file of its own and add a line to
/// [`STUDIES`](crate::STUDIES).
pub trait Study: Sync {
    /// The short name: the verb's argument, the results' file name, the chapter's anchor.
    fn name(&self) -> &'static str;

    /// The paper.
    fn paper(&self) -> &'static Paper;

    /// The quantities from the paper's own figures, which are the same on every machine.
    fn printed(&self) -> Vec<Quantity>;

    /// The attacks that test the paper's security claims. Rules refer to their trials.
    fn attacks(&self) -> &'static [&'static str] {
        &[]
    }

    /// Approximate duration. It is used to estimate the remaining time until a run on this machine is known.
    fn lasts(&self, quick: bool) -> Duration {
        Duration::from_secs(if quick { 24 } else { 240 })
    }

    /// Runs the measurements and judges the claims.
    ///
    /// # Errors
    /// When a file cannot be created, or a program that was found at the start fails.
    fn run(&self, options: &Options, progress: &mut Progress<'_>) -> Result<Outcome, StudyError>;
}

/// How to run studies, and where to write their results.
#[derive(Clone, Debug)]
pub struct Options {
    /// Takes a tenth of the time (`docs/MEASURING.md`); intervals are wider.
    pub quick: bool,
    /// Measures everything again, even what an interrupted run has measured.
    pub fresh: bool,
    /// The folder of the results: one JSON file for each study.
    pub results: PathBuf,
    /// The folder of the report, `index.html`.
    pub report: PathBuf,
    /// The `sealwright` program, for measurements of whole processes; without it they are omitted.
    pub binary: Option<PathBuf>,
    /// The commit that the program was built from; empty if it is unknown.
    pub commit: String,
    /// Memory in bytes of the server in the study of sessions; the default depends on `quick`.
    pub budget: Option<u64>,
}

impl Default for Options {
    /// Full measurements, `results/` and `report/` in the current directory, no program, default budget.
    fn default() -> Self {
        Options {
            quick: false,
            fresh: false,
            results: "results".into(),
            report: "report".into(),
            binary: None,
            commit: String::new(),
            budget: None,
        }
    }
}

/// The outcome of a study.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// Summary: the result on this machine, in two or three sentences.
    pub summary: String,
    /// The named figures by which the claims are judged.
    #[serde(default)]
    pub quantities: Vec<Quantity>,
    /// The paper's claims, judged.
    pub claims: Vec<Judged>,
    /// Figures (plots) of the results, with those of the paper.
    pub figures: Vec<Figure>,
    /// Tables of the results, with those of the paper.
    pub tables: Vec<Table>,
    /// Surprising results, and errors or oddities in the paper.
    pub notes: Vec<Note>,
}

/// A remark for the reader.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// A few words.
    pub title: String,
    /// One paragraph.
    pub text: String,
}

impl Note {
    /// A note from its two parts.
    pub fn new(title: impl Into<String>, text: impl Into<String>) -> Self {
        Note { title: title.into(), text: text.into() }
    }
}
