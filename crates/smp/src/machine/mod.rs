//! The machine: processors, caches, bus or links, memory and synchronisation, and the order in which they act.
//!
//! Each component owns its state; [`Machine`] takes events from the schedule and passes the results of one component to
//! the next. An access that hits the first-level cache now continues to hit until that cache changes, so processors run
//! ahead as long as nothing can affect them: on a bus in windows of time (`windows`), over links each at its own pace
//! (`pace`). The results are exactly those of a cycle-by-cycle simulation, at nearly the speed of isolated processors.

mod arrivals;
mod bus;
mod cache;
mod caches;
mod changes;
mod checker;
mod coherence;
mod commands;
mod context;
mod directory;
mod dram;
mod dump;
mod invariants;
mod links;
mod memory;
mod mshrs;
mod network;
mod node;
mod outcome;
mod overlap;
mod pace;
mod processor;
mod region;
mod report;
mod request;
mod retries;
mod schedule;
mod set;
mod sync;
mod sync_lines;
mod threads;
mod times;
mod transfers;
mod turns;
mod windows;

use bus::Bus;
use checker::Checker;
pub use checker::InvariantError;
use coherence::{Arrival, Attempt, Coherence, Completion};
use context::Context;
use dump::Dump;
use memory::Memory;
use mshrs::Stall;
use network::Network;
pub use outcome::{Detection, MachineError, Outcome, StrikeReport};
use processor::Processors;
use region::Bound;
use schedule::Event;
use sync::Sync;
use sync_lines::SyncLines;
use transfers::{Line, Transfers};

use crate::{
    access::{Operation, Source},
    attack::{Attacker, ObservedLine},
    config::Config,
    engine::{Clock, Cycle},
    error::ConfigError,
    memory::Image,
};

/// A whole machine with what its processors run.
pub struct Machine {
    config: Config,
    context: Context,
    processors: Processors,
    coherence: Coherence,
    /// The bus. With links instead of a bus, only its table of requests in flight is used.
    bus: Bus,
    /// The links of a ring or mesh.
    network: Option<Network>,
    transfers: Transfers,
    memory: Memory,
    /// The synchronisation objects of each process.
    syncs: Vec<Sync>,
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let now = self.context.schedule.now();
        f.debug_struct("Machine").field("now", &now).field("config", &self.config).finish_non_exhaustive()
    }
}

impl Machine {
    /// A machine with its initial memory and a source of accesses for each processor; with several processes, those of
    /// the first process come first.
    ///
    /// # Errors
    /// When the settings do not describe a machine, or there is not one source a processor.
    pub fn new(config: &Config, image: Image, sources: Vec<Box<dyn Source>>) -> Result<Machine, ConfigError> {
        config.check()?;
        let processors = config.machine.processors;
        let processes = config.processes.count;
        if sources.len() != processors * processes {
            let why = format!("{} sources of accesses for {processes} x {processors} processors", sources.len());
            return Err(ConfigError(why));
        }
        let line = config.machine.line;
        let with_lines = |source| -> Box<dyn Source> { Box::new(SyncLines::new(source, line)) };
        let sources = if config.machine.sync_lines { sources.into_iter().map(with_lines).collect() } else { sources };
        let clock = Clock::default();
        let network = Network::new(config, &clock);
        let links = network.as_ref().map_or((0, 0), |network| (network.links.numbers(), network.links.homes()));
        Ok(Machine {
            config: config.clone(),
            transfers: Transfers::new(config, &clock),
            context: Context::new(processors, links, config.machine.seed, clock),
            processors: Processors::new(config, sources),
            coherence: Coherence::new(config),
            bus: Bus::new(config),
            network,
            memory: Memory::new(config, image),
            syncs: (0..processes).map(|_| Sync::new(processors)).collect(),
        })
    }

    /// Compares every value read with the one written last, and checks the protocol's invariants after every
    /// transaction; slow.
    pub fn check_values(&mut self) {
        self.context.checker = Some(Checker::new(self.memory.image(), self.config.stale()));
    }

    /// Writes events on the bus to `out` as JSON Lines.
    pub fn dump(&mut self, out: Box<dyn std::io::Write + Send>) {
        self.context.dump = Some(Dump::new(out));
    }

    /// Ends the output of bus events.
    ///
    /// # Errors
    /// When anything could not be written.
    pub fn end_dump(&mut self) -> std::io::Result<()> {
        self.context.dump.take().map_or(Ok(()), Dump::finish)
    }

