//! The bus: waiting requests, the arbiter, the order of commands, and the occupancy of address and data lines.

use super::{
    context::Context,
    request::Request,
    schedule::{Event, Schedule},
};
use crate::{
    config::{self, Arbiter, BusMode, Config},
    engine::Cycle,
    message::{Command, LONGEST_LINE},
    topology::TopologyKind,
};

/// The bus.
#[derive(Debug)]
pub(super) struct Bus {
    config: config::Bus,
    nodes: usize,
    /// Bytes of a line.
    line: usize,
    /// Whether requests go to their lines' homes, over links: then only the table of requests is used.
    links: bool,
    waiting: Vec<Waiting>,
    /// The cycles for which an arbitration is scheduled.
    decisions: Vec<Cycle>,
    /// Requests in flight, by index, and the indices that are free.
    requests: Vec<Option<Request>>,
    free: Vec<usize>,
    /// The node that was granted the bus last, for round robin.
    last: usize,
    /// When the address lines are free again.
    address_free: Cycle,
    /// When the data lines are free again.
    data_free: Cycle,
    /// Whether a transaction holds the bus, in atomic mode.
    held: bool,
    /// Lines of write-backs that have not reached memory yet, each with the index of its request.
    carried: Vec<(usize, [u8; LONGEST_LINE])>,
    /// With snoop skew: when each node, and after the nodes memory, sees its latest command.
    last_seen: Vec<Cycle>,
}

/// A request that waits for the address lines.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    node: usize,
    /// From when on it takes part in arbitration.
    at: Cycle,
    index: usize,
}

impl Bus {
    pub(super) fn new(config: &Config) -> Bus {
        let nodes = config.machine.processors;
        Bus {
            config: config.bus.clone(),
            nodes,
            line: config.machine.line,
            links: config.interconnect.kind != TopologyKind::Bus,
            waiting: Vec::new(),
            decisions: Vec::new(),
            requests: Vec::new(),
            free: Vec::new(),
            last: nodes - 1,
            address_free: 0,
            data_free: 0,
            held: false,
            carried: Vec::new(),
            last_seen: vec![0; nodes + 1],
        }
    }

    /// Issues the request of an access at `time`: it enters the queue of the address bus, or departs for its line's
    /// home.
    pub(super) fn request(&mut self, request: Request, time: Cycle, schedule: &mut Schedule) {
        let (node, at) = (request.node, time + self.config.issue);
        let index = self.keep(request);
        if self.links {
            return schedule.at(at, Event::Depart(index));
        }
        self.waiting.push(Waiting { node, at, index });
        self.decide(at, schedule);
    }

    fn keep(&mut self, request: Request) -> usize {
        match self.free.pop() {
            Some(index) => {
                self.requests[index] = Some(request);
                index
            }
            None => {
                self.requests.push(Some(request));
                self.requests.len() - 1
            }
        }
    }

    /// When the address lines are free again.
    pub(super) fn address_free(&self) -> Cycle {
        self.address_free
    }

    /// Puts a forged command on the address lines now.
    pub(super) fn inject(&mut self, request: Request, context: &mut Context) -> usize {
        let busy = self.config.address;
        self.address_free = context.schedule.now() + busy;
        context.counters.address_cycles += busy;
        self.keep(request)
    }

    /// The request of an index.
    pub(super) fn get(&self, index: usize) -> Option<Request> {
        self.requests[index]
    }

    /// Stores a request whose order is now fixed.
    pub(super) fn ordered(&mut self, index: usize, request: Request) {
        self.requests[index] = Some(request);
    }

    /// Schedules an arbitration at `at`, unless there is one already.
    fn decide(&mut self, at: Cycle, schedule: &mut Schedule) {
        if !self.decisions.contains(&at) {
            self.decisions.push(at);
            schedule.at(at, Event::Arbitrate);
        }
    }

