//! A set-associative tag array with tree pseudo-LRU replacement. It stores line numbers and stable states; the bytes of
//! the lines are in the node's frames.

use crate::mosi::State;

/// Index of an entry in its level: ways of a set are adjacent.
pub(super) type Slot = usize;

/// One level of a node's hierarchy.
///
/// An entry is `line << 3 | state` with S = 1, O = 2, E = 3, M = 4, or 0 if it is empty. So a look-up, the simulator's
/// most frequent operation, takes one `xor` and one comparison per way.
#[derive(Clone, Debug)]
pub(super) struct Level {
    entries: Vec<u64>,
    /// Number of the frame that holds each entry's bytes.
    frames: Vec<u32>,
    /// The pseudo-LRU tree of each set, one bit per inner node: which half was used longer ago.
    trees: Vec<u32>,
    ways: usize,
    /// Binary logarithm of the ways.
    shift: u32,
    sets: u64,
    /// For each way, the masks that its use applies to the tree: bits to keep, and bits to set.
    touch: Vec<(u32, u32)>,
    /// The slot that was used last.
    last: Slot,
    /// For each set, the slot of the last hit, which is tried first.
    likely: Vec<u32>,
    /// Number of changes of any slot's line or state.
    changes: u64,
}

/// A line and its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) line: u64,
    pub(super) state: State,
}

/// The least state codes of a line that may be read, and of one that may be written, without the protocol's table.
pub(super) const READABLE: u64 = 1;
pub(super) const WRITABLE: u64 = 4;

fn code(state: State) -> u64 {
    debug_assert!(state.stable());
    match state {
        State::S => 1,
        State::O => 2,
        State::E => 3,
        State::M => WRITABLE,
        _ => 0,
    }
}

fn state(entry: u64) -> State {
    match entry & 7 {
        0 => State::I,
        1 => State::S,
        2 => State::O,
        3 => State::E,
        _ => State::M,
    }
}

impl Level {
    /// A level of `sets` sets (a power of two) of `ways` ways (a power of two up to 32), whose frames are numbered from
    /// `first`.
    pub(super) fn new(sets: usize, ways: usize, first: usize) -> Level {
        let slots = sets * ways;
        Level {
            entries: vec![0; slots],
            frames: (first..first + slots).map(|frame| frame as u32).collect(),
            trees: vec![0; sets],
            ways,
            shift: ways.trailing_zeros(),
            sets: sets as u64 - 1,
            touch: (0..ways).map(|way| path(ways, way)).collect(),
            last: 0,
            likely: (0..sets).map(|set| (set * ways) as u32).collect(),
            changes: 0,
        }
    }

    #[inline]
    fn base(&self, line: u64) -> Slot {
        (line & self.sets) as usize * self.ways
    }

    /// The slot of `line`, if its state's code is at least `least`: [`READABLE`] or [`WRITABLE`]. Does not mark it as
    /// used.
    #[inline]
    pub(super) fn hit(&mut self, line: u64, least: u64) -> Option<Slot> {
        let wanted = line << 3;
        let hits = |entry: &u64| (entry ^ wanted).wrapping_sub(least) <= WRITABLE - least;
        let set = (line & self.sets) as usize;
        let likely = self.likely[set] as usize;
        if hits(&self.entries[likely]) {
            return Some(likely);
        }
        let base = set * self.ways;
        let slot = base + self.entries[base..base + self.ways].iter().position(hits)?;
        self.likely[set] = slot as u32;
        Some(slot)
    }

    /// Number of changes of any slot's line or state: while it stays the same, slots found earlier still hit.
    #[inline]
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Marks a slot as used now, unless it is the one marked last.
    #[inline]
    pub(super) fn use_again(&mut self, slot: Slot) {
        if slot != self.last {
            self.use_slot(slot);
        }
    }

    /// Marks a slot as used now.
    #[inline]
    pub(super) fn use_slot(&mut self, slot: Slot) {
        self.last = slot;
        let (keep, set) = self.touch[slot & (self.ways - 1)];
        let tree = &mut self.trees[slot >> self.shift];
        *tree = *tree & keep | set;
    }

