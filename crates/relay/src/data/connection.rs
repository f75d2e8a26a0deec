//! One connection: what was read of a cut frame, what waits to be written, and who waits for it to be.

use std::{io, time::Instant};

use crate::frame_stream::{FrameStream, READ_SIZE, ReadOutcome};

/// A connection of one worker: its slot there and how often the slot was used before, so that a handle outliving
/// its connection names none. Never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle(u32);

/// From so many bad frames on, a connection is read in smaller pieces.
const SUSPECT: u32 = 100;

const SLOT_BITS: u32 = 18;
const USE_BITS: u32 = 13;
/// The bit that a handle never has.
const PEER: u32 = 1 << (SLOT_BITS + USE_BITS);

/// Where a session was last heard, in four bytes: nowhere, on a connection, or as datagrams of a peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bound(u32);

/// What that means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Nowhere,
    Connection(Handle),
    Peer(u32),
}

impl Bound {
    pub(crate) fn to(handle: Handle) -> Bound {
        Bound(handle.0)
    }

    pub(crate) fn to_peer(peer: u32) -> Bound {
        Bound(PEER | peer)
    }

    pub(crate) fn way(self) -> Way {
        match self.0 {
            0 => Way::Nowhere,
            handle if handle & PEER == 0 => Way::Connection(Handle(handle)),
            peer => Way::Peer(peer & !PEER),
        }
    }
}

impl Handle {
    /// The most slots.
    pub(crate) const SLOTS: usize = 1 << SLOT_BITS;

    pub(crate) fn new(slot: usize, use_number: u32) -> Handle {
        let uses = use_number % ((1 << USE_BITS) - 1) + 1;
        Handle(uses << SLOT_BITS | slot as u32)
    }

    pub(crate) fn slot(self) -> usize {
        self.0 as usize & (Handle::SLOTS - 1)
    }
}

/// A connection as another worker names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) worker: usize,
    pub(crate) handle: Handle,
}

/// What a turn has to know of a connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) stream: FrameStream,
    pub(crate) handle: Handle,
    pub(crate) since: Instant,
    /// No frame came yet: it may still move to the worker of its first one.
    pub(crate) fresh: bool,
    /// An authentic frame came over it.
    pub(crate) proved: bool,
    pub(crate) bad: u32,
    /// Bytes of an oversize frame still to be skipped.
    pub(crate) skip: usize,
    /// Destinations that hold up reading.
    pub(crate) paused: u32,
    /// It stands in the queue of those to read.
    pub(crate) ready: bool,
    /// It stands in the list of those to write.
    pub(crate) dirty: bool,
    /// Those who wait until the queue is shorter.
    pub(crate) waiters: Vec<Source>,
    /// Since when the queue is long and somebody waits.
    pub(crate) full: Option<Instant>,
    /// Nobody waits for it any more, until then.
    pub(crate) slow: Option<Instant>,
    /// When it last took bytes, or had none to take.
    pub(crate) moved: Instant,
}

impl Connection {
    pub(crate) fn new(stream: FrameStream, handle: Handle, fresh: bool, now: Instant) -> Connection {
        Connection {
            stream,
            handle,
            since: now,
            fresh,
            proved: false,
            bad: 0,
            skip: 0,
            paused: 0,
            ready: false,
            dirty: false,
            waiters: Vec::new(),
            full: None,
            slow: None,
            moved: now,
        }
    }

    /// Reads once into `buffer`, behind the cut frame of last time.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> ReadOutcome {
        // Who has not proved itself, or sent much that is bad, gets less of a turn
        let share = if self.proved && self.bad < SUSPECT { READ_SIZE } else { READ_SIZE / 8 };
        self.stream.read(buffer, share)
    }

    /// Bytes that wait to be written.
    pub(crate) fn queued(&self) -> usize {
        self.stream.queued()
    }

    /// Writes what waits; how much the system took.
    ///
    /// # Errors
    /// When the connection is broken.
    pub(crate) fn flush(&mut self, now: Instant) -> io::Result<usize> {
        let took = self.stream.flush()?;
        if took > 0 || self.queued() == 0 {
            self.moved = now;
        }
        Ok(took)
    }
}

/// The connections of one worker.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    slots: Vec<Option<Connection>>,
    uses: Vec<u32>,
    free: Vec<usize>,
    live: usize,
}

impl Connections {
    /// A handle for a newcomer, if there is a slot.
    pub(crate) fn reserve(&mut self) -> Option<Handle> {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None if self.slots.len() < Handle::SLOTS => {
                self.slots.push(None);
                self.uses.push(0);
                self.slots.len() - 1
            }
            None => return None,
        };
        self.uses[slot] = self.uses[slot].wrapping_add(1);
        Some(Handle::new(slot, self.uses[slot]))
    }

    pub(crate) fn put(&mut self, connection: Connection) {
        let slot = connection.handle.slot();
        self.slots[slot] = Some(connection);
        self.live += 1;
    }

    /// Gives a reserved slot back, and the connection in it.
    pub(crate) fn take(&mut self, handle: Handle) -> Option<Connection> {
        let connection = self.slots.get_mut(handle.slot())?.take_if(|connection| connection.handle == handle)?;
        self.free.push(handle.slot());
        self.live -= 1;
        Some(connection)
    }

    /// Gives a reserved slot back that was not used.
    pub(crate) fn give_back(&mut self, handle: Handle) {
        self.free.push(handle.slot());
    }

    pub(crate) fn named(&mut self, handle: Handle) -> Option<&mut Connection> {
        self.slots.get_mut(handle.slot())?.as_mut().filter(|connection| connection.handle == handle)
    }

    pub(crate) fn at(&mut self, slot: usize) -> Option<&mut Connection> {
        self.slots.get_mut(slot)?.as_mut()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Connection> {
        self.slots.iter().flatten()
    }

    pub(crate) fn len(&self) -> usize {
        self.live
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_never_zero_and_names_one_use_of_its_slot() {
        for use_number in [0, 1, 8190, 8191, 8192, u32::MAX] {
            let handle = Handle::new(Handle::SLOTS - 1, use_number);
            assert_eq!(handle.slot(), Handle::SLOTS - 1);
            assert_eq!(Bound::to(handle).way(), Way::Connection(handle));
        }
        assert_eq!((Bound::to_peer(0).way(), Bound::to_peer(7).way()), (Way::Peer(0), Way::Peer(7)));
        assert_ne!(Handle::new(3, 1), Handle::new(3, 2));
        assert_eq!(Bound::default().way(), Way::Nowhere);
    }

    #[test]
    fn slots_are_used_again_under_other_handles() {
        let mut connections = Connections::default();
        let first = connections.reserve();
        connections.give_back(first.expect("there is room"));
        let second = connections.reserve();
        assert_eq!(first.map(Handle::slot), second.map(Handle::slot));
        assert_ne!(first, second);
    }
}
