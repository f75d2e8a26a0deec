//! Marks for verdicts: a sign with a text, in the colour of the verdict.

use sealwright_measure::Verdict;
use serde::Serialize;

use crate::rule::NumberPosition;

/// A CSS class, a sign and a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Mark {
    pub(super) class: &'static str,
    pub(super) sign: &'static str,
    pub(super) words: &'static str,
}

impl Mark {
    pub(super) const DIFFERS: Mark = Mark { class: "differs", sign: "±", words: "differs" };
    pub(super) const UNTESTABLE: Mark = Mark { class: "untestable", sign: "–", words: "not testable" };
}

impl From<Verdict> for Mark {
    fn from(verdict: Verdict) -> Mark {
        let (class, sign, words) = match verdict {
            Verdict::Holds => ("holds", "✓", "holds"),
            Verdict::DoesNotHold => ("does-not-hold", "✗", "does not hold"),
            Verdict::CannotBeTold => ("cannot-be-told", "?", "cannot be told"),
        };
        Mark { class, sign, words }
    }
}

/// The position of the paper's number, and whether the direction of the claim could be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) place: NumberPosition,
    pub(super) told: bool,
}

impl From<Placed> for Mark {
    fn from(Placed { place, told }: Placed) -> Mark {
        let (class, sign) = match place {
            // If the interval is too wide to tell the direction, it contains many numbers, so agreement means little
            NumberPosition::Inside if !told => ("cannot-be-told", "="),
            NumberPosition::Inside => ("holds", "="),
            NumberPosition::Overlaps => ("cannot-be-told", "≈"),
            NumberPosition::Above => ("does-not-hold", "↑"),
            NumberPosition::Below => ("does-not-hold", "↓"),
            NumberPosition::Varies => ("differs", "±"),
            NumberPosition::Unknown => ("cannot-be-told", "?"),
        };
        Mark { class, sign, words: place.words() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_inside_an_interval_that_tells_nothing_holds_nothing() {
        let class = |place, told| Mark::from(Placed { place, told }).class;
        assert_eq!(class(NumberPosition::Inside, true), "holds");
        assert_eq!(class(NumberPosition::Inside, false), "cannot-be-told");
        assert_eq!(class(NumberPosition::Overlaps, true), "cannot-be-told");
        assert_eq!(class(NumberPosition::Above, false), "does-not-hold");
    }
}
