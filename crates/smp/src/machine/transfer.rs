//! A line on its way: sealed, over the data bus past whoever listens there, opened, used.

use super::{Due, Fault, Machine};
use crate::{
    attack::Fate,
    message::{How, LONGEST_LINE, Message},
    mosi::{Action, Event, State},
};

impl Machine {
    /// A line leaves its owner (or memory), which has it ready at `at`.
    pub(super) fn transfer(
        &mut self,
        sender: Option<usize>,
        node: usize,
        request: u64,
        line: u64,
        text: [u8; LONGEST_LINE],
        at: u64,
    ) {
        let message = Message {
            number: 0,
            from: sender.map(|sender| self.config.unit(sender)),
            to: self.config.unit(node),
            node,
            sender,
            line,
            process: self.config.machine.process,
            request,
            ready: at,
            text,
            len: self.config.machine.line,
            tag: None,
            counter: 0,
            again: false,
        };
        let leaves = if self.sealed(&message) { self.scheme.send(at, message.from, message.to) } else { at };
        let index = self.keep(message);
        self.push(leaves, Due::Slot(index));
    }

    /// Whether the scheme has to do with a message: not where it never leaves a chip.
    fn sealed(&self, message: &Message) -> bool {
        message.from != Some(message.to) && self.scheme.concerns(message)
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

    fn remove(&mut self, index: usize) -> Option<Message> {
        let message = self.messages[index].take();
        self.free.push(index);
        message
    }

    /// A line enters the data bus, in the order of asking.
    pub(super) fn slot(&mut self, index: usize) -> Result<(), Fault> {
        let Some(mut message) = self.remove(index) else { return Ok(()) };
        let mut cycles = self.data_cycles();
        let sealed = self.sealed(&message);
        if sealed && self.config.bus.tags {
            let bytes = (self.config.machine.line as u64 + self.config.bus.header) as f64 + self.scheme.extra_bytes();
            cycles = (bytes / self.config.bus.width as f64).ceil() as u64;
        }
        let within = message.from == Some(message.to);
        // A chip has its own wires
        let start = if within { self.now } else { self.now.max(self.bus.data_free) };
        if !within {
            self.bus.data_free = start + cycles;
            self.counters.data_cycles += cycles;
        }
        let arrives = start + cycles + self.config.bus.flight;
        if message.sender.is_some() {
            self.counters.transfers += 1;
            message.number = self.counters.transfers;
            self.counters.within += u64::from(within);
        }
        let plain = self.attacker.is_some().then(|| message.clone());
        if sealed && self.config.shu.functional {
            self.scheme.seal(&mut message);
            if let Some(from) = message.from {
                // A sender hears itself, whatever happens on the bus
                let mut copy = message.clone();
                if let Err(how) = self.scheme.hear(from, &mut copy) {
                    self.alarm(how, from);
                }
            }
        }
        if within || message.sender.is_none() || self.attacker.is_none() {
            return self.deliver(message, sealed, arrives);
        }
        let Some(attacker) = &mut self.attacker else { return Ok(()) };
        let fate = attacker.message(&mut message);
        if let (Some(plain), Fate::Drop | Fate::Hold) = (plain, fate) {
            attacker.lost.push(plain);
        }
        match fate {
            Fate::Pass => self.deliver(message, sealed, arrives)?,
            Fate::Hold => attacker.held = Some(message),
            Fate::Drop => self.missed(message, sealed),
        }
        let released = self.attacker.as_mut().and_then(|attacker| attacker.release());
        if let Some(held) = released {
            self.deliver(held, sealed, arrives + cycles)?;
        }
        Ok(())
    }

    /// Everybody on the bus hears a line, the receiver last; it arrives later.
    fn deliver(&mut self, mut message: Message, sealed: bool, arrives: u64) -> Result<(), Fault> {
        if sealed {
            self.overheard(&message);
            let to = message.to;
            if let Err(how) = self.scheme.hear(to, &mut message) {
                self.alarm(how, message.node);
            }
        }
        let index = self.keep(message);
        self.push(arrives, Due::Arrive(index));
        Ok(())
    }

    /// A line that its receiver never gets; everybody else does.
    fn missed(&mut self, message: Message, sealed: bool) {
        if sealed {
            self.overheard(&message);
        }
    }

    fn overheard(&mut self, message: &Message) {
        // Timing alone keeps no chains and no counters of others
        if !self.config.shu.functional {
            return;
        }
        for unit in (0..self.config.units()).filter(|unit| *unit != message.to && Some(*unit) != message.from) {
            let mut copy = message.clone();
            if let Err(how) = self.scheme.hear(unit, &mut copy) {
                self.alarm(how, unit);
            }
        }
    }

    /// A line has crossed the bus; the receiver's unit may hold it a while.
    pub(super) fn arrive(&mut self, index: usize) {
        let Some(message) = &self.messages[index] else { return };
        let (from, to) = (message.from, message.to);
        if self.sealed(message) {
            let usable = self.scheme.receive(self.now, from, to);
            self.push(usable.max(self.now), Due::Use(index));
        } else {
            self.push(self.now, Due::Use(index));
        }
    }

    /// The requestor has its line.
    pub(super) fn use_line(&mut self, index: usize) -> Result<(), Fault> {
        let Some(message) = self.remove(index) else { return Ok(()) };
        let (node, line) = (message.node, message.line);
        let text = message.text;
        let waiting = self.nodes[node].pending.as_ref();
        if !waiting.is_some_and(|pending| {
            pending.line == line && pending.request == message.request && pending.saved.is_none()
        }) {
            // A line nobody waits for: it was sent twice, or held back
            self.counters.unexpected += 1;
            return Ok(());
        }
        if message.sender.is_some() {
            self.counters.transfer_cycles += self.now - message.ready;
        }
        let state = self.nodes[node].state(line);
        let cell = self.cell(state, Event::Data)?;
        let len = self.config.machine.line;
        if cell.actions == [Action::Save] {
            if let Some(pending) = &mut self.nodes[node].pending {
                pending.saved = Some(Box::new(text));
                pending.state = cell.next;
            }
            return Ok(());
        }
        let Some(pending) = self.nodes[node].pending.take() else { return Ok(()) };
        // Used once or kept: the access happens on the line in its place
        let once = cell.actions.contains(&Action::Once);
        let rights = match (once, state) {
            (true, State::IS_D_I) => State::S,
            (true, _) => State::M,
            (false, _) => cell.next,
        };
        self.fill(node, line, if rights == State::O { State::M } else { rights }, &text[..len])?;
        // Ordered before a write that may have happened since
        self.excuse(state == State::IS_D_I);
        let mut forwarded = Vec::new();
        let result = self.complete(node, line, pending.since);
        self.excuse(false);
        if cell.actions.contains(&Action::Forward) {
            forwarded = pending.promised;
        }
        result?;
        let copy = self.nodes[node].copy(line).unwrap_or([0; LONGEST_LINE]);
        self.nodes[node].set(line, cell.next);
        for (to, request) in forwarded {
            // Each peer gets a message of its own: a pad serves one receiver
            let at = self.now + self.config.bus.response;
            self.transfer(Some(node), to, request, line, copy, at);
        }
        self.release_bus();
        self.check_line(line)
    }

    /// A request has waited long: its peer seals the line anew, if the line was lost on the bus.
    pub(super) fn timeout(&mut self, node: usize, request: u64) -> Result<(), Fault> {
        if self.nodes[node].pending.as_ref().is_none_or(|pending| pending.request != request) {
            return Ok(());
        }
        self.counters.timeouts += 1;
        let lost = self.attacker.as_mut().and_then(|attacker| attacker.resend(node, request));
        match lost {
            Some(mut message) => {
                message.again = true;
                message.ready = self.now;
                let sealed = self.sealed(&message);
                let leaves = if sealed { self.scheme.send(self.now, message.from, message.to) } else { self.now };
                let index = self.keep(message);
                self.push(leaves, Due::Slot(index));
                self.later(self.config.bus.timeout, Due::Timeout(node, request));
            }
            None if self.attacker.is_some() => self.alarm(How::Timeout, node),
            // Slow, but on its way
            None => self.later(self.config.bus.timeout, Due::Timeout(node, request)),
        }
        Ok(())
    }
}
