//! The caches of all nodes: accesses, movement of lines between the levels of a node, and evictions.

use super::{
    bus::Bus,
    checker::Checker,
    context::Context,
    mshrs::Mshr,
    node::{At, Node, WriteBack},
    outcome::MachineError,
    request::Request,
    set::Set,
};
use crate::{
    access::{Access, Operation},
    config::Config,
    engine::Cycle,
    memory::Numbered,
    message::{Command, LONGEST_LINE},
    mosi::{Action, EVENTS, Event, STATES, State, Transition, TransitionError},
    protocol::Protocol,
};

/// How often each cell of the protocol's table was used.
pub(super) type Coverage = [[u64; EVENTS]; STATES];

/// The caches of all nodes.
pub(super) struct Caches {
    pub(super) nodes: Vec<Node>,
    protocol: Protocol,
    coverage: Box<Coverage>,
    /// Bytes of a line, and their binary logarithm.
    pub(super) line: usize,
    pub(super) shift: u32,
    /// For each line, a superset of the nodes that have a copy of it or a transaction on it.
    present: Numbered<Set>,
}

impl Caches {
    pub(super) fn new(config: &Config) -> Caches {
        Caches {
            nodes: (0..config.machine.processors).map(|_| Node::new(config)).collect(),
            protocol: config.bus.protocol,
            coverage: Box::new([[0; EVENTS]; STATES]),
            line: config.machine.line,
            shift: config.machine.line.trailing_zeros(),
            present: Numbered::default(),
        }
    }

    /// Nodes that may have `line` in another state than I.
    pub(super) fn present(&self, line: u64) -> Set {
        self.present.get(&line).copied().unwrap_or_default()
    }

    /// Records that a node requests a line.
    pub(super) fn asks(&mut self, node: usize, line: u64) {
        let present = self.present.entry(line).or_default();
        *present = present.with(node);
    }

    /// Records that a node has neither a copy of a line nor a transaction on it.
    pub(super) fn gone(&mut self, node: usize, line: u64) {
        if let Some(present) = self.present.get_mut(&line) {
            *present = present.without(node);
        }
    }

    /// How often the cell of `state` and `event` was used.
    pub(super) fn used(&self, state: State, event: Event) -> u64 {
        self.coverage[state as usize][event as usize % EVENTS]
    }

    /// Looks a transition up, and counts it.
    pub(super) fn transition(&mut self, state: State, event: Event) -> Result<Transition, MachineError> {
        self.coverage[state as usize][event as usize] += 1;
        Ok(self.protocol.transition(state, event).ok_or(TransitionError { state, event })?)
    }

    /// Moves a line from another level of the same node into `first`.
    pub(super) fn pull(
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
            // Marked as used, so that making room does not evict it
            self.nodes[node].level_mut(at).use_slot(slot);
            let place = self.make_room(node, first, line, Some((at, slot)), time, bus, context)?;
            let caches = &mut self.nodes[node];
            if let Some((at, slot)) = caches.find(line) {
                caches.shift((at, slot), (first, place));
            }
        }
        Ok(())
    }

    /// Frees a slot for `line` in a first level: the line there moves to the second level, from which the line in its
    /// way is evicted. If that line in the way is the `wanted` one, the two swap places.
    #[allow(clippy::too_many_arguments, reason = "a line's place, and the components that eviction reaches")]
    pub(super) fn make_room(
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

    /// Evicts a line from the second level, according to the protocol's table.
    pub(super) fn evict(
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
        let copy = |caches: &Node| caches.copy(line).unwrap_or([0; LONGEST_LINE]);
        if cell.actions == [Action::Putx] {
            let (text, clean) = (copy(caches), state == State::E);
            caches.write_backs.push(WriteBack { line, state: cell.next, text });
            context.counters.nodes[node].write_backs += u64::from(!clean);
            let request = Request { clean, ..Request::new(node, Command::PutX, line, 0) };
            bus.request(request, time, &mut context.schedule);
        }
        // An owner's copy whose upgrade is outstanding moves to the MSHR until the upgrade is ordered
        let kept = (cell.actions == [Action::Keep]).then(|| Box::new(copy(caches)));
        if let Some(mshr) = caches.mshrs.of_mut(line) {
            mshr.state = cell.next;
            mshr.kept = kept;
        }
        caches.set(line, State::I);
        Ok(())
    }

    /// Puts the line of a finished request into the first level.
    pub(super) fn fill(
        &mut self,
        node: usize,
        mshr: &Mshr,
        state: State,
        text: &[u8],
        bus: &mut Bus,
        context: &mut Context,
    ) -> Result<(), MachineError> {
        let first = if mshr.access.kind == Operation::Fetch { At::Instructions } else { At::Data };
        // On an upgrade, the old copy may be in any level
        self.nodes[node].set(mshr.line, State::I);
        let now = context.schedule.now();
        let place = self.make_room(node, first, mshr.line, None, now, bus, context)?;
        let caches = &mut self.nodes[node];
        caches.text_mut(first, place).copy_from_slice(text);
        caches.level_mut(first).put(place, mshr.line, state);
        caches.level_mut(first).use_slot(place);
        Ok(())
    }

    /// Performs an access on a line in a first level that has the rights it needs. With `stale`, a load may return a
    /// value older than the last write, and is not checked.
    pub(super) fn perform(
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
            Operation::Store => {
                caches.store(slot, access.address as usize & (self.line - 1), access.value, access.size);
                if let Some(checker) = checker {
                    checker.stored(access, time);
                }
            }
            Operation::Load if !stale => {
                if let Some(checker) = checker {
                    checker.loaded(caches.text(At::Data, slot), access, self.shift, time);
                }
            }
            _ => {}
        }
    }
}
