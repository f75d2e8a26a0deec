//! An address is on the bus: every node and memory do what the protocol says.

use super::{Due, End, Fault, Machine, Seen, bus::Request, miss::Ask};
use crate::{
    message::{How, LONGEST_LINE},
    mosi::{Action, Event, Hole, State},
    node::At,
};

impl Machine {
    /// A request is ordered.
    pub(super) fn order(&mut self, index: usize) -> Result<(), Fault> {
        let Some(request) = self.bus.request(index) else { return Ok(()) };
        self.counters.commands += 1;
        match request.ask {
            Ask::Gets => self.counters.gets += 1,
            Ask::Getx => self.counters.getx += 1,
            Ask::Putx => self.counters.putx += 1,
        }
        let number = self.counters.commands;
        let deaf = match &mut self.attacker {
            Some(attacker) => {
                attacker.command(number, request.ask == Ask::Getx, request.node, self.nodes.len(), |node| {
                    self.nodes[node].state(request.line) == State::S
                })
            }
            None => None,
        };
        if request.ask == Ask::Putx
            && let Some(back) = self.nodes[request.node].backs.iter().find(|back| back.line == request.line)
        {
            self.bus.carry(index, back.text);
        }
        let skew = self.config.bus.skew;
        if skew > 0 {
            // Memory is the last of those who see it; all see addresses in one order, each in its own time
            let nodes = self.nodes.len();
            if let Some(request) = self.bus.request_mut(index) {
                request.unseen = nodes + 1;
            }
            for node in 0..=nodes {
                let at = (self.now + self.draw() % (skew + 1)).max(self.bus.last_seen[node] + 1);
                self.bus.last_seen[node] = at;
                self.push(at, Due::Snoop(node, index));
            }
            return Ok(());
        }
        for node in 0..self.nodes.len() {
            let seen = deaf != Some(node);
            self.tell_command(node, seen);
            if seen {
                self.snoop(node, request)?;
            }
        }
        self.snoop_memory(index, request);
        self.bus.forget(index);
        if self.data_moves_not(request) {
            self.release_bus();
        }
        self.check_line(request.line)
    }

    /// Whether the transaction ends with its address: a write-back, or an upgrade of the owner.
    fn data_moves_not(&self, request: Request) -> bool {
        request.ask == Ask::Putx || self.nodes[request.node].pending.as_ref().is_none_or(|p| p.line != request.line)
    }

    /// A node sees an address later than others do.
    pub(super) fn snoop_late(&mut self, node: usize, index: usize) -> Result<(), Fault> {
        let Some(request) = self.bus.request(index) else { return Ok(()) };
        if node < self.nodes.len() {
            self.snoop(node, request)?
        } else {
            self.snoop_memory(index, request)
        }
        let last = self.bus.request_mut(index).is_some_and(|request| {
            request.unseen -= 1;
            request.unseen == 0
        });
        if last {
            self.bus.forget(index);
        }
        Ok(())
    }

    fn tell_command(&mut self, node: usize, seen: bool) {
        let unit = self.config.unit(node);
        // One unit a chip hears for all of its nodes
        if node > 0 && self.config.unit(node - 1) == unit {
            return;
        }
        if let Err(how) = self.scheme.command(unit, seen) {
            self.alarm(how, node);
        }
    }

    /// Somebody saw that something is not genuine; the first to see it ends the run.
    pub(super) fn alarm(&mut self, how: How, node: usize) {
        if self.end.is_none() {
            let Machine { counters, now, .. } = self;
            let (transfer, command) = (counters.transfers, counters.commands);
            self.end = Some(End::Alarm(Seen { how, node, cycle: *now, transfer, command }));
        }
    }

    fn snoop(&mut self, node: usize, request: Request) -> Result<(), Fault> {
        let state = self.nodes[node].state(request.line);
        let event = match (request.ask, request.node == node) {
            (Ask::Gets, true) => Event::OwnGets,
            (Ask::Getx, true) => Event::OwnGetx,
            (Ask::Putx, true) => Event::OwnPutx,
            (Ask::Gets, false) => Event::OtherGets,
            (Ask::Getx, false) => Event::OtherGetx,
            (Ask::Putx, false) => Event::OtherPutx,
        };
        // Most nodes know nothing of most lines
        if state == State::I && request.node != node {
            return Ok(());
        }
        let cell = self.cell(state, event)?;
        for action in cell.actions {
            match action {
                Action::Send => self.answer(node, request),
                Action::Record => {
                    if let Some(pending) = &mut self.nodes[node].pending {
                        pending.promised.push((request.node, request.number));
                    }
                }
                Action::Drop if event == Event::OwnPutx => self.written_back(node, request.line),
                Action::Drop => self.nodes[node].set(request.line, State::I),
                Action::Finish => return self.finish_saved(node, cell.next),
                Action::Hit => return self.finish_upgrade(node),
                _ => return Err(Fault::Hole(Hole { state, event })),
            }
        }
        let caches = &mut self.nodes[node];
        match &mut caches.pending {
            Some(pending) if pending.line == request.line => pending.state = cell.next,
            _ => match caches.backs.iter_mut().find(|back| back.line == request.line) {
                Some(back) => back.state = cell.next,
                None => caches.set(request.line, cell.next),
            },
        }
        Ok(())
    }

