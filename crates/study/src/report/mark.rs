//! A verdict as a sign with words, in the colour of its kind.

use sealwright_measure::Verdict;
use serde::Serialize;

use crate::rule::Place;

/// A verdict as class, sign and words.
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

impl From<Place> for Mark {
    fn from(place: Place) -> Mark {
        let (class, sign) = match place {
            Place::Inside => ("holds", "="),
            Place::Above => ("does-not-hold", "↑"),
            Place::Below => ("does-not-hold", "↓"),
            Place::Varies => ("differs", "±"),
            Place::Unknown => ("cannot-be-told", "?"),
        };
        Mark { class, sign, words: place.words() }
    }
}
