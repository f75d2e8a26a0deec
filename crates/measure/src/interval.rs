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
    /// The median of the samples; of several starts, the mean of their medians.
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

    /// The interval of samples taken in several starts, `starts` samples of each, where a start is anew what stays the same
    /// within it: the process, or where its memory lies. Both are resampled (Kalibera and Jones: a hierarchical bootstrap):
    /// starts with replacement, samples of each start with replacement; a draw is the mean of the starts' medians. Draws of few
    /// starts vary too little, so the interval is widened by Student's quantile and by the square root of n / (n - 1).
    ///
    /// With fewer than two starts it is [`Interval::of`]. `None` of no samples or of a sample that is not a finite number.
    pub fn of_starts(samples: &[f64], starts: &[usize], seed: u64) -> Option<Interval> {
        if starts.len() < 2 || starts.iter().sum::<usize>() != samples.len() || starts.contains(&0) {
            return Interval::of(samples, seed);
        }
        if samples.iter().any(|sample| !sample.is_finite()) {
            return None;
        }
        let mut rest = samples;
        let mut groups = Vec::with_capacity(starts.len());
        for &count in starts {
            let (group, after) = rest.split_at(count);
            groups.push(group);
            rest = after;
        }
        let mut random = Random::new(seed);
        let mut drawn = Vec::new();
        let mut means: Vec<f64> = (0..DRAWS)
            .map(|_| {
                let all = (0..groups.len()).map(|_| {
                    let group = groups[random.below(groups.len())];
                    drawn.clear();
                    drawn.extend((0..group.len()).map(|_| group[random.below(group.len())]));
                    median_in_place(&mut drawn)
                });
                all.sum::<f64>() / groups.len() as f64
            })
            .collect();
        means.sort_unstable_by(f64::total_cmp);
        let middle = groups.iter().filter_map(|group| median(group)).sum::<f64>() / groups.len() as f64;
        let count = groups.len() as f64;
        let wider = student(groups.len() - 1) / upper_quantile(0.025) * (count / (count - 1.0)).sqrt();
        let low = (middle - (middle - means[DRAWS / 40]) * wider).min(middle);
        let high = (middle + (means[DRAWS - 1 - DRAWS / 40] - middle) * wider).max(middle);
        Some(Interval { median: middle, low, high })
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

    /// The interval of one figure among `cases`, so that with probability 95 % all of them contain what they estimate
    /// (Bonferroni): the ends are moved away from the median by the quotient of the two normal quantiles, in factors
    /// where the figure is positive.
    #[must_use]
    pub fn one_of(&self, cases: usize) -> Interval {
        let wider = upper_quantile(0.025 / cases.max(1) as f64) / upper_quantile(0.025);
        let Interval { median, low, high } = *self;
        if low > 0.0 {
            return Interval {
                median,
                low: median * (low / median).powf(wider),
                high: median * (high / median).powf(wider),
            };
        }
        Interval { median, low: median - (median - low) * wider, high: median + (high - median) * wider }
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

/// The figure that a normal variable exceeds with probability `tail`, of at most one half: Abramowitz and Stegun, 26.2.23, off by
/// less than 0.00045.
pub(crate) fn upper_quantile(tail: f64) -> f64 {
    let t = (-2.0 * tail.ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - above / below
}

/// What a variable of Student's distribution with `degrees` of freedom exceeds with probability 0.025 (Cornish and Fisher's
/// expansion; exact values for the few degrees where it is off).
fn student(degrees: usize) -> f64 {
    if let Some(exact) = [12.706, 4.303, 3.182, 2.776].get(degrees.max(1) - 1) {
        return *exact;
    }
    let (z, n) = (upper_quantile(0.025), degrees as f64);
    let (z3, z5, z7) = (z.powi(3), z.powi(5), z.powi(7));
    z + (z3 + z) / (4.0 * n)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n)
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * n.powi(3))
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