    /// The slot of `line` in any state, without marking it as used.
    pub(super) fn find(&self, line: u64) -> Option<Slot> {
        let base = self.base(line);
        let wanted = line << 3;
        self.entries[base..base + self.ways]
            .iter()
            .position(|entry| (entry ^ wanted).wrapping_sub(READABLE) <= WRITABLE - READABLE)
            .map(|way| base + way)
    }

    /// The slot where `line` would go: an empty one, else the pseudo-LRU victim.
    pub(super) fn place(&self, line: u64) -> Slot {
        let base = self.base(line);
        if let Some(way) = self.entries[base..base + self.ways].iter().position(|entry| entry & 7 == 0) {
            return base + way;
        }
        let tree = self.trees[base >> self.shift];
        let (mut node, mut low, mut half) = (0, 0, self.ways / 2);
        while half > 0 {
            let right = tree >> node & 1;
            node = 2 * node + 1 + right;
            low += half * right as usize;
            half /= 2;
        }
        base + low
    }

    /// The line in a slot, if there is one.
    pub(super) fn entry(&self, slot: Slot) -> Option<Entry> {
        let entry = self.entries[slot];
        (entry & 7 != 0).then(|| Entry { line: entry >> 3, state: state(entry) })
    }

    /// Puts `line` into a slot; with state I, empties the slot.
    pub(super) fn put(&mut self, slot: Slot, line: u64, state: State) {
        self.changes += 1;
        self.entries[slot] = if state == State::I { 0 } else { line << 3 | code(state) };
    }

    /// The frame of a slot.
    #[inline]
    pub(super) fn frame(&self, slot: Slot) -> u32 {
        self.frames[slot]
    }

    /// Gives a slot another frame, and returns its old one.
    pub(super) fn swap_frame(&mut self, slot: Slot, frame: u32) -> u32 {
        std::mem::replace(&mut self.frames[slot], frame)
    }

    /// Every line that is here.
    pub(super) fn lines(&self) -> impl Iterator<Item = (Slot, Entry)> + '_ {
        (0..self.entries.len()).filter_map(|slot| self.entry(slot).map(|entry| (slot, entry)))
    }
}

/// The tree's bits that the use of `way` keeps and sets: each bit on its path then points away from it.
fn path(ways: usize, way: usize) -> (u32, u32) {
    let (mut keep, mut set) = (u32::MAX, 0);
    let (mut node, mut half, mut rest) = (0, ways / 2, way);
    while half > 0 {
        let right = rest >= half;
        keep &= !(1 << node);
        set |= u32::from(!right) << node;
        rest -= if right { half } else { 0 };
        node = 2 * node + 1 + u32::from(right);
        half /= 2;
    }
    (keep, set)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn states_decide_what_hits() {
        let mut level = Level::new(4, 2, 0);
        for (state, reads, writes) in
            [(State::S, true, false), (State::O, true, false), (State::E, true, false), (State::M, true, true)]
        {
            let slot = level.place(5);
            level.put(slot, 5, state);
            assert_eq!(
                (level.hit(5, READABLE).is_some(), level.hit(5, WRITABLE).is_some()),
                (reads, writes),
                "{state:?}"
            );
            assert_eq!(level.hit(9, 1), None, "another line of the same set");
            level.put(slot, 5, State::I);
            assert_eq!(level.hit(5, 1), None);
        }
    }

    #[test]
    fn line_zero_is_a_line() {
        let mut level = Level::new(2, 2, 0);
        assert_eq!(level.hit(0, 1), None);
        let slot = level.place(0);
        level.put(slot, 0, State::S);
        assert_eq!(level.hit(0, 1), Some(slot));
        assert_eq!(level.entry(slot), Some(Entry { line: 0, state: State::S }));
    }

    #[test]
    fn the_line_used_longest_ago_makes_room() {
        for ways in [1, 2, 4, 8] {
            let mut level = Level::new(1, ways, 0);
            for line in 0..ways as u64 {
                let slot = level.place(line);
                level.put(slot, line, State::S);
                level.use_slot(slot);
            }
            // In order of use, a tree agrees with true LRU
            assert_eq!(level.entry(level.place(99)).map(|entry| entry.line), Some(0), "{ways} ways");
            if ways > 1 {
                let slot = level.hit(0, 1).unwrap();
                level.use_again(slot);
                assert_ne!(level.entry(level.place(99)).map(|entry| entry.line), Some(0), "{ways} ways");
            }
        }
    }
}
