//! What the first level cannot answer: the second level, the protocol's requests, making room.

use super::{Due, Fault, Machine};
use crate::{
    access::Kind,
    engine::Cycle,
    message::LONGEST_LINE,
    mosi::{Action, Event, Hole, State, Transition, transition},
    node::{At, Back, Pending, access_event},
};

/// A request on the address bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    Gets,
    Getx,
    Putx,
}

impl Machine {
    /// Looks up what the protocol says, and counts it.
    pub(super) fn cell(&mut self, state: State, event: Event) -> Result<Transition, Fault> {
        self.coverage[state as usize][event as usize] += 1;
        transition(state, event).ok_or(Fault::Hole(Hole { state, event }))
    }

    /// The processor's step is no hit of the first level, or none of the caches.
    pub(super) fn miss(&mut self, node: usize) -> Result<(), Fault> {
        let step = self.cores[node].step();
        if step.kind.synchronises() {
            let at = self.hold(node) + self.config.machine.sync;
            self.push(at, Due::Sync(node));
            return Ok(());
        }
        let time = self.hold(node);
        let line = step.address >> self.shift;
        let state = self.nodes[node].state(line);
        let cell = self.cell(state, access_event(step.kind == Kind::Store))?;
        match cell.actions {
            [Action::Hit] => {
                // Another level has it
                let first = if step.kind == Kind::Fetch { At::Instructions } else { At::Data };
                self.counters.nodes[node].second_hits += 1;
                self.pull(node, line, first, time)?;
                self.finish_on(node, first, line, time)?;
                self.advance(node, time + self.config.l2.hit)
            }
            [Action::Recycle] => {
                self.recycle(node);
                Ok(())
            }
            [ask @ (Action::Gets | Action::Getx)] => {
                let counters = &mut self.counters.nodes[node];
                if state == State::I {
                    counters.misses += 1
                } else {
                    counters.upgrades += 1
                }
                let request = self.nodes[node].requests + 1;
                self.nodes[node].requests = request;
                self.nodes[node].pending =
                    Some(Pending { line, state: cell.next, request, since: time, saved: None, promised: Vec::new() });
                let ask = if *ask == Action::Gets { Ask::Gets } else { Ask::Getx };
                self.ask(node, ask, line, request, time);
                if self.config.bus.timeout > 0 {
                    self.push(time + self.config.bus.timeout, Due::Timeout(node, request));
                }
                Ok(())
            }
            _ => Err(Fault::Hole(Hole { state, event: access_event(step.kind == Kind::Store) })),
        }
    }

    /// Brings a line from another level of the same node into `first`.
    fn pull(&mut self, node: usize, line: u64, first: At, time: Cycle) -> Result<(), Fault> {
        let Some((at, slot)) = self.nodes[node].find(line) else { return Ok(()) };
        if at != first {
            // What makes room may move the other levels, but never this line: it is marked as used
            self.nodes[node].level_mut(at).use_slot(slot);
            let place = self.room(node, first, line, Some((at, slot)), time)?;
            let caches = &mut self.nodes[node];
            if let Some((at, slot)) = caches.find(line) {
                caches.shift((at, slot), (first, place));
            }
        }
        Ok(())
    }

    /// A free slot for `line` in a first level: its old line moves to the second, whose old line leaves the node. Where
    /// the wanted line itself lies in the second level and in the way, the two change places.
    fn room(
        &mut self,
        node: usize,
        first: At,
        line: u64,
        wanted: Option<(At, usize)>,
        time: Cycle,
    ) -> Result<usize, Fault> {
        let place = self.nodes[node].level(first).place(line);
        if let Some(old) = self.nodes[node].level(first).entry(place) {
            let caches = &self.nodes[node];
            let below = caches.second.place(old.line);
            match caches.second.entry(below) {
                Some(victim) if Some((At::Second, below)) != wanted => {
                    self.replace(node, victim.line, time)?;
                    self.nodes[node].shift((first, place), (At::Second, below));
                }
                Some(_) => {
                    // Swap: the wanted line stands where the old one goes
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

    /// The second level gives up a line, as the protocol says.
    fn replace(&mut self, node: usize, line: u64, time: Cycle) -> Result<(), Fault> {
        let state = self.nodes[node].state(line);
        let cell = self.cell(state, Event::Replace)?;
        let caches = &mut self.nodes[node];
        if cell.actions == [Action::Putx] {
            let text = caches.copy(line).unwrap_or([0; LONGEST_LINE]);
            caches.backs.push(Back { line, state: cell.next, text });
            self.counters.nodes[node].write_backs += 1;
            self.ask(node, Ask::Putx, line, 0, time);
        }
        self.nodes[node].set(line, State::I);
        Ok(())
    }

    /// A line has come: puts it into the first level.
    pub(super) fn fill(&mut self, node: usize, line: u64, state: State, text: &[u8]) -> Result<(), Fault> {
        let fetch = self.cores[node].step().kind == Kind::Fetch;
        let first = if fetch { At::Instructions } else { At::Data };
        // An upgrade finds its old copy, which may lie anywhere
        self.nodes[node].set(line, State::I);
        let place = self.room(node, first, line, None, self.now)?;
        let caches = &mut self.nodes[node];
        caches.text_mut(first, place).copy_from_slice(text);
        caches.level_mut(first).put(place, line, state);
        caches.level_mut(first).use_slot(place);
        Ok(())
    }

    /// The access itself, on a line that is now in a first level with the rights it needs.
    pub(super) fn finish_on(&mut self, node: usize, first: At, line: u64, time: Cycle) -> Result<(), Fault> {
        let step = self.cores[node].step();
        let caches = &mut self.nodes[node];
        let Some(slot) = caches.level(first).find(line) else { return Ok(()) };
        caches.level_mut(first).use_slot(slot);
        match step.kind {
            Kind::Store => {
                let offset = step.address as usize & (self.config.machine.line - 1);
                caches.store(slot, offset, step.value, step.size);
                if let Some(shadow) = &mut self.shadow {
                    shadow.written(&step);
                }
            }
            Kind::Load => {
                if let Some(shadow) = &mut self.shadow {
                    shadow.compare(caches.text(At::Data, slot), &step, self.shift, time);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A request enters the queue of the address bus.
    pub(super) fn ask(&mut self, node: usize, ask: Ask, line: u64, request: u64, time: Cycle) {
        let at = time + self.config.bus.issue;
        self.bus.enqueue(node, ask, line, request, at);
        self.push(at, Due::Arbitrate);
    }
}
