//! The processors: in order, one instruction a cycle, waiting for every access unless misses overlap. The innermost loop of the
//! simulator.

use super::{
    cache::{READABLE, WRITABLE},
    caches::Caches,
    checker::Checker,
    coherence::Completion,
    context::Context,
    mshrs::Stall,
    node::At,
    outcome::MachineError,
    set::Set,
    threads::{Parked, Threads},
    times::{Times, Windows},
};
use crate::{
    access::{Access, Operation, Source},
    config::{Config, Processes},
    engine::Cycle,
    stats::NodeCounters,
};

/// What a processor does at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activity {
    /// Its source was never asked for accesses.
    Fresh,
    /// It runs.
    Running,
    /// It waits for a line, for other processors, or to try again.
    Waiting,
    /// Its source has ended.
    Finished,
}

/// A processor.
pub(super) struct Processor {
    pub(super) source: Box<dyn Source>,
    pub(super) accesses: Vec<Access>,
    pub(super) at: usize,
    pub(super) activity: Activity,
    /// When the next access happens.
    pub(super) time: Cycle,
    pub(super) ahead: Lookahead,
    /// What it waits for while lines are under way that it does not wait for.
    pub(super) stall: Option<Stall>,
    /// Until when its wait for a line has been counted, where that is ahead of time.
    pub(super) paid: Cycle,
    /// Which process's thread this is, and those of others that wait for the processor.
    pub(super) threads: Threads,
}

/// What looking ahead found: accesses before `known` hit the first level, in these slots, as long as that level does not
/// change.
#[derive(Default)]
pub(super) struct Lookahead {
    pub(super) slots: Vec<u32>,
    known: usize,
    /// When access `known` happens.
    until: Cycle,
    /// Whether access `known` does not hit, or has not been read from the source.
    stops: bool,
    /// The first level's changes when this was found.
    changes: u64,
}

/// Accesses that are looked at in one go.
const STRETCH: usize = 256;

/// All processors.
pub(super) struct Processors {
    pub(super) cores: Vec<Processor>,
    pub(super) processes: Processes,
    /// Of each processor, until when it is known to only hit; not of those that were touched since that was looked at.
    pub(super) hits_until: Times,
    pub(super) touched: Set,
    /// Of each processor on a bus, when it does what is no hit, as far as that is known.
    pub(super) stops_at: Times,
    /// Processors on a bus that may hit further than is known.
    pub(super) open: Set,
    pub(super) windows: Windows,
    /// Until when processors have run, where that is later than the last event.
    pub(super) reached: Cycle,
    hit: u64,
    line: usize,
    shift: u32,
    pub(super) retry: u64,
    /// Accesses refused in a row, while nothing happened that could change that.
    pub(super) refused: usize,
}

/// Why a processor stops before the horizon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It does not: it has reached the horizon, or must look ahead again.
    None,
    /// Its source has ended.
    Finished,
    /// The access that it is at does not hit the first level.
    Access,
}

impl Processor {
    /// Nothing is known of the access that it is at.
    pub(super) fn look_anew(&mut self) {
        self.ahead.known = self.at;
        self.ahead.until = self.time;
        self.ahead.stops = false;
    }
}

impl Processors {
    pub(super) fn new(config: &Config, sources: Vec<Box<dyn Source>>) -> Processors {
        let nodes = config.machine.processors;
        let core = |source| Processor {
            source,
            accesses: Vec::new(),
            at: 0,
            activity: Activity::Fresh,
            time: 0,
            ahead: Lookahead::default(),
            stall: None,
            paid: 0,
            threads: Threads::default(),
        };
        // The sources of process 0 first, one a processor
        let mut sources = sources.into_iter();
        let mut cores: Vec<Processor> = sources.by_ref().take(nodes).map(core).collect();
        for (place, source) in sources.enumerate() {
            cores[place % nodes].threads.park(Parked::fresh(place / nodes + 1, source));
        }
        Processors {
            cores,
            processes: config.processes.clone(),
            hits_until: Times::new(nodes),
            touched: Set::default(),
            stops_at: Times::new(nodes),
            open: Set::default(),
            windows: Windows::default(),
            reached: 0,
            hit: config.l1.hit,
            line: config.machine.line,
            shift: config.machine.line.trailing_zeros(),
            retry: config.bus.retry,
            refused: 0,
        }
    }

