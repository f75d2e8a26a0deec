//! The links of a ring or mesh: messages cross them hop by hop, and wait for links that are occupied.
//!
//! A message reserves all its links when it departs: on each, the first free interval after its arrival there that is
//! long enough. A message that departs later may thus cross a link in a gap before an earlier reservation; if the gap
//! is too short it waits, even behind messages that reach the link after it. Nodes forward a message while it still
//! arrives (cut-through), unless the link's protection holds it until its MAC is verified.

use super::{context::Context, schedule::Event};
use crate::{
    config::{self, Config},
    engine::{Busy, Clock, Cycle},
    message::Message,
    scheme::{Crossing, Scheme},
    topology::Topology,
};

/// All links.
#[derive(Debug)]
pub(super) struct Links {
    config: config::Interconnect,
    topology: Topology,
    /// Nodes of the ring or mesh: one per chip.
    nodes: u64,
    /// Bytes of a line.
    line: u64,
    /// Whether tags and MACs take bandwidth.
    tags: bool,
    busy: Vec<Busy>,
    /// Until when each home is busy.
    homes: Vec<Cycle>,
}

/// The contents of a message: a line or a command, and the line's number.
#[derive(Debug)]
pub(super) struct Parcel<'a> {
    number: u64,
    text: &'a mut [u8],
    with_line: bool,
    /// Bytes of a tag that travels with it.
    extra: u64,
}

impl<'a> Parcel<'a> {
    /// A line's bytes.
    pub(super) fn line(number: u64, text: &'a mut [u8]) -> Parcel<'a> {
        Parcel { number, text, with_line: true, extra: 0 }
    }
}

/// A message on a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnLink {
    /// The node that the link leads to.
    next: usize,
    start: Cycle,
    /// How long it holds the link.
    cycles: u64,
    /// When its last byte arrives.
    arrives: Cycle,
    crossing: Option<Crossing>,
}

/// The route of a line from its sender, and its timing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// When it begins to cross, and how long that takes.
    pub(super) start: Cycle,
    pub(super) cycles: u64,
    pub(super) arrives: Cycle,
    /// Whether it stays within a node of the ring or mesh, or within a chip on the bus.
    pub(super) within: bool,
    /// Over protected links: the first one, which is the only one that it has crossed yet.
    pub(super) first: Option<OnLink>,
}

/// The nodes of the ring or mesh that a message goes from and to.
type Ends = (usize, usize);

impl Links {
    /// The links of a ring or mesh; `None` for a bus.
    pub(super) fn new(config: &Config, clock: &Clock) -> Option<Links> {
        let topology = config.topology()?;
        Some(Links {
            config: config.interconnect.clone(),
            topology,
            nodes: config.units() as u64,
            line: config.machine.line as u64,
            tags: config.bus.tags,
            busy: vec![Busy::new(clock); topology.numbers()],
            homes: vec![0; config.units()],
        })
    }

    /// The home of a line: lines are interleaved over the nodes.
    pub(super) fn home(&self, line: u64) -> usize {
        (line % self.nodes) as usize
    }

    /// The node that a link leads to.
    pub(super) fn end(&self, link: usize) -> usize {
        self.topology.end(link)
    }

    /// How many links there are.
    pub(super) fn count(&self) -> usize {
        self.topology.links()
    }

    /// Link numbers are below this; at the edge of a mesh not every number has a link.
    pub(super) fn numbers(&self) -> usize {
        self.busy.len()
    }

    /// How many homes there are.
    pub(super) fn homes(&self) -> usize {
        self.homes.len()
    }

    /// Whether messages occupy homes, so that later ones wait.
    pub(super) fn busy_homes(&self) -> bool {
        self.config.occupancy > 0
    }

    /// A message about a line reaches its home: returns when the home starts on it, first come, first served.
    pub(super) fn reach_home(&mut self, line: u64, context: &mut Context) -> Cycle {
        let (home, now) = (self.home(line), context.schedule.now());
        let start = self.homes[home].max(now);
        self.homes[home] = start + self.config.occupancy;
        context.counters.homes.busy[home] += self.config.occupancy;
        context.counters.homes.waited += start - now;
        start
    }

    /// Cycles of a home to look a line up.
    pub(super) fn look_up(&self) -> u64 {
        self.config.directory
    }

    fn cycles(&self, parcel: &Parcel<'_>, added: u64) -> u64 {
        let bytes = if parcel.with_line { self.config.header + self.line + parcel.extra } else { self.config.command };
        (bytes + added).div_ceil(self.config.width)
    }

    /// Sends a command about a line between two nodes; returns when it arrives.
    pub(super) fn command(
        &mut self,
        ends: Ends,
        line: u64,
        now: Cycle,
        scheme: &mut dyn Scheme,
        context: &mut Context,
    ) -> Cycle {
        let mut text = line.to_le_bytes();
        let mut parcel = Parcel { number: line, text: &mut text, with_line: false, extra: 0 };
        self.carry(ends, now, &mut parcel, scheme, context)
    }

