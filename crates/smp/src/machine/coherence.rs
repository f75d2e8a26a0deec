//! What the protocol's table makes the nodes do: for accesses of their own processors, for commands on the bus, and for
//! lines that arrive.

use super::{
    bus::Bus,
    caches::Caches,
    context::Context,
    node::{At, Mshr, access_event},
    outcome::MachineError,
    request::Request,
    schedule::Event as Due,
};
use crate::{
    access::{Access, Kind},
    config::Config,
    engine::Cycle,
    message::{Command, LONGEST_LINE, Message},
    mosi::{Action, Event, State, TransitionError},
    protocol::has_copy,
};

/// The protocol at work in all nodes.
pub(super) struct Coherence {
    pub(super) caches: Caches,
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
    /// Memory takes that line too.
    pub(super) back: bool,
    pub(super) completion: Option<Completion>,
    /// The node has no more to do with the line.
    pub(super) gone: bool,
}

/// What a line does at its requestor.
#[derive(Debug)]
pub(super) enum Arrival {
    /// No request waits for it: it was sent twice, or held back.
    Unexpected,
    /// It is kept until the node's own request is ordered.
    Saved,
    /// The access is done; then the line, as it now is, goes to the nodes that asked meanwhile.
    /// Memory may take it too.
    Used { completion: Completion, text: [u8; LONGEST_LINE], forwards: Vec<(usize, u64)>, back: bool },
}

