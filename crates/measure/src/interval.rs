//! A median with its bootstrap 95 % interval: the only way this project states a measured figure.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::random::Random;

/// Bootstrap draws behind an interval: its ends then move by well under a tenth of its width from seed to seed.
const DRAWS: usize = 1000;

/// The median of some samples and the ends of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// The median of the samples.
    pub median: f64,
    /// Lower end of the 95 % interval of the median.
    pub low: f64,
    /// Upper end of the 95 % interval of the median.
    pub high: f64,
}

impl Interval {
    /// The median of `samples` with its percentile bootstrap interval: `DRAWS` times as many samples are drawn with
    /// replacement, and the interval holds the middle 95 % of those draws' medians. `None` of no samples or of a
    /// sample that is not a finite number.
    pub fn of(samples: &[f64], seed: u64) -> Option<Interval> {
        if samples.is_empty() || samples.iter().any(|sample| !sample.is_finite()) {
            return None;
        }
        let mut random = Random::new(seed);
        let mut drawn = samples.to_vec();
        let mut medians: Vec<f64> = (0..DRAWS)
            .map(|_| {
                drawn.fill_with(|| samples[random.below(samples.len())]);
                median_in_place(&mut drawn)
            })
            .collect();
        medians.sort_unstable_by(f64::total_cmp);
        let median = median(samples)?;
        // With few samples the percentiles may miss the median by rounding: never report one outside its interval
        let low = medians[DRAWS / 40].min(median);
        let high = medians[DRAWS - 1 - DRAWS / 40].max(median);
        Some(Interval { median, low, high })
    }

    /// A figure known exactly.
    pub fn exact(value: f64) -> Interval {
        Interval { median: value, low: value, high: value }
    }

    /// Width of the interval as a share of the median.
    pub fn relative_width(&self) -> f64 {
        (self.high - self.low) / self.median.abs()
    }

    /// Whether `value` lies inside, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The same interval seen through a monotone function, rising or falling.
    #[must_use]
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Interval {
        let (a, b) = (f(self.low), f(self.high));
        Interval { median: f(self.median), low: a.min(b), high: a.max(b) }
    }

    /// Every figure times `factor`.
    #[must_use]
    pub fn scale(&self, factor: f64) -> Interval {
        self.map(|value| value * factor)
    }

    /// Seconds for `amount` of something turned into amount per second.
    #[must_use]
    pub fn rate(&self, amount: f64) -> Interval {
        self.map(|seconds| amount / seconds)
    }

    /// Seconds for `bytes` turned into GB/s, GB = 10^9 bytes.
    #[must_use]
    pub fn gigabytes_per_second(&self, bytes: u64) -> Interval {
        self.rate(bytes as f64 / 1e9)
    }
}

impl fmt::Display for Interval {
    /// `12.30 [12.10, 12.50]`, with the precision asked for (`{:.1}`), else 2 decimals.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(2);
        write!(f, "{:.digits$} [{:.digits$}, {:.digits$}]", self.median, self.low, self.high)
    }
}

/// The middle of `values`, or the mean of the middle two. `None` of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| median_in_place(&mut values.to_vec()))
}

/// The median, reordering the values; there must be at least one.
fn median_in_place(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    let odd = values.len() % 2 == 1;
    let (before, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if odd {
        return upper;
    }
    let lower = before.iter().copied().max_by(f64::total_cmp).unwrap_or(upper);
    lower.midpoint(upper)
}

#[cfg(test)]
#[path = "interval_tests.rs"]
mod tests;