    /// Sends a command that an attacker suppresses: it occupies its first link and gets no further.
    pub(super) fn lose_command(
        &mut self,
        (from, to): Ends,
        line: u64,
        now: Cycle,
        scheme: &mut dyn Scheme,
        context: &mut Context,
    ) {
        let mut text = line.to_le_bytes();
        let mut parcel = Parcel { number: line, text: &mut text, with_line: false, extra: 0 };
        if from != to {
            context.counters.links.messages += 1;
            self.enter((from, to), now, &mut parcel, scheme, context);
        }
    }

    /// Sends a message over all links between two nodes; returns when it arrives.
    pub(super) fn carry(
        &mut self,
        (from, to): Ends,
        now: Cycle,
        parcel: &mut Parcel<'_>,
        scheme: &mut dyn Scheme,
        context: &mut Context,
    ) -> Cycle {
        if from == to {
            return if parcel.with_line { now + self.cycles(parcel, 0) } else { now };
        }
        context.counters.links.messages += 1;
        let first = self.enter((from, to), now, parcel, scheme, context);
        self.go_on(first, to, 0, parcel, scheme, context)
    }

    /// A line leaves its sender, or memory at its home. If links are protected one by one, it only takes the first,
    /// where it is encrypted and can be tampered with: [`finish`](Self::finish) takes it over the others.
    pub(super) fn depart(
        &mut self,
        message: &mut Message,
        extra: u64,
        scheme: &mut dyn Scheme,
        context: &mut Context,
    ) -> Way {
        let (now, to) = (context.schedule.now(), message.to);
        let from = message.from.unwrap_or_else(|| self.home(message.line));
        let mut parcel = Parcel { extra, ..Parcel::line(message.line, message.text_mut()) };
        if from == to {
            let cycles = self.cycles(&parcel, 0);
            return Way { start: now, cycles, arrives: now + cycles, within: true, first: None };
        }
        context.counters.links.messages += 1;
        let first = self.enter((from, to), now, &mut parcel, scheme, context);
        let OnLink { start, cycles, arrives, crossing, .. } = first;
        if let Some(crossing) = crossing {
            message.counter = crossing.epoch;
            return Way { start, cycles, arrives, within: false, first: Some(first) };
        }
        let arrives = self.go_on(first, to, 0, &mut parcel, scheme, context);
        Way { start, cycles, arrives, within: false, first: None }
    }

    /// Sends a line on from its first link, which it leaves at `least` or later; returns when it arrives.
    pub(super) fn finish(
        &mut self,
        first: OnLink,
        message: &mut Message,
        least: Cycle,
        scheme: &mut dyn Scheme,
        context: &mut Context,
    ) -> Cycle {
        let to = message.to;
        let mut parcel = Parcel::line(message.line, message.text_mut());
        self.go_on(first, to, least, &mut parcel, scheme, context)
    }

    /// A message takes the next link of its route: it is sealed if the link is protected.
    fn enter(
        &mut self,
        (at, to): Ends,
        now: Cycle,
        parcel: &mut Parcel<'_>,
        scheme: &mut dyn Scheme,
        context: &mut Context,
    ) -> OnLink {
        let (link, next) = self.topology.hop(at, to);
        let mut protection = scheme.links();
        let (ready, added) = match &mut protection {
            Some(protection) => protection.enter(link, parcel.with_line, now),
            None => (now, 0),
        };
        let cycles = self.cycles(parcel, if self.tags { added } else { 0 });
        let start = self.busy[link].take(ready, cycles);
        let arrives = start + cycles + self.config.latency;
        context.counters.tag_bytes += added;
        context.counters.links.hop(link, cycles, start - ready);
        let crossing = protection.map(|protection| {
            let crossing = protection.cross(link, parcel.with_line, arrives);
            if let Some(due) = protection.seal(&crossing, parcel.number, parcel.text) {
                context.schedule.at(due, Event::Verify);
            }
            crossing
        });
        OnLink { next, start, cycles, arrives, crossing }
    }

    /// A message leaves a link, at `least` or later, and takes the remaining ones; returns when it arrives.
    fn go_on(
        &mut self,
        mut on: OnLink,
        to: usize,
        mut least: Cycle,
        parcel: &mut Parcel<'_>,
        scheme: &mut dyn Scheme,
        context: &mut Context,
    ) -> Cycle {
        loop {
            let mut released = on.arrives;
            let held_until = std::mem::take(&mut least);
            if let (Some(crossing), Some(protection)) = (&on.crossing, scheme.links()) {
                if let Some(due) = protection.open(crossing, parcel.number, parcel.text) {
                    context.schedule.at(due.max(held_until), Event::Verify);
                }
                released = crossing.released;
            }
            released = released.max(held_until);
            if on.next == to {
                return released;
            }
            let whole = on.crossing.is_some_and(|crossing| crossing.contained);
            let now = if whole { released } else { released - on.cycles };
            on = self.enter((on.next, to), now, parcel, scheme, context);
        }
    }
}
