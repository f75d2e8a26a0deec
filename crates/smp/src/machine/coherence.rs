//! The coherence controllers: they apply the protocol's table to the accesses of their own processors and to snooped
//! commands.

use super::{
    bus::Bus,
    caches::Caches,
    context::Context,
    mshrs::{Mshr, Stall},
    node::{At, access_event},
    outcome::MachineError,
    request::Request,
    schedule::Event as Due,
};
use crate::{
    access::{Access, Operation},
    config::Config,
    engine::Cycle,
    message::{Command, LONGEST_LINE, Message},
    mosi::{Action, Event, State, Transition, TransitionError},
    protocol::has_copy,
};

/// The coherence controllers of all nodes.
pub(super) struct Coherence {
    pub(super) caches: Caches,
    pub(super) first_hit: u64,
    second_hit: u64,
    timeout: u64,
    /// MSHRs per node. With one, misses are blocking.
    mshrs: usize,
}

/// The result of an access that does not hit the first level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// Done, or a non-blocking miss: the processor continues at this cycle.
    Done(Cycle),
    /// The processor waits for the line.
    Missed,
    /// The processor waits for an outstanding line, and then tries again.
    Stalled(Stall),
    /// The line is in a transaction: the processor tries again later.
    Refused,
}

/// A processor's current access is done, and it continues at cycle `at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Completion {
    pub(super) node: usize,
    pub(super) at: Cycle,
}

/// A request has its line, and the accesses that waited for it have been performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Filled {
    pub(super) completion: Completion,
    /// Whether the miss was blocking: the processor waits for it.
    pub(super) waits: bool,
}

/// What a command on the bus makes a node do.
#[derive(Debug, Default)]
pub(super) struct Snooped {
    /// The line that it sends to the requestor.
    pub(super) sends: Option<[u8; LONGEST_LINE]>,
    /// Whether memory takes that line too.
    pub(super) back: bool,
    pub(super) filled: Option<Filled>,
    /// Whether the node has neither a copy of the line nor a transaction on it any more.
    pub(super) gone: bool,
}

/// A request of a node, and the accesses that wait for it.
pub(super) struct Asked {
    pub(super) line: u64,
    /// The line's state before the request, and the table's transition for the access.
    pub(super) state: State,
    pub(super) cell: Transition,
    pub(super) access: Access,
    pub(super) joined: Vec<Access>,
    pub(super) waits: bool,
}

/// The result of a line's arrival at its requestor.
#[derive(Debug)]
pub(super) enum Arrival {
    /// No request waits for it: it was sent again, or an attacker had held it back.
    Unexpected,
    /// It is kept until the node's own request is ordered.
    Saved,
    /// The accesses have been performed. The line, as it is after them, goes to the requests in `forwards`, which were
    /// ordered meanwhile, and to memory if `back` is set.
    Used { filled: Filled, text: [u8; LONGEST_LINE], forwards: Vec<(usize, u64)>, back: bool },
}

