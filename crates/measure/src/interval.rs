//! A median with its 95 % interval: the only way this project states a measured figure.

use std::{cmp::Reverse, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    random::Random,
    student::{normal, student},
};

/// Number of bootstrap draws for an interval. With this many, its ends vary by well under a tenth of its width from
/// seed to seed.
const DRAWS: usize = 1000;

/// The minimum number of samples for a 95 % interval of the median: the minimum and maximum of five samples enclose it
/// in only 93.75 % of cases.
pub const FEWEST: usize = 6;

/// The bootstrap is used from this number of samples on. With fewer, its intervals contain the true median in only 87
/// to 94 % of cases.
const BOOTSTRAP: usize = 100;

/// A median (or mean) and the ends of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// The median of the samples; of several starts, the mean of their medians.
    pub median: f64,
    /// Lower end of the 95 % interval of the median.
    pub low: f64,
    /// Upper end of the 95 % interval of the median.
    pub high: f64,
    /// What the ends are based on.
    #[serde(default, skip_serializing_if = "Basis::is_many")]
    pub basis: Basis,
}

/// What the ends of an interval are based on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// At least 100 samples, a count of tries, or a figure that does not vary.
    #[default]
    Many,
    /// This number of samples, 6 to 99: the ends are two of them.
    Samples(u32),
    /// This number of starts, or of runs with different seeds: the interval is that of their mean, by Student's
    /// distribution.
    Starts(u32),
    /// Fewer samples than a 95 % interval needs, because no two of them enclose the median with 95 % probability. The
    /// ends are the minimum and the maximum, and no verdict is based on them.
    Few(u32),
    /// No samples: the ends are bounds that the figure cannot leave, such as those of an estimate or of a rounded
    /// printed figure. They also hold for all of many cases at once.
    Bounds,
    /// Nothing: the figure is a quotient whose divisor may be zero, so the ends are unknown and no verdict is based on
    /// them.
    Open,
}

impl Basis {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_many(&self) -> bool {
        *self == Basis::Many
    }

    /// The basis of a figure that is computed from two others: the weaker of the two.
    fn and(self, other: Basis) -> Basis {
        let weakness = |basis: Basis| match (basis, basis.degrees()) {
            (Basis::Bounds, _) => (0, Reverse(0), false),
            (Basis::Few(samples), _) => (3, Reverse(samples), false),
            (Basis::Open, _) => (4, Reverse(0), false),
            (_, Some(degrees)) => (2, Reverse(degrees), matches!(basis, Basis::Starts(_))),
            (_, None) => (1, Reverse(0), false),
        };
        if weakness(self) >= weakness(other) { self } else { other }
    }

    /// The degrees of freedom of Student's distribution by which the ends are widened for many cases; `None` for the
    /// normal distribution. For samples it is the number of samples from one end to the other, less two: in trials with
    /// normal samples, a case then errs at most 1.7 times as often as it may (with the normal distribution, 4.3 times).
    fn degrees(self) -> Option<u32> {
        match self {
            Basis::Samples(samples) if (samples as usize) < BOOTSTRAP => {
                let outside = beyond(samples as usize).unwrap_or(0);
                Some(samples.saturating_sub(2 * outside as u32 + 2).max(1))
            }
            Basis::Starts(starts) => Some(starts.saturating_sub(1)),
            _ => None,
        }
    }
}

impl Interval {
    /// An interval with these ends.
    pub fn new(median: f64, low: f64, high: f64) -> Interval {
        Interval { median, low, high, basis: Basis::Many }
    }

    /// A figure that lies between these bounds for certain.
    pub fn bounds(middle: f64, low: f64, high: f64) -> Interval {
        Interval { basis: Basis::Bounds, ..Interval::new(middle, low, high) }
    }

