//! Converts values to positions on a drawing, for linear and logarithmic axes, and chooses their marks.

use sealwright_measure::Interval;

use crate::figure::Axis;

/// An axis with values from `low` to `high`, drawn from `start` to `end`.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    log: bool,
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

/// Greater values are drawn at the end but do not extend the axis, because its margin would make them infinite.
const GREATEST: f64 = 1e300;

impl Scale {
    /// The scale that contains all `values`, with a margin. Linear scales contain zero.
    pub(super) fn of(values: impl Iterator<Item = f64>, log: bool, start: f64, end: f64) -> Option<Scale> {
        // A fraction of a subnormal number may be rounded to zero
        let fits = |value: &f64| value.abs() <= GREATEST && (!log || *value >= f64::MIN_POSITIVE);
        let values: Vec<f64> = values.filter(fits).collect();
        let (low, high) = values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| (low.min(value), high.max(value)));
        if values.is_empty() {
            return None;
        }
        let (low, high) = match log {
            true => (low / 1.15, high * 1.15),
            false => match (low < 0.0, high > 0.0) {
                (true, true) => (low * 1.06, high * 1.06),
                (true, false) => (low * 1.06, 0.0),
                (false, true) => (0.0, high * 1.06),
                (false, false) => (0.0, 1.0),
            },
        };
        Some(Scale { log, low, high, start, end })
    }

    /// The position of `value`; values outside the scale are drawn just beyond its ends.
    pub(super) fn at(&self, value: f64) -> f64 {
        let part = match self.log {
            // Logarithms are subtracted because a quotient of the ends could overflow
            true => (value.max(f64::MIN_POSITIVE).ln() - self.low.ln()) / (self.high.ln() - self.low.ln()),
            false => (value - self.low) / (self.high - self.low),
        };
        self.start + part.clamp(-0.02, 1.02) * (self.end - self.start)
    }

    /// The marks of the axis that lie inside, or round numbers.
    pub(super) fn marks(&self, axis: &Axis, most: usize) -> Vec<(f64, String)> {
        let inside = |value: f64| self.low <= value && value <= self.high;
        let given: Vec<(f64, String)> = axis.ticks.iter().filter(|(at, _)| inside(*at)).cloned().collect();
        if self.log && given.len() >= 2 {
            return thinned(given, most);
        }
        if !self.log {
            // On a linear axis the given marks may be too close together, so round numbers are used
            let step = round_step((self.high - self.low) / most.max(2) as f64);
            if step <= 0.0 {
                return Vec::new(); // the range is so small that the step is rounded to zero
            }
            let first = (self.low / step).ceil() as i64;
            let all = (first..).map(|n| n as f64 * step).take_while(|value| *value <= self.high);
            return all.map(|value| (value, number(value))).collect();
        }
        let decades = (self.low.log10().ceil() as i32)..=(self.high.log10().floor() as i32);
        let all: Vec<(f64, String)> = decades
            .flat_map(|n| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(n)))
            .filter(|v| inside(*v))
            .map(|v| (v, number(v)))
            .collect();
        thinned(all, most)
    }
}

/// The values of an interval that must fit on the drawing.
pub(super) fn ends(interval: Interval) -> [f64; 3] {
    [interval.low, interval.median, interval.high]
}

fn thinned(marks: Vec<(f64, String)>, most: usize) -> Vec<(f64, String)> {
    let every = marks.len().div_ceil(most.max(1)).max(1);
    marks.into_iter().step_by(every).collect()
}

/// Rounds up to 1, 2 or 5 times a power of ten.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|step| *step >= least).unwrap_or(10.0 * power)
}

/// A round number as short text.
fn number(value: f64) -> String {
    let short = |value: f64, unit: &str| format!("{}{unit}", (value * 1e3).round() / 1e3);
    match value.abs() {
        x if x >= 1e6 => short(value / 1e6, " M"),
        x if x >= 1e4 => short(value / 1e3, " k"),
        _ => short(value, ""),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn linear_axes_begin_at_zero_and_have_round_marks() {
        let scale = Scale::of([3.0, 97.0].into_iter(), false, 0.0, 100.0).unwrap();
        assert!(scale.at(0.0).abs() < 1e-9 && scale.at(97.0) < 100.0);
        let marks: Vec<String> = scale.marks(&Axis::default(), 6).into_iter().map(|mark| mark.1).collect();
        assert_eq!(marks, ["0", "20", "40", "60", "80", "100"]);
    }

    /// The values may come from files that somebody has edited.
    #[test]
    fn the_least_and_the_greatest_numbers_have_places_and_few_marks() {
        let ends = [5e-324, f64::MIN_POSITIVE, 1e-300, 1.0, 1e300, f64::MAX];
        for (a, b) in ends.into_iter().flat_map(|a| ends.map(|b| (a, b))) {
            for (values, log) in [([a, b], true), ([a, b], false), ([-a, b], false), ([-a, -b], false)] {
                let Some(scale) = Scale::of(values.into_iter(), log, 0.0, 100.0) else { continue };
                assert!(values.iter().all(|value| (-2.0..=102.0).contains(&scale.at(*value))), "{scale:?}");
                assert!(scale.marks(&Axis::default(), 7).len() < 20, "{scale:?}");
            }
        }
    }

    #[test]
    fn equal_factors_are_equal_steps() {
        let scale = Scale::of([1.0, 10.0, 100.0].into_iter(), true, 0.0, 1.0).unwrap();
        let (a, b, c) = (scale.at(1.0), scale.at(10.0), scale.at(100.0));
        assert!(((b - a) - (c - b)).abs() < 1e-9);
        assert!(scale.marks(&Axis::default(), 9).iter().any(|mark| mark.1 == "20"));
        assert!(Scale::of([0.0, -1.0].into_iter(), true, 0.0, 1.0).is_none(), "nothing to show");
        assert_eq!((number(2e6), number(10_000.0), number(0.05)), ("2 M".into(), "10 k".into(), "0.05".into()));
    }
}
