//! A paper's claim with its verdicts, one for each circumstance in which it was tested. Verdicts may differ between
//! circumstances.

use schemars::JsonSchema;
use sealwright_measure::{Interval, Verdict};
use serde::{Deserialize, Serialize};

use crate::{
    figure::{decimals, shown},
    paper::{Chosen, Sentence},
    quantity::{Quantity, QuantityKind},
    rule::{self, Direction, Magnitude, Number, RuleError},
};

/// A claim, its rules and all its verdicts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judged {
    /// Identifier of the claim within the paper.
    pub id: String,
    /// The claim in a few words.
    pub short: String,
    /// The paper's sentence, possibly shortened.
    pub sentence: String,
    /// Its place in the paper: section, table or figure.
    pub place: String,
    /// How the sentence is interpreted here, and what the paper compared.
    pub reading: String,
    /// What must be true of which quantities for the claim to hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Which quantities the paper's number is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<Number>,
    /// The threshold of the rule, if the paper does not give it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Chosen>,
    /// Why it cannot be tested here, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untestable: Option<String>,
    /// The circumstances in which it is judged; all if the list is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// A verdict for each circumstance.
    pub verdicts: Vec<Scoped>,
}

/// A verdict in one circumstance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scoped {
    /// The circumstance: `whole processes`.
    pub scope: String,
    /// Where the figures come from.
    pub kind: QuantityKind,
    /// Whether the claim holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// How the paper's number compares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub magnitude: Option<Magnitude>,
    /// How the attacks on which the verdict depends were reduced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reduced: Vec<String>,
}

impl Judged {
    /// The claim of `sentence` without verdicts.
    pub fn new(sentence: &Sentence) -> Judged {
        let Sentence { id, short, sentence, place, reading, rule, number, chosen, untestable, only, .. } =
            sentence.clone();
        Judged { id, short, sentence, place, reading, rule, number, chosen, untestable, only, verdicts: Vec::new() }
    }

    /// The same claim with the verdicts that follow from `quantities`.
    ///
    /// # Errors
    /// When a rule cannot be read.
    pub fn judged(self, quantities: &[Quantity]) -> Result<Judged, RuleError> {
        let mut verdicts = Vec::new();
        let wanted = |scope: &str| self.only.is_empty() || self.only.iter().any(|only| fits(only, scope));
        for scope in rule::scopes(quantities).into_iter().filter(|scope| wanted(scope)) {
            let direction = match &self.rule {
                Some(rule) => rule::direction(rule, quantities, scope)?,
                None => None,
            };
            let magnitude = match &self.number {
                Some(Number { of, printed, against }) => {
                    rule::magnitude(of, *printed, against.as_deref(), quantities, scope)?
                }
                None => None,
            };
            let kinds = direction.iter().map(|(_, kind)| *kind).chain(magnitude.iter().map(|(_, kind)| *kind));
            if let Some(kind) = kinds.min() {
                let (direction, magnitude) = (direction.map(|(one, _)| one), magnitude.map(|(one, _)| one));
                let reduced = Vec::new();
                verdicts.push(Scoped { scope: scope.to_owned(), kind, direction, magnitude, reduced });
            }
        }
        Ok(Judged { verdicts, ..self })
    }

    /// Whether the claim holds in the circumstance `scope`.
    pub fn verdict(&self, scope: &str) -> Option<Verdict> {
        self.verdicts.iter().find(|scoped| scoped.scope == scope)?.direction.as_ref().map(|one| one.verdict)
    }
}

/// Whether `scope` equals `only`, or begins with it if `only` ends in `*`.
fn fits(only: &str, scope: &str) -> bool {
    only.strip_suffix('*').map_or(only == scope, |start| scope.starts_with(start))
}

/// Judges every claim of a paper by `quantities`.
///
/// # Errors
/// When a rule cannot be read.
pub fn judge(sentences: &[Sentence], quantities: &[Quantity]) -> Result<Vec<Judged>, RuleError> {
    sentences.iter().map(|sentence| Judged::new(sentence).judged(quantities)).collect()
}

impl Scoped {
    /// The figures behind the verdicts, as text.
    pub fn evidence(&self) -> String {
        let direction = self.direction.as_ref().map(|Direction { cases, deciding, missing, .. }| {
            let words = ["holds", "does not hold", "cannot be told"];
            let not_tried = if missing.is_empty() { "" } else { ". Not tried: " };
            let (tally, missing) = (tally(cases, &words), missing.join(", "));
            format!("{tally}{}: {}{not_tried}{missing}", deciding.name, shown(deciding.figure))
        });
        let magnitude =
            self.magnitude.as_ref().map(|Magnitude { cases, overlaps, deciding, printed: [low, high], .. }| {
                let words = ["inside", "above", "below", "of unknown spread", "overlapping"];
                let [inside, above, below, unknown] = *cases;
                let cases = [inside, above, below, unknown, *overlaps];
                let printed = range(*low, *high);
                let tally = tally(&cases, &words);
                format!("The paper's number: {tally}{printed}, here {} ({})", shown(deciding.figure), deciding.name)
            });
        let reduced = self.reduced.iter().map(|words| format!("Reduced in this run: {words}"));
        direction.into_iter().chain(magnitude).chain(reduced).collect::<Vec<_>>().join(". ")
    }
}

/// A range with so many digits that rounding moves no end by more than a hundredth of its width.
fn range(low: f64, high: f64) -> String {
    if low == high {
        return shown(Interval::exact(low));
    }
    let written = |value: f64, digits: u8| format!("{value:.*}", usize::from(digits));
    let wrong = |value: f64, digits| written(value, digits).parse().map_or(0.0, |shown: f64| (shown - value).abs());
    let end = |value: f64| {
        let enough = (decimals(value)..16).find(|&digits| wrong(value, digits) <= (high - low) / 100.0);
        written(value, enough.unwrap_or(16))
    };
    format!("{} to {}", end(low), end(high))
}

/// `Of 6 cases, holds in 5, does not hold in 1. `; empty if there is only one case.
fn tally(cases: &[usize], words: &[&str]) -> String {
    // Counts from a file may be arbitrarily large
    let all = cases.iter().fold(0_usize, |all, count| all.saturating_add(*count));
    if all < 2 {
        return String::new();
    }
    let some = cases.iter().zip(words).filter(|(count, _)| **count > 0);
    let some: Vec<String> = some.map(|(count, word)| format!("{word} in {count}")).collect();
    format!("of {all} cases, {}; ", some.join(", "))
}

#[cfg(test)]
#[path = "judgement_tests.rs"]
mod tests;
