//! Timing of the engines of a node's security unit (AES, GHASH and MAC), each with a latency and an initiation interval
//! between lines, and of the pads that they precompute.
//!
//! The thesis gives the AES engine's latency but not its initiation interval. Its results depend on that, so it is a
//! setting, [`Model`]. They depend on the number of engines as well: [`Units`].

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use serde::{Deserialize, Serialize};

/// A point in time, in processor cycles.
pub type Cycle = u64;

/// The current cycle of a machine, shared with every [`Busy`], which discards what lies far enough before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock(Arc<AtomicU64>);

impl Clock {
    /// The machine has reached `now`.
    pub(crate) fn set(&self, now: Cycle) {
        self.0.store(now, Ordering::Relaxed);
    }

    fn now(&self) -> Cycle {
        self.0.load(Ordering::Relaxed)
    }
}

/// How often an AES engine can start a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Every cycle, as the thesis's sentence on five pads within a latency implies.
    Window,
    /// Every latency / 4 cycles, as the thesis's throughput implies (64 bytes in 80 cycles at 1 GHz are 0.8 GB/s).
    #[default]
    Pipelined,
    /// When the previous line is done, as "takes 320 cycles" implies for an engine without pipeline stages.
    Iterative,
}

impl Model {
    /// Every model, for sweeps.
    pub const ALL: [Model; 3] = [Model::Window, Model::Pipelined, Model::Iterative];

    /// Its name on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Model::Window => "window",
            Model::Pipelined => "pipelined",
            Model::Iterative => "iterative",
        }
    }

    fn interval(self, latency: u64) -> u64 {
        match self {
            Model::Window => 0,
            Model::Pipelined => latency.div_ceil(4),
            Model::Iterative => latency,
        }
    }
}

/// How many engines a node has. The variants differ only in that; the rules by which engines are occupied are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Units {
    /// As in the thesis's text and storage table: one AES engine for pads or masks; GHASH for GCM, and for chained
    /// masks a second AES engine for the MAC, with one mask to send and one to receive.
    #[default]
    Thesis,
    /// The same for every scheme: one AES engine for pads or masks, one engine for authentication, two masks to send
    /// and two to receive. Links (CXL and PCIe IDE) have these engines too, not engines that match the speed of the
    /// link.
    Equal,
    /// As many engines as needed: nothing waits for a free engine, only for its latency. Two masks to send and two to
    /// receive.
    Generous,
}

impl Units {
    /// Every variant, for sweeps.
    pub const ALL: [Units; 3] = [Units::Thesis, Units::Equal, Units::Generous];

    /// Its name on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Units::Thesis => "thesis",
            Units::Equal => "equal",
            Units::Generous => "generous",
        }
    }
}

/// The engines of a node's security unit, which schemes share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Engines {
    /// How many engines a node has.
    pub units: Units,
    /// How often an AES engine can start a line.
    pub model: Model,
    /// Latency of an AES engine for a line, in cycles; if absent, the figure published for the scheme.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<u64>,
    /// Cycles between the starts of two lines in an AES engine; if absent, as the model defines it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<u64>,
    /// Cycles to combine a line with its pad or mask.
    pub xor: u64,
    /// Cycles of the GHASH engine for a line. It processes one line at a time.
    pub ghash: u64,
}

impl Default for Engines {
    fn default() -> Self {
        Engines { units: Units::Thesis, model: Model::Pipelined, latency: None, interval: None, xor: 1, ghash: 4 }
    }
}

impl Engines {
    /// A node's AES engine for pads or masks. `published` is the latency in the scheme's publication of a line of
    /// `blocks` blocks.
    pub(crate) fn aes(&self, published: u64, blocks: u64) -> Engine {
        let latency = self.latency.unwrap_or(published);
        let interval = self.interval.unwrap_or(self.model.interval(latency));
        let interval = if self.units == Units::Generous { 0 } else { interval };
        Engine::new(latency, interval, interval, blocks)
    }

    /// A node's AES engine for a MAC. Its blocks are chained, so it is not pipelined, whatever the model.
    pub(crate) fn mac(&self, published: u64, blocks: u64) -> Engine {
        let latency = self.latency.unwrap_or(published);
        Engine::new(latency, if self.units == Units::Generous { 0 } else { latency }, latency, blocks)
    }

    /// The GHASH engine of a node.
    pub(crate) fn ghash(&self, blocks: u64) -> Engine {
        Engine::new(self.ghash, if self.units == Units::Generous { 0 } else { self.ghash }, self.ghash, blocks)
    }
}

/// The reservations of a resource that serves one request at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Busy {
    /// Reserved intervals in order of time; adjacent ones are merged.
    stretches: VecDeque<(Cycle, Cycle)>,
    clock: Clock,
}

/// Intervals that ended this many cycles before the machine's current cycle are discarded: no request is for a time so
/// far back. The clock decides and not the latest reservation, because reservations may be far ahead of it.
const FORGET: u64 = 1 << 14;

impl Busy {
    /// No reservations, in a machine with this clock.
    pub(crate) fn new(clock: &Clock) -> Busy {
        Busy { stretches: VecDeque::new(), clock: clock.clone() }
    }

    /// The first time from `now` on when it is free for `cycles`, and the index of the first interval after that.
    fn free(&self, now: Cycle, cycles: u64) -> (Cycle, usize) {
        let taken = &self.stretches;
        let mut place = taken.iter().rposition(|(_, to)| *to <= now).map_or(0, |place| place + 1);
        let mut start = now;
        while let Some((from, to)) = taken.get(place).copied() {
            if start + cycles <= from {
                break;
            }
            start = start.max(to);
            place += 1;
        }
        (start, place)
    }

