//! The meter: runs candidates in interleaved rounds until their medians are known narrowly or the time is up.

use std::{io, time::Duration};

use crate::{
    candidate::Candidate,
    clock::{Clock, Wall},
    comparison::{Comparison, Trial},
    interval::{Interval, median},
    random::Random,
};

/// How to measure. [`Meter::quick`] and [`Meter::full`] are the starting points; the other methods change one thing.
///
/// Every round runs one sample of each candidate, in an order shuffled anew, so that neither a drifting clock nor the
/// place in the round favours anybody: `A B C`, `B C A`, `C A B`, ... Candidates are never run one after another to
/// their ends.
#[derive(Clone, Debug)]
pub struct Meter {
    sample: Duration,
    budget: Duration,
    warm_up: Duration,
    width: f64,
    rounds: (usize, usize),
    seed: u64,
}

/// What the meter is doing, told before every sample.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The candidate about to run.
    pub candidate: &'a str,
    /// What for.
    pub stage: Stage,
    /// Full rounds done in this stage.
    pub round: usize,
    /// Time since the comparison began.
    pub elapsed: Duration,
    /// Time that it may take.
    pub budget: Duration,
}

/// The three stages of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Finding how many iterations make a sample.
    Calibrate,
    /// Running without counting until the times stop moving.
    WarmUp,
    /// Counting.
    Sample,
}

/// Warm-up ends once the median of every candidate's last few samples is this near to that of the few before them.
const STEADY: f64 = 0.03;

/// How many samples a few are: with so many, a slow drift shows that one step hides.
const FEW: usize = 8;

impl Meter {
    /// Samples of 200 µs, one second for a comparison, an interval 2 % wide at most.
    pub fn quick() -> Meter {
        Meter {
            sample: Duration::from_micros(200),
            budget: Duration::from_secs(1),
            warm_up: Duration::from_millis(100),
            width: 0.02,
            rounds: (11, 2000),
            seed: 0x5ea1,
        }
    }

    /// Samples of 1 ms, ten seconds for a comparison, an interval 0.5 % wide at most.
    pub fn full() -> Meter {
        Meter {
            sample: Duration::from_millis(1),
            budget: Duration::from_secs(10),
            warm_up: Duration::from_secs(1),
            width: 0.005,
            rounds: (31, 2000),
            ..Meter::quick()
        }
    }

    /// How long a sample lasts at least, for candidates that leave their iterations to be calibrated.
    #[must_use]
    pub fn sample(self, sample: Duration) -> Meter {
        Meter { sample, ..self }
    }

    /// How long a comparison may take; warm-up takes a tenth of it at most. The fewest rounds are run even past it.
    #[must_use]
    pub fn budget(self, budget: Duration) -> Meter {
        Meter { budget, warm_up: budget / 10, ..self }
    }

    /// Stop once every candidate's interval is at most this share of its median wide.
    #[must_use]
    pub fn width(self, width: f64) -> Meter {
        Meter { width, ..self }
    }

    /// The fewest rounds, run whatever the budget, and the most.
    #[must_use]
    pub fn rounds(self, fewest: usize, most: usize) -> Meter {
        Meter { rounds: (fewest.max(1), most.max(fewest).max(1)), ..self }
    }

    /// The seed of the order in the rounds and of the bootstrap.
    #[must_use]
    pub fn seed(self, seed: u64) -> Meter {
        Meter { seed, ..self }
    }

    /// Measures `candidates` against each other.
    ///
    /// # Errors
    /// The first error of a candidate, and when there is no candidate at all.
    pub fn compare(
        &self,
        candidates: &mut [&mut dyn Candidate],
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> io::Result<Comparison> {
        self.compare_by(&Wall::new(), candidates, progress)
    }

    /// [`Meter::compare`] with the budget kept by `clock`.
    ///
    /// # Errors
    /// As [`Meter::compare`].
    pub fn compare_by(
        &self,
        clock: &dyn Clock,
        candidates: &mut [&mut dyn Candidate],
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> io::Result<Comparison> {
        if candidates.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "nothing to compare"));
        }
        let mut run = Run { meter: self, clock, start: clock.now(), progress, random: Random::new(self.seed) };
        let iterations = run.calibrate(candidates)?;
        run.warm_up(candidates, &iterations)?;
        run.measure(candidates, &iterations)
    }
}

/// One comparison under way.
struct Run<'a> {
    meter: &'a Meter,
    clock: &'a dyn Clock,
    start: Duration,
    progress: &'a mut dyn FnMut(Progress<'_>),
    random: Random,
}

