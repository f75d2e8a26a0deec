//! A node: its caches, its MSHRs and its write-back buffer.

use super::{
    cache::{Level, Slot},
    mshrs::Mshrs,
};
use crate::{
    config::Config,
    message::LONGEST_LINE,
    mosi::{Event, State},
};

/// The caches of a node. They are exclusive: a line is in at most one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    Data,
    Instructions,
    Second,
}

/// An entry of the write-back buffer.
#[derive(Clone, Debug)]
pub(super) struct WriteBack {
    pub(super) line: u64,
    pub(super) state: State,
    pub(super) text: [u8; LONGEST_LINE],
}

/// A node.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) data: Level,
    pub(super) instructions: Level,
    pub(super) second: Level,
    /// The bytes of every frame, one after the other.
    bytes: Vec<u8>,
    line: usize,
    pub(super) mshrs: Mshrs,
    pub(super) write_backs: Vec<WriteBack>,
    pub(super) requests: u64,
}

impl Node {
    pub(super) fn new(config: &Config) -> Node {
        let line = config.machine.line;
        let first = config.l1.bytes / line;
        let second = config.l2.bytes / line;
        Node {
            data: Level::new(first / config.l1.ways, config.l1.ways, 0),
            instructions: Level::new(first / config.l1.ways, config.l1.ways, first),
            second: Level::new(second / config.l2.ways, config.l2.ways, 2 * first),
            bytes: vec![0; (2 * first + second) * line],
            line,
            mshrs: Mshrs::default(),
            write_backs: Vec::new(),
            requests: 0,
        }
    }

    pub(super) fn level(&self, at: At) -> &Level {
        match at {
            At::Data => &self.data,
            At::Instructions => &self.instructions,
            At::Second => &self.second,
        }
    }

    pub(super) fn level_mut(&mut self, at: At) -> &mut Level {
        match at {
            At::Data => &mut self.data,
            At::Instructions => &mut self.instructions,
            At::Second => &mut self.second,
        }
    }

    /// Number of changes of any line or state in the two first-level caches.
    #[inline]
    pub(super) fn changes(&self) -> u64 {
        self.data.changes() + self.instructions.changes()
    }

    /// Where a line is.
    pub(super) fn find(&self, line: u64) -> Option<(At, Slot)> {
        [At::Data, At::Second, At::Instructions]
            .into_iter()
            .find_map(|at| self.level(at).find(line).map(|slot| (at, slot)))
    }

    /// The bytes of a slot.
    pub(super) fn text(&self, at: At, slot: Slot) -> &[u8] {
        let start = self.level(at).frame(slot) as usize * self.line;
        &self.bytes[start..start + self.line]
    }

    pub(super) fn text_mut(&mut self, at: At, slot: Slot) -> &mut [u8] {
        let start = self.level(at).frame(slot) as usize * self.line;
        &mut self.bytes[start..start + self.line]
    }

    /// Writes `size` bytes of `value` into the data level.
    #[inline]
    pub(super) fn store(&mut self, slot: Slot, offset: usize, value: u64, size: u8) {
        let start = self.data.frame(slot) as usize * self.line + offset;
        write_value(&mut self.bytes[start..], value, size);
    }

    /// The state of a line, transient states included; I if the node does not have it.
    pub(super) fn state(&self, line: u64) -> State {
        if let Some(mshr) = self.mshrs.of(line) {
            return mshr.state;
        }
        if let Some(entry) = self.write_backs.iter().find(|entry| entry.line == line) {
            return entry.state;
        }
        match self.find(line) {
            Some((at, slot)) => self.level(at).entry(slot).map_or(State::I, |entry| entry.state),
            None => State::I,
        }
    }

    /// Sets the stable state of a line in a cache.
    pub(super) fn set(&mut self, line: u64, state: State) {
        if let Some((at, slot)) = self.find(line) {
            self.level_mut(at).put(slot, line, state);
        }
    }

    /// Moves a line between slots of different levels. The slots swap frames, so no bytes are copied.
    pub(super) fn shift(&mut self, from: (At, Slot), to: (At, Slot)) {
        let entry = self.level(from.0).entry(from.1);
        let ours = self.level(from.0).frame(from.1);
        let theirs = self.level_mut(to.0).swap_frame(to.1, ours);
        self.level_mut(from.0).swap_frame(from.1, theirs);
        if let Some(entry) = entry {
            self.level_mut(from.0).put(from.1, entry.line, State::I);
            self.level_mut(to.0).put(to.1, entry.line, entry.state);
        }
    }

    /// Whether every copy that this node holds of memory from `address` on equals `bytes`.
    pub(super) fn agrees(&self, address: u64, bytes: &[u8]) -> bool {
        let (end, len) = (address + bytes.len() as u64, self.line as u64);
        let agrees = |line: u64, text: &[u8]| {
            let start = line * len;
            let (from, to) = (start.max(address), end.min(start + len));
            from >= to
                || text[(from - start) as usize..(to - start) as usize]
                    == bytes[(from - address) as usize..(to - address) as usize]
        };
        let levels = [At::Data, At::Second, At::Instructions].into_iter();
        let mut copies = levels.flat_map(|at| self.level(at).lines().map(move |(slot, entry)| (at, slot, entry.line)));
        copies.all(|(at, slot, line)| agrees(line, self.text(at, slot)))
            && self.write_backs.iter().all(|entry| agrees(entry.line, &entry.text))
    }

    /// A copy of the bytes that this node would send of `line`: from its caches, else its MSHR or its write-back
    /// buffer.
    pub(super) fn copy(&self, line: u64) -> Option<[u8; LONGEST_LINE]> {
        let mut text = [0; LONGEST_LINE];
        if let Some((at, slot)) = self.find(line) {
            text[..self.line].copy_from_slice(self.text(at, slot));
            return Some(text);
        }
        if let Some(kept) = self.mshrs.of(line).and_then(|mshr| mshr.kept.as_deref()) {
            return Some(*kept);
        }
        self.write_backs.iter().find(|entry| entry.line == line).map(|entry| entry.text)
    }
}

/// Writes `size` bytes of `value` at the start of `out`; beyond eight the value repeats.
#[inline]
pub(super) fn write_value(out: &mut [u8], value: u64, size: u8) {
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

/// The protocol's event of a processor's access.
pub(super) fn access_event(store: bool) -> Event {
    if store { Event::Store } else { Event::Load }
}
