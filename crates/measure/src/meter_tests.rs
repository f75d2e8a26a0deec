#![allow(clippy::unwrap_used)]
use std::cell::RefCell;

use super::*;
use crate::{clock::Mock, interval::Basis, random::Random};

/// A candidate whose time at each moment of the mock clock is given by `cost`. It logs each run.
struct Scripted<'a, F> {
    name: &'static str,
    clock: &'a Mock,
    log: &'a RefCell<Vec<(&'static str, u64)>>,
    cost: F,
    fixed: Option<u64>,
}

impl<F: FnMut(Duration) -> f64> Candidate for Scripted<'_, F> {
    fn name(&self) -> &str {
        self.name
    }

    fn run(&mut self, iterations: u64) -> io::Result<Duration> {
        self.log.borrow_mut().push((self.name, iterations));
        let took = Duration::from_secs_f64((self.cost)(self.clock.now()) * iterations as f64);
        self.clock.advance(took);
        Ok(took)
    }

    fn iterations(&self) -> Option<u64> {
        self.fixed
    }
}

/// Creates a mock clock, a log, and a closure that makes scripted candidates with both.
macro_rules! stage {
    ($clock:ident, $log:ident) => {
        let $clock = Mock::new();
        let $log = RefCell::new(Vec::new());
    };
}

fn on<'a, F: FnMut(Duration) -> f64>(
    clock: &'a Mock,
    log: &'a RefCell<Vec<(&'static str, u64)>>,
    name: &'static str,
    cost: F,
) -> Scripted<'a, F> {
    Scripted { name, clock, log, cost, fixed: None }
}

/// A cost with approximately normal relative noise (the sum of twelve uniform draws).
fn noisy(seed: u64, cost: f64, share: f64) -> impl FnMut(Duration) -> f64 {
    let mut random = Random::new(seed);
    move |_| cost * (1.0 + share * ((0..12).map(|_| random.unit()).sum::<f64>() - 6.0)).max(0.05)
}

fn meter() -> Meter {
    Meter::quick().budget(Duration::from_millis(500))
}

#[test]
fn rounds_are_interleaved_and_shuffled() {
    stage!(clock, log);
    let mut a = on(&clock, &log, "a", noisy(1, 1e-6, 0.3));
    let mut b = on(&clock, &log, "b", noisy(2, 2e-6, 0.3));
    let mut c = on(&clock, &log, "c", noisy(3, 3e-6, 0.3));
    let counted = RefCell::new(Vec::new());
    let meter = meter().width(0.0).rounds(200, 200);
    let found = meter
        .compare_by(&clock, &mut [&mut a, &mut b, &mut c], &mut |progress| {
            if progress.stage == Stage::Sample {
                counted.borrow_mut().push((progress.round, progress.candidate.to_owned()));
            }
        })
        .unwrap();
    let counted = counted.into_inner();
    assert_eq!(counted.len(), 600);
    let mut firsts = std::collections::HashMap::new();
    for (number, round) in counted.chunks(3).enumerate() {
        let mut names: Vec<&str> = round.iter().map(|(_, name)| name.as_str()).collect();
        assert!(round.iter().all(|(told, _)| *told == number));
        *firsts.entry(names[0].to_owned()).or_insert(0) += 1;
        names.sort_unstable();
        assert_eq!(names, ["a", "b", "c"], "every round runs each once");
    }
    // Each candidate should be first in a third of the rounds: 67, standard deviation 7
    assert!(firsts.values().all(|count| (40..95).contains(count)), "{firsts:?}");
    assert!(found.trials.iter().all(|trial| trial.samples.len() == 200));
}

#[test]
fn iterations_are_calibrated_to_the_sample() {
    stage!(clock, log);
    let mut fast = on(&clock, &log, "fast", |_| 3e-9);
    let mut slow = on(&clock, &log, "slow", |_| 5e-3);
    let meter = meter().sample(Duration::from_micros(200));
    let found = meter.compare_by(&clock, &mut [&mut fast, &mut slow], &mut |_| {}).unwrap();
    let lasts = |name| {
        let trial = found.trial(name).unwrap();
        trial.iterations as f64 * trial.interval.median
    };
    assert!((200e-6..300e-6).contains(&lasts("fast")), "{}", lasts("fast"));
    assert_eq!(found.trial("slow").unwrap().iterations, 1);
    assert!((found.trial("fast").unwrap().interval.median - 3e-9).abs() < 1e-11, "seconds for one iteration");
}

#[test]
fn fixed_iterations_are_kept_and_warmed_once() {
    stage!(clock, log);
    let mut process = Scripted { fixed: Some(1), ..on(&clock, &log, "process", |_| 1e-6) };
    let found = meter().rounds(5, 5).width(0.0).compare_by(&clock, &mut [&mut process], &mut |_| {}).unwrap();
    assert_eq!(found.trials[0].samples.len(), 5);
    assert_eq!(log.take(), vec![("process", 1); 6], "one warm-up, five samples");
}