    /// Adds an attacker on the bus or in memory. Lines and commands pass attackers in the order in which they were
    /// added; at most one attacker tampers with each.
    pub fn attack(&mut self, attacker: Attacker) {
        self.transfers.attackers.add(attacker);
    }

    /// Starts recording the lines on the bus.
    pub fn listen(&mut self) {
        self.transfers.heard = Some(Vec::new());
    }

    /// The lines on the bus since [`listen`](Self::listen), in order.
    pub fn heard(&self) -> &[ObservedLine] {
        self.transfers.heard.as_deref().unwrap_or_default()
    }

    /// Runs until every processor has finished, tampering is detected, no processor can continue, or `accesses` more
    /// accesses are done.
    ///
    /// # Errors
    /// When a source fails, the protocol has no transition, or a checked invariant breaks without an attacker.
    pub fn run(&mut self, accesses: u64) -> Result<Option<Outcome>, MachineError> {
        let limit = self.context.counters.accesses().saturating_add(accesses);
        let fresh = self.processors.fresh();
        if !fresh.is_empty() {
            self.processors.first_slices(&mut self.context);
        }
        for node in fresh {
            if self.processors.refill(node, &mut self.context)? {
                self.finish(node)?;
            }
        }
        while self.context.outcome.is_none() && self.context.counters.accesses() < limit {
            self.check_pages()?;
            // The access counters are per node, and summing them at every step would be slow
            for _ in 0..1024 {
                self.step()?;
                if self.context.outcome.is_some() {
                    break;
                }
            }
        }
        self.catch_up_all(self.context.schedule.now());
        Ok(self.context.outcome.clone())
    }

    /// Stops a program that writes to too many pages. Few pages can be added between two checks.
    fn check_pages(&self) -> Result<(), MachineError> {
        let checked = self.context.checker.as_ref().map_or(0, |checker| checker.image.pages());
        let most = self.memory.most;
        if self.memory.pages() + checked > most { Err(MachineError::Pages(most)) } else { Ok(()) }
    }

    /// Runs processors as far as they can go before the next event; if none can run, takes that event.
    fn step(&mut self) -> Result<(), MachineError> {
        let event = self.context.schedule.next_cycle();
        let warm_up = self.config.machine.warm_up;
        if warm_up > 0 && self.context.region.open() && self.context.counters.accesses() >= warm_up {
            // Processors that only hit may have run beyond the last event
            self.bound_region(Bound::WarmedUp, self.context.schedule.now().max(self.processors.reached));
        }
        let ran = if self.network.is_some() { self.run_first(event)? } else { self.run_window(event)? };
        if ran { Ok(()) } else { self.next_event() }
    }

    fn next_event(&mut self) -> Result<(), MachineError> {
        let Some(event) = self.context.schedule.take() else {
            // No event is left: either all processors have finished, or the others wait for ever
            let waiting = self.processors.unfinished();
            let outcome = if waiting.is_empty() { Outcome::Completed } else { Outcome::Deadlock(waiting) };
            self.context.outcome = Some(outcome);
            return Ok(());
        };
        if !matches!(event, Event::Retry(_)) {
            self.processors.refused = 0;
        }
        match event {
            Event::Arbitrate => self.bus.arbitrate(&mut self.context),
            Event::Order(request) => self.order(request)?,
            Event::Forge => self.forge()?,
            Event::Snoop(node, request) => self.snoop_late(node, request)?,
            Event::Depart(request) => self.depart(request),
            Event::Reach(line, request) => self.reach(line, request),
            Event::Ready(message) => self.transfers.ready(message, &mut self.context),
            Event::Transmit(message) => {
                let links = self.network.as_mut().map(|network| &mut network.links);
                self.transfers.transmit(message, &mut self.bus, links, &mut self.context);
            }
            Event::Arrive(message) => self.transfers.arrive(message, &mut self.context),
            Event::Verify => {
                let links = self.network.as_ref().map(|network| &network.links);
                self.transfers.verify(links, &mut self.context);
            }
            Event::Alarm(alarm) => self.context.raise(alarm),
            Event::Release(message) => self.release(message)?,
            Event::Acknowledged(node) => self.acknowledged(node)?,
            Event::Retry(node) => self.retry(node),
            Event::Synchronise(node) => self.synchronise(node)?,
            Event::Switch(node, change) => {
                self.catch_up(node, self.context.schedule.now());
                if self.processors.expire(node, change) {
                    self.change(node)?;
                }
            }
            Event::Timeout(node, request) => {
                if let Some(times) = self.coherence.timed_out(node, request) {
                    self.transfers.timeout(node, request, times, &mut self.context);
                }
            }
        }
        Ok(())
    }

