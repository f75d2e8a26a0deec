//! The meter: runs candidates in interleaved rounds until the intervals of their medians are narrow, or the time is up.

use std::{io, time::Duration};

use crate::{
    candidate::Candidate,
    clock::{Clock, Wall},
    comparison::{Comparison, Trial},
    interval::{Interval, median},
    random::Random,
};

/// How to measure. Start with [`Meter::quick`] or [`Meter::full`]; each of the other methods changes one setting.
///
/// Every round runs one sample of each candidate, in an order that is shuffled each time: `A B C`, `B C A`, `C A B`,
/// ... Neither a drifting clock rate nor the position in the round favours a candidate. Candidates are never run to
/// completion one after another.
#[derive(Clone, Debug)]
pub struct Meter {
    sample: Duration,
    budget: Duration,
    warm_up: Duration,
    width: f64,
    rounds: (usize, usize),
    seed: u64,
}

/// The progress of the meter, reported before every sample.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The candidate about to run.
    pub candidate: &'a str,
    /// The stage of the comparison.
    pub stage: Stage,
    /// Complete rounds in this stage so far.
    pub round: usize,
    /// Time since the comparison began.
    pub elapsed: Duration,
    /// The time budget of the comparison.
    pub budget: Duration,
}

/// The three stages of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Finding the number of iterations in a sample.
    Calibrate,
    /// Samples that do not count, until the times are stable.
    WarmUp,
    /// Samples that count.
    Sample,
}

/// Warm-up ends when the median of every candidate's last few samples differs from that of the few before by at most
/// this share.
const STEADY: f64 = 0.03;

/// A candidate whose memory was moved runs this fraction (one eighth) of a sample untimed before it is measured.
const WARMING: u64 = 8;

/// The number of samples that are compared. With fewer samples, a slow drift would not be noticed.
const FEW: usize = 8;

impl Meter {
    /// Samples of 200 µs, one second for a comparison, intervals of at most 2 %.
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

    /// Samples of 1 ms, ten seconds for a comparison, intervals of at most 0.5 %.
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

    /// The minimum duration of a sample, for candidates whose iterations are calibrated.
    #[must_use]
    pub fn sample(self, sample: Duration) -> Meter {
        Meter { sample, ..self }
    }

    /// The time budget of a comparison. Warm-up takes at most a tenth of it. The minimum number of rounds runs even if
    /// that takes longer.
    #[must_use]
    pub fn budget(self, budget: Duration) -> Meter {
        Meter { budget, warm_up: budget / 10, ..self }
    }

    /// The comparison stops when the width of every candidate's interval is at most this share of its median. Fewer
    /// rounds than [`FEWEST`](crate::FEWEST) never are enough for that.
    #[must_use]
    pub fn width(self, width: f64) -> Meter {
        Meter { width, ..self }
    }

    /// The minimum number of rounds, whatever the budget, and the maximum. With fewer than [`FEWEST`](crate::FEWEST)
    /// the intervals decide nothing.
    #[must_use]
    pub fn rounds(self, fewest: usize, most: usize) -> Meter {
        Meter { rounds: (fewest.max(1), most.max(fewest).max(1)), ..self }
    }

    /// The seed for the order within the rounds and for the bootstrap.
    #[must_use]
    pub fn seed(self, seed: u64) -> Meter {
        Meter { seed, ..self }
    }

    /// Compares `candidates` with each other.
    ///
    /// # Errors
    /// The first error of a candidate, or an error if there is no candidate.
    pub fn compare(
        &self,
        candidates: &mut [&mut dyn Candidate],
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> io::Result<Comparison> {
        self.compare_by(&Wall::new(), candidates, progress)
    }

    /// [`Meter::compare`] with a time budget that `clock` measures.
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

/// A comparison in progress.
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

    /// Finds the iterations of each candidate with which a sample has the required duration.
    fn calibrate(&mut self, candidates: &mut [&mut dyn Candidate]) -> io::Result<Vec<u64>> {
        let wanted = self.meter.sample;
        let mut found = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            if let Some(fixed) = candidate.iterations() {
                found.push(fixed.max(1));
                continue;
            }
            let together = candidate.together().max(1);
            let mut iterations = together;
            for round in 0.. {
                let took = self.sample(*candidate, iterations, Stage::Calibrate, round)?;
                if took >= wanted || iterations >= 1 << 40 {
                    break;
                }
                // Aim slightly too high, but do not extrapolate from a short run by more than a factor of ten
                let factor = wanted.as_secs_f64() * 1.1 / took.as_secs_f64().max(1e-9);
                iterations = ((iterations as f64 * factor.clamp(1.2, 10.0)).ceil() as u64).next_multiple_of(together);
            }
            found.push(iterations);
        }
        Ok(found)
    }

    /// Runs rounds that do not count until every candidate is stable, or a tenth of the budget is spent. Candidates
    /// with fixed iterations (processes) run once, which is enough to fill caches.
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
        let mut places = self.random.clone();
        for round in 0..most {
            if round >= fewest && self.elapsed() >= self.meter.budget {
                break;
            }
            // Computing the intervals takes time itself, so the rounds between two checks become more
            if round == look {
                narrow = samples.iter().all(|samples| self.is_narrow(samples));
                if narrow {
                    break;
                }
                look += (look / 2).max(1);
            }
            // Buffers move to new addresses every round, so the spread of the samples includes the effect of placement
            for (candidate, &iterations) in candidates.iter_mut().zip(iterations) {
                if candidate.renew(&mut places)? && candidate.iterations().is_none() {
                    candidate.run((iterations / WARMING + 1).next_multiple_of(candidate.together().max(1)))?;
                }
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
        let narrow = |interval: Interval| interval.tells() && interval.relative_width() <= self.meter.width;
        Interval::of(samples, self.meter.seed).is_some_and(narrow)
    }
}

/// Whether the median of the last few samples is near the median of the few before.
fn is_steady(samples: &[f64]) -> bool {
    let Some((older, last)) = samples.len().checked_sub(FEW).map(|cut| samples.split_at(cut)) else { return false };
    let Some(before) = older.len().checked_sub(FEW).and_then(|cut| median(&older[cut..])) else { return false };
    median(last).is_some_and(|now| (now - before).abs() <= STEADY * before)
}

#[cfg(test)]
#[path = "meter_tests.rs"]
mod tests;
