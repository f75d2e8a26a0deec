//! Overlapping misses: a processor continues while lines are outstanding, and stalls only for the reasons in [`Stall`].

use super::{
    Machine,
    coherence::{Completion, Filled},
    mshrs::Stall,
    outcome::MachineError,
    processor::{Activity, Processors},
    schedule::Event,
};
use crate::engine::Cycle;

impl Processors {
    /// Stalls a processor; its time stays that of the access.
    pub(super) fn stall(&mut self, node: usize, stall: Stall) {
        self.wait(node);
        self.cores[node].stall = Some(stall);
    }

    /// Finishes a processor whose program has ended, once its last line has arrived; returns when.
    fn end(&mut self, node: usize, at: Cycle) -> Cycle {
        let core = &mut self.cores[node];
        core.activity = Activity::Finished;
        core.time = core.time.max(at);
        core.time
    }
}

impl Machine {
    /// A requested line has arrived, and the accesses that waited for it have been performed. At `at`, the node knows
    /// that all other copies are invalid.
    pub(super) fn filled(&mut self, filled: Filled, at: Cycle) -> Result<(), MachineError> {
        let Filled { completion: Completion { node, at: done }, waits } = filled;
        let late = at.saturating_sub(self.context.schedule.now());
        // An acknowledgement never comes
        let never = at == Cycle::MAX;
        if waits {
            if never {
                return Ok(());
            }
            self.context.counters.nodes[node].waited += late;
            self.processors.cores[node].paid = at;
            self.complete(Completion { node, at: done + late })?;
        } else if late > 0 {
            self.coherence.caches.nodes[node].mshrs.hold();
            if !never {
                self.context.schedule.at(at, Event::Acknowledged(node));
            }
        }
        self.resume(node)
    }

    /// All invalidations of a node's non-blocking request are acknowledged.
    pub(super) fn acknowledged(&mut self, node: usize) -> Result<(), MachineError> {
        let (counters, now) = (&mut self.context.counters.nodes[node], self.context.schedule.now());
        self.coherence.caches.nodes[node].mshrs.acknowledged(counters, now);
        self.resume(node)
    }

    /// Whether a node has outstanding lines or acknowledgements.
    pub(super) fn misses(&self, node: usize) -> bool {
        self.coherence.caches.nodes[node].mshrs.held() > 0
    }

    /// Resumes a stalled processor, if what it waits for has come.
    fn resume(&mut self, node: usize) -> Result<(), MachineError> {
        let (now, mshrs) = (self.context.schedule.now(), &self.coherence.caches.nodes[node].mshrs);
        let Some(stall) = self.processors.cores[node].stall else { return Ok(()) };
        let goes_on = match stall {
            Stall::Full => mshrs.held() < self.config.machine.mshrs,
            Stall::Line(line) => mshrs.of(line).is_none(),
            Stall::Synchronises | Stall::Ends => mshrs.held() == 0,
        };
        if !goes_on {
            return Ok(());
        }
        let core = &mut self.processors.cores[node];
        core.stall = None;
        // The access to the last line takes a first-level hit
        let used = now + self.config.l1.hit;
        let (region, counters) = (&self.context.region, &mut self.context.counters.nodes[node]);
        match stall {
            Stall::Full | Stall::Line(_) => {
                let cycles = region.within(core.time, now);
                counters.waited += cycles;
                counters.full += if stall == Stall::Full { cycles } else { 0 };
                self.processors.retry(node, now);
                return if self.processors.due(node) { self.change(node) } else { Ok(()) };
            }
            Stall::Synchronises | Stall::Ends => {
                let cycles = region.within(core.time, used);
                core.paid = used;
                counters.waited += cycles;
                counters.drained += cycles;
            }
        }
        if stall == Stall::Ends {
            counters.finished = self.processors.end(node, used);
            return self.finish(node);
        }
        self.context.schedule.at(used + self.config.machine.sync, Event::Synchronise(node));
        Ok(())
    }
}