    /// The owner answers: the line as it is now, after the time to find it.
    fn answer(&mut self, node: usize, request: Request) {
        let text = self.nodes[node].copy(request.line).unwrap_or([0; LONGEST_LINE]);
        let at = self.now + self.config.bus.response;
        self.transfer(Some(node), request.node, request.number, request.line, text, at);
    }

    /// A write-back is ordered: the line is memory's, or of whoever has become its owner.
    fn written_back(&mut self, node: usize, line: u64) {
        self.nodes[node].backs.retain(|back| back.line != line);
    }

    fn store_line(&mut self, node: usize, line: u64, text: &[u8; LONGEST_LINE]) {
        let len = self.config.machine.line;
        self.owners.take_back(line);
        let address = line << self.shift;
        match &mut self.guard {
            Some(guard) => {
                if let Err(how) = guard.write(address, &text[..len]) {
                    self.alarm(how, node);
                }
            }
            None => self.image.write(address, &text[..len]),
        }
    }

    /// What memory does: it answers for what nobody owns, and keeps its books.
    fn snoop_memory(&mut self, index: usize, request: Request) {
        let owner = self.owners.of(request.line);
        match request.ask {
            Ask::Putx => {
                if let Some(text) = self.bus.unload(index)
                    && owner == Some(request.node)
                {
                    self.store_line(request.node, request.line, &text);
                }
            }
            Ask::Gets | Ask::Getx => {
                if owner.is_none() {
                    self.answer_from_memory(request);
                }
                if request.ask == Ask::Getx {
                    self.owners.give(request.line, request.node);
                }
            }
        }
    }

    fn answer_from_memory(&mut self, request: Request) {
        let len = self.config.machine.line;
        let memory = &self.config.memory;
        let (mut at, jitter) = (self.now + memory.latency, memory.jitter);
        if jitter > 0 {
            at += self.draw() % (jitter + 1);
        }
        let mut text = [0; LONGEST_LINE];
        let address = request.line << self.shift;
        match &mut self.guard {
            Some(guard) => match guard.read(address, &mut text[..len], self.now, at) {
                Ok(ready) => at = ready,
                Err(how) => return self.alarm(how, request.node),
            },
            None => self.image.read(address, &mut text[..len]),
        }
        self.counters.fills += 1;
        self.transfer(None, request.node, request.number, request.line, text, at);
    }

    /// The own request is ordered, and its data is already here.
    fn finish_saved(&mut self, node: usize, next: State) -> Result<(), Fault> {
        let Some(pending) = self.nodes[node].pending.take() else { return Ok(()) };
        let text = pending.saved.as_deref().copied().unwrap_or([0; LONGEST_LINE]);
        let len = self.config.machine.line;
        self.fill(node, pending.line, next, &text[..len])?;
        self.complete(node, pending.line, pending.since)
    }

    /// The owner may write: nothing but its address went over the bus.
    fn finish_upgrade(&mut self, node: usize) -> Result<(), Fault> {
        let Some(pending) = self.nodes[node].pending.take() else { return Ok(()) };
        self.nodes[node].set(pending.line, State::M);
        if let Some((at, slot)) = self.nodes[node].find(pending.line)
            && at != At::Data
        {
            let text = self.nodes[node].text(at, slot).to_vec();
            self.fill(node, pending.line, State::M, &text)?;
        }
        self.complete(node, pending.line, pending.since)
    }

    /// The waiting access happens now, and the processor goes on.
    pub(super) fn complete(&mut self, node: usize, line: u64, since: u64) -> Result<(), Fault> {
        let first = if self.nodes[node].data.find(line).is_some() { At::Data } else { At::Instructions };
        self.finish_on(node, first, line, self.now)?;
        self.counters.nodes[node].waited += self.now - since;
        self.advance(node, self.now + self.config.l1.hit)
    }

    pub(super) fn later(&mut self, delay: u64, due: Due) {
        let at = self.now + delay;
        self.push(at, due);
    }
}
