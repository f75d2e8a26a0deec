//! A node: its cache levels, the request that its processor waits for, its write-back buffer.

use crate::{
    cache::{Level, Slot},
    config::Config,
    engine::Cycle,
    message::LONGEST_LINE,
    mosi::{Event, State},
};

/// The levels of a node. A line is in at most one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    Data,
    Instructions,
    Second,
}

/// A request under way.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) line: u64,
    pub(crate) state: State,
    /// Its number among the node's requests.
    pub(crate) request: u64,
    pub(crate) since: Cycle,
    /// Data that came before the own request was ordered.
    pub(crate) saved: Option<Box<[u8; LONGEST_LINE]>>,
    /// Who asked for the line meanwhile, and with what number.
    pub(crate) promised: Vec<(usize, u64)>,
}

/// A line on its way back to memory.
#[derive(Clone, Debug)]
pub(crate) struct Back {
    pub(crate) line: u64,
    pub(crate) state: State,
    pub(crate) text: [u8; LONGEST_LINE],
}

/// A node.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) data: Level,
    pub(crate) instructions: Level,
    pub(crate) second: Level,
    /// The bytes of every frame, one after the other.
    bytes: Vec<u8>,
    pub(crate) line: usize,
    pub(crate) pending: Option<Pending>,
    pub(crate) backs: Vec<Back>,
    pub(crate) requests: u64,
}

impl Node {
    pub(crate) fn new(config: &Config) -> Node {
        let line = config.machine.line;
        let first = config.l1.bytes / line;
        let second = config.l2.bytes / line;
        Node {
            data: Level::new(first / config.l1.ways, config.l1.ways, 0),
            instructions: Level::new(first / config.l1.ways, config.l1.ways, first),
            second: Level::new(second / config.l2.ways, config.l2.ways, 2 * first),
            bytes: vec![0; (2 * first + second) * line],
            line,
            pending: None,
            backs: Vec::new(),
            requests: 0,
        }
    }

    pub(crate) fn level(&self, at: At) -> &Level {
        match at {
            At::Data => &self.data,
            At::Instructions => &self.instructions,
            At::Second => &self.second,
        }
    }

    pub(crate) fn level_mut(&mut self, at: At) -> &mut Level {
        match at {
            At::Data => &mut self.data,
            At::Instructions => &mut self.instructions,
            At::Second => &mut self.second,
        }
    }

    /// Grows whenever something happens to a line of the first level.
    #[inline]
    pub(crate) fn changes(&self) -> u64 {
        self.data.changes() + self.instructions.changes()
    }

    /// Where a line lies.
    pub(crate) fn find(&self, line: u64) -> Option<(At, Slot)> {
        [At::Data, At::Second, At::Instructions]
            .into_iter()
            .find_map(|at| self.level(at).find(line).map(|slot| (at, slot)))
    }

    /// The bytes of a slot.
    pub(crate) fn text(&self, at: At, slot: Slot) -> &[u8] {
        let start = self.level(at).frame(slot) as usize * self.line;
        &self.bytes[start..start + self.line]
    }

    pub(crate) fn text_mut(&mut self, at: At, slot: Slot) -> &mut [u8] {
        let start = self.level(at).frame(slot) as usize * self.line;
        &mut self.bytes[start..start + self.line]
    }

    /// Writes `size` bytes of `value` into the data level.
    #[inline]
    pub(crate) fn store(&mut self, slot: Slot, offset: usize, value: u64, size: u8) {
        let start = self.data.frame(slot) as usize * self.line + offset;
        write_value(&mut self.bytes[start..], value, size);
    }

    /// The state of a line, with what is under way; a line that is nowhere is I.
    pub(crate) fn state(&self, line: u64) -> State {
        match &self.pending {
            Some(pending) if pending.line == line => return pending.state,
            _ => {}
        }
        if let Some(back) = self.backs.iter().find(|back| back.line == line) {
            return back.state;
        }
        match self.find(line) {
            Some((at, slot)) => self.level(at).entry(slot).map_or(State::I, |entry| entry.state),
            None => State::I,
        }
    }

    /// Sets the stable state of a line that lies in a level.
    pub(crate) fn set(&mut self, line: u64, state: State) {
        if let Some((at, slot)) = self.find(line) {
            self.level_mut(at).put(slot, line, state);
        }
    }

    /// Moves a line between two slots of different levels: frames change places, bytes stay.
    pub(crate) fn shift(&mut self, from: (At, Slot), to: (At, Slot)) {
        let entry = self.level(from.0).entry(from.1);
        let ours = self.level(from.0).frame(from.1);
        let theirs = self.level_mut(to.0).swap_frame(to.1, ours);
        self.level_mut(from.0).swap_frame(from.1, theirs);
        if let Some(entry) = entry {
            self.level_mut(from.0).put(from.1, entry.line, State::I);
            self.level_mut(to.0).put(to.1, entry.line, entry.state);
        }
    }

    /// A copy of what this node would send of `line`: from its caches, else from its write-back buffer.
    pub(crate) fn copy(&self, line: u64) -> Option<[u8; LONGEST_LINE]> {
        let mut text = [0; LONGEST_LINE];
        if let Some((at, slot)) = self.find(line) {
            text[..self.line].copy_from_slice(self.text(at, slot));
            return Some(text);
        }
        self.backs.iter().find(|back| back.line == line).map(|back| back.text)
    }
}

/// Writes `size` bytes of `value` at the start of `out`; beyond eight the value repeats.
#[inline]
pub(crate) fn write_value(out: &mut [u8], value: u64, size: u8) {
    let bytes = value.to_le_bytes();
    match size {
        8 => out[..8].copy_from_slice(&bytes),
        4 => out[..4].copy_from_slice(&bytes[..4]),
        _ => {
            for chunk in out[..usize::from(size)].chunks_mut(8) {
                chunk.copy_from_slice(&bytes[..chunk.len()]);
            }
        }
    }
}

/// The event of a processor's access.
pub(crate) fn access_event(store: bool) -> Event {
    if store { Event::Store } else { Event::Load }
}
