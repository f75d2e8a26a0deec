//! Several relays as one service: each session is kept on the node that its number names, and frames for clients of
//! other nodes travel over NATS, sealed once more between the nodes.
//!
//! NATS carries messages and cannot read them: they are sealed ([`link`]), and the subjects tell only the nodes. Each
//! node says hello on `NAME.hello`, listens on `NAME.node.N`, sends a heartbeat to the nodes that are present, and tells
//! them which names were opened at it. A node that falls silent is lost, and so are its sessions' connections: their
//! clients open their sessions at another node.

mod directory;
#[cfg(any(test, feature = "fuzz"))]
#[cfg_attr(not(feature = "fuzz"), allow(dead_code))]
mod fuzz;
mod link;
mod message;
mod message_handler;
mod servers;
mod stats;
mod task;

use std::{
    collections::HashMap,
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use async_nats::ConnectOptions;
#[cfg(feature = "fuzz")]
pub(crate) use fuzz::node as node_fuzz;
#[cfg(feature = "fuzz")]
pub(crate) use link::fuzz::link as link_fuzz;
#[cfg(feature = "fuzz")]
pub(crate) use message::survives as message_survives;
use sealwright_session::SessionError;
pub(crate) use servers::Servers;
pub use servers::ServersError;
pub(crate) use stats::MeshStats;
use thiserror::Error;
use tokio::sync::{
    Notify,
    mpsc::{Sender, channel},
};
use zeroize::Zeroizing;

use crate::{
    address::Address,
    control::NameDirectory,
    data::{INBOX_BYTES, Plaintext, Relay, RemoteNodes},
    errors::os_error_text,
    layout::NodeLayout,
    log::Log,
    mesh::{
        directory::Directory,
        link::Links,
        task::{Order, Task},
    },
    policy::{Class, Policy},
};

/// How a node takes part.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct MeshConfig {
    /// Servers of NATS.
    pub(crate) nats: Servers,
    /// What all its subjects begin with.
    pub(crate) name: String,
    /// What all nodes know and nobody else.
    pub(crate) secret: Zeroizing<[u8; 32]>,
}

impl std::fmt::Debug for MeshConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MeshConfig").field("nats", &self.nats).field("name", &self.name).finish_non_exhaustive()
    }
}

