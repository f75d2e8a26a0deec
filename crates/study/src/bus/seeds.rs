//! Seeds of runs, and what several of them say together.

use sealwright_measure::Interval;

/// Seeds of what claims are about: keys, inputs and the time that memory takes follow from them.
pub(super) fn seeds(quick: bool) -> u64 {
    if quick { 3 } else { 5 }
}

/// Seeds with which every attack is struck at every victim.
pub(super) fn of_attacks(quick: bool) -> u64 {
    if quick { 1 } else { 4 }
}

/// The mean of runs with several seeds and its 95 % interval; of one run, its figure.
pub(super) fn over_seeds(samples: &[f64]) -> Option<Interval> {
    match samples {
        [one] => Some(Interval::exact(*one)),
        _ => Interval::of_starts(samples, &vec![1; samples.len()], 1),
    }
}
