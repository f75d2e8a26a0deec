//! One comparison: all implementations with one suite, size, way and direction, and the resulting rows.

use std::{cell::RefCell, time::Duration};

use sealwright_measure::{
    Candidate, Comparison, Interval, Meter,
    random::{Random, seed_of_process},
};

use super::{
    check::Entrant,
    error::BenchError,
    options::Options,
    peer::sealing::RefusedError,
    row::{self, Direction, Limit, Limiting, Row},
    subject::Subject,
    timed::{Copy, Ground, Timed},
    unit::Unit,
    way::Way,
    window::{Nonces, Share, Window},
};

/// How long to measure a comparison.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    meter: Meter,
}

impl Pace {
    /// Quick: 20 s are shared by all comparisons, with at most 1 s for each. Full: 5 s for each.
    pub(super) fn of(options: &Options) -> Pace {
        let comparisons = options.comparisons().max(1);
        let sample = Duration::from_millis(1);
        if options.quick {
            let budget = (Duration::from_secs(20) / comparisons as u32).min(Duration::from_secs(1));
            Pace { meter: Meter::quick().sample(sample).rounds(7, 500).budget(budget) }
        } else {
            let budget = Duration::from_secs(5);
            Pace { meter: Meter::full().sample(sample).budget(budget) }
        }
    }
}

/// The subject of a comparison and its participants.
pub(super) struct Contest<'a> {
    pub(super) subject: Subject,
    pub(super) bytes: usize,
    pub(super) direction: Direction,
    pub(super) way: Way,
    pub(super) entrants: &'a [Entrant<'a>],
}

impl Contest<'_> {
    /// Measures, and returns the rows and the machine's limits.
    pub(super) fn run(&self, pace: &Pace) -> Result<(Vec<Row>, Vec<Limit>), BenchError> {
        let ground = self.ground()?;
        let opens = self.direction == Direction::Open;
        let mut timed: Vec<Timed> =
            self.entrants.iter().map(|entrant| Timed::new(entrant, self.direction, &ground)).collect();
        for one in &mut timed {
            one.come(self.way, self.subject)?;
        }
        let mut copy = opens.then_some(Copy(&ground));
        // Key setup is not part of the limit, so there is no limit for ways that time it
        let rounds = self.subject.aes_rounds().filter(|_| !matches!(self.way, Way::NewKey | Way::Batch));
        let mut unit =
            rounds.and_then(|rounds| Unit::new(self.subject.blocks(self.bytes), rounds, self.subject.hashes()));
        let mut candidates: Vec<&mut dyn Candidate> = timed.iter_mut().map(|one| one as &mut dyn Candidate).collect();
        candidates.extend(copy.as_mut().map(|copy| copy as &mut dyn Candidate));
        candidates.extend(unit.as_mut().map(|unit| unit as &mut dyn Candidate));
        let found = pace.meter.compare(&mut candidates, &mut |_| {})?;
        Ok((self.rows(&found), self.limits(&found)))
    }

    /// Buffers for the messages to work on and, if they are opened, for the sealed messages that opening restores. Their
    /// addresses differ between processes.
    fn ground(&self) -> Result<Ground, BenchError> {
        let opens = self.direction == Direction::Open;
        let share = if opens { Share::Half } else { Share::Whole };
        let length = self.bytes + self.subject.tag_len();
        let mut random = Random::new(seed_of_process());
        let mut window = || Window::new(length, share, self.way.at_once(), &mut random);
        let (working, mut sealed) = (window(), opens.then(window));
        let nonces = Nonces::new(self.subject.nonce_len());
        if let (Some(first), Some(sealed)) = (self.entrants.first(), &mut sealed) {
            sealed
                .fill(|i, message| first.sealing.seal(nonces.nonce(i), self.subject.ad(), message))
                .map_err(|RefusedError| std::io::Error::other(format!("{}: refused to seal", first.name())))?;
        }
        Ok(Ground { working: RefCell::new(working), sealed, nonces, ad: self.subject.ad() })
    }

    /// The rows of all implementations, Sealwright's first.
    fn rows(&self, found: &Comparison) -> Vec<Row> {
        let who = self
            .entrants
            .iter()
            .map(|entrant| (entrant.name(), entrant.implementation.as_str(), entrant.level.as_str()));
        let who: Vec<_> = who.filter(|(name, ..)| found.trial(name).is_some()).collect();
        let peers = who.iter().filter(|(_, implementation, _)| *implementation != row::OURS);
        let time = |name: &str| found.trial(name).map_or(f64::INFINITY, |trial| trial.interval.median);
        let best = peers.map(|(name, ..)| name.as_str()).min_by(|a, b| time(a).total_cmp(&time(b)));
        who.iter()
            .filter_map(|(name, implementation, level)| self.row(found, name, implementation, level, best))
            .collect()
    }

    fn row(
        &self,
        found: &Comparison,
        name: &str,
        implementation: &str,
        level: &str,
        best: Option<&str>,
    ) -> Option<Row> {
        let speed = found.trial(name)?.interval.gigabytes_per_second(self.bytes as u64);
        let ratio = best.and_then(|best| match best == name {
            true => Some(Interval::exact(1.0)),
            false => found.speedup(name, best),
        });
        Some(Row {
            suite: self.subject.name().to_owned(),
            bytes: self.bytes,
            direction: self.direction,
            way: self.way,
            implementation: implementation.to_owned(),
            level: level.to_owned(),
            gbps: speed.median,
            low: speed.low,
            high: speed.high,
            ratio_to_best_peer: ratio.map(|ratio| ratio.median),
            ratio_low: ratio.map(|ratio| ratio.low),
            ratio_high: ratio.map(|ratio| ratio.high),
            of_limit: found.speedup(name, Unit::NAME).map(|share| share.median),
        })
    }

    fn limits(&self, found: &Comparison) -> Vec<Limit> {
        let limit = |(name, what)| {
            let gbps = found.trial(name)?.interval.gigabytes_per_second(self.bytes as u64);
            let suite = self.subject.name().to_owned();
            Some(Limit { what, suite, direction: self.direction, bytes: self.bytes, gbps })
        };
        let unit = if self.subject.hashes() { Limiting::RoundsAndProducts } else { Limiting::AesRounds };
        let all = [(Copy::NAME, Limiting::MemoryCopy), (Unit::NAME, unit)].into_iter();
        all.filter(|_| self.way == Way::OneKey).filter_map(limit).collect()
    }
}

#[cfg(test)]
#[path = "contest_tests.rs"]
mod tests;
