//! State that all components of the machine use: the schedule, the counters, the checker, and the run's outcome.

use super::{
    checker::Checker,
    dump::Dump,
    outcome::{Detection, Outcome},
    region::Region,
    schedule::Schedule,
};
use crate::{attack::Moment, engine::Clock, message::Detector, random::Random, stats::Counters};

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
            outcome: None,
        }
    }

    /// What is recorded with a strike that happens now; `None` if the run has ended, so that no strike can happen.
    pub(super) fn moment(&self) -> Option<Moment> {
        let wrong_reads = self.checker.as_ref().map_or(0, |checker| checker.wrong_reads);
        self.outcome.is_none().then(|| Moment { cycle: self.schedule.now(), wrong_reads })
    }

    /// A node found that something was tampered with. The first detection ends the run.
    pub(super) fn detected(&mut self, detector: Detector, node: usize) {
        if self.outcome.is_none() {
            let Counters { transfers, commands, .. } = self.counters;
            let cycle = self.schedule.now();
            let detection = Detection { detector, node, cycle, transfer: transfers, command: commands };
            if let Some(dump) = &mut self.dump {
                dump.detected(&detection);
            }
            self.outcome = Some(Outcome::Detected(detection));
        }
    }
}
