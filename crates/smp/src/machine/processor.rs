//! The processors: in order, one instruction per cycle, blocking on every access unless misses overlap. `take_hits` is
//! the simulator's innermost loop.

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
    times::Times,
};
use crate::{
    access::{Access, Operation, Source},
    config::{Config, Processes},
    engine::Cycle,
    stats::NodeCounters,
};

/// The state of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activity {
    /// Its source has not been read yet.
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
    /// The batch of accesses last read from the source, and the index of the next one in it.
    pub(super) accesses: Vec<Access>,
    pub(super) at: usize,
    pub(super) activity: Activity,
    /// When the next access happens.
    pub(super) time: Cycle,
    pub(super) ahead: Lookahead,
    /// With overlapping misses: why it is stalled, unless it waits for a single line.
    pub(super) stall: Option<Stall>,
    /// Whether it waits to try a refused access again.
    pub(super) refused: bool,
    /// The cycle up to which its waiting has been counted; it may lie in the future.
    pub(super) paid: Cycle,
    /// The process that it runs, and the threads of other processes that wait for it.
    pub(super) threads: Threads,
}

/// Result of looking ahead: the accesses before index `known` hit the first level, in these `slots`, as long as that
/// level does not change.
#[derive(Default)]
pub(super) struct Lookahead {
    pub(super) slots: Vec<u32>,
    known: usize,
    /// The cycle of access `known`.
    until: Cycle,
    /// Whether access `known` does not hit, or has not been read from the source.
    stops: bool,
    /// The first level's change counter when this was found: another value invalidates it.
    changes: u64,
}

/// The most accesses that one look-ahead examines.
const STRETCH: usize = 256;

/// The windows of time in which processors on a bus have run so far.
#[derive(Debug, Default)]
pub(super) struct Windows {
    /// The end of the last window: every processor's hits before it are performed or pending.
    pub(super) end: Cycle,
    /// The value of `end` before the last window.
    pub(super) before: Cycle,
    /// The processor that is being run in the last window: those with higher numbers follow.
    pub(super) turn: Option<usize>,
}

/// All processors.
pub(super) struct Processors {
    pub(super) cores: Vec<Processor>,
    pub(super) processes: Processes,
    /// For each processor, the cycle before which it is known to only hit. Out of date for processors in `touched`.
    pub(super) hits_until: Times,
    /// Processors whose look-ahead may be out of date.
    pub(super) touched: Set,
    /// On a bus, for each processor: the cycle of its first access that does not hit; `Cycle::MAX` if that is unknown.
    pub(super) stops_at: Times,
    /// On a bus: processors whose look-ahead has not found such an access yet.
    pub(super) open: Set,
    pub(super) windows: Windows,
    /// The cycle up to which processors have run, if later than the last event.
    pub(super) reached: Cycle,
    hit: u64,
    line: usize,
    shift: u32,
    pub(super) retry: u64,
    /// Accesses refused since the last event that was not a retry.
    pub(super) refused: usize,
}

/// Why a processor stops before the horizon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It does not stop: it has reached the horizon, or must look ahead again.
    None,
    /// Its source has ended.
    Finished,
    /// Its next access does not hit the first level.
    Access,
}

impl Processor {
    /// Discards what looking ahead has found.
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
            refused: false,
            paid: 0,
            threads: Threads::default(),
        };
        // Sources come process by process, one per processor
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

    /// Processors whose sources have not been read yet.
    pub(super) fn fresh(&self) -> Vec<usize> {
        (0..self.cores.len()).filter(|node| self.cores[*node].activity == Activity::Fresh).collect()
    }

    /// Processors that have not finished.
    pub(super) fn unfinished(&self) -> Vec<usize> {
        let waits = |core: &Processor| core.activity != Activity::Finished || !core.threads.all_ended();
        (0..self.cores.len()).filter(|node| waits(&self.cores[*node])).collect()
    }

    /// Marks a processor's look-ahead as out of date.
    #[inline]
    pub(super) fn touch(&mut self, node: usize) {
        self.touched = self.touched.with(node);
    }

    /// All processors.
    pub(super) fn all(&self) -> Set {
        Set::all(self.cores.len())
    }

    /// The cycle at which a running processor reaches an access that does not hit, or must read more accesses from its
    /// source; `None` if looking ahead has found neither.
    pub(super) fn stop(&self, node: usize) -> Option<Cycle> {
        let Processor { accesses, ahead, .. } = &self.cores[node];
        // A source is read as soon as the last access of the batch begins
        let asks = ahead.known == accesses.len();
        ahead.stops.then(|| if asks { ahead.until - self.hit } else { ahead.until })
    }

    /// Whether looking ahead has ended at an access that does not hit, or has not been read from the source.
    pub(super) fn stops(&self, node: usize) -> bool {
        self.cores[node].ahead.stops
    }

    /// The cycle of a processor's next access; `Cycle::MAX` unless it is running.
    #[inline]
    pub(super) fn clock(&self, node: usize) -> Cycle {
        let core = &self.cores[node];
        if core.activity == Activity::Running { core.time } else { Cycle::MAX }
    }

    /// The earliest of these cycles.
    pub(super) fn first_clock(&self) -> Cycle {
        (0..self.cores.len()).map(|node| self.clock(node)).min().unwrap_or(Cycle::MAX)
    }

    /// A processor's next access.
    pub(super) fn access(&self, node: usize) -> Access {
        let core = &self.cores[node];
        core.accesses[core.at]
    }

    /// Looks ahead, up to `event`: returns the cycle before which a processor only hits; `Cycle::MAX` unless it is
    /// running.
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
            // A line whose upgrade is outstanding can be read here, but earlier stores wait in its MSHR: join them
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

    /// Performs a processor's accesses that are known to hit, up to `horizon`.
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

    /// Reads the next accesses from the source; returns whether there are none, so that the processor has finished.
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

    /// Completes the current access and moves on to the next; returns whether the processor has finished.
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

    /// Makes a processor wait; returns the cycle of its current access, at which its time stays.
    pub(super) fn wait(&mut self, node: usize) -> Cycle {
        self.touch(node);
        let core = &mut self.cores[node];
        core.activity = Activity::Waiting;
        core.time
    }
}
