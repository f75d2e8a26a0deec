//! A processor: in order, one instruction a cycle, waiting for every access. The innermost loop of the simulator.

use super::{Due, Fault, Machine};
use crate::{
    access::{Access, Kind, Source},
    engine::Cycle,
    node::At,
};

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
    ahead: Ahead,
}

/// What was found out by looking ahead: steps before `known` hit the first level, in these slots, as long as nothing
/// happens to it.
#[derive(Default)]
struct Ahead {
    slots: Vec<u32>,
    known: usize,
    /// When step `known` happens.
    until: Cycle,
    /// Whether step `known` does not hit, or is not there yet.
    stops: bool,
    /// The first level's changes when this was found out.
    changes: u64,
}

/// Steps that are looked at in one go.
const STRETCH: usize = 256;

impl Core {
    pub(super) fn new(source: Box<dyn Source>) -> Core {
        Core { source, steps: Vec::new(), at: 0, now: Now::Fresh, time: 0, ahead: Ahead::default() }
    }

    /// Nothing is known of the step that it is at.
    fn look_anew(&mut self) {
        self.ahead.known = self.at;
        self.ahead.until = self.time;
        self.ahead.stops = false;
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
    /// Looks ahead, as far as `event`: when the processor may first do anything but hit; never while it waits.
    pub(super) fn look_ahead(&mut self, node: usize, event: Cycle) -> Cycle {
        let (core, caches) = (&mut self.cores[node], &mut self.nodes[node]);
        if core.now != Now::Running {
            return Cycle::MAX;
        }
        if core.ahead.changes != caches.changes() {
            core.look_anew();
            core.ahead.changes = caches.changes();
        }
        let ahead = &mut core.ahead;
        if ahead.stops || ahead.until >= event {
            return ahead.until;
        }
        let (hit, shift) = (self.config.l1.hit, self.shift);
        let (mut known, mut until) = (ahead.known, ahead.until);
        let end = core.steps.len().min(known + STRETCH);
        while known < end && until < event {
            let step = &core.steps[known];
            let line = step.address >> shift;
            let slot = match step.kind {
                Kind::Load => caches.data.hit(line, 1),
                Kind::Store => caches.data.hit(line, 3),
                Kind::Fetch => caches.instructions.hit(line, 1),
                _ => None,
            };
            let Some(slot) = slot else {
                ahead.stops = true;
                break;
            };
            ahead.slots[known] = slot as u32;
            known += 1;
            until += hit + core.steps.get(known).map_or(0, |next| u64::from(next.gap));
        }
        ahead.stops |= known == core.steps.len();
        (ahead.known, ahead.until) = (known, until);
        until
    }

    /// Runs a processor until `horizon`, or until it has to wait or to look ahead again.
    pub(super) fn run_core(&mut self, node: usize, horizon: Cycle) -> Result<(), Fault> {
        if self.shadow.is_some() {
            self.take_hits::<true>(node, horizon)
        } else {
            self.take_hits::<false>(node, horizon)
        }
        let core = &self.cores[node];
        if core.at == core.steps.len() {
            return self.refill(node);
        }
        if core.at == core.ahead.known && core.ahead.stops && core.time < horizon {
            return self.miss(node);
        }
        Ok(())
    }

    /// The steps that are known to hit, until `horizon`.
    fn take_hits<const WATCHED: bool>(&mut self, node: usize, horizon: Cycle) {
        let hit = self.config.l1.hit;
        let (offsets, shift) = (self.config.machine.line - 1, self.shift);
        let (core, caches) = (&mut self.cores[node], &mut self.nodes[node]);
        let start = core.at;
        let (mut time, mut at) = (core.time, start);
        let (mut stores, mut fetches, mut instructions) = (0, 0, 0);
        let known = core.ahead.known;
        for (step, slot) in core.steps[start..known].iter().zip(&core.ahead.slots[start..known]) {
            if time >= horizon {
                break;
            }
            let slot = *slot as usize;
            match step.kind {
                Kind::Store => {
                    caches.data.use_again(slot);
                    caches.store(slot, step.address as usize & offsets, step.value, step.size);
                    stores += 1;
                }
                Kind::Fetch => {
                    caches.instructions.use_again(slot);
                    fetches += 1;
                }
                _ => caches.data.use_again(slot),
            }
            if WATCHED && let Some(shadow) = &mut self.shadow {
                match step.kind {
                    Kind::Load => shadow.compare(caches.text(At::Data, slot), step, shift, time),
                    Kind::Store => shadow.written(step),
                    _ => {}
                }
            }
            at += 1;
            time += hit;
            if let Some(next) = core.steps.get(at) {
                time += u64::from(next.gap);
                instructions += u64::from(next.gap) + 1;
            }
        }
        core.at = at;
        core.time = time;
        let counters = &mut self.counters.nodes[node];
        counters.steps += (at - start) as u64;
        counters.stores += stores;
        counters.fetches += fetches;
        counters.instructions += instructions;
    }

    /// Asks the source for more steps; the processor is done when there are none.
    pub(super) fn refill(&mut self, node: usize) -> Result<(), Fault> {
        let core = &mut self.cores[node];
        core.source.fill(&mut core.steps)?;
        core.at = 0;
        core.ahead.slots.resize(core.steps.len(), 0);
        match core.steps.first().copied() {
            Some(first) => {
                core.now = Now::Running;
                core.time += u64::from(first.gap);
                core.look_anew();
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
        match core.steps.get(core.at).copied() {
            Some(next) => {
                core.time += u64::from(next.gap);
                core.look_anew();
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
        core.look_anew();
    }
}