impl Run<'_> {
    fn elapsed(&self) -> Duration {
        self.clock.now().saturating_sub(self.start)
    }

    /// One sample: the time of all its iterations.
    fn sample(
        &mut self,
        candidate: &mut dyn Candidate,
        iterations: u64,
        stage: Stage,
        round: usize,
    ) -> io::Result<Duration> {
        let (elapsed, budget) = (self.elapsed(), self.meter.budget);
        (self.progress)(Progress { candidate: candidate.name(), stage, round, elapsed, budget });
        candidate.run(iterations)
    }

    /// Iterations for each candidate so that a sample lasts as long as the meter asks.
    fn calibrate(&mut self, candidates: &mut [&mut dyn Candidate]) -> io::Result<Vec<u64>> {
        let wanted = self.meter.sample;
        let mut found = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            if let Some(fixed) = candidate.iterations() {
                found.push(fixed.max(1));
                continue;
            }
            let mut iterations = 1;
            for round in 0.. {
                let took = self.sample(*candidate, iterations, Stage::Calibrate, round)?;
                if took >= wanted || iterations >= 1 << 40 {
                    break;
                }
                // Aim a little beyond the mark, but never trust one short run by more than a factor of ten
                let factor = wanted.as_secs_f64() * 1.1 / took.as_secs_f64().max(1e-9);
                iterations = (iterations as f64 * factor.clamp(1.2, 10.0)).ceil() as u64;
            }
            found.push(iterations);
        }
        Ok(found)
    }

    /// Uncounted rounds until every candidate is steady, or a tenth of the budget is spent. Candidates with fixed
    /// iterations (processes) run once: their own first run is all that a cache needs.
    fn warm_up(&mut self, candidates: &mut [&mut dyn Candidate], iterations: &[u64]) -> io::Result<()> {
        let mut samples: Vec<Vec<f64>> = vec![Vec::new(); candidates.len()];
        let end = self.elapsed() + self.meter.warm_up;
        for round in 0.. {
            let mut steady = true;
            for (i, candidate) in candidates.iter_mut().enumerate() {
                let fixed = candidate.iterations().is_some();
                if round == 0 || !fixed {
                    let took = self.sample(*candidate, iterations[i], Stage::WarmUp, round)?;
                    samples[i].push(took.as_secs_f64());
                }
                steady &= fixed || is_steady(&samples[i]);
            }
            if steady || self.elapsed() >= end {
                break;
            }
        }
        Ok(())
    }

    /// The counted rounds.
    fn measure(&mut self, candidates: &mut [&mut dyn Candidate], iterations: &[u64]) -> io::Result<Comparison> {
        let (fewest, most) = self.meter.rounds;
        let mut samples: Vec<Vec<f64>> = vec![Vec::new(); candidates.len()];
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        let mut look = fewest;
        let mut narrow = false;
        for round in 0..most {
            if round >= fewest && self.elapsed() >= self.meter.budget {
                break;
            }
            // The bootstrap itself takes time: look only now and then, ever more rarely
            if round == look {
                narrow = samples.iter().all(|samples| self.is_narrow(samples));
                if narrow {
                    break;
                }
                look += (look / 2).max(1);
            }
            self.random.shuffle(&mut order);
            for &i in &order {
                let took = self.sample(&mut *candidates[i], iterations[i], Stage::Sample, round)?;
                samples[i].push(took.as_secs_f64() / iterations[i] as f64);
            }
        }
        let trials = candidates
            .iter()
            .zip(iterations)
            .zip(samples)
            .map(|((candidate, &iterations), samples)| {
                Trial::new(candidate.name(), iterations, samples, self.meter.seed)
            })
            .collect::<io::Result<_>>()?;
        Ok(Comparison { trials, narrow, seconds: self.elapsed().as_secs_f64(), seed: self.meter.seed })
    }

    fn is_narrow(&self, samples: &[f64]) -> bool {
        Interval::of(samples, self.meter.seed).is_some_and(|interval| interval.relative_width() <= self.meter.width)
    }
}

/// Whether the median of the last few samples is near that of the few before.
fn is_steady(samples: &[f64]) -> bool {
    let Some((older, last)) = samples.len().checked_sub(FEW).map(|cut| samples.split_at(cut)) else { return false };
    let Some(before) = older.len().checked_sub(FEW).and_then(|cut| median(&older[cut..])) else { return false };
    median(last).is_some_and(|now| (now - before).abs() <= STEADY * before)
}

#[cfg(test)]
#[path = "meter_tests.rs"]
mod tests;
