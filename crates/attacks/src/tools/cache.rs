//! The first-level cache as an attacker on the same core sees it: prime and probe (Osvik, Shamir and Tromer, 2006).
//!
//! The attacker fills each set with lines of its own. The victim's reads evict some of them. The time to read them
//! again tells which sets the victim used.

use std::{fs, hint::black_box, time::Instant};

/// Sets of a first-level cache with 4 KiB per way and lines of 64 bytes, as on every x86 processor.
pub(crate) const SETS: usize = 64;

/// Nanoseconds above which a measurement counts as interrupted.
const LONGEST: f32 = 400.0;

/// A line of the attacker, linked to the lines of the same set before and after it.
#[repr(align(64))]
#[derive(Clone)]
struct Line {
    before: u32,
    after: u32,
}

/// The attacker's lines: as many as the cache has.
pub(crate) struct Cache {
    lines: Vec<Line>,
    ways: usize,
}

impl Cache {
    /// With the number of ways that the system reports; `None` if a way is not 4 KiB.
    pub(crate) fn here() -> Option<Cache> {
        let of = |name: &str| {
            let text = fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index0/{name}")).ok()?;
            text.trim().parse::<usize>().ok()
        };
        let (sets, line, ways) = (of("number_of_sets")?, of("coherency_line_size")?, of("ways_of_associativity")?);
        (sets == SETS && line == 64 && (2..=32).contains(&ways)).then(|| Cache::new(ways))
    }

    fn new(ways: usize) -> Cache {
        let lines = ways * SETS;
        let at = |i: usize| (i % lines) as u32;
        let lines = (0..lines).map(|i| Line { before: at(i + lines - SETS), after: at(i + SETS) }).collect();
        Cache { lines, ways }
    }

    /// Fills every set.
    pub(crate) fn prime(&self) {
        for set in 0..SETS {
            let mut at = set;
            // Twice, because replacement is not exact LRU
            for _ in 0..2 * self.ways {
                at = self.lines[at].after as usize;
            }
            black_box(at);
        }
    }

    /// Nanoseconds to read each set again, backwards.
    pub(crate) fn probe(&self, times: &mut [f32; SETS]) {
        for (set, time) in times.iter_mut().enumerate() {
            let mut at = set;
            let clock = Instant::now();
            for _ in 0..self.ways {
                at = self.lines[at].before as usize;
            }
            black_box(at);
            *time = (clock.elapsed().as_nanos() as f32).min(LONGEST);
        }
    }

    /// Self-test: by how many standard errors the mean time of some set is longer if one more line of that set was
    /// read.
    pub(crate) fn sees(&self, samples: usize) -> f64 {
        let other = Cache::new(1);
        let (mut times, mut found) = ([0.0; SETS], [[Moments::default(); 2]; SETS]);
        for i in 0..samples {
            let read = i * 7 % 13 % 2;
            self.prime();
            if read == 1 {
                black_box(other.lines[black_box(20)].after);
            }
            self.probe(&mut times);
            found.iter_mut().zip(times).for_each(|(found, time)| found[read].add(f64::from(time)));
        }
        let errors = found.map(|[without, with]| {
            (with.mean() - without.mean()) / (with.error() + without.error()).sqrt().max(f64::MIN_POSITIVE)
        });
        errors.into_iter().fold(f64::MIN, f64::max)
    }
}

/// Running mean and variance.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    fn mean(&self) -> f64 {
        self.sum / self.count.max(1.0)
    }

    /// The square of the mean's standard error.
    fn error(&self) -> f64 {
        (self.squares / self.count.max(1.0) - self.mean().powi(2)) / self.count.max(1.0)
    }
}
