//! The machine: processors, caches, bus, memory, and the order in which they act.
//!
//! Everything that one node can do to another goes over the bus and takes at least `issue + arbitration` cycles. And what
//! hits a first level now hits it until something happens to that level. So every processor looks ahead to its first step
//! that may not hit; up to the earliest of these, and that many cycles past it, each may run on its own without seeing
//! anything too early or too late: exact, and nearly as quick as running alone.

mod bus;
mod check;
mod core;
mod miss;
mod outcome;
mod report;
mod snoop;
mod sync;
mod transfer;

use core::Core;
use std::{cmp::Reverse, collections::BinaryHeap};

use bus::Bus;
pub use check::Broken;
use check::Shadow;
pub use outcome::{End, Fault, Seen};
use sync::Meeting;

use crate::{
    access::Source,
    attack::Attacker,
    config::{BadConfig, Config, Protect},
    engine::Cycle,
    guard::Guard,
    memory::{Image, Owners},
    message::Message,
    mosi::{EVENTS, STATES},
    node::Node,
    scheme::{self, BusScheme},
    stats::Counters,
};

/// What is due at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// The arbiter decides.
    Arbitrate,
    /// An address is ordered: request number.
    Order(usize),
    /// A node sees an address later than others: node, request number.
    Snoop(usize, usize),
    /// A line may enter the data bus: message number.
    Slot(usize),
    /// A line has crossed the bus.
    Arrive(usize),
    /// A line may be used.
    Use(usize),
    /// A refused access is tried again: node.
    Retry(usize),
    /// A processor's synchronisation takes effect: node.
    Sync(usize),
    /// A request has waited long: node, its number.
    Timeout(usize, u64),
}

/// A whole machine with what its processors run.
pub struct Machine {
    config: Config,
    shift: u32,
    lookahead: u64,
    cores: Vec<Core>,
    nodes: Vec<Node>,
    bus: Bus,
    /// Lines on their way, by number; `None` is free.
    messages: Vec<Option<Message>>,
    free: Vec<usize>,
    due: BinaryHeap<Reverse<(Cycle, u64, Due)>>,
    dues: u64,
    now: Cycle,
    image: Image,
    owners: Owners,
    guard: Option<Guard>,
    scheme: Box<dyn BusScheme>,
    meeting: Meeting,
    shadow: Option<Shadow>,
    attacker: Option<Attacker>,
    random: u64,
    counters: Counters,
    end: Option<End>,
    /// How often each cell of the protocol's table was used.
    coverage: Box<[[u64; EVENTS]; STATES]>,
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine").field("now", &self.now).field("config", &self.config).finish_non_exhaustive()
    }
}

impl Machine {
    /// A machine at rest with what memory holds at the start, and a source of steps for each processor.
    ///
    /// # Errors
    /// When the settings make no machine, or there is not one source a processor.
    pub fn new(config: &Config, image: Image, sources: Vec<Box<dyn Source>>) -> Result<Machine, BadConfig> {
        config.check()?;
        let processors = config.machine.processors;
        if sources.len() != processors {
            return Err(BadConfig(format!("{} sources of steps for {processors} processors", sources.len())));
        }
        let units = config.units();
        let Config { machine, .. } = config;
        let protect = config.memory.protect == Protect::Tree;
        Ok(Machine {
            config: config.clone(),
            shift: machine.line.trailing_zeros(),
            lookahead: config.bus.issue + config.bus.arbitration,
            cores: sources.into_iter().map(Core::new).collect(),
            nodes: (0..processors).map(|_| Node::new(config)).collect(),
            bus: Bus::new(processors),
            messages: Vec::new(),
            free: Vec::new(),
            due: BinaryHeap::new(),
            dues: 0,
            now: 0,
            guard: protect.then(|| Guard::new(config, &image)),
            image,
            owners: Owners::default(),
            scheme: scheme::build(&config.shu, units, machine.line, config.bus.width, machine.seed),
            meeting: Meeting::new(processors),
            shadow: None,
            attacker: None,
            random: machine.seed ^ 0x5ea1_5ea1,
            counters: Counters::new(processors),
            end: None,
            coverage: Box::new([[0; EVENTS]; STATES]),
        })
    }

