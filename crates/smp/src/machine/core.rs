//! A processor: in order, one instruction a cycle, waiting for every access. The innermost loop of the simulator.

use super::{Due, Fault, Machine};
use crate::access::{Access, Kind, Source};
use crate::engine::Cycle;

/// What a processor does at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Now {
    /// Its steps were never asked for.
    Fresh,
    /// It runs.
    Running,
    /// It waits for a line, for others, or to try again.
    Waiting,
    /// Its source has ended.
    Done,
}

/// A processor.
pub(super) struct Core {
    source: Box<dyn Source>,
    steps: Vec<Access>,
    at: usize,
    now: Now,
    /// When the next step happens.
    time: Cycle,
}

impl Core {
    pub(super) fn new(source: Box<dyn Source>) -> Core {
        Core { source, steps: Vec::new(), at: 0, now: Now::Fresh, time: 0 }
    }

    pub(super) fn fresh(&self) -> bool {
        self.now == Now::Fresh
    }

    pub(super) fn done(&self) -> bool {
        self.now == Now::Done
    }

    /// When it acts next of itself; never while it waits.
    #[inline]
    pub(super) fn clock(&self) -> Cycle {
        if self.now == Now::Running { self.time } else { Cycle::MAX }
    }

    /// The step that it is at.
    pub(super) fn step(&self) -> Access {
        self.steps[self.at]
    }
}

impl Machine {
    /// Runs a processor until `horizon`, or until it has to wait.
    pub(super) fn run_core(&mut self, node: usize, horizon: Cycle) -> Result<(), Fault> {
        let hit = self.config.l1.hit;
        let offsets = self.config.machine.line - 1;
        let shift = self.shift;
        loop {
            let core = &mut self.cores[node];
            let caches = &mut self.nodes[node];
            let counters = &mut self.counters.nodes[node];
            let (mut time, mut at, start) = (core.time, core.at, core.at);
            let mut stopped = false;
            while let Some(step) = core.steps.get(at) {
                if time >= horizon {
                    break;
                }
                let line = step.address >> shift;
                match step.kind {
                    Kind::Load => {
                        let Some(slot) = caches.data.hit(line, 1) else {
                            stopped = true;
                            break;
                        };
                        if let Some(shadow) = &mut self.shadow {
                            shadow.compare(caches.text(crate::node::At::Data, slot), step, shift, time);
                        }
                    }
                    Kind::Store => {
                        let Some(slot) = caches.data.hit(line, 3) else {
                            stopped = true;
                            break;
                        };
                        caches.store(slot, step.address as usize & offsets, step.value, step.size);
                        counters.stores += 1;
                        if let Some(shadow) = &mut self.shadow {
                            shadow.written(step);
                        }
                    }
                    Kind::Fetch => {
                        if caches.instructions.hit(line, 1).is_none() {
                            stopped = true;
                            break;
                        }
                        counters.fetches += 1;
                    }
                    _ => {
                        stopped = true;
                        break;
                    }
                }
                at += 1;
                time += hit;
                if let Some(next) = core.steps.get(at) {
                    time += u64::from(next.gap);
                    counters.instructions += u64::from(next.gap) + 1;
                }
            }
            core.at = at;
            core.time = time;
            counters.steps += (at - start) as u64;
            if stopped {
                return self.miss(node);
            }
            if at < core.steps.len() {
                return Ok(());
            }
            self.refill(node)?;
            if self.cores[node].clock() >= horizon {
                return Ok(());
            }
        }
    }

    /// Asks the source for more steps; the processor is done when there are none.
    pub(super) fn refill(&mut self, node: usize) -> Result<(), Fault> {
        let core = &mut self.cores[node];
        core.source.fill(&mut core.steps)?;
        core.at = 0;
        match core.steps.first() {
            Some(first) => {
                core.now = Now::Running;
                core.time += u64::from(first.gap);
                self.counters.nodes[node].instructions += u64::from(first.gap) + 1;
            }
            None => {
                core.now = Now::Done;
                self.counters.nodes[node].finished = core.time;
                return self.leave();
            }
        }
        Ok(())
    }

    /// The step that could not go on was done at `time`; the processor goes on with the next.
    pub(super) fn advance(&mut self, node: usize, time: Cycle) -> Result<(), Fault> {
        let counters = &mut self.counters.nodes[node];
        let core = &mut self.cores[node];
        match core.steps[core.at].kind {
            Kind::Store => counters.stores += 1,
            Kind::Fetch => counters.fetches += 1,
            _ => {}
        }
        counters.steps += 1;
        core.at += 1;
        core.time = time;
        core.now = Now::Running;
        match core.steps.get(core.at) {
            Some(next) => {
                core.time += u64::from(next.gap);
                counters.instructions += u64::from(next.gap) + 1;
                Ok(())
            }
            None => self.refill(node),
        }
    }

    /// The processor waits; its time stays that of the step.
    pub(super) fn hold(&mut self, node: usize) -> Cycle {
        let core = &mut self.cores[node];
        core.now = Now::Waiting;
        core.time
    }

    /// Tries the step again later.
    pub(super) fn recycle(&mut self, node: usize) {
        let at = self.hold(node) + self.config.bus.retry;
        self.counters.nodes[node].retries += 1;
        self.push(at.max(self.now), Due::Retry(node));
    }

    pub(super) fn retry(&mut self, node: usize) {
        let core = &mut self.cores[node];
        core.now = Now::Running;
        core.time = self.now;
    }
}
