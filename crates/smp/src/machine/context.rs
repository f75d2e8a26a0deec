//! State that all components of the machine use: the schedule, the counters, the checker, and the run's outcome.

use super::{
    checker::Checker,
    dump::Dump,
    outcome::{Detection, Outcome},
    region::Region,
    schedule::{Event, Schedule},
};
use crate::{
    attack::Moment,
    engine::{Clock, Cycle},
    message::Detector,
    random::Random,
    stats::Counters,
};

/// Shared by all components; each of them owns everything else that it needs.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) schedule: Schedule,
    pub(super) counters: Counters,
    pub(super) region: Region,
    /// The source of memory jitter and snoop skew.
    pub(super) random: Random,
    /// Compares values and checks invariants, if enabled.
    pub(super) checker: Option<Checker>,
    /// Writes bus events, if enabled.
    pub(super) dump: Option<Dump>,
    /// Alarms of checks that will fail, by number; their cycle is not known yet.
    alarms: Vec<Detection>,
    /// How the run ended, once it has.
    pub(super) outcome: Option<Outcome>,
}

impl Context {
    pub(super) fn new(processors: usize, (links, homes): (usize, usize), seed: u64, clock: Clock) -> Context {
        Context {
            schedule: Schedule::new(clock),
            counters: Counters::new(processors, links, homes),
            region: Region::default(),
            random: Random::new(seed ^ 0x5ea1_5ea1),
            checker: None,
            dump: None,
            alarms: Vec::new(),
            outcome: None,
        }
    }

    /// What is recorded with a strike that happens now; `None` if the run has ended, or will end with an alarm, so that
    /// no strike can happen.
    pub(super) fn moment(&self) -> Option<Moment> {
        let wrong_reads = self.checker.as_ref().map_or(0, |checker| checker.wrong_reads);
        let open = self.outcome.is_none() && self.alarms.is_empty();
        open.then(|| Moment { cycle: self.schedule.now(), wrong_reads })
    }

    /// A node finds now that something was tampered with.
    pub(super) fn detected(&mut self, detector: Detector, node: usize) {
        let alarm = self.expect(detector, node);
        self.raise(alarm);
    }

    /// A node will find that something that is on the bus now was tampered with; returns the number of its alarm.
    pub(super) fn expect(&mut self, detector: Detector, node: usize) -> usize {
        let Counters { transfers, commands, .. } = self.counters;
        self.alarms.push(Detection { detector, node, cycle: 0, transfer: transfers, command: commands });
        self.alarms.len() - 1
    }

    /// The same for a check that ends at `at`.
    pub(super) fn expect_at(&mut self, at: Cycle, detector: Detector, node: usize) {
        let alarm = self.expect(detector, node);
        self.alarm(at, alarm);
    }

    /// The check of this alarm ends at `at`.
    pub(super) fn alarm(&mut self, at: Cycle, alarm: usize) {
        self.schedule.at(at.max(self.schedule.now()), Event::Alarm(alarm));
    }

    /// The check of this alarm has failed. The first alarm ends the run.
    pub(super) fn raise(&mut self, alarm: usize) {
        if self.outcome.is_none() {
            let detection = Detection { cycle: self.schedule.now(), ..self.alarms[alarm].clone() };
            if let Some(dump) = &mut self.dump {
                dump.detected(&detection);
            }
            self.outcome = Some(Outcome::Detected(detection));
        }
    }
}
