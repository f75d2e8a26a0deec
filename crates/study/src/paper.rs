//! What a paper printed: its citation, its tables, its claims as sentences; read from `data/*.toml`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use sealwright_measure::Verdict;
use serde::{Deserialize, Serialize};

use crate::rule::Number;

/// A paper as printed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Title.
    pub title: String,
    /// Author or authors.
    pub author: String,
    /// Where it appeared.
    pub r#where: String,
    /// Year.
    pub year: u16,
    /// On what it was measured.
    pub setup: String,
    /// The question it asked.
    pub asked: String,
    /// The answer it found.
    pub found: String,
    /// Its tables.
    pub tables: Vec<Printed>,
    /// What it claims, what holds here and why, in a line each.
    pub glance: Glance,
    /// Its claims.
    pub claims: Vec<Sentence>,
    /// Figures and commands it shows outside tables, which each study knows how to read.
    #[serde(default)]
    pub printed: toml::Table,
}

/// A paper at a glance.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Glance {
    /// A short name.
    pub name: String,
    /// What it claimed.
    pub claimed: String,
    /// Why what holds here holds: the mechanism, not a figure.
    pub why: String,
    /// The claim that stands for all.
    pub claim: String,
    /// The figure that stands for all.
    pub figure: String,
}

/// A table as printed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Printed {
    /// By what the study finds it.
    pub id: String,
    /// Where it stands.
    pub place: String,
    /// Its caption.
    pub caption: String,
    /// The unit of every figure.
    pub unit: String,
    /// What each figure of a row is.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A row of a printed table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// What the row is of.
    pub label: String,
    /// Its figures, one a column.
    pub values: Vec<f64>,
}

/// A claim as a sentence of the paper, how it is read here, and the rules that judge it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sentence {
    /// By what the study finds it.
    pub id: String,
    /// The claim in a few words, for a grid.
    pub short: String,
    /// The paper's own words.
    pub sentence: String,
    /// Where it stands.
    pub place: String,
    /// How it is read: what the paper compared, and what has to be so for it to hold.
    pub reading: String,
    /// What must be true of which quantities ([`crate::rule`]).
    pub rule: Option<String>,
    /// The paper's number.
    pub number: Option<Number>,
    /// The threshold of its rule, where the sentence has none or we had to make it exact.
    pub chosen: Option<Chosen>,
    /// Why it cannot be tested here, if it cannot.
    pub untestable: Option<String>,
    /// The circumstances that may judge it; all if there are none.
    #[serde(default)]
    pub only: Vec<String>,
    /// The verdict on the paper's own figures, which is the same on every machine: a test compares it.
    pub arithmetic: Option<Arithmetic>,
}

/// What the paper's own figures say.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Arithmetic {
    /// In the only circumstance.
    One(Verdict),
    /// In each circumstance, by its name.
    Each(BTreeMap<String, Verdict>),
}

/// A threshold that the paper does not state, or not precisely.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chosen {
    /// The threshold, and what it applies to.
    pub is: String,
    /// The paper's own figure for comparison; absent if the verdict on the paper's own figures shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<String>,
}

impl Paper {
    /// Reads a paper that was compiled in.
    ///
    /// # Panics
    /// If `text` is not a paper; a test reads every one.
    pub(crate) fn compiled_in(text: &str) -> Paper {
        toml::from_str(text).expect("a paper compiled in is well formed")
    }

    /// The printed table `id`.
    pub fn table(&self, id: &str) -> Option<&Printed> {
        self.tables.iter().find(|table| table.id == id)
    }

    /// The claim `id`.
    pub fn claim(&self, id: &str) -> Option<&Sentence> {
        self.claims.iter().find(|claim| claim.id == id)
    }

    /// One line that names the paper.
    pub fn citation(&self) -> String {
        format!("{}: {}. {}, {}.", self.author, self.title, self.r#where, self.year)
    }
}

impl Printed {
    /// The figure of row `label` and column number `column`.
    pub fn value(&self, label: &str, column: usize) -> Option<f64> {
        self.rows.iter().find(|row| row.label == label)?.values.get(column).copied()
    }
}
