//! Commands on the address bus, or over links to their line's home: their order, tampering with them, and what they
//! cause in nodes and memory.

use super::{
    Machine, network::Announcement, outcome::MachineError, request::Request, schedule::Event, transfers::Line,
};
use crate::{
    attack::Forged,
    message::{Command, LONGEST_LINE},
    mosi::State,
    stats::Counters,
};

impl Machine {
    /// A command is ordered, by the bus or by its line's home.
    pub(super) fn order(&mut self, index: usize) -> Result<(), MachineError> {
        let Some(mut request) = self.bus.get(index) else { return Ok(()) };
        request.order = count(&mut self.context.counters, request.command);
        request.tag = self.transfers.seal(&request.on_bus());
        let caches = &self.coherence.caches;
        // A command for a node at the home itself crosses no link, so it cannot be suppressed
        let home = self.network.as_ref().map(|network| network.links.home(request.line));
        let shares =
            |node: usize| caches.nodes[node].state(request.line) == State::S && home != Some(self.config.unit(node));
        let (nodes, moment) = (self.config.machine.processors, self.context.moment());
        request.blocked = self.transfers.attackers.command(&request.on_bus(), moment, nodes, &shares);
        let exclusive = self.config.bus.protocol.has_exclusive() && request.command == Command::GetS;
        request.alone = exclusive
            && match &self.network {
                Some(network) => network.directory.alone(request.node, request.line),
                None => self.coherence.alone(request.node, request.line),
            };
        self.bus.ordered(index, request);
        if self.network.is_none() && self.transfers.attackers.would_forge(request.order + 1) {
            let free = self.bus.address_free().max(self.context.schedule.now());
            self.context.schedule.at(free, Event::Forge);
        }
        self.show(index, request)
    }

    /// Lets an attacker forge a command, if the address lines are free: a GetX for a line that its owner has modified,
    /// in the name of a node on another chip that has no copy. That node does not see the command.
    pub(super) fn forge(&mut self) -> Result<(), MachineError> {
        let now = self.context.schedule.now();
        let Some(moment) = self.context.moment().filter(|_| self.bus.address_free() <= now) else { return Ok(()) };
        let (config, caches) = (&self.config, &self.coherence.caches);
        let state = |node: usize, line| caches.nodes[node].state(line);
        let impersonated = |line, owner| {
            let other = |node: &usize| config.unit(*node) != config.unit(owner) && state(*node, line) == State::I;
            let changed = matches!(state(owner, line), State::M | State::O);
            (0..config.machine.processors).filter(|_| changed).find(other)
        };
        let number = self.context.counters.commands + 1;
        let Some(forged) = self.transfers.attackers.forge(number, moment, &impersonated) else { return Ok(()) };
        let (command, Forged { node, line, tag }) = (Command::GetX, forged);
        let order = count(&mut self.context.counters, command);
        let (blocked, forged, alone) = (Some(node), true, false);
        // No request of a node has the number 0
        let request = Request { order, tag, blocked, forged, alone, ..Request::new(node, command, line, 0) };
        let index = self.bus.inject(request, &mut self.context);
        self.show(index, request)
    }

