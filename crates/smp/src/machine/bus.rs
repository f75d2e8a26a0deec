//! The address bus: who is served next, and when the address is there for all to see.

use super::{Due, Machine, miss::Ask};
use crate::{
    config::{Arbiter, BusMode},
    engine::Cycle,
    message::LONGEST_LINE,
};

/// A request that waits for the bus or has been ordered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) node: usize,
    pub(super) ask: Ask,
    pub(super) line: u64,
    /// Its number among the node's own; 0 for a write-back.
    pub(super) number: u64,
    /// Nodes that have not seen it yet, where they see it at different times.
    pub(super) unseen: usize,
    at: Cycle,
}

/// The state of the bus.
#[derive(Debug)]
pub(super) struct Bus {
    waiting: Vec<usize>,
    requests: Vec<Option<Request>>,
    free: Vec<usize>,
    last: usize,
    /// When the address part can be given away again.
    address_free: Cycle,
    /// When the data part is free again.
    pub(super) data_free: Cycle,
    /// In atomic mode: a transaction holds everything.
    pub(super) held: bool,
    /// Lines of write-backs that were ordered and that memory has not seen yet, by request.
    carried: Vec<(usize, [u8; LONGEST_LINE])>,
    /// When each node has seen its last address, where they see them at different times.
    pub(super) last_seen: Vec<Cycle>,
}

impl Bus {
    pub(super) fn new(nodes: usize) -> Bus {
        Bus {
            waiting: Vec::new(),
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

    pub(super) fn enqueue(&mut self, node: usize, ask: Ask, line: u64, number: u64, at: Cycle) {
        let request = Some(Request { node, ask, line, number, unseen: 0, at });
        let index = match self.free.pop() {
            Some(index) => {
                self.requests[index] = request;
                index
            }
            None => {
                self.requests.push(request);
                self.requests.len() - 1
            }
        };
        self.waiting.push(index);
    }

    pub(super) fn request(&self, index: usize) -> Option<Request> {
        self.requests[index]
    }

    pub(super) fn request_mut(&mut self, index: usize) -> Option<&mut Request> {
        self.requests[index].as_mut()
    }

    /// A write-back carries its line with its address.
    pub(super) fn carry(&mut self, index: usize, text: [u8; LONGEST_LINE]) {
        self.carried.push((index, text));
    }

    /// Memory takes what a write-back carries.
    pub(super) fn unload(&mut self, index: usize) -> Option<[u8; LONGEST_LINE]> {
        let place = self.carried.iter().position(|(carrier, _)| *carrier == index)?;
        Some(self.carried.swap_remove(place).1)
    }

    pub(super) fn forget(&mut self, index: usize) {
        self.requests[index] = None;
        self.free.push(index);
    }
}

impl Machine {
    /// Gives the bus to somebody who waits, if it is free.
    pub(super) fn arbitrate(&mut self) {
        let now = self.now;
        if self.bus.held {
            return;
        }
        if self.bus.address_free > now {
            let at = self.bus.address_free;
            // Whoever came meanwhile is served then; one reminder is enough for all
            if self.bus.waiting.iter().any(|index| self.bus.requests[*index].is_some_and(|request| request.at <= now)) {
                self.push(at, Due::Arbitrate);
            }
            return;
        }
        let nodes = self.nodes.len();
        let turn = |node: usize| match self.config.bus.arbiter {
            Arbiter::Fixed => node,
            Arbiter::RoundRobin => (node + nodes - self.bus.last - 1) % nodes,
        };
        let ready = self.bus.waiting.iter().enumerate().filter_map(|(place, index)| {
            let request = self.bus.requests[*index].filter(|request| request.at <= now)?;
            Some((turn(request.node), request.at, place))
        });
        let Some((_, _, place)) = ready.min() else { return };
        // A node's own requests keep their order
        let index = self.bus.waiting.remove(place);
        let Some(request) = self.bus.requests[index] else { return };
        let bus = &self.config.bus;
        self.bus.last = request.node;
        let carries = if request.ask == Ask::Putx { self.data_cycles() } else { 0 };
        self.bus.address_free = now + bus.address.max(1) + carries;
        self.bus.held = bus.mode == BusMode::Atomic;
        self.counters.address_cycles += bus.address.max(1) + carries;
        let ordered = now + bus.arbitration;
        self.push(ordered, Due::Order(index));
        if !self.bus.waiting.is_empty() {
            self.push(self.bus.address_free, Due::Arbitrate);
        }
    }

    /// In atomic mode, the transaction has come to its end.
    pub(super) fn release_bus(&mut self) {
        if self.bus.held {
            self.bus.held = false;
            self.push(self.now.max(self.bus.address_free), Due::Arbitrate);
        }
    }

    /// Cycles that a line holds the data part, with header and what the scheme adds.
    pub(super) fn data_cycles(&self) -> u64 {
        let bus = &self.config.bus;
        (self.config.machine.line as u64 + bus.header).div_ceil(bus.width)
    }
}
