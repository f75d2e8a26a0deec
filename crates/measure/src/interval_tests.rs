#![allow(clippy::unwrap_used)]
use proptest::prelude::*;

use super::*;
use crate::verdict::Verdict;

/// A draw of the standard normal distribution (Box and Muller).
fn normal(random: &mut Random) -> f64 {
    (-2.0 * (1.0 - random.unit()).ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

/// The share of 600 intervals, each of `count` samples of `draw`, that contain `truth`.
fn coverage(count: usize, truth: f64, draw: impl Fn(&mut Random) -> f64) -> f64 {
    let mut random = Random::new(11);
    let tries = 600;
    let hits = (0..tries).filter(|&seed| {
        let samples: Vec<f64> = (0..count).map(|_| draw(&mut random)).collect();
        Interval::of(&samples, seed).unwrap().contains(truth)
    });
    hits.count() as f64 / tries as f64
}

#[test]
fn covers_the_true_median_at_about_the_right_rate() {
    // 600 tries determine a rate of 0.95 to about ± 0.02. The interval from order statistics covers up to 99.2 % (for
    // eight samples)
    for count in [6, 7, 8, 9, 12, 15, 31, 63, 99, 100] {
        let of_normal = coverage(count, 5.0, |random| 5.0 + normal(random));
        assert!((0.93..=0.999).contains(&of_normal), "normal, {count}: {of_normal}");
        // Skewed, as times are: its median is ln 2
        let of_exponential = coverage(count, std::f64::consts::LN_2, |random| -(1.0 - random.unit()).ln());
        assert!((0.93..=0.999).contains(&of_exponential), "exponential, {count}: {of_exponential}");
    }
}

#[test]
fn a_wrong_median_is_not_covered() {
    // Shows that the test above can fail
    assert!(coverage(100, 5.5, |random| 5.0 + normal(random)) < 0.1);
}

/// The exact bootstrap distribution of an odd count's median: a draw's median is at most the k-th smallest sample
/// when more than half of its items are among the k smallest.
fn exact_ends(sorted: &[f64]) -> [f64; 2] {
    let n = sorted.len();
    let log_factorial = |m: usize| (1..=m).map(|i| (i as f64).ln()).sum::<f64>();
    let at_most = |k: usize| {
        let p = k as f64 / n as f64;
        let half = n / 2 + 1;
        let term = |j: usize| {
            let ways = log_factorial(n) - log_factorial(j) - log_factorial(n - j);
            ways.exp() * p.powi(j as i32) * (1.0 - p).powi((n - j) as i32)
        };
        (half..=n).map(term).sum::<f64>()
    };
    [0.025, 0.975].map(|level| sorted[(1..=n).find(|&k| at_most(k) >= level).unwrap() - 1])
}

#[test]
fn agrees_with_the_exact_bootstrap_distribution() {
    let mut random = Random::new(8);
    for n in [5, 21, 101] {
        let mut samples: Vec<f64> = (0..n).map(|_| normal(&mut random)).collect();
        samples.sort_by(f64::total_cmp);
        let place = |value: f64| samples.iter().position(|&sample| sample >= value).unwrap() as i32;
        let [low, high] = exact_ends(&samples);
        let found = Interval::of(&samples, 1).unwrap();
        // 1000 draws may miss the exact end by up to two places in the sorted samples
        assert!((place(found.low) - place(low)).abs() <= 2, "{n}: {} against {low}", found.low);
        assert!((place(found.high) - place(high)).abs() <= 2, "{n}: {} against {high}", found.high);
    }
}

#[test]
fn one_outlier_does_not_move_it() {
    let mut samples: Vec<f64> = (0..50).map(|i| 1.0 + f64::from(i) / 1000.0).collect();
    let before = Interval::of(&samples, 2).unwrap();
    samples[49] = 1e6;
    let after = Interval::of(&samples, 2).unwrap();
    assert_eq!(before.median, after.median);
    assert!(after.high < 1.05);
}

#[test]
fn more_samples_narrow_it() {
    let mut random = Random::new(6);
    let samples: Vec<f64> = (0..1600).map(|_| 10.0 + normal(&mut random)).collect();
    let of_100 = Interval::of(&samples[..100], 1).unwrap();
    let of_1600 = Interval::of(&samples, 1).unwrap();
    let gain = of_100.relative_width() / of_1600.relative_width();
    assert!((2.0..8.0).contains(&gain), "16 times the samples narrow it 4 times, not {gain}");
}

#[test]
fn nothing_and_not_a_number_have_none() {
    assert_eq!(Interval::of(&[], 1), None);
    assert_eq!(Interval::of(&[1.0, f64::NAN], 1), None);
    assert_eq!(Interval::of(&[1.0, f64::INFINITY], 1), None);
}

#[test]
fn medians_of_odd_and_even_counts() {
    assert_eq!(median(&[]), None);
    assert_eq!(median(&[3.0]), Some(3.0));
    assert_eq!(median(&[3.0, 1.0]), Some(2.0));
    assert_eq!(median(&[9.0, 1.0, 5.0]), Some(5.0));
    assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
}

#[test]
fn rates_turn_the_ends_round() {
    let seconds = Interval::new(2.0, 1.0, 4.0);
    assert_eq!(seconds.rate(8.0), Interval::new(4.0, 2.0, 8.0));
    assert_eq!(seconds.gigabytes_per_second(4_000_000_000).median, 2.0);
    assert_eq!(seconds.scale(-1.0), Interval::new(-2.0, -4.0, -1.0));
    assert_eq!(format!("{seconds:.1}"), "2.0 [1.0, 4.0]");
}

proptest! {
    #[test]
    fn lies_within_its_samples_and_repeats(samples in prop::collection::vec(1e-9..1e9f64, 1..60), seed: u64) {
        let found = Interval::of(&samples, seed).unwrap();
        let least = samples.iter().copied().fold(f64::INFINITY, f64::min);
        let most = samples.iter().copied().fold(0.0, f64::max);
        prop_assert!(least <= found.low && found.low <= found.median);
        prop_assert!(found.median <= found.high && found.high <= most);
        prop_assert_eq!(Interval::of(&samples, seed).unwrap(), found);
    }

    #[test]
    fn scales_with_its_samples(samples in prop::collection::vec(0.5..2.0f64, 1..40), factor in 1u32..1000) {
        // A power of two scales without rounding
        let factor = f64::from(1u32 << (factor % 20));
        let scaled: Vec<f64> = samples.iter().map(|sample| sample * factor).collect();
        prop_assert_eq!(Interval::of(&scaled, 5).unwrap(), Interval::of(&samples, 5).unwrap().scale(factor));
    }
}

#[test]
fn an_interval_among_many_is_wider() {
    let one = Interval::new(1.0, 0.9, 1.2);
    let same = one.one_of(1);
    assert!((same.low - 0.9).abs() < 1e-12 && (same.high - 1.2).abs() < 1e-12);
    let twenty = one.one_of(20);
    assert!(twenty.low < 0.86 && twenty.low > 0.8 && twenty.high > 1.3 && twenty.high < 1.4, "{twenty}");
    assert_eq!(Interval::exact(3.0).one_of(100), Interval::exact(3.0));
    let below = Interval::new(0.0, -1.0, 1.0).one_of(20);
    assert!(below.low < -1.4 && below.high > 1.4, "{below}");
}

/// Samples of several starts. The means of the starts differ by a few per cent (3 %), the samples within a start by 1
/// %.
fn started(random: &mut Random, starts: usize, each: usize) -> Vec<f64> {
    let normal = |random: &mut Random| (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
    let mut all = Vec::new();
    for _ in 0..starts {
        let shift = 1.0 + 0.03 * normal(random);
        all.extend((0..each).map(|_| shift + 0.01 * normal(random)));
    }
    all
}

#[test]
fn starts_are_resampled_or_the_interval_misses_the_truth() {
    let mut random = Random::new(77);
    let (trials, starts, each) = (400, 8, 25);
    let (mut by_starts, mut by_samples) = (0, 0);
    for trial in 0..trials {
        let samples = started(&mut random, starts, each);
        by_starts += usize::from(Interval::of_starts(&samples, &[each; 8], trial).unwrap().contains(1.0));
        by_samples += usize::from(Interval::of(&samples, trial).unwrap().contains(1.0));
    }
    let share = |count: usize| count as f64 / trials as f64;
    assert!(share(by_starts) > 0.92 && share(by_starts) < 0.995, "{}", share(by_starts));
    assert!(share(by_samples) < 0.5, "as if all samples were of one start: {}", share(by_samples));
}

#[test]
fn one_start_is_no_hierarchy() {
    let samples = [1.0, 2.0, 4.0];
    assert_eq!(Interval::of_starts(&samples, &[3], 1), Interval::of(&samples, 1));
    assert_eq!(Interval::of_starts(&samples, &[2, 2], 1), Interval::of(&samples, 1), "counts that do not fit");
    assert_eq!(Interval::of_starts(&[1.0, f64::NAN], &[1, 1], 1), None);
    let same = Interval { basis: Basis::Starts(3), ..Interval::exact(2.0) };
    assert_eq!(Interval::of_starts(&[2.0; 6], &[2, 2, 2], 1), Some(same));
}

/// The share of tries in which the interval, widened as one of `cases`, lies above the true mean; each start has one
/// sample. A true claim whose bound equals the true value is refuted at this rate.
fn refuted<const N: usize>(starts: usize, cases: [usize; N]) -> [f64; N] {
    let mut random = Random::new(5);
    let (tries, mut above) = (20_000, [0_u32; N]);
    for seed in 0..tries {
        let samples: Vec<f64> = (0..starts).map(|_| normal(&mut random)).collect();
        let interval = Interval::of_starts(&samples, &vec![1; starts], seed).unwrap();
        let refutes = cases.map(|cases| u32::from(interval.one_of(cases).low > 0.0));
        above = std::array::from_fn(|at| above[at] + refutes[at]);
    }
    above.map(|count| f64::from(count) / tries as f64)
}

#[test]
fn few_starts_are_widened_as_student_says() {
    for starts in [2, 3, 4, 5] {
        let cases = [1, 6, 20];
        for (cases, rate) in cases.into_iter().zip(refuted(starts, cases)) {
            // 20,000 tries determine a rate of 0.025 to about ± 0.002 and one of 0.00125 to about ± 0.0005
            let wanted = 0.025 / cases as f64;
            assert!(rate < 1.25 * wanted + 0.0005 && rate > wanted / 2.0, "{starts} starts, {cases} cases: {rate}");
        }
    }
}

/// For few samples the ends are order statistics, whose distance estimates the spread less precisely than the standard
/// deviation does. If only the quotient of normal quantiles widened them, one of 24 cases of six samples would err in
/// 0.9 % of tries instead of 0.21 %.
#[test]
fn ends_of_few_samples_are_widened_as_student_says() {
    let (mut random, tries, cases) = (Random::new(23), 40_000, [1, 8, 24]);
    for count in [6, 9, 15, 20] {
        let mut errs = [0_u32; 3];
        for seed in 0..tries {
            let samples: Vec<f64> = (0..count).map(|_| 20.0 + normal(&mut random)).collect();
            let interval = Interval::of(&samples, seed).unwrap();
            assert_eq!(interval.basis, Basis::Samples(count));
            let missed = cases.map(|cases| u32::from(!interval.one_of(cases).contains(20.0)));
            errs = std::array::from_fn(|at| errs[at] + missed[at]);
        }
        for (cases, errs) in cases.into_iter().zip(errs) {
            // 40,000 tries determine a rate of 0.0021 to about ± 0.0005
            let (rate, may) = (f64::from(errs) / tries as f64, 0.05 / cases as f64);
            assert!(rate < 1.7 * may + 0.0006 && rate > may / 4.0, "{count} samples, {cases} cases: {rate}");
        }
    }
}

#[test]
fn bounds_hold_for_every_case() {
    let bounds = Interval::bounds(12.0, 10.0, 14.0);
    assert_eq!(bounds.one_of(24), bounds);
    assert_eq!((bounds.tells(), bounds.covers()), (true, 1.0));
    let quotient = bounds.over(Interval::bounds(2.0, 1.0, 4.0)).unwrap();
    assert_eq!(quotient.one_of(9), Interval::bounds(6.0, 2.5, 14.0));
    // A quotient of bounds and a measured figure may err by chance, as the measured figure may
    let measured = bounds.over(Interval::new(2.0, 1.0, 4.0)).unwrap();
    assert!(measured.basis == Basis::Many && measured.one_of(9).high > measured.high);
}

#[test]
fn a_mean_of_few_starts_near_zero_is_widened_past_it() {
    // A difference can have either sign, so three starts above zero do not prove it for each of twenty cases
    let near = Interval::of_starts(&[0.9, 1.0, 1.1], &[1; 3], 1).unwrap();
    assert!(near.low > 0.0 && near.one_of(20).low < 0.0, "{near} {}", near.one_of(20));
}

#[test]
fn fewer_than_six_samples_decide_nothing() {
    let five = Interval::of(&[2.0, 2.2, 2.1, 2.3, 2.05], 1).unwrap();
    assert_eq!((five.low, five.high), (2.0, 2.3), "all that was found");
    for bound in [1.0, 2.1, 3.0] {
        let all = [Verdict::above(five, bound), Verdict::below(five, bound), Verdict::between(five, bound, 5.0)];
        assert_eq!(all, [Verdict::CannotBeTold; 3], "{bound}");
    }
    let six = Interval::of(&[2.0, 2.2, 2.1, 2.3, 2.05, 2.15], 1).unwrap();
    assert_eq!(Verdict::above(six, 1.0), Verdict::Holds);
    assert_eq!(five.scale(2.0).one_of(9), five.scale(2.0), "nor is it widened to a level that it does not have");
    assert_eq!(format!("{five:.1}"), "2.1 [2.0, 2.3] (94 %)");
    assert_eq!(Interval::of(&[2.0, 2.5, 3.0], 1).unwrap().to_string(), "2.50 [2.00, 3.00] (75 %)");
    assert_eq!(Interval::of(&[2.0], 1).unwrap().to_string(), "2.00 [2.00, 2.00] (0 %)");
    assert_eq!([five, six].map(|interval| interval.covers()), [0.9375, 0.95]);
    let found = coverage(5, 5.0, |random| 5.0 + normal(random));
    assert!((found - 0.9375).abs() < 0.03, "{found}");
}

#[test]
fn the_innermost_two_samples_that_suffice_are_the_tables() {
    // The critical values of the two-sided sign test at 5 %, less one: the samples that may be on the rarer side
    for (count, samples) in [(6, 0), (8, 0), (9, 1), (11, 1), (12, 2), (15, 3), (20, 5), (25, 7), (50, 17), (99, 39)] {
        assert_eq!(beyond(count), Some(samples), "{count}");
    }
    assert!((0..FEWEST).all(|count| beyond(count).is_none()));
}

#[test]
fn quotients_reach_as_far_as_both_ends_allow_and_none_is_over_what_may_be_zero() {
    let (a, b) = (Interval::new(3.0, 2.0, 4.0), Interval::new(1.5, 1.0, 2.0));
    assert_eq!(a.over(b), Some(Interval::new(2.0, 1.0, 4.0)));
    assert_eq!(a.scale(-1.0).over(b), Some(Interval::new(-2.0, -4.0, -1.0)));
    assert_eq!(a.over(b.scale(-1.0)), Some(Interval::new(-2.0, -4.0, -1.0)));
    let through = Interval::new(1.0, -1.0, 2.0);
    assert_eq!(through.over(b), Some(Interval::new(1.0 / 1.5, -1.0, 2.0)));
    for other in [through, Interval::new(1.0, 0.0, 2.0), Interval::new(-1.0, -2.0, 0.0)] {
        let open = a.over(other).unwrap();
        assert_eq!((open.basis, open.median, open.tells()), (Basis::Open, 3.0 / other.median, false), "{other}");
        assert_eq!(Verdict::above(open, -1e9), Verdict::CannotBeTold);
        assert_eq!((open.one_of(5), open.to_string().contains("[ends unknown]")), (open, true));
    }
    for other in [Interval::exact(0.0), Interval::new(0.0, -1.0, 1.0)] {
        assert_eq!(a.over(other), None, "{other}");
    }
    assert_eq!(Interval::exact(1e300).over(Interval::exact(1e-300)), None, "not finite");
    let tiny = Interval::new(1.0, 1e-320, 2.0);
    assert_eq!(a.over(tiny).unwrap().basis, Basis::Open, "no finite end");
    assert_eq!(a.less(b), Interval::new(1.5, 0.0, 3.0));
}

#[test]
fn what_is_made_of_two_figures_rests_on_the_weaker() {
    let bases = [
        Basis::Bounds,
        Basis::Many,
        Basis::Samples(15),
        Basis::Starts(3),
        Basis::Starts(9),
        Basis::Few(2),
        Basis::Open,
    ];
    let [bounds, many, samples, three, nine, few, open] = bases.map(|basis| Interval { basis, ..Interval::exact(1.0) });
    for (a, b, basis) in [
        (many, many, Basis::Many),
        (bounds, bounds, Basis::Bounds),
        (many, bounds, Basis::Many),
        (bounds, three, Basis::Starts(3)),
        (few, bounds, Basis::Few(2)),
        (many, samples, Basis::Samples(15)),
        (samples, three, Basis::Starts(3)),
        (samples, nine, Basis::Samples(15)),
        (samples, few, Basis::Few(2)),
        (many, three, Basis::Starts(3)),
        (nine, three, Basis::Starts(3)),
        (three, few, Basis::Few(2)),
        (few, many, Basis::Few(2)),
        (few, open, Basis::Open),
        (open, three, Basis::Open),
    ] {
        assert_eq!((a.over(b).unwrap().basis, b.less(a).basis), (basis, basis));
        assert_eq!(a.over(b).unwrap().tells(), !matches!(basis, Basis::Few(_) | Basis::Open));
    }
    // Older files have no basis
    let old: Interval = serde_json::from_str(r#"{"median": 1.0, "low": 0.5, "high": 2.0}"#).unwrap();
    assert_eq!(old, Interval::new(1.0, 0.5, 2.0));
    for (interval, basis) in [(three, r#""basis":{"starts":3}"#), (samples, r#""basis":{"samples":15}"#)] {
        let json = serde_json::to_string(&interval).unwrap();
        assert!(json.contains(basis), "{json}");
        assert_eq!(serde_json::from_str::<Interval>(&json).unwrap(), interval);
    }
    // A file with an impossible number of samples must neither take long to read nor cause a panic
    for count in [0, 1, u32::MAX] {
        let odd = Interval { basis: Basis::Samples(count), ..Interval::new(1.0, 0.5, 2.0) };
        assert!(odd.one_of(8).high.is_finite() && odd.over(three).is_some());
    }
    assert!(!serde_json::to_string(&many).unwrap().contains("basis"));
}

/// Compared with published tables of Clopper-Pearson intervals.
#[test]
fn a_share_of_few_tries_has_a_wide_interval() {
    for (good, tries, low, high) in
        [(16, 16, 0.7941, 1.0), (0, 10, 0.0, 0.3085), (5, 10, 0.1871, 0.8129), (1, 20, 0.0013, 0.2487)]
    {
        let found = Interval::of_share(good, tries).unwrap();
        assert_eq!(found.median, f64::from(good) / f64::from(tries));
        assert!((found.low - low).abs() < 1e-4 && (found.high - high).abs() < 1e-4, "{good} of {tries}: {found:?}");
    }
    assert_eq!((Interval::of_share(0, 0), Interval::of_share(2, 1)), (None, None));
}
