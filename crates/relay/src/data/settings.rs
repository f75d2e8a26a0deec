//! Limits of the data plane. Every buffer has one, so that the most memory a relay can use is known when it starts.

use std::{net::SocketAddr, time::Duration};

use crate::{data::udp::Udp, frame_stream::READ_SIZE};

/// The limits of the data plane.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// The longest frame accepted, in bytes, header and tag included.
    pub max_frame: usize,
    /// The most connections at once; others are refused.
    pub max_connections: usize,
    /// The most bytes queued for one connection; further frames are dropped. Senders wait when it is more than half
    /// full. If half of it is at least 64 KiB and the longest frame, what one sender brings until it waits always fits.
    pub queue: usize,
    /// The most memory that the queues of all connections take together. When three quarters of it are used, each
    /// connection may queue no more than the longest frame.
    pub queues: u64,
    /// How long senders wait for a connection with a full queue. Then their frames to it are dropped instead.
    pub sender_wait: Duration,
    /// A connection that has bytes queued and takes none of them for so long is closed.
    pub stall: Duration,
    /// A new connection must deliver an authentic frame within this time.
    pub first_frame: Duration,
    /// Where the first worker receives datagrams, if the relay does; the other workers use the ports that follow. With
    /// port 0 the system chooses all ports.
    pub udp: Option<SocketAddr>,
    /// A connection is closed after more bad frames than this.
    pub max_bad: u32,
    /// The most connections from one address (for IPv6, from one /64 network).
    pub max_from_one: usize,
    /// A connection that brings no authentic frame for so long is closed.
    pub idle: Duration,
    /// The most frames that a session may send a second; 0 for no limit.
    pub session_rate: u32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            max_frame: 16 << 10,
            max_connections: 4096,
            queue: 256 << 10,
            queues: u64::MAX,
            sender_wait: Duration::from_millis(100),
            stall: Duration::from_secs(30),
            first_frame: Duration::from_secs(10),
            udp: None,
            max_bad: 10_000,
            max_from_one: usize::MAX,
            idle: Duration::from_secs(3600),
            session_rate: 0,
        }
    }
}

impl Settings {
    /// Sets the longest frame accepted, in bytes.
    pub fn max_frame(self, max_frame: usize) -> Self {
        Settings { max_frame, ..self }
    }

    /// Sets the most connections at once.
    pub fn max_connections(self, max_connections: usize) -> Self {
        Settings { max_connections, ..self }
    }

    /// Sets the most bytes queued for one connection.
    pub fn queue(self, queue: usize) -> Self {
        Settings { queue, ..self }
    }

    /// Sets the most bytes queued for all connections together.
    pub fn queues(self, queues: u64) -> Self {
        Settings { queues, ..self }
    }

    /// Sets how long senders wait for a connection with a full queue.
    pub fn sender_wait(self, sender_wait: Duration) -> Self {
        Settings { sender_wait, ..self }
    }

    /// Sets after what time a connection is closed that takes none of its queued bytes.
    pub fn stall(self, stall: Duration) -> Self {
        Settings { stall, ..self }
    }

    /// Sets within what time a new connection must deliver an authentic frame.
    pub fn first_frame(self, first_frame: Duration) -> Self {
        Settings { first_frame, ..self }
    }

    /// Sets where the first worker receives datagrams; the relay receives none otherwise.
    pub fn udp(self, first: SocketAddr) -> Self {
        Settings { udp: Some(first), ..self }
    }

    /// Sets after how many bad frames a connection is closed.
    pub fn max_bad(self, max_bad: u32) -> Self {
        Settings { max_bad, ..self }
    }

    /// Sets the most connections from one address.
    pub fn max_from_one(self, max_from_one: usize) -> Self {
        Settings { max_from_one, ..self }
    }

    /// Sets after what time without an authentic frame a connection is closed.
    pub fn idle(self, idle: Duration) -> Self {
        Settings { idle, ..self }
    }

    /// Sets the most frames that a session may send a second; 0 for no limit.
    pub fn session_rate(self, session_rate: u32) -> Self {
        Settings { session_rate, ..self }
    }
}

/// Bytes of opened frames that may wait in an inbox before other workers stop reading.
pub(crate) const INBOX_BYTES: usize = 4 << 20;

/// An estimate of the state of a connection: its own, that of its queue, and its place in the share of its address.
const CONNECTION_STATE_BYTES: usize = 1024;

impl Settings {
    /// The memory that every connection may take, whatever the others do: a cut frame, a queue of the longest frame,
    /// and what is known of it.
    pub fn connection_bytes(&self) -> usize {
        2 * self.max_frame + CONNECTION_STATE_BYTES
    }

    /// The most memory that a worker's own buffers can hold: what it reads into, its inbox, what it posts, and
    /// datagrams.
    pub fn worker_bytes(&self) -> u64 {
        // The inbox may exceed its limit by one read of every other worker
        (4 * (READ_SIZE + self.max_frame) + 2 * INBOX_BYTES + self.udp.map_or(0, |_| 3 * Udp::BUFFER_BYTES)) as u64
    }

    /// The most memory beside its record that a session takes in the data plane: where it can be reached, the
    /// generation of its number, what it has used of its share.
    pub fn routing_bytes_per_session(&self) -> u64 {
        let share = if self.session_rate > 0 { size_of::<u64>() } else { 0 };
        (2 * size_of::<u32>() + share + self.udp.map_or(0, |_| Udp::PEER_BYTES)) as u64
    }

    /// How many connections fit into `bytes` of memory, at most `max_connections`. Half of it stays for longer queues.
    pub fn connections_within(&self, bytes: u64) -> usize {
        let fitting = bytes / 2 / self.connection_bytes() as u64;
        usize::try_from(fitting).unwrap_or(usize::MAX).min(self.max_connections)
    }

    /// With more connections than this, room is made in advance for the next ones.
    pub(crate) fn crowded(&self) -> usize {
        self.max_connections - self.max_connections / 16 - 1
    }

    /// With more than this, all workers close young idle connections too, not only the one that accepts: by the time
    /// the last place is taken, it would be too late for the others.
    pub(crate) fn nearly_full(&self) -> usize {
        self.max_connections - (self.max_connections / 32).max(1)
    }
}

/// Above this many queued bytes, senders to a connection with this limit wait.
pub(crate) fn high_mark(limit: usize) -> usize {
    limit / 2
}

/// Below this many queued bytes, they continue.
pub(crate) fn low_mark(limit: usize) -> usize {
    limit / 8
}