#[test]
fn warm_up_lasts_until_times_are_steady() {
    stage!(clock, log);
    // Costs fall from 11 µs to 1 µs over the first 30 ms, as caches and clocks warm up
    let mut cold = on(&clock, &log, "cold", |now| 1e-6 + 1e-5 * (1.0 - now.as_secs_f64() / 0.03).max(0.0));
    let mut warmed_at = None;
    let found = meter()
        .compare_by(&clock, &mut [&mut cold], &mut |progress| {
            if progress.stage == Stage::Sample {
                warmed_at.get_or_insert(progress.elapsed);
            }
        })
        .unwrap();
    let warmed_at = warmed_at.unwrap();
    assert!((Duration::from_millis(25)..Duration::from_millis(60)).contains(&warmed_at), "{warmed_at:?}");
    assert!((found.trials[0].interval.median - 1e-6).abs() < 1e-8);
}

#[test]
fn restless_warm_up_ends_with_its_share_of_the_budget() {
    stage!(clock, log);
    // The cost grows steadily, so the candidate never becomes stable
    let mut restless = on(&clock, &log, "restless", |now| 1e-6 * (1.0 + 1000.0 * now.as_secs_f64()));
    let mut first = None;
    let meter = meter().budget(Duration::from_secs(1));
    meter
        .compare_by(&clock, &mut [&mut restless], &mut |progress| {
            if progress.stage == Stage::Sample {
                first.get_or_insert(progress.elapsed);
            }
        })
        .unwrap();
    let first = first.unwrap();
    assert!((Duration::from_millis(90)..Duration::from_millis(150)).contains(&first), "{first:?}");
}

#[test]
fn stops_when_narrow_or_when_time_is_up() {
    stage!(clock, log);
    let mut calm = on(&clock, &log, "calm", noisy(4, 1e-6, 0.001));
    let found = meter().compare_by(&clock, &mut [&mut calm], &mut |_| {}).unwrap();
    assert!(found.narrow && found.trials[0].interval.relative_width() <= 0.02);
    assert!(found.trials[0].samples.len() < 50 && clock.now() < Duration::from_millis(100));

    stage!(clock, log);
    let mut wild = on(&clock, &log, "wild", noisy(5, 1e-6, 0.3));
    let found = meter().rounds(3, 1_000_000).width(1e-6).compare_by(&clock, &mut [&mut wild], &mut |_| {}).unwrap();
    assert!(!found.narrow);
    assert!((Duration::from_millis(500)..Duration::from_millis(510)).contains(&clock.now()), "{:?}", clock.now());
}

#[test]
fn the_fewest_rounds_are_run_past_the_budget() {
    stage!(clock, log);
    let mut slow = on(&clock, &log, "slow", noisy(5, 0.4, 0.01));
    let found = meter().rounds(7, 100).compare_by(&clock, &mut [&mut slow], &mut |_| {}).unwrap();
    assert_eq!(found.trials[0].samples.len(), 7);
}

#[test]
fn drift_cancels_in_ratios() {
    stage!(clock, log);
    // The machine slows down steadily to half its speed; b always costs one and a half times a
    let drift = |now: Duration| 1.0 + now.as_secs_f64() * 2.0;
    let (mut a_noise, mut b_noise) = (noisy(6, 1e-6, 0.01), noisy(7, 1.5e-6, 0.01));
    let mut a = on(&clock, &log, "a", |now| a_noise(now) * drift(now));
    let mut b = on(&clock, &log, "b", |now| b_noise(now) * drift(now));
    let meter = meter().width(0.0).rounds(30, 10_000);
    let found = meter.compare_by(&clock, &mut [&mut a, &mut b], &mut |_| {}).unwrap();
    let ratio = found.ratio("b", "a").unwrap();
    assert!(ratio.contains(1.5) && ratio.relative_width() < 0.01, "{ratio:.4}");
    let spread = |name| {
        let samples = &found.trial(name).unwrap().samples;
        samples.iter().copied().fold(0.0, f64::max) / found.trial(name).unwrap().fastest()
    };
    assert!(spread("a") > 1.8, "the samples themselves do drift: {}", spread("a"));
}

#[test]
fn a_candidate_against_its_twin_is_one() {
    stage!(clock, log);
    let mut held = 0;
    for seed in 0..40 {
        let mut a = on(&clock, &log, "a", noisy(2 * seed, 1e-6, 0.05));
        let mut twin = on(&clock, &log, "twin", noisy(2 * seed + 1, 1e-6, 0.05));
        let meter = meter().width(0.0).rounds(40, 40).seed(seed);
        let found = meter.compare_by(&clock, &mut [&mut a, &mut twin], &mut |_| {}).unwrap();
        held += usize::from(found.ratio("a", "twin").unwrap().contains(1.0));
        let same = Interval { basis: Basis::Samples(40), ..Interval::exact(1.0) };
        assert_eq!(found.ratio("a", "a").unwrap(), same);
    }
    // The expected number is 95 % of 40, that is 38; standard deviation 1.4
    assert!((33..=40).contains(&held), "{held} of 40");
}

