//! The A/A test of the instrument: it compares two copies of the same code, each with memory of its own. The true
//! ratio is 1, so an interval that excludes 1 is an error.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{interval::Interval, random::Random};

/// The outcome of such a test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// Number of tests.
    pub trials: usize,
    /// Starts per test.
    pub starts: usize,
    /// The share of the tests whose interval excludes 1.
    pub excludes: f64,
    /// The share whose interval excludes everything within 2 % of 1.
    pub excludes_by_two_per_cent: f64,
    /// The same two shares if all samples are treated as samples of one start.
    pub one_start: [f64; 2],
    /// The median width of the intervals, relative to their medians.
    pub width: f64,
}

/// The acceptance limits: at most 7 % of the tests may exclude 1, and at most 1 % may exclude everything within 2 % of
/// 1.
pub const MOST: [f64; 2] = [0.07, 0.01];

/// Runs `trials` tests, each on `per_trial` starts that are drawn from `starts` without replacement. Each element of
/// `starts` holds the ratios of the rounds of one start. Returns `None` if `per_trial` is less than two or there are
/// fewer starts than two tests need.
pub fn test(starts: &[Vec<f64>], trials: usize, per_trial: usize, seed: u64) -> Option<Outcome> {
    if per_trial < 2 || starts.len() < 2 * per_trial || trials == 0 {
        return None;
    }
    let mut random = Random::new(seed);
    let mut order: Vec<usize> = (0..starts.len()).collect();
    let (mut counts, mut flat, mut widths) = ([0_usize; 2], [0_usize; 2], Vec::with_capacity(trials));
    for trial in 0..trials as u64 {
        random.shuffle(&mut order);
        let chosen = || order[..per_trial].iter().map(|&at| &starts[at]);
        let samples: Vec<f64> = chosen().flatten().copied().collect();
        let lengths: Vec<usize> = chosen().map(Vec::len).collect();
        let interval = Interval::of_starts(&samples, &lengths, trial)?;
        widths.push(interval.relative_width());
        count(interval, &mut counts);
        count(Interval::of(&samples, trial)?, &mut flat);
    }
    let share = |count: usize| count as f64 / trials as f64;
    Some(Outcome {
        trials,
        starts: per_trial,
        excludes: share(counts[0]),
        excludes_by_two_per_cent: share(counts[1]),
        one_start: flat.map(share),
        width: crate::interval::median(&widths)?,
    })
}

fn count(interval: Interval, counts: &mut [usize; 2]) {
    counts[0] += usize::from(!interval.contains(1.0));
    counts[1] += usize::from(interval.low > 1.02 || interval.high < 0.98);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::hint::black_box;

    use super::*;
    use crate::{candidate::Work, meter::Meter, placement::Placed};

    #[test]
    fn starts_that_shift_are_noticed() {
        let mut random = Random::new(9);
        let normal = |random: &mut Random| (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
        let start = |random: &mut Random| {
            let shift = 1.0 + 0.04 * normal(random);
            (0..20).map(|_| shift + 0.005 * normal(random)).collect::<Vec<f64>>()
        };
        let starts: Vec<Vec<f64>> = (0..400).map(|_| start(&mut random)).collect();
        let found = test(&starts, 300, 8, 1).unwrap();
        assert!(found.excludes <= 0.08 && found.one_start[0] > 0.5, "{found:?}");
        assert_eq!(test(&starts[..3], 300, 8, 1), None);
    }

    /// A small version of the real test: sums over two buffers that are moved for each start.
    #[test]
    fn the_same_code_twice_is_the_same() {
        let mut random = Random::new(3);
        let meter = Meter::quick().rounds(5, 5).budget(std::time::Duration::from_millis(2));
        let start = |random: &mut Random| {
            let [a, b] = [(); 2].map(|()| Placed::new(1500, 3, random));
            let sum = |placed: &Placed| {
                black_box(placed.iter().fold(0_u64, |sum, &byte| sum.rotate_left(5) ^ u64::from(byte)))
            };
            let mut first = Work::new("a", || {
                sum(black_box(&a));
            })
            .by_thread_cpu();
            let mut second = Work::new("b", || {
                sum(black_box(&b));
            })
            .by_thread_cpu();
            let found = meter.compare(&mut [&mut first, &mut second], &mut |_| {}).unwrap();
            let samples = |name: &str| found.trial(name).unwrap().samples.clone();
            samples("a").iter().zip(samples("b")).map(|(a, b)| a / b).collect::<Vec<f64>>()
        };
        // The limit for a full test on a quiet machine is MOST. Here other tests run at the same time, so the limits
        // are wider and the test may be repeated once
        let mut found = Vec::new();
        let right = (0..2).any(|_| {
            let starts: Vec<Vec<f64>> = (0..60).map(|_| start(&mut random)).collect();
            let one = test(&starts, 100, 8, 2).unwrap();
            let right = one.excludes <= 0.2 && one.excludes_by_two_per_cent <= 0.1;
            found.push(one);
            right
        });
        assert!(right, "{found:?}");
    }
}