    /// The median of `samples` with its interval. `None` without samples, or if a sample is not a finite number.
    ///
    /// With fewer than 100 samples, the ends are the innermost two samples that enclose the true median with a
    /// probability of at least 95 %, for any distribution, because each sample is as likely to be below the median as
    /// above it. With fewer samples than [`FEWEST`] there are no such two, and the interval decides nothing
    /// ([`Basis::Few`]). From 100 samples on, it is a percentile bootstrap: `DRAWS` times, as many samples are drawn
    /// with replacement, and the interval contains the middle 95 % of the medians of these draws.
    pub fn of(samples: &[f64], seed: u64) -> Option<Interval> {
        if samples.is_empty() || samples.iter().any(|sample| !sample.is_finite()) {
            return None;
        }
        let median = median(samples)?;
        if samples.len() < BOOTSTRAP {
            let mut sorted = samples.to_vec();
            sorted.sort_unstable_by(f64::total_cmp);
            let (from_end, basis) = match beyond(sorted.len()) {
                Some(from_end) => (from_end, Basis::Samples(sorted.len() as u32)),
                None => (0, Basis::Few(sorted.len() as u32)),
            };
            return Some(Interval { median, low: sorted[from_end], high: sorted[sorted.len() - 1 - from_end], basis });
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
        // The percentiles may miss the median by rounding: never report one outside its interval
        let low = medians[DRAWS / 40].min(median);
        let high = medians[DRAWS - 1 - DRAWS / 40].max(median);
        Some(Interval::new(median, low, high))
    }

    /// The interval of samples from several starts; `starts` holds the number of samples of each. A start renews what
    /// is constant within it, such as the process or the addresses of its memory. The interval comes from a
    /// hierarchical bootstrap (Kalibera and Jones): starts are drawn with replacement, and so are the samples of each
    /// start; a draw is the mean of the starts' medians. With few starts, draws vary too little, so the interval is
    /// widened by Student's quantile and by the square root of n / (n - 1). With two starts, the outermost draws are
    /// the starts themselves, one standard error from their mean.
    ///
    /// With fewer than two starts it is [`Interval::of`]. `None` without samples, or if a sample is not a finite
    /// number.
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
        let quantile = student(groups.len() as u32 - 1, 0.025);
        let wider =
            if groups.len() == 2 { quantile } else { quantile / normal(0.025) * (count / (count - 1.0)).sqrt() };
        let low = (middle - (middle - means[DRAWS / 40]) * wider).min(middle);
        let high = (middle + (means[DRAWS - 1 - DRAWS / 40] - middle) * wider).max(middle);
        Some(Interval { median: middle, low, high, basis: Basis::Starts(groups.len() as u32) })
    }

    /// The share of successful tries with its Clopper-Pearson interval. `None` if there are no tries, or more successes
    /// than tries.
    pub fn of_share(good: u32, tries: u32) -> Option<Interval> {
        if tries == 0 || good > tries {
            return None;
        }
        // The probability of at least `least` successes, which increases with the share
        let at_least = |least: u32, share: f64| -> f64 {
            let exactly = (0..=tries).scan(f64::from(tries) * (1.0 - share).ln(), |logarithm, count| {
                let now = *logarithm;
                *logarithm += (f64::from(tries - count) / f64::from(count + 1) * share / (1.0 - share)).ln();
                Some(now.exp())
            });
            exactly.skip(least as usize).sum()
        };
        let share_of = |least: u32, probability: f64| {
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..60 {
                let middle = f64::midpoint(low, high);
                if at_least(least, middle) < probability { low = middle } else { high = middle }
            }
            f64::midpoint(low, high)
        };
        let low = if good == 0 { 0.0 } else { share_of(good, 0.025) };
        let high = if good == tries { 1.0 } else { share_of(good + 1, 0.975) };
        Some(Interval::new(f64::from(good) / f64::from(tries), low, high))
    }

    /// A figure that is known exactly.
    pub fn exact(value: f64) -> Interval {
        Interval::new(value, value, value)
    }

    /// Whether the ends are those of a 95 % interval, or bounds. If not, they decide nothing.
    pub fn tells(&self) -> bool {
        !matches!(self.basis, Basis::Few(_) | Basis::Open)
    }

    /// The coverage of such an interval: 0.95; for bounds 1; for too few samples less; and 0 if the ends are unknown.
    pub fn covers(&self) -> f64 {
        match self.basis {
            Basis::Bounds => 1.0,
            Basis::Many | Basis::Samples(_) | Basis::Starts(_) => 0.95,
            Basis::Few(samples) => 1.0 - 2.0 * 0.5_f64.powf(f64::from(samples.max(1))),
            Basis::Open => 0.0,
        }
    }

    /// Width of the interval, relative to the median.
    pub fn relative_width(&self) -> f64 {
        (self.high - self.low) / self.median.abs()
    }

    /// The ends as text: `[12.10, 12.50]` (with the coverage if there are too few samples), or `[ends unknown]`.
    pub(crate) fn ends(&self, digits: usize) -> String {
        let ends = format!("[{:.digits$}, {:.digits$}]", self.low, self.high);
        match self.basis {
            Basis::Few(_) => format!("{ends} ({:.0} %)", 100.0 * self.covers()),
            Basis::Open => "[ends unknown]".to_owned(),
            _ => ends,
        }
    }

