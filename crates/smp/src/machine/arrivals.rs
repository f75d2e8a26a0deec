//! Lines that arrive at the nodes that asked for them, and the accesses that waited.

use super::{
    bus::Bus,
    coherence::{Arrival, Asked, Coherence, Completion, Filled},
    context::Context,
    mshrs::Mshr,
    node::At,
    outcome::MachineError,
};
use crate::{
    access::{Access, Operation},
    message::{LONGEST_LINE, Message},
    mosi::{Action, Event, State},
};

/// The result of performing the accesses that waited for a line.
struct Performed {
    filled: Filled,
    /// Whether an access that joined wrote.
    wrote: bool,
    /// The accesses not performed: the first that needs more rights than the line has, and all after it.
    left: Vec<Access>,
}

impl Coherence {
    /// Completes a request that is ordered after its data has arrived.
    pub(super) fn finish_saved(
        &mut self,
        node: usize,
        line: u64,
        next: State,
        bus: &mut Bus,
        context: &mut Context,
    ) -> Result<Option<Filled>, MachineError> {
        let Some(mut mshr) = self.free(node, line, context) else { return Ok(None) };
        let text = mshr.saved.as_deref().copied().unwrap_or([0; LONGEST_LINE]);
        self.caches.fill(node, &mshr, next, &text[..self.caches.line], bus, context)?;
        let Performed { filled, left, .. } = self.complete(node, &mut mshr, next, false, context);
        self.ask_again(node, line, left, bus, context)?;
        Ok(Some(filled))
    }

    /// Completes an upgrade of the owner, for which only the address crossed the bus.
    pub(super) fn finish_upgrade(
        &mut self,
        node: usize,
        line: u64,
        bus: &mut Bus,
        context: &mut Context,
    ) -> Result<Option<Filled>, MachineError> {
        let Some(mut mshr) = self.free(node, line, context) else { return Ok(None) };
        self.caches.nodes[node].set(line, State::M);
        let place = self.caches.nodes[node].find(line);
        if let Some(text) = mshr.kept.take() {
            self.caches.fill(node, &mshr, State::M, &text[..self.caches.line], bus, context)?;
        } else if let Some((at, slot)) = place.filter(|(at, _)| *at != At::Data) {
            let text = self.caches.nodes[node].text(at, slot).to_vec();
            self.caches.fill(node, &mshr, State::M, &text, bus, context)?;
        }
        Ok(Some(self.complete(node, &mut mshr, State::M, false, context).filled))
    }

    /// A line reaches its requestor.
    pub(super) fn arrive(
        &mut self,
        message: &Message,
        bus: &mut Bus,
        context: &mut Context,
    ) -> Result<Arrival, MachineError> {
        let Message { node, line, request, text, .. } = *message;
        let waits = |mshr: &&Mshr| mshr.line == line && mshr.saved.is_none();
        if self.caches.nodes[node].mshrs.asked(request).filter(waits).is_none() {
            return Ok(Arrival::Unexpected);
        }
        if message.sender.is_some() {
            context.counters.transfer_cycles += context.schedule.now() - message.ready;
        }
        let state = self.caches.nodes[node].state(line);
        let cell = self.caches.transition(state, Event::Data)?;
        if cell.actions == [Action::Save] {
            if let Some(mshr) = self.caches.nodes[node].mshrs.of_mut(line) {
                mshr.saved = Some(Box::new(text));
                mshr.state = cell.next;
            }
            return Ok(Arrival::Saved);
        }
        let Some(mut mshr) = self.free(node, line, context) else { return Ok(Arrival::Unexpected) };
        // The line is filled with these rights for its accesses, even if the node gives it up right afterwards
        let rights = match (state, cell.next) {
            (State::IS_D_I, _) => State::S,
            (_, State::I | State::O) | (State::IM_D_S | State::IE_D_S, _) => State::M,
            (_, next) => next,
        };
        self.caches.fill(node, &mshr, rights, &text[..self.caches.line], bus, context)?;
        // In IS_D_I the read is ordered before a write that may have happened since
        let stale = state == State::IS_D_I;
        let Performed { filled, wrote, left } = self.complete(node, &mut mshr, rights, stale, context);
        let text = self.caches.nodes[node].copy(line).unwrap_or([0; LONGEST_LINE]);
        let next = if wrote && cell.next == State::E { State::M } else { cell.next };
        self.caches.nodes[node].set(line, next);
        let back = cell.actions.contains(&Action::ForwardBack);
        let forwards = if back || cell.actions.contains(&Action::Forward) { mshr.forwards } else { Vec::new() };
        self.ask_again(node, line, left, bus, context)?;
        Ok(Arrival::Used { filled, text, forwards, back })
    }

    /// Performs the accesses that waited, in program order, up to the first that needs more rights than the line has.
    fn complete(
        &mut self,
        node: usize,
        mshr: &mut Mshr,
        rights: State,
        stale: bool,
        context: &mut Context,
    ) -> Performed {
        let first = if self.caches.nodes[node].data.find(mshr.line).is_some() { At::Data } else { At::Instructions };
        let now = context.schedule.now();
        self.caches.perform(node, &mshr.access, first, stale, now, &mut context.checker);
        let mut left = std::mem::take(&mut mshr.joined);
        let stores = |access: &Access| access.kind == Operation::Store;
        let last = if rights == State::S { left.iter().position(stores) } else { None };
        let mut wrote = false;
        for access in left.drain(..last.unwrap_or(left.len())) {
            wrote |= stores(&access);
            self.caches.perform(node, &access, first, stale, now, &mut context.checker);
        }
        if mshr.waits {
            context.counters.nodes[node].waited += context.region.within(mshr.since, now);
        }
        let completion = Completion { node, at: now + self.first_hit };
        Performed { filled: Filled { completion, waits: mshr.waits }, wrote, left }
    }

    /// Requests a line for writing that has arrived for reading, for the stores that joined the read.
    fn ask_again(
        &mut self,
        node: usize,
        line: u64,
        mut left: Vec<Access>,
        bus: &mut Bus,
        context: &mut Context,
    ) -> Result<(), MachineError> {
        if left.is_empty() {
            return Ok(());
        }
        let (access, state) = (left.remove(0), self.caches.nodes[node].state(line));
        let cell = self.caches.transition(state, Event::Store)?;
        let asked = Asked { line, state, cell, access, joined: left, waits: false };
        self.ask(node, asked, context.schedule.now(), bus, context);
        Ok(())
    }

    /// Frees the register of a line that is there.
    fn free(&mut self, node: usize, line: u64, context: &mut Context) -> Option<Mshr> {
        let now = context.schedule.now();
        self.caches.nodes[node].mshrs.free(line, &mut context.counters.nodes[node], now)
    }
}
