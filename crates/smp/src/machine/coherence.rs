//! The caches of all nodes and what the protocol's table makes them do: for accesses of their own processors, for commands
//! on the bus, and for lines that arrive.

use super::{
    bus::{Bus, Command, Request},
    check::Checker,
    context::Context,
    node::{At, Mshr, Node, WriteBack, access_event},
    outcome::MachineError,
    schedule::Event as Due,
};
use crate::{
    access::{Access, Kind},
    config::Config,
    engine::Cycle,
    message::{LONGEST_LINE, Message},
    mosi::{Action, EVENTS, Event, STATES, State, Transition, TransitionError, transition},
};

/// How often each cell of the protocol's table was used.
pub(super) type Coverage = [[u64; EVENTS]; STATES];

/// The caches of all nodes.
pub(super) struct Coherence {
    pub(super) nodes: Vec<Node>,
    coverage: Box<Coverage>,
    line: usize,
    /// Binary logarithm of the line's bytes.
    pub(super) shift: u32,
    first_hit: u64,
    second_hit: u64,
    timeout: u64,
}

/// What becomes of an access that does not hit the first level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// It is done; the processor goes on at this cycle.
    Done(Cycle),
    /// The processor waits for the line.
    Missed,
    /// The line is in a transaction: the processor tries again later.
    Refused,
}

/// An access that waited is done: its processor goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Completion {
    pub(super) node: usize,
    pub(super) at: Cycle,
}

/// What a command on the bus makes a node do.
#[derive(Debug, Default)]
pub(super) struct Snooped {
    /// The line that it sends to the requestor.
    pub(super) sends: Option<[u8; LONGEST_LINE]>,
    pub(super) completion: Option<Completion>,
}

/// What a line does at its requestor.
#[derive(Debug)]
pub(super) enum Arrival {
    /// No request waits for it: it was sent twice, or held back.
    Unexpected,
    /// It is kept until the node's own request is ordered.
    Saved,
    /// The access is done; then the line, as it now is, goes to the nodes that asked meanwhile.
    Used { completion: Completion, text: [u8; LONGEST_LINE], forwards: Vec<(usize, u64)> },
}

impl Coherence {
    pub(super) fn new(config: &Config) -> Coherence {
        Coherence {
            nodes: (0..config.machine.processors).map(|_| Node::new(config)).collect(),
            coverage: Box::new([[0; EVENTS]; STATES]),
            line: config.machine.line,
            shift: config.machine.line.trailing_zeros(),
            first_hit: config.l1.hit,
            second_hit: config.l2.hit,
            timeout: config.bus.timeout,
        }
    }

    /// How often the cell of `state` and `event` was used.
    pub(super) fn used(&self, state: State, event: Event) -> u64 {
        self.coverage[state as usize][event as usize % EVENTS]
    }

    /// Looks a transition up, and counts it.
    fn transition(&mut self, state: State, event: Event) -> Result<Transition, MachineError> {
        self.coverage[state as usize][event as usize] += 1;
        Ok(transition(state, event).ok_or(TransitionError { state, event })?)
    }

    /// An access that does not hit the first level, at cycle `time`.
    pub(super) fn access(
        &mut self,
        node: usize,
        access: &Access,
        time: Cycle,
        bus: &mut Bus,
        context: &mut Context,
    ) -> Result<Attempt, MachineError> {
        let line = access.address >> self.shift;
        let state = self.nodes[node].state(line);
        let event = access_event(access.kind == Kind::Store);
        let cell = self.transition(state, event)?;
        match cell.actions {
            [Action::Hit] => {
                // Another level has it
                let first = if access.kind == Kind::Fetch { At::Instructions } else { At::Data };
                context.counters.nodes[node].second_hits += 1;
                self.pull(node, line, first, time, bus, context)?;
                self.perform(node, access, first, false, time, &mut context.checker);
                Ok(Attempt::Done(time + self.second_hit))
            }
            [Action::Recycle] => Ok(Attempt::Refused),
            [action @ (Action::Gets | Action::Getx)] => {
                let counters = &mut context.counters.nodes[node];
                if state == State::I {
                    counters.misses += 1
                } else {
                    counters.upgrades += 1
                }
                let caches = &mut self.nodes[node];
                caches.requests += 1;
                let request = caches.requests;
                let (access, forwards) = (*access, Vec::new());
                caches.mshr =
                    Some(Mshr { line, state: cell.next, access, request, since: time, saved: None, forwards });
                let command = if *action == Action::Gets { Command::GetS } else { Command::GetX };
                bus.request(node, command, line, request, time, &mut context.schedule);
                if self.timeout > 0 {
                    context.schedule.at(time + self.timeout, Due::Timeout(node, request));
                }
                Ok(Attempt::Missed)
            }
            _ => Err(TransitionError { state, event }.into()),
        }
    }

