//! Process switches.

use super::{
    context::Context,
    processor::{Activity, Processors},
    schedule::Event,
    threads::Parked,
};
use crate::{access::Access, engine::Cycle};

/// A process switch: the new process, and when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) process: usize,
    pub(super) at: Cycle,
    /// Whether its source has not been read yet.
    pub(super) fresh: bool,
}

impl Processors {
    /// The process that a processor runs.
    pub(super) fn process(&self, node: usize) -> usize {
        self.cores[node].threads.process
    }

    /// Schedules the end of each processor's first time slice.
    pub(super) fn first_slices(&self, context: &mut Context) {
        if self.processes.count > 1 && self.processes.quantum > 0 {
            (0..self.cores.len())
                .for_each(|node| context.schedule.after(self.processes.quantum, Event::Switch(node, 0)));
        }
    }

    /// A time slice ends, unless the processor has switched since it was scheduled. Returns whether the processor can
    /// switch at once; otherwise it switches when its current access is done.
    pub(super) fn expire(&mut self, node: usize, change: u64) -> bool {
        let core = &mut self.cores[node];
        let now = core.threads.changes == change;
        core.threads.due |= now && core.activity != Activity::Running;
        now && core.activity == Activity::Running
    }

    /// Whether a process switch is due; clears it.
    pub(super) fn due(&mut self, node: usize) -> bool {
        std::mem::take(&mut self.cores[node].threads.due)
    }

    /// Marks a processor's process as waiting for other processors.
    pub(super) fn block(&mut self, node: usize, now: Cycle) {
        let threads = &mut self.cores[node].threads;
        (threads.blocked, threads.idle) = (true, Some(now));
    }

    /// A processor that had nothing to execute has something again.
    fn end_idle(&mut self, node: usize, context: &mut Context) {
        if let Some(since) = self.cores[node].threads.idle.take() {
            context.counters.nodes[node].synchronised += context.region.within(since, context.schedule.now());
        }
    }

    /// Whether a processor's process waits for others, or has ended.
    pub(super) fn idle(&self, node: usize) -> bool {
        let core = &self.cores[node];
        core.threads.blocked || core.activity == Activity::Finished
    }

    /// A thread that waited for others may continue at `at`. Returns whether its processor is running it, so that the
    /// caller has to complete its access.
    pub(super) fn wake(&mut self, node: usize, process: usize, at: Cycle, context: &mut Context) -> bool {
        let threads = &mut self.cores[node].threads;
        if threads.process == process {
            threads.blocked = false;
            self.end_idle(node, context);
            return true;
        }
        if let Some(parked) = threads.parked.iter_mut().find(|parked| parked.process == process) {
            // Its synchronisation is done. What follows takes the processor's time once it runs again
            parked.at += 1;
            (parked.ready, parked.woken) = (Some(at), true);
        }
        false
    }

    /// Switches to the next process that can run; `None` if there is none.
    pub(super) fn change(&mut self, node: usize, context: &mut Context) -> Option<Change> {
        self.touch(node);
        let (switch, quantum, now) = (self.processes.switch, self.processes.quantum, context.schedule.now());
        let core = &mut self.cores[node];
        let threads = &mut core.threads;
        let Some(place) = threads.parked.iter().position(|parked| parked.ready.is_some()) else {
            if core.activity == Activity::Finished && !threads.all_ended() {
                threads.idle.get_or_insert(now.max(core.time));
            }
            return None;
        };
        let next = threads.parked.remove(place)?;
        let at = now.max(core.time).max(next.ready.unwrap_or(0)) + switch;
        self.end_idle(node, context);
        let core = &mut self.cores[node];
        let threads = &mut core.threads;
        let left = Parked {
            process: std::mem::replace(&mut threads.process, next.process),
            source: std::mem::replace(&mut core.source, next.source),
            accesses: std::mem::replace(&mut core.accesses, next.accesses),
            at: std::mem::replace(&mut core.at, next.at),
            ready: (!threads.blocked).then_some(now),
            woken: false,
            fresh: false,
        };
        if core.activity != Activity::Finished {
            threads.parked.push_back(left);
        }
        threads.changes += 1;
        (threads.blocked, threads.due) = (false, false);
        let (process, change) = (threads.process, threads.changes);
        // If its batch of accesses is used up, reading the next one counts these instructions
        let first = core.accesses.get(core.at).filter(|_| next.woken);
        core.time = at + first.map_or(0, |first| u64::from(first.gap));
        context.counters.nodes[node].instructions += first.map_or(0, Access::instructions);
        core.activity = Activity::Running;
        core.ahead.slots.resize(core.accesses.len(), 0);
        core.look_anew();
        context.counters.switches += 1;
        if quantum > 0 {
            context.schedule.at(at + quantum, Event::Switch(node, change));
        }
        Some(Change { process, at, fresh: next.fresh })
    }
}
