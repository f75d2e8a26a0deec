//! Named figures, which are the input of rules. Verdicts can be computed from these alone.

use std::fmt;

use schemars::JsonSchema;
use sealwright_measure::Interval;
use serde::{Deserialize, Serialize};

/// Where a figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Kind")]
pub enum QuantityKind {
    /// Measured or tried on this machine.
    Measured,
    /// Computed by a simulator; the same in every run.
    Simulated,
    /// Found by synthesis, placing and routing of hardware; read from stored results.
    Synthesised,
    /// Computed from what the paper prints, or from a definition. It is the same on every machine.
    Arithmetic,
    /// Not tested here.
    Untestable,
}

impl QuantityKind {
    /// Every kind, in the order of the report.
    pub const ALL: [QuantityKind; 5] = [
        QuantityKind::Measured,
        QuantityKind::Simulated,
        QuantityKind::Synthesised,
        QuantityKind::Arithmetic,
        QuantityKind::Untestable,
    ];
}

impl fmt::Display for QuantityKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            QuantityKind::Measured => "measured",
            QuantityKind::Simulated => "simulated",
            QuantityKind::Synthesised => "synthesised",
            QuantityKind::Arithmetic => "arithmetic",
            QuantityKind::Untestable => "untestable",
        })
    }
}

/// A figure with its name, the circumstance in which it was found, and its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Quantity {
    /// Parts separated by `/`: `GCM : CBC/encrypt/text/10 MB`.
    pub name: String,
    /// The circumstance: `whole processes, seal for GCM`.
    pub scope: String,
    /// Where the figure comes from.
    pub kind: QuantityKind,
    /// Median and 95 % interval; an interval of width zero if the figure is exact.
    pub figure: Interval,
    /// The figure varies but was measured only once, so its spread is unknown and no rule is decided by it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
}

impl Quantity {
    /// Whether a verdict may be based on it.
    pub fn tells(&self) -> bool {
        !self.once && self.figure.tells()
    }
}

/// Collects the quantities of one circumstance and kind.
#[derive(Debug)]
pub(crate) struct Quantities<'a> {
    all: &'a mut Vec<Quantity>,
    scope: String,
    kind: QuantityKind,
}

impl<'a> Quantities<'a> {
    pub(crate) fn new(all: &'a mut Vec<Quantity>, scope: impl Into<String>, kind: QuantityKind) -> Quantities<'a> {
        Quantities { all, scope: scope.into(), kind }
    }

    pub(crate) fn kind(&self) -> QuantityKind {
        self.kind
    }

    /// Adds a figure, if there is one.
    pub(crate) fn add(&mut self, name: impl Into<String>, figure: impl Into<Option<Interval>>) {
        if let Some(figure) = figure.into() {
            let Quantities { scope, kind, .. } = self;
            self.all.push(Quantity { name: name.into(), scope: scope.clone(), kind: *kind, figure, once: false });
        }
    }

    /// Adds a figure that is known exactly.
    pub(crate) fn exact(&mut self, name: impl Into<String>, value: f64) {
        self.add(name, Interval::exact(value));
    }

    /// Adds a figure that varies but was measured only once. `figure` gives the precision of the reading, not the
    /// spread.
    pub(crate) fn once(&mut self, name: impl Into<String>, figure: Option<Interval>) {
        if let Some(figure) = figure {
            self.add(name, figure);
            if let Some(last) = self.all.last_mut() {
                last.once = true;
            }
        }
    }
}