    /// Shows a command to nodes and memory: at once or, with snoop skew, to each at a time of its own; over links, to
    /// the nodes that the home notifies.
    fn show(&mut self, index: usize, request: Request) -> Result<(), MachineError> {
        // On a bus, every node sees the command, and the owner answers by itself
        let owner = if self.network.is_some() { self.memory.owner(request.line) } else { None };
        let reached = match &mut self.network {
            Some(network) => network.directory.order(&request, owner),
            None => self.coherence.caches.present(request.line).with(request.node),
        };
        let announced = self.announce(&request, reached, owner);
        // Over links, a write-back has had its line attached since it departed
        if announced.is_none()
            && request.command == Command::PutX
            && !request.clean
            && let Some(text) = self.coherence.write_back(request.node, request.line)
        {
            self.bus.carry(index, text);
        }
        if let Some(dump) = &mut self.context.dump {
            let carried = self.bus.carried(index).map(|text| &text[..self.config.machine.line]);
            dump.command(self.context.schedule.now(), request, carried);
        }
        if self.config.bus.skew > 0 {
            self.bus.spread(index, &mut self.context);
            return Ok(());
        }
        if announced.is_none() && tagged(&request) {
            // Every unit on a bus sees every command, though few nodes have its line
            for node in 0..self.config.machine.processors {
                self.hear(node, &request);
            }
        }
        if self.context.checker.is_some() {
            // The checker must see all hits up to now before any effect of the command
            reached.iter().for_each(|node| self.catch_up(node, self.context.schedule.now()));
        }
        let mut back = None;
        for node in reached.iter() {
            back = self.snoop(node, request, announced.as_ref())?.map(|text| (node, text)).or(back);
        }
        self.snoop_memory(index, request);
        if let Some((node, text)) = back {
            // It learned of the request as the owner that answers it
            let at = announced.as_ref().map_or(self.context.schedule.now(), |announced| announced.at[node]);
            self.give_back(node, request.line, text, at);
        }
        if let Some(announced) = announced {
            self.coherence.acknowledge(request, announced.acknowledged);
        }
        self.bus.forget(index);
        // A forged command is no part of the transaction that holds the bus
        if !request.forged && self.coherence.ends(request) {
            self.bus.release(&mut self.context.schedule);
        }
        self.check_transaction(request.line)
    }

    /// With snoop skew: a node, or memory, sees a command at its own time.
    pub(super) fn snoop_late(&mut self, node: usize, index: usize) -> Result<(), MachineError> {
        let Some(request) = self.bus.get(index) else { return Ok(()) };
        if node < self.config.machine.processors {
            if tagged(&request) {
                self.hear(node, &request);
            }
            self.snoop(node, request, None)?;
        } else {
            self.snoop_memory(index, request);
        }
        self.bus.seen(index);
        Ok(())
    }

    /// A node snoops a command; returns the line that it sends if memory takes that too. Over links, effects are timed
    /// from when the node receives the home's message (`announced`).
    fn snoop(
        &mut self,
        node: usize,
        request: Request,
        announced: Option<&Announcement>,
    ) -> Result<Option<[u8; LONGEST_LINE]>, MachineError> {
        if request.blocked == Some(node) {
            return Ok(None);
        }
        let now = self.context.schedule.now();
        self.catch_up(node, now);
        let at = announced.map_or(now, |announced| announced.at[node]);
        let snooped = self.coherence.snoop(node, request, &mut self.bus, &mut self.context)?;
        if snooped.gone {
            self.coherence.caches.gone(node, request.line);
        }
        if let Some(text) = snooped.sends {
            let line = Line { number: request.line, text, at: at + self.config.bus.response };
            self.transfers.send(Some(node), (request.node, request.number), line, &mut self.context);
        }
        if let Some(filled) = snooped.filled {
            let done = announced.map_or(now, |announced| at.max(announced.acknowledged));
            self.filled(filled, done)?;
        }
        Ok(snooped.sends.filter(|_| snooped.back))
    }

    /// A node's unit sees a command on the bus.
    fn hear(&mut self, node: usize, request: &Request) {
        if request.blocked != Some(node) {
            self.transfers.command(node, &request.on_bus(), &mut self.context);
        }
    }

    fn snoop_memory(&mut self, index: usize, request: Request) {
        let attackers = &mut self.transfers.attackers;
        if let Some(answer) = self.memory.snoop(index, request, &mut self.bus, attackers, &mut self.context) {
            let line = Line { number: request.line, text: answer.text, at: answer.at };
            self.transfers.send(None, (request.node, request.number), line, &mut self.context);
        }
    }
}

/// Whether units check a command: only if it has a tag or is forged.
fn tagged(request: &Request) -> bool {
    request.tag.is_some() || request.forged
}

/// Counts a command; returns its number among all commands.
fn count(counters: &mut Counters, command: Command) -> u64 {
    counters.commands += 1;
    match command {
        Command::GetS => counters.gets += 1,
        Command::GetX => counters.getx += 1,
        Command::PutX => counters.putx += 1,
    }
    counters.commands
}
