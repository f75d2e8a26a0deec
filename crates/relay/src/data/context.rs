//! What the workers share, and what each part of a worker needs to know.

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
    /// One for each worker.
    pub(crate) inboxes: Vec<Inbox>,
    /// One for each worker.
    pub(crate) counts: Vec<Published>,
    /// Connections of all workers.
    pub(crate) connections: AtomicUsize,
    /// How they are spread over addresses.
    pub(crate) addresses: Arc<Addresses>,
    /// Sessions of each worker that have keys.
    pub(crate) live: Vec<AtomicU32>,
    /// Memory that the queues of each worker's connections take.
    pub(crate) queues: Vec<AtomicUsize>,
    /// Addresses of each worker that sessions are bound to which use datagrams.
    pub(crate) peers: Vec<AtomicUsize>,
    /// Goes up when authentic frames come as datagrams.
    pub(crate) heard: AtomicU64,
    /// Who spoke to whom and may not.
    pub(crate) denials: Denials,
    /// The way to other nodes, if there are any.
    pub(crate) remote: OnceLock<Arc<dyn RemoteNodes>>,
}

/// What every part of a worker is given.
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

    /// Whether another worker has so much to do that this one should not give it more.
    pub(crate) fn others_are_full(&self) -> bool {
        self.shared.inboxes.iter().enumerate().any(|(at, inbox)| at != self.worker && inbox.is_full())
    }

    /// A connection is gone, or was not taken after all.
    pub(crate) fn one_connection_less(&mut self, why: Count) {
        self.count(why);
        self.shared.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