    /// Reserves the first `cycles` from `now` on in which it is free; returns their start.
    pub(crate) fn take(&mut self, now: Cycle, cycles: u64) -> Cycle {
        if cycles == 0 {
            return now;
        }
        let reached = self.clock.now();
        while self.stretches.front().is_some_and(|(_, to)| to + FORGET < reached) {
            self.stretches.pop_front();
        }
        let (start, place) = self.free(now, cycles);
        let taken = &mut self.stretches;
        let end = start + cycles;
        let joins = |at: Option<&(Cycle, Cycle)>, time: Cycle, ends: bool| {
            at.is_some_and(|(from, to)| if ends { *to == time } else { *from == time })
        };
        let before = place > 0 && joins(taken.get(place - 1), start, true);
        let after = joins(taken.get(place), end, false);
        match (before, after) {
            (true, true) => {
                taken[place - 1].1 = taken[place].1;
                taken.remove(place);
            }
            (true, false) => taken[place - 1].1 = end,
            (false, true) => taken[place].0 = start,
            (false, false) => taken.insert(place, (start, end)),
        }
        start
    }
}

/// An engine: its timing, and its reservations.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    latency: u64,
    interval: u64,
    /// Added latency for each further line of blocks: the interval, or the whole latency if blocks are chained.
    later: u64,
    /// Blocks of a line, to which all of these figures refer.
    blocks: u64,
    /// When it cannot start a line.
    busy: Busy,
    /// For how many cycles it could not, up to now.
    occupied: u64,
}

impl Engine {
    fn new(latency: u64, interval: u64, later: u64, blocks: u64) -> Engine {
        Engine { latency, interval, later, blocks: blocks.max(1), busy: Busy::default(), occupied: 0 }
    }

    /// The same engine in a machine with this clock.
    pub(crate) fn timed(mut self, clock: &Clock) -> Engine {
        self.busy.clock = clock.clone();
        self
    }

    /// Starts a line at `now` or as soon as possible; returns when it is done.
    pub(crate) fn line(&mut self, now: Cycle) -> Cycle {
        self.work(now, self.blocks)
    }

    /// The same for `blocks` blocks, which occupy the engine in proportion.
    pub(crate) fn work(&mut self, now: Cycle, blocks: u64) -> Cycle {
        let (busy, done) = self.cycles(blocks);
        self.occupied += busy;
        self.busy.take(now, busy) + done
    }

    /// When `blocks` blocks would begin if they were requested at `now`.
    pub(crate) fn would_begin(&self, now: Cycle, blocks: u64) -> Cycle {
        let (busy, _) = self.cycles(blocks);
        if busy == 0 { now } else { self.busy.free(now, busy).0 }
    }

    /// The latency of `blocks` blocks.
    pub(crate) fn latency(&self, blocks: u64) -> u64 {
        self.cycles(blocks).1
    }

    /// The cycles for which work has occupied it: 0 if it can start a line every cycle.
    pub(crate) fn occupied(&self) -> u64 {
        self.occupied
    }

    /// For how long `blocks` blocks occupy the engine, and their latency.
    fn cycles(&self, blocks: u64) -> (u64, u64) {
        let of = |cycles: u64, blocks: u64| (cycles * blocks).div_ceil(self.blocks);
        (of(self.interval, blocks), self.latency + of(self.later, blocks.saturating_sub(self.blocks)))
    }
}

/// Precomputed pads, oldest first: when each is ready.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    ready: VecDeque<Cycle>,
}

impl Pool {
    /// A pool of `pads`, all ready.
    pub(crate) fn new(pads: usize) -> Pool {
        Pool { ready: vec![0; pads].into() }
    }

    /// Starts one more pad in the engine at `now`.
    pub(crate) fn fill(&mut self, now: Cycle, engine: &mut Engine, blocks: u64) {
        self.ready.push_back(engine.work(now, blocks));
    }

    /// Takes the oldest pad at `now` and starts another of `blocks` blocks; returns when the pad taken may be used.
    pub(crate) fn take(&mut self, now: Cycle, engine: &mut Engine, blocks: u64) -> Cycle {
        let made = engine.work(now, blocks);
        self.ready.push_back(made);
        // In an empty pool, this is the pad that was just started
        self.ready.pop_front().unwrap_or(made).max(now)
    }
}

/// Waits for a cipher: how many, and how long together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Waits {
    /// Uses.
    pub uses: u64,
    /// Uses that had to wait.
    pub waited: u64,
    /// Cycles waited.
    pub cycles: u64,
}

impl Waits {
    /// Records a use requested at `now` and ready at `ready`; returns when it can take place.
    pub(crate) fn note(&mut self, now: Cycle, ready: Cycle) -> Cycle {
        self.uses += 1;
        self.waited += u64::from(ready > now);
        self.cycles += ready.saturating_sub(now);
        ready.max(now)
    }

    /// Waits since `before`.
    pub(crate) fn since(&self, before: &Waits) -> Waits {
        Waits {
            uses: self.uses - before.uses,
            waited: self.waited - before.waited,
            cycles: self.cycles - before.cycles,
        }
    }

    /// The share of uses that did not wait.
    pub fn ready_share(&self) -> f64 {
        if self.uses == 0 { 1.0 } else { 1.0 - self.waited as f64 / self.uses as f64 }
    }
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