    /// Processors whose sources were never asked.
    pub(super) fn fresh(&self) -> Vec<usize> {
        (0..self.cores.len()).filter(|node| self.cores[*node].activity == Activity::Fresh).collect()
    }

    /// Processors that have not finished.
    pub(super) fn unfinished(&self) -> Vec<usize> {
        let waits = |core: &Processor| core.activity != Activity::Finished || !core.threads.all_ended();
        (0..self.cores.len()).filter(|node| waits(&self.cores[*node])).collect()
    }

    /// What was known of a processor's next accesses may be so no more.
    #[inline]
    pub(super) fn touch(&mut self, node: usize) {
        self.touched = self.touched.with(node);
    }

    /// All processors.
    pub(super) fn all(&self) -> Set {
        Set::all(self.cores.len())
    }

    /// When a processor that runs is at an access that does not hit, or has to ask its source for more; `None` if it hits further
    /// than is known.
    pub(super) fn stop(&self, node: usize) -> Option<Cycle> {
        let Processor { accesses, ahead, .. } = &self.cores[node];
        // A source is asked as soon as the last access begins
        let asks = ahead.known == accesses.len();
        ahead.stops.then(|| if asks { ahead.until - self.hit } else { ahead.until })
    }

    /// Whether the first access that is not known to hit does not, or has not been read from the source.
    pub(super) fn stops(&self, node: usize) -> bool {
        self.cores[node].ahead.stops
    }

    /// When a processor acts next of itself; never while it waits.
    #[inline]
    pub(super) fn clock(&self, node: usize) -> Cycle {
        let core = &self.cores[node];
        if core.activity == Activity::Running { core.time } else { Cycle::MAX }
    }

    /// The first of those times.
    pub(super) fn first_clock(&self) -> Cycle {
        (0..self.cores.len()).map(|node| self.clock(node)).min().unwrap_or(Cycle::MAX)
    }

    /// The access that a processor is at.
    pub(super) fn access(&self, node: usize) -> Access {
        let core = &self.cores[node];
        core.accesses[core.at]
    }

