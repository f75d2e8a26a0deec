//! The mesh: several relays as one service. A session is kept on the node that its number names; frames for clients of
//! other nodes travel over NATS, sealed between the nodes.
//!
//! NATS carries the messages but cannot read them: they are sealed ([`link`]), and the subjects reveal only the nodes.
//! Each node announces itself on `NAME.hello`, listens on `NAME.node.N`, sends heartbeats to the nodes that are
//! present, and tells them which names were opened on it. A node that falls silent counts as lost, together with its
//! sessions: their clients open them again on another node.

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
    time::{Duration, SystemTime, UNIX_EPOCH},
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

/// How a node takes part in the mesh.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct MeshConfig {
    /// The NATS servers.
    pub(crate) nats: Servers,
    /// The common prefix of all subjects.
    pub(crate) name: String,
    /// The secret that all nodes, and nobody else, know.
    pub(crate) secret: Zeroizing<[u8; 32]>,
}

impl std::fmt::Debug for MeshConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MeshConfig").field("nats", &self.nats).field("name", &self.name).finish_non_exhaustive()
    }
}

/// Why a node cannot take part.
#[derive(Debug, Error)]
#[non_exhaustive]
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
    Io(io::Error),
    /// There are no random bytes, or there is no memory.
    #[error(transparent)]
    Session(#[from] SessionError),
}

impl From<io::Error> for MeshError {
    fn from(error: io::Error) -> MeshError {
        MeshError::Io(error)
    }
}

/// The most events that wait for the thread of the mesh. One that finds no room is made up for by the next heartbeat.
const MAX_WAITING_EVENTS: usize = 4096;
/// The most messages that wait for NATS: some 4 MB with batches of the largest size.
const WAITING_FOR_NATS: usize = 64;

/// The most messages of each subject that wait for the thread of the mesh. The default of the NATS client is 65,536.
const WAITING_FROM_NATS: usize = 8192;
/// The memory budget of the messages for this node: 8 KiB each. Most are shorter; the longest have 64 KiB.
pub(crate) const WAITING_BYTES: u64 = WAITING_FROM_NATS as u64 * (8 << 10);

/// The state that the control plane, the metrics and the thread of the mesh share.
#[derive(Default)]
pub(crate) struct MeshState {
    directory: Mutex<Directory>,
    policy: Mutex<Option<Arc<Policy>>>,
    /// Names whose session was on this node and is now on another one, until the control plane takes them.
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

    /// The classes of clients on other nodes under this node's policy. A client whose name is not known may speak to
    /// nobody; a policy that forbids nothing needs no names.
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

/// The queue of frames for other nodes, as the workers see it.
struct Outbox {
    orders: Sender<Order>,
    /// Bytes of the frames in the queue.
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

/// A node's participation in the mesh, until dropped.
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
        let (orders, received) = channel(MAX_WAITING_EVENTS);
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
        let entry = self.state.directory().opened_here(name, (address, epoch), unix_millis());
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
            // A thread that panicked has already printed a message
            let _ = thread.join();
        }
    }
}

fn unix_millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis().min(directory::LAST_STAMP.into()) as u64)
}

/// The node that keeps a session.
fn node_of(address: Address) -> u32 {
    NodeLayout::of(address.session, 1).node()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Batches that wait for NATS are counted while they wait, and bounded.
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
