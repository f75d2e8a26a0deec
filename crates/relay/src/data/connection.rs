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

/// How many freed slots rest before one is reused. A handle repeats after some thousand uses of its slot; a session
/// that is still bound to it must not reach a stranger's connection before that binding is forgotten.
const RESTING_SLOTS: usize = 256;

/// After this many bad frames a connection is read in smaller pieces.
const SUSPICIOUS_BAD_FRAMES: u32 = 100;

/// A connection of one worker: its slot, and a use count of the slot, so that a handle that outlives its connection is
/// recognised. Never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle(u32);

impl Handle {
    /// The most slots of a worker.
    pub(crate) const SLOTS: usize = 1 << SLOT_BITS;
    /// Length of a handle in bits.
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

/// A connection, as named by other workers.
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
    /// When its last authentic frame arrived, or when it was accepted.
    pub(crate) heard: Instant,
    /// Since when no session is bound to it: since it was accepted, or since the last session was bound elsewhere.
    pub(crate) idle_since: Instant,
    /// No frame arrived yet, so it may still move to the worker of its first frame.
    pub(crate) may_move: bool,
    /// An authentic frame arrived over it.
    pub(crate) authentic: bool,
    /// How many sessions are bound to it.
    pub(crate) sessions: u32,
    /// Its number among the idle connections, while it is idle.
    idle: Option<u64>,
    /// How many bad frames arrived.
    pub(crate) bad: u32,
    /// How many bytes of an oversize frame are still to be skipped.
    pub(crate) skip: usize,
    /// Whether it is in the list of connections to read.
    pub(crate) ready: bool,
    /// Whether it is in the list of connections to write.
    pub(crate) dirty: bool,
    /// When the system last took bytes of its queue, or the queue was last empty.
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

    /// Whether no session is bound to it: it sent nothing authentic yet, or its clients went elsewhere.
    pub(crate) fn is_idle(&self) -> bool {
        self.sessions == 0
    }

    /// Reads once into `buffer`, after the incomplete frame of the last read.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> ReadOutcome {
        // A connection without an authentic frame, or with many bad ones, gets a smaller share of the iteration
        let limit = if self.authentic && self.bad < SUSPICIOUS_BAD_FRAMES { READ_SIZE } else { READ_SIZE / 8 };
        self.stream.read(buffer, limit)
    }

    /// Bytes in the queue.
    pub(crate) fn queued(&self) -> usize {
        self.stream.queued()
    }

    /// Writes the queue. Returns how many bytes the system took.
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
    /// Free slots in the order in which they are reused: the one freed last comes last.
    free: VecDeque<usize>,
    idle: Idle<Handle>,
    live: usize,
}

impl Connections {
    /// A handle for a new connection, if there is a free slot.
    pub(crate) fn reserve(&mut self) -> Option<Handle> {
        let slot = if self.free.len() < RESTING_SLOTS && self.slots.len() < Handle::SLOTS {
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

    /// Counts one more session bound to a connection.
    pub(crate) fn bind(&mut self, handle: Handle) {
        let Some(connection) = self.get_mut(handle) else { return };
        connection.sessions += 1;
        if let (address, Some(number)) = (connection.place.address, connection.idle.take()) {
            self.idle.remove(address, number);
        }
    }

    /// Counts one session less bound to a connection.
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

    /// The connection that has been idle for longest; with `from`, among those from that address.
    pub(crate) fn oldest_idle(&self, from: Option<IpAddr>) -> Option<&Connection> {
        self.get(from.map_or_else(|| self.idle.oldest(), |from| self.idle.oldest_from(from))?)
    }

    pub(crate) fn get(&self, handle: Handle) -> Option<&Connection> {
        self.slots.get(handle.slot())?.as_ref().filter(|connection| connection.handle == handle)
    }

    pub(crate) fn get_mut(&mut self, handle: Handle) -> Option<&mut Connection> {
        self.slots.get_mut(handle.slot())?.as_mut().filter(|connection| connection.handle == handle)
    }

    /// The connection in a slot, regardless of its use count.
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

/// Enables TCP keep-alive, so that the system breaks connections whose peers do not respond.
pub(super) fn notice_dead_peers(stream: &TcpStream) {
    // Without these options, dead peers are only noticed later
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
        assert_eq!(connections.slots.len(), RESTING_SLOTS, "slots are used again");
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
