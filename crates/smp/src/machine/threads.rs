//! Several processes: the threads that wait for a processor, and its changes from one to the next.

use std::{collections::VecDeque, fmt};

use super::{
    context::Context,
    processor::{Activity, Processors},
    schedule::Event,
};
use crate::{
    access::{Access, Kind, Source},
    config::PROCESS_BIT,
    engine::Cycle,
};

/// Which process a processor runs, and its threads of others.
#[derive(Debug, Default)]
pub(super) struct Threads {
    process: usize,
    /// The one that runs next first.
    parked: VecDeque<Parked>,
    /// The process has had its time: another one follows as soon as no access is under way.
    due: bool,
    /// The process waits for other processors.
    blocked: bool,
    /// Changes so far: which one a [`Event::Switch`] is for.
    changes: u64,
}

/// A thread that does not run.
pub(super) struct Parked {
    process: usize,
    source: Box<dyn Source>,
    accesses: Vec<Access>,
    at: usize,
    /// From when on it could run; `None` while it waits for other processors.
    ready: Option<Cycle>,
    fresh: bool,
}

impl fmt::Debug for Parked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parked").field("process", &self.process).field("ready", &self.ready).finish_non_exhaustive()
    }
}

/// A change of process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) process: usize,
    pub(super) at: Cycle,
    /// Whether its source was never asked for accesses.
    pub(super) fresh: bool,
}

impl Parked {
    /// A thread that has not begun.
    pub(super) fn fresh(process: usize, source: Box<dyn Source>) -> Parked {
        Parked { process, source, accesses: Vec::new(), at: 0, ready: Some(0), fresh: true }
    }
}

impl Threads {
    pub(super) fn park(&mut self, thread: Parked) {
        self.parked.push_back(thread);
    }

    /// Whether no thread waits.
    pub(super) fn all_ended(&self) -> bool {
        self.parked.is_empty()
    }

    /// Puts accesses into the address space of the process.
    pub(super) fn own_space(&self, accesses: &mut [Access]) {
        let space = (self.process as u64) << PROCESS_BIT;
        for access in accesses.iter_mut().filter(|access| matches!(access.kind, Kind::Load | Kind::Store | Kind::Fetch))
        {
            access.address = access.address & ((1 << PROCESS_BIT) - 1) | space;
        }
    }
}

impl Processors {
    /// The process that a processor runs.
    pub(super) fn process(&self, node: usize) -> usize {
        self.cores[node].threads.process
    }

    /// Has the schedule tell when the first processes have had their time.
    pub(super) fn first_slices(&self, context: &mut Context) {
        if self.processes.count > 1 && self.processes.quantum > 0 {
            (0..self.cores.len())
                .for_each(|node| context.schedule.after(self.processes.quantum, Event::Switch(node, 0)));
        }
    }

    /// A processor's process has had its time, unless the processor has changed since. Whether it can change at once; else it
    /// does when its access is done.
    pub(super) fn expire(&mut self, node: usize, change: u64) -> bool {
        let core = &mut self.cores[node];
        let now = core.threads.changes == change;
        core.threads.due |= now && core.activity != Activity::Running;
        now && core.activity == Activity::Running
    }

    /// Whether a change of process is due.
    pub(super) fn due(&mut self, node: usize) -> bool {
        std::mem::take(&mut self.cores[node].threads.due)
    }

    /// Its process waits for other processors.
    pub(super) fn block(&mut self, node: usize) {
        self.cores[node].threads.blocked = true;
    }

    /// Whether a processor's process waits for others, or has ended.
    pub(super) fn idle(&self, node: usize) -> bool {
        let core = &self.cores[node];
        core.threads.blocked || core.activity == Activity::Finished
    }

    /// A thread that waited for others may go on at `at`: `true` if its processor runs it, so that its access is to be
    /// completed now.
    pub(super) fn wake(&mut self, node: usize, process: usize, at: Cycle, context: &mut Context) -> bool {
        let threads = &mut self.cores[node].threads;
        if threads.process == process {
            threads.blocked = false;
            return true;
        }
        if let Some(parked) = threads.parked.iter_mut().find(|parked| parked.process == process) {
            // What it waited for is done
            let counters = &mut context.counters.nodes[node];
            counters.accesses += 1;
            parked.at += 1;
            let gap = parked.accesses.get(parked.at).map(|next| u64::from(next.gap));
            counters.instructions += gap.map_or(0, |gap| gap + 1);
            parked.ready = Some(at + gap.unwrap_or(0));
        }
        false
    }

    /// Changes to the next process that can run; `None` if there is none.
    pub(super) fn change(&mut self, node: usize, context: &mut Context) -> Option<Change> {
        let (switch, quantum, now) = (self.processes.switch, self.processes.quantum, context.schedule.now());
        let core = &mut self.cores[node];
        let threads = &mut core.threads;
        let place = threads.parked.iter().position(|parked| parked.ready.is_some())?;
        let next = threads.parked.remove(place)?;
        let at = now.max(core.time).max(next.ready.unwrap_or(0)) + switch;
        let left = Parked {
            process: std::mem::replace(&mut threads.process, next.process),
            source: std::mem::replace(&mut core.source, next.source),
            accesses: std::mem::replace(&mut core.accesses, next.accesses),
            at: std::mem::replace(&mut core.at, next.at),
            ready: (!threads.blocked).then_some(now),
            fresh: false,
        };
        if core.activity != Activity::Finished {
            threads.parked.push_back(left);
        }
        threads.changes += 1;
        (threads.blocked, threads.due) = (false, false);
        let (process, change) = (threads.process, threads.changes);
        core.time = at;
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