    /// Moves a line from another level of the same node into `first`.
    fn pull(
        &mut self,
        node: usize,
        line: u64,
        first: At,
        time: Cycle,
        bus: &mut Bus,
        context: &mut Context,
    ) -> Result<(), MachineError> {
        let Some((at, slot)) = self.nodes[node].find(line) else { return Ok(()) };
        if at != first {
            // Making room may move other lines, but never this one: it is marked as used
            self.nodes[node].level_mut(at).use_slot(slot);
            let place = self.make_room(node, first, line, Some((at, slot)), time, bus, context)?;
            let caches = &mut self.nodes[node];
            if let Some((at, slot)) = caches.find(line) {
                caches.shift((at, slot), (first, place));
            }
        }
        Ok(())
    }

    /// A free slot for `line` in a first level: its old line moves to the second, whose old line leaves the node. Where
    /// the wanted line itself is in the way in the second level, the two change places.
    #[allow(clippy::too_many_arguments, reason = "a line's place, and the components that eviction reaches")]
    fn make_room(
        &mut self,
        node: usize,
        first: At,
        line: u64,
        wanted: Option<(At, usize)>,
        time: Cycle,
        bus: &mut Bus,
        context: &mut Context,
    ) -> Result<usize, MachineError> {
        let place = self.nodes[node].level(first).place(line);
        if let Some(old) = self.nodes[node].level(first).entry(place) {
            let caches = &self.nodes[node];
            let below = caches.second.place(old.line);
            match caches.second.entry(below) {
                Some(victim) if Some((At::Second, below)) != wanted => {
                    self.evict(node, victim.line, time, bus, context)?;
                    self.nodes[node].shift((first, place), (At::Second, below));
                }
                Some(_) => {
                    let caches = &mut self.nodes[node];
                    let entry = caches.second.entry(below);
                    caches.shift((first, place), (At::Second, below));
                    if let Some(entry) = entry {
                        caches.level_mut(first).put(place, entry.line, entry.state);
                    }
                }
                None => self.nodes[node].shift((first, place), (At::Second, below)),
            }
            self.nodes[node].second.use_slot(below);
        }
        Ok(place)
    }

    /// The second level evicts a line, as the protocol says.
    fn evict(
        &mut self,
        node: usize,
        line: u64,
        time: Cycle,
        bus: &mut Bus,
        context: &mut Context,
    ) -> Result<(), MachineError> {
        let state = self.nodes[node].state(line);
        let cell = self.transition(state, Event::Replace)?;
        let caches = &mut self.nodes[node];
        if cell.actions == [Action::Putx] {
            let text = caches.copy(line).unwrap_or([0; LONGEST_LINE]);
            caches.write_backs.push(WriteBack { line, state: cell.next, text });
            context.counters.nodes[node].write_backs += 1;
            bus.request(node, Command::PutX, line, 0, time, &mut context.schedule);
        }
        self.nodes[node].set(line, State::I);
        Ok(())
    }

