//! Several relays as one service: each session lives on the node that its number names, and frames for clients elsewhere
//! travel over NATS, sealed once more between the nodes.
//!
//! NATS carries and does not know: what is said is sealed ([`link`]), and the subjects tell only the nodes. Each node says
//! on `NAME.hello` that it lives, listens on `NAME.node.N`, and tells the others which names were opened at it. A node that
//! falls silent is lost, and so are its sessions' connections: their clients open anew elsewhere.

mod directory;
mod letter;
mod link;
mod post;

use std::{
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, SystemTime},
};

pub(crate) use letter::{frames, is_full, push};
use thiserror::Error;
use tokio::sync::{
    Notify,
    mpsc::{UnboundedSender, unbounded_channel},
};
use zeroize::Zeroizing;

use crate::{
    data::{MAIL, Relay},
    errors::os_error_text,
    fleet::{
        directory::{Directory, Entry},
        link::Links,
    },
    layout::NodeLayout,
    serve::log::Log,
};

/// How a node takes part.
#[derive(Clone)]
pub(crate) struct FleetPlan {
    /// Servers of NATS.
    pub(crate) nats: String,
    /// What all its subjects begin with.
    pub(crate) name: String,
    /// What all nodes know and nobody else.
    pub(crate) secret: Zeroizing<[u8; 32]>,
}

impl std::fmt::Debug for FleetPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FleetPlan").field("nats", &self.nats).field("name", &self.name).finish_non_exhaustive()
    }
}

/// Why a node does not take part.
#[derive(Debug, Error)]
pub enum FleetError {
    /// NATS cannot be reached.
    #[error("{nats}: {why}")]
    Nats {
        /// Its servers.
        nats: String,
        /// Why.
        why: String,
    },
    /// The system refuses something.
    #[error("{}", os_error_text(.0))]
    Io(#[from] io::Error),
    /// No random bytes, no memory.
    #[error("{0}")]
    Refused(#[from] sealwright_session::SessionError),
}

/// What a node tells the others.
enum Order {
    /// Frames for a node.
    Frames(u32, Zeroizing<Vec<u8>>),
    Opened(String, Entry),
    Closed(String),
}

/// Where workers put frames for other nodes.
#[derive(Clone)]
pub(crate) struct Outbox {
    orders: UnboundedSender<Order>,
    waiting: Arc<AtomicUsize>,
}

impl Outbox {
    /// Sends frames to a node; whether there was room.
    pub(crate) fn post(&self, node: u32, letter: Vec<u8>) -> bool {
        let letter = Zeroizing::new(letter);
        let length = letter.len();
        if self.waiting.fetch_add(length, Ordering::Relaxed) > MAIL
            || self.orders.send(Order::Frames(node, letter)).is_err()
        {
            self.waiting.fetch_sub(length, Ordering::Relaxed);
            return false;
        }
        true
    }
}

/// What happened between nodes.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    /// Messages sealed and sent.
    pub(crate) sent: AtomicU64,
    /// Messages that opened.
    pub(crate) received: AtomicU64,
    /// Messages that did not open, or made no sense.
    pub(crate) refused: AtomicU64,
    /// Messages for nodes that are not there.
    pub(crate) undelivered: AtomicU64,
    /// Other nodes that live.
    pub(crate) nodes: AtomicU64,
}

/// What control plane, metrics and the thread of the fleet share.
#[derive(Default)]
pub(crate) struct Known {
    directory: Mutex<Directory>,
    pub(crate) traffic: Traffic,
}

impl Known {
    fn directory(&self) -> std::sync::MutexGuard<'_, Directory> {
        self.directory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A node's part in a fleet, until dropped.
pub(crate) struct Fleet {
    layout: NodeLayout,
    pub(crate) known: Arc<Known>,
    outbox: Outbox,
    stop: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
}

impl Fleet {
    /// Connects, and lets the relay's workers send to other nodes.
    pub(crate) fn join(plan: &FleetPlan, relay: Arc<Relay>, log: Arc<Log>) -> Result<Fleet, FleetError> {
        let layout = relay.layout();
        let links = Links::new(layout.node(), plan.secret.clone())?;
        let (orders, received) = unbounded_channel();
        let outbox = Outbox { orders, waiting: Arc::default() };
        let (known, stop) = (Arc::<Known>::default(), Arc::new(Notify::new()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let refused =
            |error: &dyn std::fmt::Display| FleetError::Nats { nats: plan.nats.clone(), why: error.to_string() };
        let servers: Vec<String> = plan.nats.split(',').map(|server| server.trim().to_owned()).collect();
        let options = async_nats::ConnectOptions::new().name(format!("sealwright node {}", layout.node()));
        let nats = runtime
            .block_on(options.no_echo().connection_timeout(Duration::from_secs(5)).connect(servers))
            .map_err(|error| refused(&error))?;
        let post = runtime
            .block_on(post::Post::open(nats, plan.name.clone(), links, relay.clone(), known.clone(), log))
            .map_err(|error| refused(&error))?;
        relay.join(outbox.clone());
        let (waiting, stopped) = (outbox.waiting.clone(), stop.clone());
        let thread = std::thread::Builder::new().name("fleet".into()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = stopped.notified() => {}
                    () = post.carry(received, waiting) => {}
                }
            });
        })?;
        Ok(Fleet { layout, known, outbox, stop, thread: Some(thread) })
    }

    /// A name was opened here.
    pub(crate) fn opened(&self, name: &str, session: u32) {
        let at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let entry = Entry { session, node: self.layout.node(), at };
        self.known.directory().opened(name, entry);
        // A thread that ended with the relay has nobody to tell
        let _ = self.outbox.orders.send(Order::Opened(name.to_owned(), entry));
    }

    /// A name is gone from here.
    pub(crate) fn closed(&self, name: &str) {
        self.known.directory().closed(name, self.layout.node());
        let _ = self.outbox.orders.send(Order::Closed(name.to_owned()));
    }

    /// The session that has a name now.
    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        self.known.directory().find(name)
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.stop.notify_one();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so on standard error
            let _ = thread.join();
        }
    }
}