    /// Whether the interval contains `value`, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The interval transformed by a monotone function, increasing or decreasing.
    #[must_use]
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Interval {
        let (a, b) = (f(self.low), f(self.high));
        Interval { median: f(self.median), low: a.min(b), high: a.max(b), basis: self.basis }
    }

    /// The difference to another figure that was measured separately: the interval is as wide as the ends of both
    /// allow.
    #[must_use]
    pub fn less(&self, other: Interval) -> Interval {
        Interval {
            median: self.median - other.median,
            low: self.low - other.high,
            high: self.high - other.low,
            basis: self.basis.and(other.basis),
        }
    }

    /// The quotient with another figure that was measured separately: the interval is as wide as the ends of both
    /// allow, or is [`Basis::Open`] if the other may be zero. `None` if the quotient itself is not a finite number.
    pub fn over(&self, other: Interval) -> Option<Interval> {
        let median = Some(self.median / other.median).filter(|median| median.is_finite())?;
        let ends = [self.low, self.high].map(|a| [a / other.low, a / other.high]);
        let ends = ends.as_flattened();
        let may_be_zero = other.low <= 0.0 && other.high >= 0.0;
        if may_be_zero || ends.iter().any(|end| !end.is_finite()) {
            return Some(Interval { basis: Basis::Open, ..Interval::exact(median) });
        }
        let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some(Interval { median, low, high, basis: self.basis.and(other.basis) })
    }

    /// The interval of one figure among `cases`, widened so that with a probability of 95 % all of them contain what
    /// they estimate (Bonferroni). The distance of the ends from the median is multiplied by the quotient of two
    /// quantiles, of the levels 1 - 0.05 / `cases` and 0.95. The quantiles are those of the normal distribution, or of
    /// Student's if the basis has few samples or starts (a factor of 2.53 for three starts and six cases, of 1.89 for
    /// six samples and eight cases, where the normal distribution gives 1.35 and 1.40). For positive figures of samples
    /// the distance is a ratio; for a mean, which is as likely to be too small as too great, it is a difference. Bounds
    /// do not change.
    #[must_use]
    pub fn one_of(&self, cases: usize) -> Interval {
        let tail = 0.025 / cases.max(1) as f64;
        let Interval { median, low, high, basis } = *self;
        let wider = match basis.degrees() {
            _ if !self.tells() || basis == Basis::Bounds => return *self,
            Some(degrees) => student(degrees, tail) / student(degrees, 0.025),
            None => normal(tail) / normal(0.025),
        };
        let (low, high) = match basis {
            Basis::Many | Basis::Samples(_) if low > 0.0 => {
                (median * (low / median).powf(wider), median * (high / median).powf(wider))
            }
            _ => (median - (median - low) * wider, median + (high - median) * wider),
        };
        Interval { median, low, high, basis }
    }

    /// The figure and the ends multiplied by `factor`.
    #[must_use]
    pub fn scale(&self, factor: f64) -> Interval {
        self.map(|value| value * factor)
    }

    /// Converts seconds for `amount` of something into amount per second.
    #[must_use]
    pub fn rate(&self, amount: f64) -> Interval {
        self.map(|seconds| amount / seconds)
    }

    /// Converts seconds for `bytes` into GB/s, GB = 10^9 bytes.
    #[must_use]
    pub fn gigabytes_per_second(&self, bytes: u64) -> Interval {
        self.rate(bytes as f64 / 1e9)
    }
}

impl fmt::Display for Interval {
    /// `12.30 [12.10, 12.50]`, with the requested precision (`{:.1}`) or 2 decimals; if there are too few samples, also
    /// the coverage: `12.30 [12.10, 12.50] (75 %)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(2);
        write!(f, "{:.digits$} {}", self.median, self.ends(digits))
    }
}

/// The innermost two of `count` sorted samples that enclose the median with a probability of at least 95 %: returns
/// how many samples lie outside them on each side, or `None` if even the minimum and the maximum do not suffice.
fn beyond(count: usize) -> Option<usize> {
    // The probability that exactly `at` samples are below the median (binomial)
    let mut exactly = 0.5_f64.powi(count as i32);
    let (mut outside, mut found) = (0.0, None);
    for at in 0..count / 2 {
        outside += 2.0 * exactly;
        if outside > 0.05 {
            break;
        }
        found = Some(at);
        exactly *= (count - at) as f64 / (at + 1) as f64;
    }
    found
}

/// The middle of `values`, or the mean of the middle two; `None` if there are none.
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