#[test]
fn ratio_and_speedup_are_each_the_other_way_up() {
    stage!(clock, log);
    let mut a = on(&clock, &log, "a", noisy(1, 1e-6, 0.01));
    let mut b = on(&clock, &log, "b", noisy(2, 4e-6, 0.01));
    let found = meter().compare_by(&clock, &mut [&mut a, &mut b], &mut |_| {}).unwrap();
    assert!((found.speedup("a", "b").unwrap().median - 4.0).abs() < 0.1);
    assert_eq!(found.ratio("b", "a"), found.speedup("a", "b"));
    assert_eq!(found.ratio("a", "nobody"), None);
}

#[test]
fn the_same_seed_gives_the_same_result() {
    let result = || {
        stage!(clock, log);
        let mut a = on(&clock, &log, "a", noisy(1, 1e-6, 0.1));
        let mut b = on(&clock, &log, "b", noisy(2, 2e-6, 0.1));
        let found = meter().compare_by(&clock, &mut [&mut a, &mut b], &mut |_| {}).unwrap();
        (found, log.take())
    };
    assert_eq!(result(), result());
}

#[test]
fn a_failing_candidate_ends_the_comparison() {
    struct Failing;
    impl Candidate for Failing {
        fn name(&self) -> &str {
            "failing"
        }
        fn run(&mut self, _: u64) -> io::Result<Duration> {
            Err(io::Error::other("broken"))
        }
    }
    let error = Meter::quick().compare(&mut [&mut Failing], &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "broken");
    let error = Meter::quick().compare(&mut [], &mut |_| {}).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn work_that_takes_no_time_still_ends() {
    stage!(clock, log);
    let mut nothing = on(&clock, &log, "nothing", |_| 0.0);
    let found = meter().compare_by(&clock, &mut [&mut nothing], &mut |_| {}).unwrap();
    assert_eq!(found.trials[0].interval.median, 0.0);
    assert_eq!(found.ratio("nothing", "nothing"), None, "no ratio of nothings");
}

/// Counts how often its memory is renewed. The first sample after that is slow.
struct Moves {
    moved: usize,
    cold: bool,
}

impl Candidate for Moves {
    fn name(&self) -> &str {
        "moves"
    }

    fn run(&mut self, iterations: u64) -> io::Result<Duration> {
        let each = if std::mem::take(&mut self.cold) { 1000 } else { 10 };
        Ok(Duration::from_micros(each * iterations))
    }

    fn renew(&mut self, _: &mut Random) -> io::Result<bool> {
        self.moved += 1;
        self.cold = true;
        Ok(true)
    }
}

#[test]
fn memory_is_renewed_before_every_round_and_warmed() {
    let mut moves = Moves { moved: 0, cold: false };
    let meter = Meter::quick().rounds(9, 9).width(0.0);
    let found = meter.compare(&mut [&mut moves], &mut |_| {}).unwrap();
    assert_eq!((moves.moved, found.trials[0].samples.len()), (9, 9));
    assert!(
        found.trials[0].samples.iter().all(|sample| (sample - 10e-6).abs() < 1e-9),
        "{:?}",
        found.trials[0].samples
    );
}

#[test]
fn few_rounds_are_not_narrow_however_alike_they_are() {
    stage!(clock, log);
    let mut same = on(&clock, &log, "same", |_| 1e-6);
    let found = meter().rounds(1, 100).compare_by(&clock, &mut [&mut same], &mut |_| {}).unwrap();
    assert!(found.narrow && found.trials[0].samples.len() >= 6, "{} rounds", found.trials[0].samples.len());
}

/// The share of 500 measurements whose interval contains the true time of 1 µs, if each sample differs from it by the
/// normal distribution with this deviation, in shares of the time.
fn coverage(deviation: f64) -> f64 {
    let tries = 500;
    let covers = |seed: u64| {
        stage!(clock, log);
        let mut candidate = on(&clock, &log, "a", noisy(seed, 1e-6, deviation));
        let meter = Meter::quick().seed(seed).rounds(11, 300).budget(Duration::from_secs(3600));
        let found = meter.compare_by(&clock, &mut [&mut candidate], &mut |_| {}).unwrap();
        assert!(found.narrow, "the meter stops because the interval is narrow");
        found.trials[0].interval.contains(1e-6)
    };
    (1..=tries).filter(|&seed| covers(seed)).count() as f64 / tries as f64
}

/// Sampling stops when the interval is narrow, which it may be by chance, so fewer than 95 of 100 contain the true
/// median: docs/MEASURING.md says how many. 500 tries determine that to about ± 2.5 %.
#[test]
fn intervals_of_the_meter_cover_the_true_median_nearly_as_often_as_they_say() {
    for deviation in [0.005, 0.01, 0.02, 0.03] {
        let covered = coverage(deviation);
        eprintln!("deviation {deviation}: {covered}");
        assert!((0.90..=0.999).contains(&covered), "{deviation}: {covered}");
    }
}
