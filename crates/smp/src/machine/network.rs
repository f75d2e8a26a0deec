//! A ring or mesh: requests go to their line's home, which orders them and notifies the nodes concerned.
//!
//! An ordered command takes effect in all nodes at once, as on a bus without skew; only its consequences wait for the
//! messages that cause them. So the protocol's tables are those of the bus.

use super::{
    Machine,
    directory::Directory,
    links::{Links, Parcel},
    request::Request,
    schedule::Event,
    set::Set,
};
use crate::{
    config::{Config, MOST_PROCESSORS},
    engine::{Clock, Cycle},
    message::{Command, LONGEST_LINE},
};

/// The links and the directories of a ring or mesh.
#[derive(Debug)]
pub(super) struct Network {
    pub(super) links: Links,
    pub(super) directory: Directory,
}

/// When the nodes learn of a command that its home has ordered.
#[derive(Debug)]
pub(super) struct Announcement {
    /// When the home's message reaches each node.
    pub(super) at: [Cycle; MOST_PROCESSORS],
    /// When all invalidations have been acknowledged to the requestor; `Cycle::MAX` if one never is.
    pub(super) acknowledged: Cycle,
}

impl Network {
    /// A ring or mesh at rest; `None` for a bus.
    pub(super) fn new(config: &Config, clock: &Clock) -> Option<Network> {
        Links::new(config, clock).map(|links| Network { links, directory: Directory::default() })
    }
}

impl Machine {
    /// A request leaves its node for its line's home. A write-back carries its line, unless that is clean.
    pub(super) fn depart(&mut self, index: usize) {
        let (Some(network), Some(request)) = (&mut self.network, self.bus.get(index)) else { return };
        let (line, now) = (request.line, self.context.schedule.now());
        let links = &mut network.links;
        let ends = (self.config.unit(request.node), links.home(line));
        let (scheme, context) = (self.transfers.scheme.as_mut(), &mut self.context);
        let arrives = match self.coherence.write_back(request.node, line) {
            Some(mut text) if request.command == Command::PutX && !request.clean => {
                let mut parcel = Parcel::line(line, &mut text[..self.config.machine.line]);
                let arrives = links.carry(ends, now, &mut parcel, scheme, context);
                self.bus.carry(index, text);
                arrives
            }
            _ => links.command(ends, line, now, scheme, context),
        };
        if links.busy_homes() {
            context.schedule.at(arrives, Event::Reach(line, Some(index)));
        } else {
            context.schedule.at(arrives + links.look_up(), Event::Order(index));
        }
    }

    /// A message reaches its line's home and occupies it for a while: a request, or a line returned to memory.
    pub(super) fn reach(&mut self, line: u64, request: Option<usize>) {
        let Some(Network { links, .. }) = &mut self.network else { return };
        let turns = links.reach_home(line, &mut self.context);
        if let Some(index) = request {
            self.context.schedule.at(turns + links.look_up(), Event::Order(index));
        }
    }

    /// A home has ordered a command and notifies the nodes in `reached`: the owner, which sends the line, or the
    /// sharers, which invalidate their copies and send acknowledgements to the requestor. `None` on a bus.
    pub(super) fn announce(&mut self, request: &Request, reached: Set, owner: Option<usize>) -> Option<Announcement> {
        let links = &mut self.network.as_mut()?.links;
        let (line, now) = (request.line, self.context.schedule.now());
        let (home, asks) = (links.home(line), self.config.unit(request.node));
        let (scheme, context) = (self.transfers.scheme.as_mut(), &mut self.context);
        let mut announced = Announcement { at: [now; MOST_PROCESSORS], acknowledged: now };
        for node in reached.without(request.node).iter() {
            let unit = self.config.unit(node);
            if request.blocked == Some(node) {
                links.lose_command((home, unit), line, now, scheme, context);
                announced.acknowledged = Cycle::MAX;
                continue;
            }
            let at = links.command((home, unit), line, now, scheme, context);
            announced.at[node] = at;
            if owner == Some(node) {
                context.counters.links.forwards += 1;
            } else {
                context.counters.links.invalidations += 1;
                let acknowledged = links.command((unit, asks), line, at, scheme, context);
                announced.acknowledged = announced.acknowledged.max(acknowledged);
            }
        }
        // No line follows that would tell the requestor of the order
        if owner == Some(request.node) || request.command == Command::PutX {
            announced.at[request.node] = links.command((home, asks), line, now, scheme, context);
        }
        Some(announced)
    }

    /// Memory takes a line that a node sends to a reader at `at`: off the bus, or as a message of its own.
    pub(super) fn give_back(&mut self, node: usize, line: u64, mut text: [u8; LONGEST_LINE], at: Cycle) {
        if let Some(Network { links, .. }) = &mut self.network {
            let ends = (self.config.unit(node), links.home(line));
            let mut parcel = Parcel::line(line, &mut text[..self.config.machine.line]);
            let arrives = links.carry(ends, at, &mut parcel, self.transfers.scheme.as_mut(), &mut self.context);
            if links.busy_homes() {
                self.context.schedule.at(arrives, Event::Reach(line, None));
            }
        }
        self.memory.take(node, line, &text, &mut self.context);
    }
}
