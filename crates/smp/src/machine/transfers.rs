//! Data transfers: the scheme encrypts a line, the data lines or links carry it, where an attacker may tamper with it,
//! the receiver's unit verifies it, and it is released to its requestor.

use super::{
    bus::Bus,
    context::Context,
    links::{Links, OnLink, Way},
    schedule::Event,
};
use crate::{
    attack::{Attackers, Fate, ObservedLine},
    config::{Config, PROCESS_BIT},
    engine::{Clock, Cycle},
    message::{BusCommand, CommandTag, Detector, LONGEST_LINE, Message},
    scheme::{Platform, Scheme},
    topology::TopologyKind,
};

/// Timeouts of one request after which its node raises the alarm.
const PATIENCE: u32 = 8;

/// Lines in flight between caches, and from memory to caches.
pub(super) struct Transfers {
    config: Config,
    /// Lines in flight, by index; `None` is free.
    messages: Vec<Option<Message>>,
    free: Vec<usize>,
    pub(super) scheme: Box<dyn Scheme>,
    /// Attackers on the bus and in memory.
    pub(super) attackers: Attackers,
    /// Lines that attackers hold back on protected links: the number of each, and the link it is on.
    held_on: Vec<(u64, OnLink)>,
    /// Lines seen on the bus, if they are to be recorded.
    pub(super) heard: Option<Vec<ObservedLine>>,
}

/// A line that an owner, or memory, sends.
pub(super) struct Line {
    pub(super) number: u64,
    pub(super) text: [u8; LONGEST_LINE],
    /// When its sender has it ready.
    pub(super) at: Cycle,
}

impl Transfers {
    pub(super) fn new(config: &Config, clock: &Clock) -> Transfers {
        Transfers {
            config: config.clone(),
            messages: Vec::new(),
            free: Vec::new(),
            scheme: config.scheme.build(&Platform { clock: clock.clone(), ..config.platform() }),
            attackers: Attackers::default(),
            held_on: Vec::new(),
            heard: None,
        }
    }

    /// A line leaves its owner, or memory, for `node`, which asked for it with its request `request`.
    pub(super) fn send(
        &mut self,
        sender: Option<usize>,
        (node, request): (usize, u64),
        line: Line,
        context: &mut Context,
    ) {
        let message = Message {
            number: 0,
            from: sender.map(|sender| self.config.unit(sender)),
            to: self.config.unit(node),
            node,
            sender,
            line: line.number,
            process: self.process(line.number),
            request,
            ready: line.at,
            text: line.text,
            len: self.config.machine.line,
            tag: None,
            counter: 0,
            authenticated: false,
            sent: 0,
            tag_ready: 0,
            usable: 0,
            checked: 0,
            alarm: None,
            resent: false,
        };
        if self.config.interconnect.kind != TopologyKind::Bus && self.protected(&message) {
            // Owners learn of requests at different times, but take counters and pads in the order in which lines are
            // ready
            let index = self.keep(message);
            return context.schedule.at(line.at, Event::Ready(index));
        }
        self.depart(message, line.at, context);
    }

    /// A line that its scheme protects is ready at its sender.
    pub(super) fn ready(&mut self, index: usize, context: &mut Context) {
        if let Some(message) = self.remove(index) {
            self.depart(message, context.schedule.now(), context);
        }
    }

    /// The process to whose address space a line belongs.
    fn process(&self, line: u64) -> u8 {
        let address = line << self.config.machine.line.trailing_zeros();
        let space = if self.config.processes.count > 1 { address >> PROCESS_BIT } else { 0 };
        self.config.machine.process.wrapping_add(space as u8)
    }

    fn depart(&mut self, mut message: Message, at: Cycle, context: &mut Context) {
        let leaves = if self.protected(&message) { self.scheme.send(at, &mut message) } else { at };
        let index = self.keep(message);
        context.schedule.at(leaves, Event::Transmit(index));
    }

