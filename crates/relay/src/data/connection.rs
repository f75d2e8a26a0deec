//! The connections of one worker, and the handles that name them.

use std::{collections::VecDeque, io, net::IpAddr, time::Instant};

use mio::net::TcpStream;
use nix::sys::socket::{setsockopt, sockopt};

use crate::{
    data::{idle::Idle, shares::Place},
    frame_stream::{FrameStream, READ_SIZE, ReadOutcome},
};

const SLOT_BITS: u32 = 18;
const USE_BITS: u32 = 13;

/// So many slots rest before one is used again: a session may still be bound to a handle that repeats after some
/// thousand uses of its slot, and must not name a stranger's connection meanwhile.
const RESTING: usize = 256;

/// After so many bad frames a connection is read in smaller pieces.
const SUSPICIOUS: u32 = 100;

/// A connection of one worker: its slot, and how often the slot was used before, so that a handle that outlives its
/// connection names none. Never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle(u32);

impl Handle {
    /// The most slots.
    pub(crate) const SLOTS: usize = 1 << SLOT_BITS;
    /// Bits that a handle takes.
    pub(crate) const BITS: u32 = SLOT_BITS + USE_BITS;

    pub(crate) fn new(slot: usize, use_number: u32) -> Handle {
        let uses = use_number % ((1 << USE_BITS) - 1) + 1;
        Handle(uses << SLOT_BITS | slot as u32)
    }

    pub(crate) fn slot(self) -> usize {
        self.0 as usize & (Handle::SLOTS - 1)
    }

    pub(crate) fn packed(self) -> u32 {
        self.0
    }

    pub(crate) fn unpacked(handle: u32) -> Handle {
        Handle(handle)
    }
}

/// A connection as other workers name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionId {
    pub(crate) worker: usize,
    pub(crate) handle: Handle,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) stream: FrameStream,
    pub(crate) handle: Handle,
    /// Its place in the share of its address.
    pub(crate) place: Place,
    /// When the last authentic frame came, or the connection itself.
    pub(crate) heard: Instant,
    /// Since when it has been of no use: when it came, or when the last session was bound elsewhere.
    pub(crate) idle_since: Instant,
    /// No frame came yet: it may still move to the worker of its first frame.
    pub(crate) may_move: bool,
    /// An authentic frame came over it.
    pub(crate) authentic: bool,
    /// Sessions that are reached over it.
    pub(crate) sessions: u32,
    /// Its number among the idle ones, if it is one of them.
    idle: Option<u64>,
    /// Bad frames so far.
    pub(crate) bad: u32,
    /// Bytes of an oversize frame that are still to be skipped.
    pub(crate) skip: usize,
    /// It is in the list of connections to read.
    pub(crate) ready: bool,
    /// It is in the list of connections to write.
    pub(crate) dirty: bool,
    /// When it last took bytes, or had none to take.
    pub(crate) progress: Instant,
}

impl Connection {
    pub(crate) fn new(stream: FrameStream, handle: Handle, place: Place, may_move: bool, now: Instant) -> Connection {
        Connection {
            stream,
            handle,
            place,
            heard: now,
            idle_since: now,
            may_move,
            authentic: false,
            sessions: 0,
            idle: None,
            bad: 0,
            skip: 0,
            ready: false,
            dirty: false,
            progress: now,
        }
    }

    /// Whether no session is reached over it: it proved nothing yet, or its clients went elsewhere.
    pub(crate) fn is_idle(&self) -> bool {
        self.sessions == 0
    }

    /// Reads once into `buffer`, behind the cut frame of the last read.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> ReadOutcome {
        // A connection that is not trusted yet, or sent many bad frames, gets a smaller share of the iteration
        let limit = if self.authentic && self.bad < SUSPICIOUS { READ_SIZE } else { READ_SIZE / 8 };
        self.stream.read(buffer, limit)
    }

    /// Bytes that wait to be written.
    pub(crate) fn queued(&self) -> usize {
        self.stream.queued()
    }

    /// Writes what waits. Returns how many bytes the system took.
    ///
    /// # Errors
    /// When the connection is broken.
    pub(crate) fn flush(&mut self, now: Instant) -> io::Result<usize> {
        let taken = self.stream.flush()?;
        if taken > 0 || self.queued() == 0 {
            self.progress = now;
        }
        Ok(taken)
    }
}

/// The connections of one worker, by slot.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    slots: Vec<Option<Connection>>,
    uses: Vec<u32>,
    /// The one that was freed last is used last.
    free: VecDeque<usize>,
    idle: Idle<Handle>,
    live: usize,
}

impl Connections {
    /// A handle for a new connection, if there is a free slot.
    pub(crate) fn reserve(&mut self) -> Option<Handle> {
        let slot = if self.free.len() < RESTING && self.slots.len() < Handle::SLOTS {
            self.slots.push(None);
            self.uses.push(0);
            self.slots.len() - 1
        } else {
            self.free.pop_front()?
        };
        self.uses[slot] = self.uses[slot].wrapping_add(1);
        Some(Handle::new(slot, self.uses[slot]))
    }

