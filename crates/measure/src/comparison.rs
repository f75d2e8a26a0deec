//! The result of a comparison: each candidate's samples and interval, and ratios from paired rounds.

use std::io;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::interval::Interval;

/// The samples of one candidate, in the order of the rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// The candidate's name.
    pub name: String,
    /// Iterations of one sample.
    pub iterations: u64,
    /// Seconds per iteration, one figure for each round.
    pub samples: Vec<f64>,
    /// The number of samples of each start; empty if there is one start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<usize>,
    /// Seconds per iteration: median and 95 % interval.
    pub interval: Interval,
}

impl Trial {
    /// A trial from samples taken elsewhere, in seconds for one iteration.
    ///
    /// # Errors
    /// When there is no sample, or one is not a finite number.
    pub fn new(name: impl Into<String>, iterations: u64, samples: Vec<f64>, seed: u64) -> io::Result<Trial> {
        Trial::of_starts(name, iterations, samples, Vec::new(), seed)
    }

    /// A trial from samples of several starts, `starts` of each.
    ///
    /// # Errors
    /// As [`Trial::new`].
    pub fn of_starts(
        name: impl Into<String>,
        iterations: u64,
        samples: Vec<f64>,
        starts: Vec<usize>,
        seed: u64,
    ) -> io::Result<Trial> {
        let name = name.into();
        let interval = Interval::of_starts(&samples, &starts, seed)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("{name}: no sample that is a number")))?;
        Ok(Trial { name, iterations, samples, starts, interval })
    }

    /// Minimum, quartiles and maximum of each start's samples, in seconds per iteration. Quartiles between two samples
    /// are interpolated linearly, so the middle figure is the median.
    pub fn quantiles(&self) -> Vec<[f64; 5]> {
        let whole = [self.samples.len()];
        let counts: &[usize] = if self.starts.is_empty() { &whole } else { &self.starts };
        let mut rest = &self.samples[..];
        let quartiles = |count: &usize| {
            let (start, after) = rest.split_at((*count).min(rest.len()));
            rest = after;
            let mut sorted = start.to_vec();
            sorted.sort_unstable_by(f64::total_cmp);
            [0, 1, 2, 3, 4].map(|quarter| {
                let place = quarter * sorted.len().saturating_sub(1);
                let at = |place: usize| sorted.get(place).copied().unwrap_or(f64::NAN);
                let (lower, upper) = (at(place / 4), at(place.div_ceil(4)));
                match place % 4 {
                    2 => lower.midpoint(upper),
                    part => lower + (upper - lower) * part as f64 / 4.0,
                }
            })
        };
        counts.iter().map(quartiles).collect()
    }

    /// The fastest sample, in seconds for one iteration: what the machine can do when nothing disturbs it.
    pub fn fastest(&self) -> f64 {
        self.samples.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

/// The result of measuring candidates in the same rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// One trial for each candidate, in the order given.
    pub trials: Vec<Trial>,
    /// Whether every interval became as narrow as requested within the time budget.
    pub narrow: bool,
    /// Wall time of the whole comparison.
    pub seconds: f64,
    /// The seed of the order and of the bootstrap.
    pub seed: u64,
}

impl Comparison {
    /// The trial of the candidate called `name`.
    pub fn trial(&self, name: &str) -> Option<&Trial> {
        self.trials.iter().find(|trial| trial.name == name)
    }

    /// Time of `a` over time of `b` (2 means that `b` is twice as fast): the median over the rounds of the ratio
    /// within each round, with an interval of its own. What slows both in a round cancels out.
    ///
    /// `None` when a name is unknown or some sample of `b` took no time that its clock could see.
    pub fn ratio(&self, a: &str, b: &str) -> Option<Interval> {
        let (a, b) = (self.trial(a)?, self.trial(b)?);
        let ratios: Vec<f64> = a.samples.iter().zip(&b.samples).map(|(a, b)| a / b).collect();
        // The candidates of a comparison share its rounds, so `starts` is the same for both
        Interval::of_starts(&ratios, &a.starts, self.seed)
    }

    /// Speed of `a` over speed of `b`: [`Comparison::ratio`] the other way up.
    pub fn speedup(&self, a: &str, b: &str) -> Option<Interval> {
        self.ratio(b, a)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::interval::median;

    #[test]
    fn the_middle_quartile_is_the_median() {
        let even = Trial::new("even", 1, vec![4.0, 1.0, 3.0, 2.0], 1).unwrap();
        assert_eq!(even.quantiles(), [[1.0, 1.75, 2.5, 3.25, 4.0]]);
        for count in 1..12 {
            let samples: Vec<f64> = (0..count).map(|i| f64::from(i * i)).collect();
            let trial = Trial::new("some", 1, samples, 1).unwrap();
            assert_eq!(Some(trial.quantiles()[0][2]), median(&trial.samples), "{count}");
        }
    }
}