impl Coherence {
    pub(super) fn new(config: &Config) -> Coherence {
        Coherence {
            caches: Caches::new(config),
            first_hit: config.l1.hit,
            second_hit: config.l2.hit,
            timeout: config.bus.timeout,
            mshrs: config.machine.mshrs,
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
        if let Some(mshr) = self.caches.nodes[node].mshrs.of_mut(line) {
            if access.kind == Operation::Fetch {
                return Ok(Attempt::Stalled(Stall::Line(line)));
            }
            mshr.joined.push(*access);
            context.counters.nodes[node].secondary += 1;
            return Ok(Attempt::Done(time + self.first_hit));
        }
        let state = self.caches.nodes[node].state(line);
        let event = access_event(access.kind == Operation::Store);
        let cell = self.caches.transition(state, event)?;
        match cell.actions {
            [Action::Hit]
                if state == State::E && event == Event::Store && self.caches.nodes[node].data.find(line).is_some() =>
            {
                // The only copy: its node may write without a request
                self.caches.nodes[node].set(line, State::M);
                self.caches.perform(node, access, At::Data, false, time, &mut context.checker);
                Ok(Attempt::Done(time + self.first_hit))
            }
            [Action::Hit] => {
                self.caches.nodes[node].set(line, cell.next);
                // Another cache of the node has it
                let first = if access.kind == Operation::Fetch { At::Instructions } else { At::Data };
                context.counters.nodes[node].second_hits += 1;
                self.caches.pull(node, line, first, time, bus, context)?;
                self.caches.perform(node, access, first, false, time, &mut context.checker);
                Ok(Attempt::Done(time + self.second_hit))
            }
            [Action::Recycle] => Ok(Attempt::Refused),
            [Action::Gets | Action::Getx] => {
                if self.caches.nodes[node].mshrs.held() >= self.mshrs {
                    return Ok(Attempt::Stalled(Stall::Full));
                }
                // Instruction fetches always block
                let waits = self.mshrs == 1 || access.kind == Operation::Fetch;
                context.counters.nodes[node].primary += 1;
                let asked = Asked { line, state, cell, access: *access, joined: Vec::new(), waits };
                self.ask(node, asked, time, bus, context);
                Ok(if waits { Attempt::Missed } else { Attempt::Done(time + self.first_hit) })
            }
            _ => Err(TransitionError { state, event }.into()),
        }
    }

    /// Takes an MSHR and issues a node's request for a line at cycle `time`.
    pub(super) fn ask(&mut self, node: usize, asked: Asked, time: Cycle, bus: &mut Bus, context: &mut Context) {
        let Asked { line, state, cell, access, joined, waits } = asked;
        let counters = &mut context.counters.nodes[node];
        if state == State::I {
            counters.misses += 1
        } else {
            counters.upgrades += 1
        }
        let caches = &mut self.caches.nodes[node];
        caches.requests += 1;
        let request = caches.requests;
        let mshr = Mshr {
            line,
            state: cell.next,
            access,
            joined,
            waits,
            request,
            since: time,
            timeouts: 0,
            saved: None,
            kept: None,
            forwards: Vec::new(),
            acknowledged: 0,
        };
        caches.mshrs.take(mshr, counters, time);
        self.caches.asks(node, line);
        let command = if cell.actions == [Action::Gets] { Command::GetS } else { Command::GetX };
        bus.request(Request::new(node, command, line, request), time, &mut context.schedule);
        if self.timeout > 0 {
            context.schedule.at(time + self.timeout, Due::Timeout(node, request));
        }
    }

    /// A node snoops a command and takes the protocol's transition.
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
        // Fast path: most nodes have no copy of most lines
        if state == State::I && request.node != node {
            snooped.gone = true;
            return Ok(snooped);
        }
        let cell = self.caches.transition(state, event)?;
        if event == Event::OwnGetx && matches!(state, State::SM_AD | State::SM_A) {
            context.counters.nodes[node].upgrades_with_data += 1;
        }
        let caches = &mut self.caches.nodes[node];
        for action in cell.actions {
            match action {
                Action::SendBack => {
                    snooped.sends = Some(caches.copy(line).unwrap_or([0; LONGEST_LINE]));
                    snooped.back = true;
                }
                Action::Send => snooped.sends = Some(caches.copy(line).unwrap_or([0; LONGEST_LINE])),
                Action::Record => {
                    if let Some(mshr) = caches.mshrs.of_mut(line) {
                        mshr.forwards.push((request.node, request.number));
                    }
                }
                // The write-back is over: memory owns the line, or the node that has become its owner meanwhile
                Action::Drop if event == Event::OwnPutx => caches.write_backs.retain(|entry| entry.line != line),
                Action::Drop => {
                    caches.set(line, State::I);
                    if let Some(mshr) = caches.mshrs.of_mut(line) {
                        mshr.kept = None;
                    }
                }
                Action::Finish => {
                    snooped.filled = self.finish_saved(node, line, cell.next, bus, context)?;
                    return Ok(snooped);
                }
                Action::Hit => {
                    snooped.filled = self.finish_upgrade(node, line, bus, context)?;
                    return Ok(snooped);
                }
                _ => return Err(TransitionError { state, event }.into()),
            }
        }
        match caches.mshrs.of_mut(line) {
            Some(mshr) => mshr.state = cell.next,
            None => match caches.write_backs.iter_mut().find(|entry| entry.line == line) {
                Some(entry) => entry.state = cell.next,
                None => caches.set(line, cell.next),
            },
        }
        snooped.gone = cell.next == State::I;
        Ok(snooped)
    }

    /// Whether no node but `node` has a copy of the line, or will have one through a command that is ordered already.
    pub(super) fn alone(&self, node: usize, line: u64) -> bool {
        let mut others = self.caches.present(line).without(node).iter();
        others.all(|other| !has_copy(self.caches.nodes[other].state(line)))
    }

    /// The line of a node's write-back, which its command carries.
    pub(super) fn write_back(&self, node: usize, line: u64) -> Option<[u8; LONGEST_LINE]> {
        self.caches.nodes[node].write_backs.iter().find(|entry| entry.line == line).map(|entry| entry.text)
    }

    /// Records the cycle at which all invalidations that a request causes will have been acknowledged to its node.
    pub(super) fn acknowledge(&mut self, request: Request, at: Cycle) {
        let mshr = self.caches.nodes[request.node].mshrs.asked_mut(request.number);
        if let Some(mshr) = mshr.filter(|mshr| mshr.line == request.line) {
            mshr.acknowledged = at;
        }
    }

    /// The cycle from which on a request may use the line that `message` brings; `None` if it is no longer outstanding.
    pub(super) fn acknowledged(&self, message: &Message) -> Option<Cycle> {
        self.caches.nodes[message.node].mshrs.asked(message.request).map(|mshr| mshr.acknowledged)
    }

    /// Counts a timeout of a request: returns how often it has timed out, or `None` if it is no longer outstanding.
    pub(super) fn timed_out(&mut self, node: usize, request: u64) -> Option<u32> {
        let mshr = self.caches.nodes[node].mshrs.asked_mut(request)?;
        mshr.timeouts += 1;
        Some(mshr.timeouts)
    }

    /// Whether a command completes its transaction because no data follows: a write-back, or an upgrade of the owner.
    pub(super) fn ends(&self, request: Request) -> bool {
        request.command == Command::PutX || self.caches.nodes[request.node].mshrs.asked(request.number).is_none()
    }
}