/// Why a node cannot take part.
#[derive(Debug, Error)]
pub enum MeshError {
    /// NATS cannot be reached.
    #[error("{servers}: {why}")]
    Nats {
        /// Its servers, without passwords.
        servers: String,
        /// Why.
        why: String,
    },
    /// The system refuses something.
    #[error("{}", os_error_text(.0))]
    Io(#[from] io::Error),
    /// There are no random bytes, or there is no memory.
    #[error("{0}")]
    Session(#[from] SessionError),
}

/// Events that wait for the mesh's thread at most. An event that finds no room is made up for by the next heartbeat.
const EVENTS: usize = 4096;
/// Messages that wait for NATS at most: with batches of the largest size, some 4 MB.
const WAITING_FOR_NATS: usize = 64;

/// Messages of each subject that wait for the mesh's thread at most, as they may when many come at once. NATS' client would
/// keep 65,536.
const WAITING_FROM_NATS: usize = 8192;
/// What the budget has for those for this node: 8 KiB each. Most are shorter, and the longest have 64 KiB.
pub(crate) const WAITING_BYTES: u64 = WAITING_FROM_NATS as u64 * (8 << 10);

/// What the control plane, the metrics and the mesh's thread share.
#[derive(Default)]
pub(crate) struct MeshState {
    directory: Mutex<Directory>,
    policy: Mutex<Option<Arc<Policy>>>,
    /// Names that had a session here and were opened elsewhere, of which the control plane does not know yet.
    moved: Mutex<HashMap<String, Address>>,
    pub(crate) stats: MeshStats,
}

impl MeshState {
    fn directory(&self) -> MutexGuard<'_, Directory> {
        self.directory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn moved(&self) -> MutexGuard<'_, HashMap<String, Address>> {
        self.moved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the policy of this node says of clients of other nodes: of those whose names are not known, that they may
    /// speak to nobody. A policy that forbids nothing needs no names.
    fn classes(&self) -> impl FnMut(Address) -> Class + '_ {
        let policy = self.policy.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let policy = policy.filter(|policy| !policy.is_open());
        let mut known = HashMap::new();
        move |address| {
            let Some(policy) = &policy else { return Class::default() };
            *known.entry(address).or_insert_with(|| {
                let directory = self.directory();
                directory.name_at(address).map_or(policy.nobody(), |name| policy.class(name))
            })
        }
    }
}

/// Where workers put frames for other nodes.
struct Outbox {
    orders: Sender<Order>,
    /// Bytes of frames that wait.
    bytes: Arc<AtomicUsize>,
}

impl RemoteNodes for Outbox {
    fn send(&self, node: u32, batch: Plaintext) -> bool {
        let length = batch.len();
        if self.bytes.fetch_add(length, Ordering::Relaxed) > INBOX_BYTES
            || self.orders.try_send(Order::Frames(node, batch)).is_err()
        {
            self.bytes.fetch_sub(length, Ordering::Relaxed);
            return false;
        }
        true
    }
}

/// A node's part in a mesh, until dropped.
pub(crate) struct Mesh {
    pub(crate) state: Arc<MeshState>,
    orders: Sender<Order>,
    stop: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
}

impl Mesh {
    /// Connects to NATS, and lets the relay's workers send frames to other nodes.
    pub(crate) fn join(config: &MeshConfig, relay: Arc<Relay>, log: Arc<Log>) -> Result<Mesh, MeshError> {
        let node = relay.layout().node();
        let links = Links::new(node, config.secret.clone())?;
        let (orders, received) = channel(EVENTS);
        let bytes = Arc::<AtomicUsize>::default();
        let (state, stop) = (Arc::<MeshState>::default(), Arc::new(Notify::new()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let failed = |error: &dyn std::fmt::Display| MeshError::Nats {
            servers: config.nats.to_string(),
            why: error.to_string(),
        };
        let counted = state.clone();
        let options = ConnectOptions::new()
            .name(format!("sealwright node {node}"))
            .no_echo()
            .client_capacity(WAITING_FOR_NATS)
            .subscription_capacity(WAITING_FROM_NATS)
            .event_callback(move |event| {
                counted.stats.note(&event);
                std::future::ready(())
            })
            .connection_timeout(Duration::from_secs(5));
        let options = config.nats.let_in(options);
        let nats = runtime.block_on(options.connect(config.nats.addresses())).map_err(|error| failed(&error))?;
        let task = Task::open(nats, config.name.clone(), links, relay.clone(), state.clone(), log);
        let task = runtime.block_on(task).map_err(|error| failed(&error))?;
        relay.connect_nodes(Arc::new(Outbox { orders: orders.clone(), bytes: bytes.clone() }));
        let stopped = stop.clone();
        let thread = std::thread::Builder::new().name("mesh".into()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = stopped.notified() => {}
                    () = task.run(received, bytes) => {}
                }
            });
        })?;
        Ok(Mesh { state, orders, stop, thread: Some(thread) })
    }
}

impl NameDirectory for Mesh {
    fn opened(&self, name: &str, address: Address, epoch: u16) {
        let entry = self.state.directory().opened_here(name, (address, epoch), Instant::now());
        let _ = self.orders.try_send(Order::Opened(name.to_owned(), entry));
    }

    fn closed(&self, name: &str, address: Address) {
        self.state.directory().closed(name, address);
        let _ = self.orders.try_send(Order::Closed(name.to_owned(), address));
    }

    fn find(&self, name: &str) -> Option<Address> {
        self.state.directory().find(name)
    }

    fn take_moved(&self) -> Vec<(String, Address)> {
        std::mem::take(&mut *self.state.moved()).into_iter().collect()
    }

    fn set_policy(&self, policy: &Arc<Policy>) {
        *self.state.policy.lock().unwrap_or_else(PoisonError::into_inner) = Some(policy.clone());
    }
}

impl Drop for Mesh {
    fn drop(&mut self) {
        self.stop.notify_one();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has printed so
            let _ = thread.join();
        }
    }
}

/// The node that keeps a session.
fn node_of(address: Address) -> u32 {
    NodeLayout::of(address.session, 1).node()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// What waits for NATS is counted as long as it waits, and bounded.
    #[test]
    fn a_batch_that_finds_no_room_is_refused_and_not_counted() {
        let (orders, mut received) = channel(1);
        let outbox = Outbox { orders, bytes: Arc::default() };
        let send = || outbox.send(3, Plaintext::new(vec![7; 100]));
        let waiting = || outbox.bytes.load(Ordering::Relaxed);
        assert!(send());
        for _ in 0..3 {
            assert!(!send(), "one order is all that there is room for");
            assert_eq!(waiting(), 100);
        }
        assert!(matches!(received.try_recv(), Ok(Order::Frames(3, batch)) if batch.len() == 100));
        outbox.bytes.store(INBOX_BYTES + 1, Ordering::Relaxed);
        assert!(!send(), "so many bytes are all that there is room for");
        assert_eq!(waiting(), INBOX_BYTES + 1);
        outbox.bytes.store(INBOX_BYTES, Ordering::Relaxed);
        assert!(send());
    }
}
