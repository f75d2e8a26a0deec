//! The state that workers share, and the context that each part of a worker gets.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering},
    },
    time::Instant,
};

use crate::{
    data::{
        count::{Count, Counts, Published},
        denials::Denials,
        inbox::{Inbox, Message},
        remote_nodes::RemoteNodes,
        settings::Settings,
        shares::Addresses,
    },
    layout::NodeLayout,
};

/// What all workers of a relay share.
pub(crate) struct Shared {
    pub(crate) layout: NodeLayout,
    pub(crate) settings: Settings,
    /// The inbox of each worker.
    pub(crate) inboxes: Vec<Inbox>,
    /// The published counters of each worker.
    pub(crate) counts: Vec<Published>,
    /// Number of connections of all workers.
    pub(crate) connections: AtomicUsize,
    /// Number of connections per address.
    pub(crate) addresses: Arc<Addresses>,
    /// Number of sessions with keys, of each worker.
    pub(crate) live: Vec<AtomicU32>,
    /// Memory of the connection queues, of each worker.
    pub(crate) queues: Vec<AtomicUsize>,
    /// Number of datagram peers that sessions are bound to, of each worker.
    pub(crate) peers: Vec<AtomicUsize>,
    /// Incremented whenever authentic frames arrive as datagrams.
    pub(crate) heard: AtomicU64,
    /// Pairs that tried to speak and may not.
    pub(crate) denials: Denials,
    /// The way to other nodes, in a mesh.
    pub(crate) remote: OnceLock<Arc<dyn RemoteNodes>>,
}

/// The context that every part of a worker gets.
pub(crate) struct Context {
    pub(crate) worker: usize,
    pub(crate) shared: Arc<Shared>,
    pub(crate) counts: Counts,
    /// The time of this iteration.
    pub(crate) now: Instant,
}

impl Context {
    pub(crate) fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    pub(crate) fn count(&mut self, what: Count) {
        self.counts.one(what);
    }

    /// Sends a message to a worker.
    pub(crate) fn post(&self, worker: usize, message: Message) {
        self.shared.inboxes[worker].post(message);
    }

    /// Whether the inbox of another worker is so full that this worker should not add to it.
    pub(crate) fn others_are_full(&self) -> bool {
        self.shared.inboxes.iter().enumerate().any(|(at, inbox)| at != self.worker && inbox.is_full())
    }

    /// Counts a connection that has ended, or was refused after it was counted.
    pub(crate) fn one_connection_less(&mut self, why: Count) {
        self.count(why);
        self.shared.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