    /// Looks ahead, as far as `event`: when a processor may first do anything but hit; never while it waits.
    pub(super) fn look_ahead(&mut self, node: usize, event: Cycle, caches: &mut Caches) -> Cycle {
        let (core, caches) = (&mut self.cores[node], &mut caches.nodes[node]);
        if core.activity != Activity::Running {
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
        let (hit, shift) = (self.hit, self.shift);
        let (mut known, mut until, under_way) = (ahead.known, ahead.until, caches.mshrs.any());
        let end = core.accesses.len().min(known + STRETCH);
        while known < end && until < event {
            let access = &core.accesses[known];
            let line = access.address >> shift;
            let slot = match access.kind {
                Operation::Load => caches.data.hit(line, READABLE),
                Operation::Store => caches.data.hit(line, WRITABLE),
                Operation::Fetch => caches.instructions.hit(line, READABLE),
                _ => None,
            };
            // A line that is under way may be there for reading, but stores before this access are still to come
            let Some(slot) = slot.filter(|_| !under_way || caches.mshrs.of(line).is_none()) else {
                ahead.stops = true;
                break;
            };
            ahead.slots[known] = slot as u32;
            known += 1;
            until += hit + core.accesses.get(known).map_or(0, |next| u64::from(next.gap));
        }
        ahead.stops |= known == core.accesses.len();
        (ahead.known, ahead.until) = (known, until);
        until
    }

    /// Runs a processor until `horizon`, or until it must wait or look ahead again.
    pub(super) fn run(
        &mut self,
        node: usize,
        horizon: Cycle,
        caches: &mut Caches,
        context: &mut Context,
    ) -> Result<Stop, MachineError> {
        self.hit(node, horizon, caches, context);
        let core = &self.cores[node];
        if core.at == core.accesses.len() {
            return Ok(if self.refill(node, context)? { Stop::Finished } else { Stop::None });
        }
        let stops = core.at == core.ahead.known && core.ahead.stops && core.time < horizon;
        Ok(if stops { Stop::Access } else { Stop::None })
    }

    /// A processor does the accesses that are known to hit, until `horizon`.
    pub(super) fn hit(&mut self, node: usize, horizon: Cycle, caches: &mut Caches, context: &mut Context) {
        let counters = &mut context.counters.nodes[node];
        match &mut context.checker {
            Some(checker) => self.take_hits::<true>(node, horizon, caches, counters, Some(checker)),
            None => self.take_hits::<false>(node, horizon, caches, counters, None),
        }
    }

    fn take_hits<const CHECKED: bool>(
        &mut self,
        node: usize,
        horizon: Cycle,
        caches: &mut Caches,
        counters: &mut NodeCounters,
        mut checker: Option<&mut Checker>,
    ) {
        let (hit, offsets, shift) = (self.hit, self.line - 1, self.shift);
        let (core, caches) = (&mut self.cores[node], &mut caches.nodes[node]);
        let start = core.at;
        let (mut time, mut at) = (core.time, start);
        let (mut stores, mut fetches, mut instructions) = (0, 0, 0);
        let known = core.ahead.known;
        for (access, slot) in core.accesses[start..known].iter().zip(&core.ahead.slots[start..known]) {
            if time >= horizon {
                break;
            }
            let slot = *slot as usize;
            match access.kind {
                Operation::Store => {
                    caches.data.use_again(slot);
                    caches.store(slot, access.address as usize & offsets, access.value, access.size);
                    stores += 1;
                }
                Operation::Fetch => {
                    caches.instructions.use_again(slot);
                    fetches += 1;
                }
                _ => caches.data.use_again(slot),
            }
            if CHECKED && let Some(checker) = &mut checker {
                match access.kind {
                    Operation::Load => checker.loaded(caches.text(At::Data, slot), access, shift, time),
                    Operation::Store => checker.stored(access, time),
                    _ => {}
                }
            }
            at += 1;
            time += hit;
            if let Some(next) = core.accesses.get(at) {
                time += u64::from(next.gap);
                instructions += next.instructions();
            }
        }
        core.at = at;
        core.time = time;
        counters.accesses += (at - start) as u64;
        counters.stores += stores;
        counters.fetches += fetches;
        counters.instructions += instructions;
    }

    /// Asks the source for more accesses; whether there are none, and the processor has finished.
    pub(super) fn refill(&mut self, node: usize, context: &mut Context) -> Result<bool, MachineError> {
        self.touch(node);
        let core = &mut self.cores[node];
        let counters = &mut context.counters.nodes[node];
        core.source.fill(&mut core.accesses)?;
        if self.processes.count > 1 {
            core.threads.own_space(&mut core.accesses);
        }
        core.at = 0;
        core.ahead.slots.resize(core.accesses.len(), 0);
        let Some(first) = core.accesses.first() else {
            core.activity = Activity::Finished;
            counters.finished = core.time;
            return Ok(true);
        };
        core.activity = Activity::Running;
        core.time += u64::from(first.gap);
        counters.instructions += first.instructions();
        core.look_anew();
        Ok(false)
    }

    /// The access that waited is done; the processor goes on with the next. Whether it has finished.
    pub(super) fn advance(&mut self, completion: Completion, context: &mut Context) -> Result<bool, MachineError> {
        let Completion { node, at: time } = completion;
        self.touch(node);
        let counters = &mut context.counters.nodes[node];
        let core = &mut self.cores[node];
        let kind = core.accesses[core.at].kind;
        match kind {
            Operation::Store => counters.stores += 1,
            Operation::Fetch => counters.fetches += 1,
            _ => {}
        }
        counters.accesses += u64::from(kind.refers());
        core.at += 1;
        core.time = time;
        core.activity = Activity::Running;
        let Some(next) = core.accesses.get(core.at) else { return self.refill(node, context) };
        core.time += u64::from(next.gap);
        counters.instructions += next.instructions();
        core.look_anew();
        Ok(false)
    }

    /// The processor waits; its time stays that of the access.
    pub(super) fn wait(&mut self, node: usize) -> Cycle {
        self.touch(node);
        let core = &mut self.cores[node];
        core.activity = Activity::Waiting;
        core.time
    }
}
