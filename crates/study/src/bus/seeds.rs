//! Seeds of the simulations, and statistics over them.

use sealwright_measure::Interval;

/// The number of seeds for simulations that claims depend on. The seed determines keys, inputs and memory latency.
pub(super) fn seeds(quick: bool) -> u64 {
    if quick { 3 } else { 5 }
}

/// The number of seeds with which every attack is run on every victim.
pub(super) fn of_attacks(quick: bool) -> u64 {
    if quick { 1 } else { 4 }
}

/// The mean of runs with several seeds and its 95 % interval; for one run, its value.
pub(super) fn over_seeds(samples: &[f64]) -> Option<Interval> {
    match samples {
        [one] => Some(Interval::exact(*one)),
        _ => Interval::of_starts(samples, &vec![1; samples.len()], 1),
    }
}
