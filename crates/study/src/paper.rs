//! Contents of a paper: citation, printed tables and claims. They are read from `data/*.toml`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use sealwright_measure::Verdict;
use serde::{Deserialize, Serialize};

use crate::rule::Number;

/// A paper.
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
    /// The hardware and software on which it was measured.
    pub setup: String,
    /// The question it asked.
    pub asked: String,
    /// The answer it found.
    pub found: String,
    /// Its tables.
    pub tables: Vec<Printed>,
    /// Its claim, the result here and the reason, in one line each.
    pub glance: Glance,
    /// Its claims.
    pub claims: Vec<Sentence>,
    /// Figures and commands outside of tables, in a form that each study defines.
    #[serde(default)]
    pub printed: toml::Table,
}

/// A paper in one line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Glance {
    /// A short name.
    pub name: String,
    /// What it claimed.
    pub claimed: String,
    /// Why the result here is what it is: the mechanism, without figures.
    pub why: String,
    /// Identifier of the claim that represents the paper.
    pub claim: String,
    /// Identifier of the figure that represents the paper.
    pub figure: String,
}

/// A printed table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Printed {
    /// Identifier by which the study finds it.
    pub id: String,
    /// Its place in the paper.
    pub place: String,
    /// Its caption.
    pub caption: String,
    /// The unit of every figure.
    pub unit: String,
    /// The meaning of each figure in a row.
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

/// A claim: a sentence of the paper, its interpretation here, and the rules that judge it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sentence {
    /// Identifier by which the study finds it.
    pub id: String,
    /// The claim in a few words, for a grid.
    pub short: String,
    /// The paper's own words.
    pub sentence: String,
    /// Its place in the paper.
    pub place: String,
    /// The interpretation: what the paper compared, and what must be true for the claim to hold.
    pub reading: String,
    /// What must be true of which quantities; see [`crate::rule`].
    pub rule: Option<String>,
    /// The paper's number.
    pub number: Option<Number>,
    /// The threshold of the rule, if the sentence has none or it had to be made precise.
    pub chosen: Option<Chosen>,
    /// Why it cannot be tested here, if it cannot.
    pub untestable: Option<String>,
    /// The circumstances in which the claim is judged; all if the list is empty.
    #[serde(default)]
    pub only: Vec<String>,
    /// The expected verdict on the paper's own figures, which does not depend on the machine. A test checks it.
    pub arithmetic: Option<Arithmetic>,
}

/// The expected verdict on the paper's own figures.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Arithmetic {
    /// In the only circumstance.
    One(Verdict),
    /// In each circumstance by name.
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
    /// Parses a paper that was compiled in.
    ///
    /// # Panics
    /// If `text` is not a valid paper. A test parses all of them.
    pub(crate) fn compiled_in(text: &str) -> Paper {
        toml::from_str(text).expect("a paper compiled in is well formed")
    }

    /// The printed table with this `id`.
    pub fn table(&self, id: &str) -> Option<&Printed> {
        self.tables.iter().find(|table| table.id == id)
    }

    /// The claim with this `id`.
    pub fn claim(&self, id: &str) -> Option<&Sentence> {
        self.claims.iter().find(|claim| claim.id == id)
    }

    /// The paper's citation in one line.
    pub fn citation(&self) -> String {
        format!("{}: {}. {}, {}.", self.author, self.title, self.r#where, self.year)
    }
}

impl Printed {
    /// The figure in the row `label` and the column with this number.
    pub fn value(&self, label: &str, column: usize) -> Option<f64> {
        self.rows.iter().find(|row| row.label == label)?.values.get(column).copied()
    }
}
