//! Progress of a run: the step, the trial being measured in it, and the remaining time.

use std::{
    fmt, io,
    time::{Duration, Instant},
};

use sealwright_measure::{Candidate, Comparison, Meter, meter};

use crate::provenance::Recorded;

/// One step of a running study, for progress displays. It is reported when the step begins, and every second while it
/// is measured.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The study's name.
    pub study: &'a str,
    /// What is being done, in a few words.
    pub what: &'a str,
    /// The trial being measured, if any.
    pub trial: Option<&'a str>,
    /// Number of completed steps.
    pub done: usize,
    /// Total number of steps; equal to `done` when the study has ended.
    pub total: usize,
    /// Estimated remaining time of the whole run.
    pub left: Duration,
}

/// The shortest time between two reports of trials. Reports are rare so that they do not disturb the measurement.
const EVERY: Duration = Duration::from_secs(1);

/// Reports the progress of a study, and records its comparisons.
pub struct Progress<'a> {
    study: &'a str,
    what: String,
    /// Number of steps begun.
    begun: usize,
    total: usize,
    start: Instant,
    told: Instant,
    /// Expected duration of this study.
    lasts: Duration,
    /// Expected duration of the studies after it.
    after: Duration,
    tell: &'a mut dyn FnMut(Step<'_>),
    /// Summaries of the comparisons so far.
    recorded: Vec<Recorded>,
}

impl<'a> Progress<'a> {
    /// Reports every step of `study` to `tell`.
    pub fn new(study: &'a str, tell: &'a mut dyn FnMut(Step<'_>)) -> Self {
        let start = Instant::now();
        Progress {
            study,
            what: String::new(),
            begun: 0,
            total: 0,
            start,
            told: start,
            lasts: Duration::ZERO,
            after: Duration::ZERO,
            tell,
            recorded: Vec::new(),
        }
    }

    /// Runs a comparison, reporting each trial, and records the quartiles of its samples for the results.
    ///
    /// # Errors
    /// As [`Meter::compare`].
    pub fn compare(&mut self, meter: &Meter, candidates: &mut [&mut dyn Candidate]) -> io::Result<Comparison> {
        let found = meter.compare(candidates, &mut self.trial())?;
        self.recorded.push(Recorded::new(&self.what, &found));
        Ok(found)
    }

    /// Takes the summaries of all comparisons.
    pub fn recorded(&mut self) -> Vec<Recorded> {
        std::mem::take(&mut self.recorded)
    }

    /// Sets the expected duration of this study, and of those that follow it.
    #[must_use]
    pub fn lasting(self, lasts: Duration, after: Duration) -> Self {
        Progress { lasts, after, ..self }
    }

    /// Sets the number of steps.
    pub fn expect(&mut self, total: usize) {
        self.total = total;
    }

    /// Begins a step, which ends the previous one.
    pub fn step(&mut self, what: &str) {
        what.clone_into(&mut self.what);
        self.begun += 1;
        self.say(None, 0.0);
    }

    /// A callback that reports the progress of a [`Meter`](sealwright_measure::Meter) in this step:
    /// `meter.compare(&mut candidates, &mut progress.trial())`.
    pub fn trial(&mut self) -> impl FnMut(meter::Progress<'_>) + use<'_, 'a> {
        |now| {
            if self.told.elapsed() >= EVERY {
                let share = now.elapsed.as_secs_f64() / now.budget.as_secs_f64().max(f64::MIN_POSITIVE);
                self.say(Some(now.candidate), share.min(1.0));
            }
        }
    }

    /// Ends the last step.
    pub fn end(&mut self) {
        "done".clone_into(&mut self.what);
        (self.begun, self.total) = (self.total + 1, self.total);
        self.say(None, 0.0);
    }

    /// Reports the current step, of which `share` is done.
    fn say(&mut self, trial: Option<&str>, share: f64) {
        self.told = Instant::now();
        let done = self.begun.saturating_sub(1).min(self.total);
        let all = ((done as f64 + share) / self.total.max(1) as f64).min(1.0);
        let left = left(self.start.elapsed(), self.lasts, all) + self.after;
        (self.tell)(Step { study: self.study, what: &self.what, trial, done, total: self.total, left });
    }
}

/// The remaining time of a study of which the share `done` took `elapsed` and all was expected to take `lasts`. The
/// estimate changes gradually from the expected duration to the observed rate.
fn left(elapsed: Duration, lasts: Duration, done: f64) -> Duration {
    let to_do = 1.0 - done;
    (elapsed + lasts.mul_f64(to_do)).mul_f64(to_do)
}

impl fmt::Debug for Progress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Progress({} {}/{})", self.study, self.begun, self.total)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwright_measure::{Meter, Work};

    use super::*;

    #[test]
    fn time_left_goes_from_what_was_thought_to_what_is_seen() {
        let s = Duration::from_secs;
        assert_eq!(left(s(0), s(100), 0.0), s(100));
        assert_eq!(left(s(100), s(100), 0.5), s(75));
        assert_eq!(left(s(180), s(100), 0.9).as_secs(), 18 + 1);
        assert_eq!(left(s(180), s(100), 1.0), s(0));
    }

    #[test]
    fn steps_are_counted_and_trials_are_named() {
        let mut said = Vec::new();
        let mut tell = |step: Step<'_>| {
            said.push((step.what.to_owned(), step.trial.map(str::to_owned), step.done, step.total, step.left));
        };
        let mut progress = Progress::new("s", &mut tell).lasting(Duration::from_secs(10), Duration::from_secs(5));
        progress.expect(2);
        progress.step("one");
        progress.told -= EVERY;
        let meter = Meter::quick().budget(Duration::from_millis(1)).rounds(1, 1);
        meter.compare(&mut [&mut Work::new("work", || {})], &mut progress.trial()).unwrap();
        progress.step("two");
        progress.end();
        let counts: Vec<_> = said.iter().map(|(what, trial, done, ..)| (&what[..], trial.as_deref(), *done)).collect();
        assert_eq!(counts, [("one", None, 0), ("one", Some("work"), 0), ("two", None, 1), ("done", None, 2)]);
        assert!(said.iter().all(|(.., total, _)| *total == 2));
        assert!(said[0].4 > Duration::from_secs(14), "all of this study, and those after it: {:?}", said[0].4);
        assert_eq!(said[3].4, Duration::from_secs(5));
    }
}