    /// Whether the scheme protects a message. Messages that stay within a chip are not protected.
    fn protected(&self, message: &Message) -> bool {
        message.from != Some(message.to) && self.scheme.protects(message)
    }

    fn keep(&mut self, message: Message) -> usize {
        match self.free.pop() {
            Some(index) => {
                self.messages[index] = Some(message);
                index
            }
            None => {
                self.messages.push(Some(message));
                self.messages.len() - 1
            }
        }
    }

    /// A message in flight.
    pub(super) fn get(&self, index: usize) -> Option<&Message> {
        self.messages[index].as_ref()
    }

    /// Removes a message and frees its index.
    pub(super) fn remove(&mut self, index: usize) -> Option<Message> {
        let message = self.messages[index].take();
        self.free.push(index);
        message
    }

    /// Sends a line over the data lines, first come, first served, or over the links of its route.
    pub(super) fn transmit(
        &mut self,
        index: usize,
        bus: &mut Bus,
        mut links: Option<&mut Links>,
        context: &mut Context,
    ) {
        let Some(mut message) = self.remove(index) else { return };
        let protected = self.protected(&message);
        let tag = if protected { self.scheme.authenticate(&mut message) } else { 0 };
        context.counters.tag_bytes += tag;
        let extra = if self.config.bus.tags { tag } else { 0 };
        let plain = (!self.attackers.is_empty()).then(|| message.clone());
        let way = match &mut links {
            Some(links) => links.depart(&mut message, extra, self.scheme.as_mut(), context),
            None => {
                let (cycles, within) = (bus.data_cycles(tag), message.from == Some(message.to));
                // Transfers within a chip do not use the bus
                let start = if within { context.schedule.now() } else { bus.take_data(cycles, context) };
                Way { start, cycles, arrives: start + cycles + self.config.bus.flight, within, first: None }
            }
        };
        let Way { start, cycles, arrives, within, first } = way;
        message.sent = start;
        if message.sender.is_some() {
            context.counters.transfers += 1;
            message.number = context.counters.transfers;
            context.counters.within += u64::from(within);
        }
        if protected {
            if let Some(due) = self.scheme.transmit(arrives, &mut message) {
                context.schedule.at(due, Event::Verify);
            }
            if let Some(from) = message.from {
                // A sender observes its own line as it sent it, before any tampering
                self.observe(from, &message, arrives, context);
            }
        }
        if let (Some(heard), false) = (&mut self.heard, within) {
            heard.push(ObservedLine {
                from: message.sender,
                to: message.node,
                line: message.line,
                ready: message.ready,
                sent: start,
                text: message.text().to_vec(),
            });
        }
        // Attackers tamper with cache-to-cache transfers between chips only
        let tampers = !within && message.sender.is_some();
        let fate = match plain.filter(|_| tampers) {
            Some(plain) => self.attackers.message(&mut message, &plain, context.moment()),
            None => Fate::Pass,
        };
        if let Some(dump) = &mut context.dump {
            dump.transfer(&message, fate, within);
        }
        match fate {
            Fate::Pass => self.deliver(message, protected, (first, arrives), links.as_deref_mut(), context),
            Fate::Hold => self.held_on.extend(first.map(|first| (message.number, first))),
            Fate::Drop => self.observe_others(&message, protected, arrives, context),
        }
        for held in self.attackers.release() {
            let place = self.held_on.iter().position(|(number, _)| *number == held.number);
            let on = place.map(|place| self.held_on.swap_remove(place).1);
            self.deliver(held, protected, (on, arrives + cycles), links.as_deref_mut(), context);
        }
    }

