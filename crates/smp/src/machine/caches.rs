//! The caches of all nodes: how lines move between the levels of a node, and the accesses to them.

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
    /// Nodes that may have a line, or have a transaction on it: those that do are among them.
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

    /// A node asks for a line.
    pub(super) fn asks(&mut self, node: usize, line: u64) {
        let present = self.present.entry(line).or_default();
        *present = present.with(node);
    }

    /// A node has no more to do with a line.
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

    /// The second level evicts a line, as the protocol says.
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
        // A copy that is to be written needs no place until then
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