    /// Grants the bus to a waiting request, if the bus is free.
    pub(super) fn arbitrate(&mut self, context: &mut Context) {
        let schedule = &mut context.schedule;
        let now = schedule.now();
        self.decisions.retain(|at| *at != now);
        if self.held {
            return;
        }
        if self.address_free > now {
            // Arbitrate among the waiting requests once the address lines are free
            if self.waiting.iter().any(|waiting| waiting.at <= now) {
                self.decide(self.address_free, schedule);
            }
            return;
        }
        let turn = |node: usize| match self.config.arbiter {
            Arbiter::Fixed => node,
            Arbiter::RoundRobin if node > self.last => node - self.last - 1,
            Arbiter::RoundRobin => node + self.nodes - self.last - 1,
        };
        let ready = self.waiting.iter().enumerate().filter(|(_, waiting)| waiting.at <= now);
        let Some((_, _, place)) = ready.map(|(place, waiting)| (turn(waiting.node), waiting.at, place)).min() else {
            return;
        };
        // By age within a node: its own requests keep their order
        let Waiting { index, .. } = self.waiting.remove(place);
        let Some(request) = self.requests[index] else { return };
        self.last = request.node;
        // The line of a write-back follows its address on the address lines
        let carries = if request.command == Command::PutX && !request.clean { self.data_cycles(0) } else { 0 };
        let busy = self.config.address + carries;
        self.address_free = now + busy;
        self.held = self.config.mode == BusMode::Atomic;
        context.counters.address_cycles += busy;
        schedule.at(now + self.config.arbitration, Event::Order(index));
        if !self.waiting.is_empty() {
            self.decide(self.address_free, schedule);
        }
    }

    /// Attaches its line to a write-back.
    pub(super) fn carry(&mut self, index: usize, text: [u8; LONGEST_LINE]) {
        self.carried.push((index, text));
    }

    /// The line that a write-back carries.
    pub(super) fn carried(&self, index: usize) -> Option<&[u8; LONGEST_LINE]> {
        self.carried.iter().find(|(carrier, _)| *carrier == index).map(|(_, text)| text)
    }

    /// Memory takes the line that a write-back carries.
    pub(super) fn unload(&mut self, index: usize) -> Option<[u8; LONGEST_LINE]> {
        let place = self.carried.iter().position(|(carrier, _)| *carrier == index)?;
        Some(self.carried.swap_remove(place).1)
    }

    /// With snoop skew: every node, and memory, sees the command at a time of its own. All see commands in the same
    /// order.
    pub(super) fn spread(&mut self, index: usize, context: &mut Context) {
        if let Some(request) = &mut self.requests[index] {
            request.unseen = self.nodes + 1;
        }
        for node in 0..=self.nodes {
            let delay = context.random.up_to(self.config.skew);
            let at = (context.schedule.now() + delay).max(self.last_seen[node] + 1);
            self.last_seen[node] = at;
            context.schedule.at(at, Event::Snoop(node, index));
        }
    }

    /// One more node has seen a command; the last one ends the request.
    pub(super) fn seen(&mut self, index: usize) {
        let last = self.requests[index].as_mut().is_some_and(|request| {
            request.unseen -= 1;
            request.unseen == 0
        });
        if last {
            self.forget(index);
        }
    }

    /// Frees the index of a request that all nodes have seen.
    pub(super) fn forget(&mut self, index: usize) {
        self.requests[index] = None;
        self.free.push(index);
    }

    /// The transaction that holds the bus in atomic mode has ended.
    pub(super) fn release(&mut self, schedule: &mut Schedule) {
        if self.held {
            self.held = false;
            self.decide(schedule.now().max(self.address_free), schedule);
        }
    }

    /// Reserves the data lines for `cycles`; returns when the line begins to cross.
    pub(super) fn take_data(&mut self, cycles: u64, context: &mut Context) -> Cycle {
        let start = context.schedule.now().max(self.data_free);
        self.data_free = start + cycles;
        context.counters.data_cycles += cycles;
        start
    }

    /// Cycles that a line holds the data lines, with a tag or MAC of `tag` bytes.
    pub(super) fn data_cycles(&self, tag: u64) -> u64 {
        self.config.data_cycles(self.line, tag)
    }
}