impl Coherence {
    pub(super) fn new(config: &Config) -> Coherence {
        Coherence {
            caches: Caches::new(config),
            first_hit: config.l1.hit,
            second_hit: config.l2.hit,
            timeout: config.bus.timeout,
        }
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
        let line = access.address >> self.caches.shift;
        let state = self.caches.nodes[node].state(line);
        let event = access_event(access.kind == Kind::Store);
        let cell = self.caches.transition(state, event)?;
        match cell.actions {
            [Action::Hit]
                if state == State::E && event == Event::Store && self.caches.nodes[node].data.find(line).is_some() =>
            {
                // The only copy: its node writes without asking
                self.caches.nodes[node].set(line, State::M);
                self.caches.perform(node, access, At::Data, false, time, &mut context.checker);
                Ok(Attempt::Done(time + self.first_hit))
            }
            [Action::Hit] => {
                self.caches.nodes[node].set(line, cell.next);
                // Another level has it
                let first = if access.kind == Kind::Fetch { At::Instructions } else { At::Data };
                context.counters.nodes[node].second_hits += 1;
                self.caches.pull(node, line, first, time, bus, context)?;
                self.caches.perform(node, access, first, false, time, &mut context.checker);
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
                let caches = &mut self.caches.nodes[node];
                caches.requests += 1;
                let request = caches.requests;
                let (access, forwards) = (*access, Vec::new());
                caches.mshr = Some(Mshr {
                    line,
                    state: cell.next,
                    access,
                    request,
                    since: time,
                    timeouts: 0,
                    saved: None,
                    forwards,
                    acknowledged: 0,
                });
                self.caches.asks(node, line);
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

    /// An access that waited happens now.
    fn complete(&mut self, node: usize, mshr: &Mshr, stale: bool, context: &mut Context) -> Completion {
        let first = if self.caches.nodes[node].data.find(mshr.line).is_some() { At::Data } else { At::Instructions };
        let now = context.schedule.now();
        self.caches.perform(node, &mshr.access, first, stale, now, &mut context.checker);
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
        let state = self.caches.nodes[node].state(line);
        let event = match (command, request.node == node) {
            (Command::GetS, true) if request.alone => Event::OwnGetsAlone,
            (Command::GetS, true) => Event::OwnGets,
            (Command::GetX, true) => Event::OwnGetx,
            (Command::PutX, true) => Event::OwnPutx,
            (Command::GetS, false) => Event::OtherGets,
            (Command::GetX, false) => Event::OtherGetx,
            (Command::PutX, false) => Event::OtherPutx,
        };
        // Most nodes have no copy of most lines
        if state == State::I && request.node != node {
            snooped.gone = true;
            return Ok(snooped);
        }
        let cell = self.caches.transition(state, event)?;
        let caches = &mut self.caches.nodes[node];
        for action in cell.actions {
            match action {
                Action::SendBack => {
                    snooped.sends = Some(caches.copy(line).unwrap_or([0; LONGEST_LINE]));
                    snooped.back = true;
                }
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
        snooped.gone = cell.next == State::I;
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
        let Some(mshr) = self.caches.nodes[node].mshr.take() else { return Ok(None) };
        let text = mshr.saved.as_deref().copied().unwrap_or([0; LONGEST_LINE]);
        self.caches.fill(node, &mshr, next, &text[..self.caches.line], bus, context)?;
        Ok(Some(self.complete(node, &mshr, false, context)))
    }

    /// The owner may write: only its address went over the bus.
    fn finish_upgrade(
        &mut self,
        node: usize,
        bus: &mut Bus,
        context: &mut Context,
    ) -> Result<Option<Completion>, MachineError> {
        let Some(mshr) = self.caches.nodes[node].mshr.take() else { return Ok(None) };
        self.caches.nodes[node].set(mshr.line, State::M);
        if let Some((at, slot)) = self.caches.nodes[node].find(mshr.line)
            && at != At::Data
        {
            let text = self.caches.nodes[node].text(at, slot).to_vec();
            self.caches.fill(node, &mshr, State::M, &text, bus, context)?;
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
        if !self.caches.nodes[node].mshr.as_ref().is_some_and(waits) {
            context.counters.unexpected += 1;
            return Ok(Arrival::Unexpected);
        }
        if message.sender.is_some() {
            context.counters.transfer_cycles += context.schedule.now() - message.ready;
        }
        let state = self.caches.nodes[node].state(line);
        let cell = self.caches.transition(state, Event::Data)?;
        if cell.actions == [Action::Save] {
            if let Some(mshr) = &mut self.caches.nodes[node].mshr {
                mshr.saved = Some(Box::new(text));
                mshr.state = cell.next;
            }
            return Ok(Arrival::Saved);
        }
        let Some(mshr) = self.caches.nodes[node].mshr.take() else { return Ok(Arrival::Unexpected) };
        // Used once or kept: the access happens on the line in its place
        let rights = match (state, cell.next) {
            (State::IS_D_I, _) => State::S,
            (_, State::I | State::O) | (State::IM_D_S | State::IE_D_S, _) => State::M,
            (_, next) => next,
        };
        self.caches.fill(node, &mshr, rights, &text[..self.caches.line], bus, context)?;
        // In IS_D_I the read is ordered before a write that may have happened since
        let completion = self.complete(node, &mshr, state == State::IS_D_I, context);
        let text = self.caches.nodes[node].copy(line).unwrap_or([0; LONGEST_LINE]);
        self.caches.nodes[node].set(line, cell.next);
        let back = cell.actions.contains(&Action::ForwardBack);
        let forwards = if back || cell.actions.contains(&Action::Forward) { mshr.forwards } else { Vec::new() };
        Ok(Arrival::Used { completion, text, forwards, back })
    }

    /// Whether no node but `node` has a copy of the line or will have one by what is ordered already.
    pub(super) fn alone(&self, node: usize, line: u64) -> bool {
        let mut others = self.caches.present(line).without(node).iter();
        others.all(|other| !has_copy(self.caches.nodes[other].state(line)))
    }

    /// The line of a node's write-back, which its command carries.
    pub(super) fn write_back(&self, node: usize, line: u64) -> Option<[u8; LONGEST_LINE]> {
        self.caches.nodes[node].write_backs.iter().find(|entry| entry.line == line).map(|entry| entry.text)
    }

    /// When the invalidations that a request caused have all been acknowledged to its node.
    pub(super) fn acknowledge(&mut self, request: Request, at: Cycle) {
        let mshr = self.caches.nodes[request.node].mshr.as_mut();
        if let Some(mshr) = mshr.filter(|mshr| mshr.line == request.line && mshr.request == request.number) {
            mshr.acknowledged = at;
        }
    }

    /// When the request that a line answers may use it; `None` if it waits no more.
    pub(super) fn acknowledged(&self, message: &Message) -> Option<Cycle> {
        let mshr = self.caches.nodes[message.node].mshr.as_ref();
        mshr.filter(|mshr| mshr.request == message.request).map(|mshr| mshr.acknowledged)
    }

    /// How often the request of that number has timed out, if `node` still waits for it.
    pub(super) fn timed_out(&mut self, node: usize, request: u64) -> Option<u32> {
        let mshr = self.caches.nodes[node].mshr.as_mut().filter(|mshr| mshr.request == request)?;
        mshr.timeouts += 1;
        Some(mshr.timeouts)
    }

    /// Whether a command ends its transaction, because no data follows: a write-back, or an upgrade of the owner.
    pub(super) fn ends(&self, request: Request) -> bool {
        request.command == Command::PutX
            || self.caches.nodes[request.node].mshr.as_ref().is_none_or(|m| m.line != request.line)
    }
}