    /// Puts the line of a finished request into the first level.
    fn fill(
        &mut self,
        node: usize,
        mshr: &Mshr,
        state: State,
        text: &[u8],
        bus: &mut Bus,
        context: &mut Context,
    ) -> Result<(), MachineError> {
        let first = if mshr.access.kind == Kind::Fetch { At::Instructions } else { At::Data };
        // An upgrade finds its old copy, which may be in any level
        self.nodes[node].set(mshr.line, State::I);
        let now = context.schedule.now();
        let place = self.make_room(node, first, mshr.line, None, now, bus, context)?;
        let caches = &mut self.nodes[node];
        caches.text_mut(first, place).copy_from_slice(text);
        caches.level_mut(first).put(place, mshr.line, state);
        caches.level_mut(first).use_slot(place);
        Ok(())
    }

    /// The access itself, on a line that is now in a first level with the rights it needs. With `stale`, a load may see
    /// what was there before a write that has already happened.
    fn perform(
        &mut self,
        node: usize,
        access: &Access,
        first: At,
        stale: bool,
        time: Cycle,
        checker: &mut Option<Checker>,
    ) {
        let caches = &mut self.nodes[node];
        let Some(slot) = caches.level(first).find(access.address >> self.shift) else { return };
        caches.level_mut(first).use_slot(slot);
        match access.kind {
            Kind::Store => {
                caches.store(slot, access.address as usize & (self.line - 1), access.value, access.size);
                if let Some(checker) = checker {
                    checker.stored(access);
                }
            }
            Kind::Load if !stale => {
                if let Some(checker) = checker {
                    checker.loaded(caches.text(At::Data, slot), access, self.shift, time);
                }
            }
            _ => {}
        }
    }

    /// An access that waited happens now.
    fn complete(&mut self, node: usize, mshr: &Mshr, stale: bool, context: &mut Context) -> Completion {
        let first = if self.nodes[node].data.find(mshr.line).is_some() { At::Data } else { At::Instructions };
        let now = context.schedule.now();
        self.perform(node, &mshr.access, first, stale, now, &mut context.checker);
        context.counters.nodes[node].waited += now - mshr.since;
        Completion { node, at: now + self.first_hit }
    }

    /// A node sees a command.
    pub(super) fn snoop(
        &mut self,
        node: usize,
        request: Request,
        bus: &mut Bus,
        context: &mut Context,
    ) -> Result<Snooped, MachineError> {
        let Request { command, line, .. } = request;
        let mut snooped = Snooped::default();
        let state = self.nodes[node].state(line);
        let event = match (command, request.node == node) {
            (Command::GetS, true) => Event::OwnGets,
            (Command::GetX, true) => Event::OwnGetx,
            (Command::PutX, true) => Event::OwnPutx,
            (Command::GetS, false) => Event::OtherGets,
            (Command::GetX, false) => Event::OtherGetx,
            (Command::PutX, false) => Event::OtherPutx,
        };
        // Most nodes have no copy of most lines
        if state == State::I && request.node != node {
            return Ok(snooped);
        }
        let cell = self.transition(state, event)?;
        let caches = &mut self.nodes[node];
        for action in cell.actions {
            match action {
                Action::Send => snooped.sends = Some(caches.copy(line).unwrap_or([0; LONGEST_LINE])),
                Action::Record => {
                    if let Some(mshr) = &mut caches.mshr {
                        mshr.forwards.push((request.node, request.number));
                    }
                }
                // The line belongs to memory, or to the node that has become its owner
                Action::Drop if event == Event::OwnPutx => caches.write_backs.retain(|entry| entry.line != line),
                Action::Drop => caches.set(line, State::I),
                Action::Finish => {
                    snooped.completion = self.finish_saved(node, cell.next, bus, context)?;
                    return Ok(snooped);
                }
                Action::Hit => {
                    snooped.completion = self.finish_upgrade(node, bus, context)?;
                    return Ok(snooped);
                }
                _ => return Err(TransitionError { state, event }.into()),
            }
        }
        match &mut caches.mshr {
            Some(mshr) if mshr.line == line => mshr.state = cell.next,
            _ => match caches.write_backs.iter_mut().find(|entry| entry.line == line) {
                Some(entry) => entry.state = cell.next,
                None => caches.set(line, cell.next),
            },
        }
        Ok(snooped)
    }

