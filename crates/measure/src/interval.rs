//! A median with its 95 % interval: the only way this project states a measured figure.

use std::{cmp::Reverse, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    random::Random,
    student::{normal, student},
};

/// Bootstrap draws behind an interval: its ends then move by well under a tenth of its width from seed to seed.
const DRAWS: usize = 1000;

/// The fewest samples of a median that has a 95 % interval: of five, the least and the greatest have it between them in 93.75 % of
/// cases.
pub const FEWEST: usize = 6;

/// From so many samples on the bootstrap is used. Of fewer, its intervals hold the true median in 87 to 94 % of cases.
const BOOTSTRAP: usize = 100;

/// The median of some samples and the ends of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// The median of the samples; of several starts, the mean of their medians.
    pub median: f64,
    /// Lower end of the 95 % interval of the median.
    pub low: f64,
    /// Upper end of the 95 % interval of the median.
    pub high: f64,
    /// What the ends rest on.
    #[serde(default, skip_serializing_if = "Basis::is_many")]
    pub basis: Basis,
}

/// What the ends of an interval rest on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// A hundred samples or more, a count of tries, or nothing that varies.
    #[default]
    Many,
    /// So many samples, six to 99: the ends are two of them.
    Samples(u32),
    /// So many starts, or runs with so many seeds: the interval is that of their mean, by Student's distribution.
    Starts(u32),
    /// So few samples that no two of them have the median between them in 95 % of cases. The ends are the least and the greatest, and
    /// no verdict rests on them.
    Few(u32),
    /// No samples: the ends are bounds that the figure cannot leave, as those of an estimate or of a figure that is printed to so many
    /// digits. They hold for every one of many cases.
    Bounds,
    /// Nothing: a figure over another that may be zero can be anything. The ends are not known, and no verdict rests on them.
    Open,
}

impl Basis {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_many(&self) -> bool {
        *self == Basis::Many
    }

    /// What a figure made of two others rests on: the weaker of the two.
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

    /// The degrees of freedom of Student's distribution by which the ends are widened for many cases; none if it is the normal one.
    /// Of samples they are those from one end to the other, less two: tried with normal samples, a case then errs at the rate that it
    /// may, or less often, or up to 1.7 times as often (by the normal distribution 4.3 times).
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

    /// The median of `samples` with its interval. `None` of no samples or of a sample that is not a finite number.
    ///
    /// Of fewer than 100 samples, the ends are the innermost two of them that have the true median between them with 95 % or more,
    /// whatever the distribution: each sample is as likely below the median as above it. Fewer than [`FEWEST`] have no such two; they
    /// decide nothing ([`Basis::Few`]). From 100 samples on it is the percentile bootstrap: `DRAWS` times as many samples are drawn
    /// with replacement, and the interval holds the middle 95 % of those draws' medians.
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

    /// The interval of samples taken in several starts, `starts` samples of each, where a start is anew what stays the same
    /// within it: the process, or where its memory lies. Both are resampled (Kalibera and Jones: a hierarchical bootstrap):
    /// starts with replacement, samples of each start with replacement; a draw is the mean of the starts' medians. Draws of few
    /// starts vary too little, so the interval is widened by Student's quantile and by the square root of n / (n - 1). Of two starts
    /// the outermost draws are the starts themselves, one standard error from their mean.
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
        let quantile = student(groups.len() as u32 - 1, 0.025);
        let wider =
            if groups.len() == 2 { quantile } else { quantile / normal(0.025) * (count / (count - 1.0)).sqrt() };
        let low = (middle - (middle - means[DRAWS / 40]) * wider).min(middle);
        let high = (middle + (means[DRAWS - 1 - DRAWS / 40] - middle) * wider).max(middle);
        Some(Interval { median: middle, low, high, basis: Basis::Starts(groups.len() as u32) })
    }

    /// The share of tries that came out well, with its interval by Clopper and Pearson: the shares under which so many, or so few, of them
    /// do so with 2.5 % or more. `None` of no tries, or of more than there were.
    pub fn of_share(good: u32, tries: u32) -> Option<Interval> {
        if tries == 0 || good > tries {
            return None;
        }
        // The probability of `least` or more of them, which grows with the share
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

    /// A figure known exactly.
    pub fn exact(value: f64) -> Interval {
        Interval::new(value, value, value)
    }

    /// Whether the ends are those of a 95 % interval, or bounds. If not, nothing is decided by them.
    pub fn tells(&self) -> bool {
        !matches!(self.basis, Basis::Few(_) | Basis::Open)
    }

    /// The share of repetitions in which such an interval holds what it estimates: 0.95, of bounds 1, of too few samples less, and
    /// nothing if the ends are not known.
    pub fn covers(&self) -> f64 {
        match self.basis {
            Basis::Bounds => 1.0,
            Basis::Many | Basis::Samples(_) | Basis::Starts(_) => 0.95,
            Basis::Few(samples) => 1.0 - 2.0 * 0.5_f64.powf(f64::from(samples.max(1))),
            Basis::Open => 0.0,
        }
    }

    /// Width of the interval as a share of the median.
    pub fn relative_width(&self) -> f64 {
        (self.high - self.low) / self.median.abs()
    }

    /// The ends in words: `[12.10, 12.50]`, of too few samples with what they cover; `[ends unknown]`.
    pub(crate) fn ends(&self, digits: usize) -> String {
        let ends = format!("[{:.digits$}, {:.digits$}]", self.low, self.high);
        match self.basis {
            Basis::Few(_) => format!("{ends} ({:.0} %)", 100.0 * self.covers()),
            Basis::Open => "[ends unknown]".to_owned(),
            _ => ends,
        }
    }

    /// Whether `value` lies inside, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The same interval seen through a monotone function, rising or falling.
    #[must_use]
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Interval {
        let (a, b) = (f(self.low), f(self.high));
        Interval { median: f(self.median), low: a.min(b), high: a.max(b), basis: self.basis }
    }

    /// This figure less another that was measured apart: the interval reaches as far as both ends allow.
    #[must_use]
    pub fn less(&self, other: Interval) -> Interval {
        Interval {
            median: self.median - other.median,
            low: self.low - other.high,
            high: self.high - other.low,
            basis: self.basis.and(other.basis),
        }
    }

    /// This figure over another that was measured apart: the interval reaches as far as both ends allow, or is [`Basis::Open`] if the
    /// other may be zero. `None` if the quotient itself is not a finite number.
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

    /// The interval of one figure among `cases`, so that with probability 95 % all of them contain what they estimate
    /// (Bonferroni): the ends are moved away from the median by the quotient of the two quantiles, of the level 1 - 0.05 / `cases`
    /// and of 0.95. The quantiles are in standard errors: the normal distribution's, and Student's for as few samples or starts as
    /// the basis says (of three starts and six cases 2.53, of six samples and eight cases 1.89, where the normal ones give 1.35 and
    /// 1.40). Figures of samples that are positive are moved in factors; a mean is as likely too small as too great, and is moved in
    /// differences. Bounds stay where they are.
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
    /// `12.30 [12.10, 12.50]`, with the precision asked for (`{:.1}`), else 2 decimals; of too few samples with the share of cases in
    /// which such ends have the median between them: `12.30 [12.10, 12.50] (75 %)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(2);
        write!(f, "{:.digits$} {}", self.median, self.ends(digits))
    }
}

/// How many of `count` samples on either side are outside the innermost two that have the median between them with 95 % or more;
/// `None` if the least and the greatest do not.
fn beyond(count: usize) -> Option<usize> {
    // The probability that so many of them are on one side of the median
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