    /// Handles an access that does not hit the first level, a synchronisation, or a region bound.
    fn access(&mut self, node: usize) -> Result<(), MachineError> {
        let access = self.processors.access(node);
        let time = self.processors.wait(node);
        if let Operation::RegionBegin | Operation::RegionEnd = access.kind {
            let bound = if access.kind == Operation::RegionBegin { Bound::Begin } else { Bound::End };
            self.bound_region(bound, time);
            return self.complete(Completion { node, at: time });
        }
        if access.kind.synchronises() && self.misses(node) {
            self.processors.stall(node, Stall::Synchronises);
            return Ok(());
        }
        if access.kind.synchronises() {
            self.context.schedule.at(time + self.config.machine.sync, Event::Synchronise(node));
            return Ok(());
        }
        match self.coherence.access(node, &access, time, &mut self.bus, &mut self.context)? {
            Attempt::Done(at) => self.complete(Completion { node, at }),
            Attempt::Missed => Ok(()),
            Attempt::Stalled(stall) => {
                self.processors.stall(node, stall);
                Ok(())
            }
            Attempt::Refused => {
                self.processors.retry_later(node, &mut self.context);
                Ok(())
            }
        }
    }

    /// Hands a line to the node that requested it, once the invalidations of its request are acknowledged.
    fn release(&mut self, index: usize) -> Result<(), MachineError> {
        let now = self.context.schedule.now();
        let waits = self.transfers.get(index).and_then(|message| self.coherence.acknowledged(message));
        if let Some(at) = waits.filter(|at| *at > now) {
            // `Cycle::MAX`: an attacker has suppressed an invalidation, so its acknowledgement never comes
            if at < Cycle::MAX {
                self.context.schedule.at(at, Event::Release(index));
            }
            return Ok(());
        }
        let Some(message) = self.transfers.remove(index) else { return Ok(()) };
        if let Some(dump) = &mut self.context.dump {
            dump.used(self.context.schedule.now(), &message);
        }
        if self.config.machine.mshrs > 1 {
            // Misses overlap: the processor may be running
            self.catch_up(message.node, now);
        }
        let arrival = self.coherence.arrive(&message, &mut self.bus, &mut self.context)?;
        let Arrival::Used { filled, text, forwards, back } = arrival else { return Ok(()) };
        if back {
            self.give_back(message.node, message.line, text, now);
        }
        self.filled(filled, now)?;
        for request in forwards {
            // One message per requestor: a pad is never used for two receivers
            let at = now + self.config.bus.response;
            let line = Line { number: message.line, text, at };
            self.transfers.send(Some(message.node), request, line, &mut self.context);
        }
        self.bus.release(&mut self.context.schedule);
        self.check_transaction(message.line)
    }

    fn check_transaction(&self, line: u64) -> Result<(), MachineError> {
        match &self.context.checker {
            Some(checker) if self.transfers.attackers.is_empty() => invariants::transaction(
                checker,
                line,
                &self.coherence.caches,
                &self.memory,
                self.network.as_ref().map(|network| &network.directory),
                self.context.schedule.now(),
            ),
            _ => Ok(()),
        }
    }

    /// Checks the invariants for every line in any node, and compares all values with those written last.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check_all(&self) -> Result<(), MachineError> {
        let now = self.context.schedule.now();
        let checker = self.context.checker.as_ref();
        checker.map_or(Ok(()), |checker| invariants::everything(checker, &self.coherence.caches, &self.memory, now))
    }

    /// The bytes at `address` as processor `node` would load them now: from its own copy, else from the owner, else
    /// from memory. Used to read results after a run.
    pub fn read(&self, node: usize, address: u64, out: &mut [u8]) {
        invariants::read(Some(node), address, out, &self.coherence.caches, &self.memory);
    }

    /// The bytes at `address` as a processor without a copy of them would load them.
    pub(crate) fn read_shared(&self, address: u64, out: &mut [u8]) {
        invariants::read(None, address, out, &self.coherence.caches, &self.memory);
    }

    /// Whether all copies that a node has from `address` on match these bytes.
    pub(crate) fn copies_agree(&self, node: usize, address: u64, bytes: &[u8]) -> bool {
        self.coherence.caches.nodes[node].agrees(address, bytes)
    }
}