    /// Compares every value read with what was last written, and every transaction with the protocol's invariants; slow.
    pub fn watch(&mut self) {
        self.shadow = Some(Shadow::new(&self.image, self.config.bus.skew == 0));
    }

    /// Lets somebody work on the bus.
    pub fn attack(&mut self, attacker: Attacker) {
        self.attacker = Some(attacker);
    }

    /// Runs until every processor is done, an alarm is raised, nobody can go on, or `steps` more steps were taken.
    ///
    /// # Errors
    /// When a source fails, the protocol has a hole, or a watched invariant breaks with nobody on the bus.
    pub fn run(&mut self, steps: u64) -> Result<Option<End>, Fault> {
        let limit = self.counters.steps().saturating_add(steps);
        for node in 0..self.cores.len() {
            if self.cores[node].fresh() {
                self.refill(node)?;
            }
        }
        while self.end.is_none() && self.counters.steps() < limit {
            let event = self.due.peek().map_or(Cycle::MAX, |Reverse((at, ..))| *at);
            if !self.run_cores(event)? {
                self.next_event()?;
            }
        }
        Ok(self.end.clone())
    }

    /// Runs each processor as far as nothing can reach it; whether any could run.
    fn run_cores(&mut self, event: Cycle) -> Result<bool, Fault> {
        if self.cores.iter().all(|core| core.clock() >= event) {
            return Ok(false);
        }
        // Until then all of them hit their own first levels, and nobody does anything to anybody
        let alone = (0..self.cores.len()).map(|node| self.look_ahead(node, event)).min().unwrap_or(event);
        let horizon = event.min(alone.saturating_add(self.lookahead));
        for node in 0..self.cores.len() {
            if self.cores[node].clock() < horizon {
                self.run_core(node, horizon)?;
            }
        }
        Ok(true)
    }

    fn next_event(&mut self) -> Result<(), Fault> {
        let Some(Reverse((at, _, due))) = self.due.pop() else {
            self.end = Some(self.settled());
            return Ok(());
        };
        debug_assert!(at >= self.now, "time runs one way");
        self.now = at;
        match due {
            Due::Arbitrate => self.arbitrate(),
            Due::Order(request) => self.order(request)?,
            Due::Snoop(node, request) => self.snoop_late(node, request)?,
            Due::Slot(message) => self.slot(message)?,
            Due::Arrive(message) => self.arrive(message),
            Due::Use(message) => self.use_line(message)?,
            Due::Retry(node) => self.retry(node),
            Due::Sync(node) => self.synchronise(node)?,
            Due::Timeout(node, request) => self.timeout(node, request)?,
        }
        Ok(())
    }

    /// Nothing is due: everybody is done, or those who are not wait for ever.
    fn settled(&self) -> End {
        let stuck: Vec<usize> = (0..self.cores.len()).filter(|node| !self.cores[*node].done()).collect();
        if stuck.is_empty() { End::Done } else { End::Stuck(stuck) }
    }

    fn push(&mut self, at: Cycle, due: Due) {
        self.dues += 1;
        self.due.push(Reverse((at, self.dues, due)));
    }

    /// The next of a sequence of numbers that follows from the seed (splitmix64).
    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.random;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }
}

impl Config {
    /// Sealing units: one a chip, or one a processor.
    pub fn units(&self) -> usize {
        if self.machine.chips == 0 { self.machine.processors } else { self.machine.chips }
    }

    /// The unit of a node.
    pub fn unit(&self, node: usize) -> usize {
        node * self.units() / self.machine.processors
    }
}