    /// Every unit on the bus observes a line, the receiver last, and its arrival is scheduled. A line that has crossed
    /// only the first of several protected links crosses the others before.
    fn deliver(
        &mut self,
        mut message: Message,
        protected: bool,
        (first, mut arrives): (Option<OnLink>, Cycle),
        links: Option<&mut Links>,
        context: &mut Context,
    ) {
        self.observe_others(&message, protected, arrives, context);
        if let (Some(first), Some(links)) = (first, links) {
            arrives = links.finish(first, &mut message, arrives, self.scheme.as_mut(), context);
        }
        if protected && self.config.scheme.functional {
            let to = message.to;
            if let Err(detector) = self.scheme.observe(to, &mut message) {
                message.alarm = Some(context.expect(detector, message.node));
            }
        }
        let index = self.keep(message);
        context.schedule.at(arrives, Event::Arrive(index));
    }

    /// Every unit but sender and receiver observes a line.
    fn observe_others(&mut self, message: &Message, protected: bool, arrives: Cycle, context: &mut Context) {
        // Without functional encryption there is no state to keep in step, and over links other units see nothing
        if !protected || !self.config.scheme.functional || self.config.interconnect.kind != TopologyKind::Bus {
            return;
        }
        for unit in (0..self.config.units()).filter(|unit| *unit != message.to && Some(*unit) != message.from) {
            self.observe(unit, message, arrives, context);
        }
    }

    /// A unit that is not the receiver observes a line. It has checked the line when it has the line's MAC, which its
    /// sender began no later than the unit its own.
    fn observe(&mut self, unit: usize, message: &Message, arrives: Cycle, context: &mut Context) {
        if self.config.scheme.functional
            && let Err(detector) = self.scheme.observe(unit, &mut message.clone())
        {
            context.expect_at(message.tag_arrives(arrives), detector, unit);
        }
    }

    /// A line has crossed the bus; the receiver's unit may delay its use.
    pub(super) fn arrive(&mut self, index: usize, context: &mut Context) {
        let Some(message) = &mut self.messages[index] else { return };
        let now = context.schedule.now();
        let protected = message.from != Some(message.to) && self.scheme.protects(message);
        let usable = if protected { self.scheme.receive(now, message) } else { now };
        // Scheduled first: a line that waits for its check is not used if that fails
        if let Some(alarm) = message.alarm {
            context.alarm(usable.max(message.checked), alarm);
        }
        context.schedule.at(usable.max(now), Event::Release(index));
    }

    /// Verifies a complete group of lines that are authenticated together.
    pub(super) fn verify(&mut self, links: Option<&Links>, context: &mut Context) {
        if let Err((stream, detector)) = self.scheme.verify(context.schedule.now()) {
            // Streams have the numbers of units on a bus, and of links otherwise
            context.detected(detector, links.map_or(stream, |links| links.end(stream)));
        }
    }

    /// The tag of a command, if the scheme authenticates commands.
    pub(super) fn seal(&self, command: &BusCommand) -> Option<CommandTag> {
        if self.config.scheme.functional { self.scheme.seal(command) } else { None }
    }

    /// A node sees a command.
    pub(super) fn command(&mut self, node: usize, command: &BusCommand, context: &mut Context) {
        let unit = self.config.unit(node);
        // One unit per chip snoops for all of its nodes
        if node > 0 && self.config.unit(node - 1) == unit {
            return;
        }
        if self.config.scheme.functional
            && let Err(detector) = self.scheme.command(unit, command)
        {
            context.detected(detector, node);
        }
    }

    /// A request has timed out for the `times`-th time. If its line was lost on the bus, the sender encrypts and sends
    /// it again. After [`PATIENCE`] timeouts the node raises the alarm, whatever the cause.
    pub(super) fn timeout(&mut self, node: usize, request: u64, times: u32, context: &mut Context) {
        context.counters.timeouts += 1;
        if times >= PATIENCE {
            return context.detected(Detector::Timeout, node);
        }
        if let Some(mut message) = self.attackers.resend(node, request) {
            let now = context.schedule.now();
            message.resent = true;
            message.ready = now;
            self.depart(message, now, context);
        }
        context.schedule.after(self.config.bus.timeout, Event::Timeout(node, request));
    }
}