    /// The node's own request is ordered, and its data is already here.
    fn finish_saved(
        &mut self,
        node: usize,
        next: State,
        bus: &mut Bus,
        context: &mut Context,
    ) -> Result<Option<Completion>, MachineError> {
        let Some(mshr) = self.nodes[node].mshr.take() else { return Ok(None) };
        let text = mshr.saved.as_deref().copied().unwrap_or([0; LONGEST_LINE]);
        self.fill(node, &mshr, next, &text[..self.line], bus, context)?;
        Ok(Some(self.complete(node, &mshr, false, context)))
    }

    /// The owner may write: only its address went over the bus.
    fn finish_upgrade(
        &mut self,
        node: usize,
        bus: &mut Bus,
        context: &mut Context,
    ) -> Result<Option<Completion>, MachineError> {
        let Some(mshr) = self.nodes[node].mshr.take() else { return Ok(None) };
        self.nodes[node].set(mshr.line, State::M);
        if let Some((at, slot)) = self.nodes[node].find(mshr.line)
            && at != At::Data
        {
            let text = self.nodes[node].text(at, slot).to_vec();
            self.fill(node, &mshr, State::M, &text, bus, context)?;
        }
        Ok(Some(self.complete(node, &mshr, false, context)))
    }

    /// A line reaches its requestor.
    pub(super) fn arrive(
        &mut self,
        message: &Message,
        bus: &mut Bus,
        context: &mut Context,
    ) -> Result<Arrival, MachineError> {
        let Message { node, line, request, text, .. } = *message;
        let waits = |mshr: &Mshr| mshr.line == line && mshr.request == request && mshr.saved.is_none();
        if !self.nodes[node].mshr.as_ref().is_some_and(waits) {
            context.counters.unexpected += 1;
            return Ok(Arrival::Unexpected);
        }
        if message.sender.is_some() {
            context.counters.transfer_cycles += context.schedule.now() - message.ready;
        }
        let state = self.nodes[node].state(line);
        let cell = self.transition(state, Event::Data)?;
        if cell.actions == [Action::Save] {
            if let Some(mshr) = &mut self.nodes[node].mshr {
                mshr.saved = Some(Box::new(text));
                mshr.state = cell.next;
            }
            return Ok(Arrival::Saved);
        }
        let Some(mshr) = self.nodes[node].mshr.take() else { return Ok(Arrival::Unexpected) };
        // Used once or kept: the access happens on the line in its place
        let rights = match (state, cell.next) {
            (State::IS_D_I, _) => State::S,
            (_, State::I | State::O) => State::M,
            (_, next) => next,
        };
        self.fill(node, &mshr, rights, &text[..self.line], bus, context)?;
        // In IS_D_I the read is ordered before a write that may have happened since
        let completion = self.complete(node, &mshr, state == State::IS_D_I, context);
        let text = self.nodes[node].copy(line).unwrap_or([0; LONGEST_LINE]);
        self.nodes[node].set(line, cell.next);
        let forwards = if cell.actions.contains(&Action::Forward) { mshr.forwards } else { Vec::new() };
        Ok(Arrival::Used { completion, text, forwards })
    }

    /// The line of a node's write-back, which its command carries.
    pub(super) fn write_back(&self, node: usize, line: u64) -> Option<[u8; LONGEST_LINE]> {
        self.nodes[node].write_backs.iter().find(|entry| entry.line == line).map(|entry| entry.text)
    }

    /// Whether `node` still waits for its request of that number.
    pub(super) fn waits(&self, node: usize, request: u64) -> bool {
        self.nodes[node].mshr.as_ref().is_some_and(|mshr| mshr.request == request)
    }

    /// Whether a command ends its transaction, because no data follows: a write-back, or an upgrade of the owner.
    pub(super) fn ends(&self, request: Request) -> bool {
        request.command == Command::PutX
            || self.nodes[request.node].mshr.as_ref().is_none_or(|m| m.line != request.line)
    }
}
