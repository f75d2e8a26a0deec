//! Verdicts: whether a statement is true here, as far as the intervals can decide.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::interval::Interval;

/// Whether a statement is true here, as far as the intervals can decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The statement is true for every figure in the interval.
    Holds,
    /// The statement is false for every figure in the interval.
    DoesNotHold,
    /// The interval contains figures of both kinds, or is based on too few samples, or something was not measured.
    CannotBeTold,
}

impl Verdict {
    /// Whether what `interval` estimates is greater than `bound`.
    pub fn above(interval: Interval, bound: f64) -> Verdict {
        Verdict::of(interval, interval.low > bound, interval.high <= bound)
    }

    /// Whether what `interval` estimates is less than `bound`.
    pub fn below(interval: Interval, bound: f64) -> Verdict {
        Verdict::of(interval, interval.high < bound, interval.low >= bound)
    }

    /// Whether what `interval` estimates lies from `low` to `high`, ends included.
    pub fn between(interval: Interval, low: f64, high: f64) -> Verdict {
        let inside = interval.low >= low && interval.high <= high;
        Verdict::of(interval, inside, interval.high < low || interval.low > high)
    }

    /// A verdict on something known exactly.
    pub fn known(holds: bool) -> Verdict {
        if holds { Verdict::Holds } else { Verdict::DoesNotHold }
    }

    /// Whether all of `verdicts` hold: does not hold if any of them does not; otherwise cannot be told if any of them
    /// cannot.
    pub fn all(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
        verdicts.into_iter().fold(Verdict::Holds, |all, one| match (all, one) {
            (Verdict::DoesNotHold, _) | (_, Verdict::DoesNotHold) => Verdict::DoesNotHold,
            (Verdict::CannotBeTold, _) | (_, Verdict::CannotBeTold) => Verdict::CannotBeTold,
            _ => Verdict::Holds,
        })
    }

    /// The verdict on the opposite statement.
    #[must_use]
    pub fn opposite(self) -> Verdict {
        match self {
            Verdict::Holds => Verdict::DoesNotHold,
            Verdict::DoesNotHold => Verdict::Holds,
            Verdict::CannotBeTold => Verdict::CannotBeTold,
        }
    }

    fn of(interval: Interval, yes: bool, no: bool) -> Verdict {
        match (yes, no) {
            _ if !interval.tells() => Verdict::CannotBeTold,
            (true, _) => Verdict::Holds,
            (_, true) => Verdict::DoesNotHold,
            _ => Verdict::CannotBeTold,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Holds => "holds",
            Verdict::DoesNotHold => "does not hold",
            Verdict::CannotBeTold => "cannot be told",
        })
    }
}

#[cfg(test)]
mod tests {
    use Verdict::{CannotBeTold, DoesNotHold, Holds};
    use proptest::prelude::*;

    use super::*;

    fn interval(low: f64, high: f64) -> Interval {
        Interval::new(low.midpoint(high), low, high)
    }

    #[test]
    fn the_interval_decides() {
        assert_eq!(Verdict::above(interval(1.1, 1.3), 1.0), Holds);
        assert_eq!(Verdict::above(interval(0.9, 1.3), 1.0), CannotBeTold);
        assert_eq!(Verdict::above(interval(0.8, 0.9), 1.0), DoesNotHold);
        assert_eq!(Verdict::above(interval(1.0, 1.0), 1.0), DoesNotHold, "equal is not above");
        assert_eq!(Verdict::below(interval(1.0, 1.0), 1.0), DoesNotHold, "equal is not below");
        assert_eq!(Verdict::between(interval(2.1, 2.2), 2.0, 3.0), Holds);
        assert_eq!(Verdict::between(interval(1.9, 2.2), 2.0, 3.0), CannotBeTold);
        assert_eq!(Verdict::between(interval(3.1, 3.2), 2.0, 3.0), DoesNotHold);
        assert_eq!(Verdict::between(interval(1.0, 4.0), 2.0, 3.0), CannotBeTold, "wider than the range");
        assert_eq!(Verdict::between(interval(1.0, 1.9), 2.0, 3.0), DoesNotHold, "all below the range");
        assert_eq!(Verdict::between(interval(2.0, 3.0), 2.0, 3.0), Holds, "the ends belong to the range");
        assert_eq!(Verdict::between(interval(1.0, 2.0), 2.0, 3.0), CannotBeTold, "one end is in the range");
        assert_eq!(Verdict::between(interval(3.0, 4.0), 2.0, 3.0), CannotBeTold, "one end is in the range");
        assert_eq!([true, false].map(Verdict::known), [Holds, DoesNotHold]);
        assert_eq!([Holds, DoesNotHold, CannotBeTold].map(Verdict::opposite), [DoesNotHold, Holds, CannotBeTold]);
    }

    #[test]
    fn one_that_does_not_hold_spoils_all() {
        assert_eq!(Verdict::all([]), Holds);
        assert_eq!(Verdict::all([Holds, Holds]), Holds);
        assert_eq!(Verdict::all([Holds, CannotBeTold]), CannotBeTold);
        assert_eq!(Verdict::all([CannotBeTold, DoesNotHold, Holds]), DoesNotHold);
    }

    #[test]
    fn reads_as_words() {
        let words = [Holds, DoesNotHold, CannotBeTold].map(|verdict| verdict.to_string());
        assert_eq!(words, ["holds", "does not hold", "cannot be told"]);
        assert_eq!(format!("{Holds:>7}"), "  holds");
    }

    proptest! {
        #[test]
        fn above_and_below_never_both_hold(low in -10.0..10.0f64, width in 0.0..5.0f64, bound in -10.0..10.0f64) {
            let interval = interval(low, low + width);
            let (above, below) = (Verdict::above(interval, bound), Verdict::below(interval, bound));
            prop_assert!(!(above == Holds && below == Holds));
            prop_assert_eq!(above == Holds, interval.low > bound);
            if above == Holds { prop_assert_eq!(below, DoesNotHold); }
            prop_assert_eq!(above.opposite().opposite(), above);
        }
    }
}
