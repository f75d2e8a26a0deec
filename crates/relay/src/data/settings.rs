//! Limits of the data plane. Every buffer has one, so that the memory a relay can ever use is known when it starts.

use std::{net::SocketAddr, time::Duration};

use crate::{data::udp::Udp, frame_stream::READ_SIZE};

/// What the data plane allows.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The longest frame taken, header and tag included.
    pub max_frame: usize,
    /// The most connections at once; newcomers beyond are refused.
    pub max_connections: usize,
    /// The most bytes queued for one connection; frames beyond are dropped.
    pub queue: usize,
    /// How long a connection that fills its queue may hold up those who send to it, before their frames to it are
    /// dropped instead.
    pub patience: Duration,
    /// How long a connection with a full queue may take nothing at all, until it is closed.
    pub stall: Duration,
    /// A new connection must deliver an authentic frame within this time.
    pub prove: Duration,
    /// Where the first worker takes datagrams, if any are taken; the others at the ports behind it. With port 0 the
    /// system chooses all of them.
    pub udp: Option<SocketAddr>,
    /// A connection is closed after so many bad frames.
    pub max_bad: u32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            max_frame: 16 << 10,
            max_connections: 4096,
            queue: 256 << 10,
            patience: Duration::from_millis(100),
            stall: Duration::from_secs(30),
            prove: Duration::from_secs(10),
            udp: None,
            max_bad: 10_000,
        }
    }
}

/// Bytes of opened frames that may wait for another worker, before this one stops reading.
pub(crate) const MAIL: usize = 4 << 20;

impl Settings {
    /// The most memory that one connection's buffers can ever hold: a cut frame, a read that waits, a full queue.
    pub fn connection_bytes(&self) -> usize {
        // Vectors grow by doubling
        2 * (self.queue + self.max_frame) + 512
    }

    /// The most memory that a worker's own buffers hold: what it reads into, its mail, and what it posts.
    pub fn worker_bytes(&self) -> u64 {
        // The mail may be over its mark by what one read of every other worker brings
        (4 * (READ_SIZE + self.max_frame) + 2 * MAIL + self.udp.map_or(0, |_| 2 * Udp::BYTES)) as u64
    }

    /// The most memory beside its record that a session's whereabouts take.
    pub fn session_bytes(&self) -> u64 {
        (size_of::<u32>() + self.udp.map_or(0, |_| Udp::PEER)) as u64
    }

    /// How many connections `bytes` of memory can bear, at most `max_connections`.
    pub fn connections_within(&self, bytes: u64) -> usize {
        let bears = bytes / self.connection_bytes() as u64;
        usize::try_from(bears).unwrap_or(usize::MAX).min(self.max_connections)
    }

    /// Above this, senders to a connection wait.
    pub(crate) fn high(&self) -> usize {
        self.queue / 2
    }

    /// Below this, they go on.
    pub(crate) fn low(&self) -> usize {
        self.queue / 8
    }
}