    /// Frees a reserved slot that was not used.
    pub(crate) fn release(&mut self, handle: Handle) {
        self.free.push_back(handle.slot());
    }

    /// Puts a connection into the slot that was reserved for it. No session is reached over it yet.
    pub(crate) fn insert(&mut self, mut connection: Connection) {
        connection.idle = Some(self.idle.push(connection.place.address, connection.handle));
        let slot = connection.handle.slot();
        self.slots[slot] = Some(connection);
        self.live += 1;
    }

    /// Takes a connection out and frees its slot.
    pub(crate) fn remove(&mut self, handle: Handle) -> Option<Connection> {
        let connection = self.slots.get_mut(handle.slot())?.take_if(|connection| connection.handle == handle)?;
        self.free.push_back(handle.slot());
        self.live -= 1;
        if let Some(number) = connection.idle {
            self.idle.remove(connection.place.address, number);
        }
        Some(connection)
    }

    /// One more session is reached over a connection.
    pub(crate) fn bind(&mut self, handle: Handle) {
        let Some(connection) = self.get_mut(handle) else { return };
        connection.sessions += 1;
        if let (address, Some(number)) = (connection.place.address, connection.idle.take()) {
            self.idle.remove(address, number);
        }
    }

    /// One session less is reached over it.
    pub(crate) fn unbind(&mut self, handle: Handle, now: Instant) {
        let Some(connection) = self.get_mut(handle).filter(|connection| connection.sessions > 0) else { return };
        connection.sessions -= 1;
        if connection.sessions == 0 {
            connection.idle_since = now;
            let address = connection.place.address;
            let number = self.idle.push(address, handle);
            self.slots[handle.slot()].iter_mut().for_each(|connection| connection.idle = Some(number));
        }
    }

    /// The connection that has been idle for longest; with `from`, of those from that address.
    pub(crate) fn oldest_idle(&self, from: Option<IpAddr>) -> Option<&Connection> {
        self.get(from.map_or_else(|| self.idle.oldest(), |from| self.idle.oldest_from(from))?)
    }

    pub(crate) fn get(&self, handle: Handle) -> Option<&Connection> {
        self.slots.get(handle.slot())?.as_ref().filter(|connection| connection.handle == handle)
    }

    pub(crate) fn get_mut(&mut self, handle: Handle) -> Option<&mut Connection> {
        self.slots.get_mut(handle.slot())?.as_mut().filter(|connection| connection.handle == handle)
    }

    /// The connection in a slot, whichever it is.
    pub(crate) fn at_mut(&mut self, slot: usize) -> Option<&mut Connection> {
        self.slots.get_mut(slot)?.as_mut()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Connection> {
        self.slots.iter_mut().flatten()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Connection> {
        self.slots.iter().flatten()
    }

    pub(crate) fn len(&self) -> usize {
        self.live
    }
}

/// Lets the system probe a peer of which nothing is heard, and break the connection when it does not respond.
pub(super) fn notice_dead_peers(stream: &TcpStream) {
    // A system that has none of these only notices later
    let _ = setsockopt(stream, sockopt::KeepAlive, &true);
    let _ = setsockopt(stream, sockopt::TcpKeepIdle, &60);
    let _ = setsockopt(stream, sockopt::TcpKeepInterval, &15);
    let _ = setsockopt(stream, sockopt::TcpKeepCount, &4);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_never_zero_and_names_one_use_of_its_slot() {
        for use_number in [0, 1, 8190, 8191, 8192, u32::MAX] {
            let handle = Handle::new(Handle::SLOTS - 1, use_number);
            assert_eq!(handle.slot(), Handle::SLOTS - 1);
            assert_eq!(Handle::unpacked(handle.packed()), handle);
            assert_ne!(handle.packed(), 0);
        }
        assert_ne!(Handle::new(3, 1), Handle::new(3, 2));
    }

    #[test]
    fn a_handle_does_not_come_again_for_long_though_few_slots_are_used() {
        let mut connections = Connections::default();
        let first = connections.reserve().expect("there is room");
        connections.release(first);
        for _ in 0..100_000 {
            let next = connections.reserve().expect("there is room");
            assert_ne!(next, first);
            connections.release(next);
        }
        assert_eq!(connections.slots.len(), RESTING, "slots are used again");
    }

    #[test]
    fn every_slot_can_be_used() {
        let mut connections = Connections::default();
        let handles: Vec<Handle> = std::iter::from_fn(|| connections.reserve()).collect();
        assert_eq!(handles.len(), Handle::SLOTS);
        connections.release(handles[7]);
        let again = connections.reserve();
        assert!(again.is_some_and(|again| again.slot() == 7 && again != handles[7]));
    }
}
