//! The thread of the mesh: messages that come over NATS, and messages that go.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use async_nats::{Client, SubscribeError, Subscriber};
use futures_util::StreamExt;
use tokio::sync::mpsc::Receiver;
use zeroize::{Zeroize, Zeroizing};

use crate::{
    address::Address,
    data::{Frames, Relay},
    layout::NodeLayout,
    log::Log,
    mesh::{
        MeshState,
        directory::Entry,
        link::{Hello, Links, Opened},
        message::{self, FIRST, LAST, Message},
        node_of,
    },
};

/// How often a node says hello and sends heartbeats.
const HEARTBEAT: Duration = Duration::from_millis(500);
/// A node of which nothing was heard for so long is lost.
const SILENCE: Duration = Duration::from_secs(3);
/// How often a node is asked for all its names, at most.
const REQUEST: Duration = Duration::from_secs(1);
/// How long NATS may take to accept a message. While it is stalled, the next ones do not wait.
const PUBLISH: Duration = Duration::from_millis(100);
/// An opening is stamped as at most so much later than now: by a client that changes nodes a hundred times in a row.
const AHEAD: Duration = Duration::from_secs(60);

/// What the thread is told to send.
pub(crate) enum Order {
    /// Frames for a node.
    Frames(u32, Zeroizing<Vec<u8>>),
    /// A name was opened here.
    Opened(String, Entry),
    /// A name is gone from here.
    Closed(String, Address),
}

/// What is known of another node.
#[derive(Debug, Default)]
struct Node {
    /// When it was last heard; none while it is not present.
    heard: Option<Instant>,
    /// When it was last asked for its names.
    requested: Option<Instant>,
    /// The names of a list that has not ended yet.
    names: Option<HashSet<String>>,
}

pub(crate) struct Task {
    nats: Client,
    inbox: Subscriber,
    hellos: Subscriber,
    name: String,
    me: u32,
    links: Links,
    nodes: Vec<Node>,
    /// NATS did not take the last message in time.
    stalled: bool,
    relay: Arc<Relay>,
    state: Arc<MeshState>,
    log: Arc<Log>,
}

fn one(count: &AtomicU64) {
    count.fetch_add(1, Ordering::Relaxed);
}

impl Task {
    pub(crate) async fn open(
        nats: Client,
        name: String,
        links: Links,
        relay: Arc<Relay>,
        state: Arc<MeshState>,
        log: Arc<Log>,
    ) -> Result<Task, SubscribeError> {
        let me = relay.layout().node();
        let inbox = nats.subscribe(format!("{name}.node.{me}")).await?;
        let hellos = nats.subscribe(format!("{name}.hello")).await?;
        let nodes = (0..NodeLayout::NODES).map(|_| Node::default()).collect();
        Ok(Task { nats, inbox, hellos, name, me, links, nodes, stalled: false, relay, state, log })
    }

    /// Runs until nobody gives orders any more.
    pub(crate) async fn run(mut self, mut orders: Receiver<Order>, waiting: Arc<AtomicUsize>) {
        let mut tick = tokio::time::interval(HEARTBEAT);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                order = orders.recv() => match order {
                    Some(Order::Frames(node, batch)) => {
                        waiting.fetch_sub(batch.len(), Ordering::Relaxed);
                        let message = Zeroizing::new(message::frames(&batch));
                        let sent = self.send(node, &message).await;
                        let stats = &self.state.stats;
                        let count = if sent { &stats.frames_sent } else { &stats.frames_undelivered };
                        count.fetch_add(Frames(&batch).count() as u64, Ordering::Relaxed);
                    }
                    Some(Order::Opened(name, entry)) => {
                        self.send_all(&message::opened(entry.address, age(entry), &name)).await;
                    }
                    Some(Order::Closed(name, address)) => self.send_all(&message::closed(address, &name)).await,
                    None => return,
                },
                Some(message) = self.inbox.next() => self.receive(message.payload.to_vec()).await,
                Some(message) = self.hellos.next() => self.hear(&message.payload).await,
                _ = tick.tick() => self.tick().await,
            }
        }
    }

    async fn tick(&mut self) {
        if let Ok(hello) = self.links.hello() {
            self.publish("hello".to_owned(), hello).await;
        }
        self.probe(None).await;
        let heartbeat = message::heartbeat(self.state.directory().digest(self.me));
        self.send_all(&heartbeat).await;
        for node in 0..NodeLayout::NODES {
            let known = &mut self.nodes[node as usize];
            if known.heard.is_some_and(|heard| heard.elapsed() > SILENCE) {
                *known = Node::default();
                self.state.directory().lost(node);
                self.log.say("node-lost", &[("node", node.into())]);
            }
        }
        let present = self.nodes.iter().filter(|node| node.heard.is_some()).count();
        self.state.stats.nodes.store(present as u64, Ordering::Relaxed);
    }

    async fn hear(&mut self, hello: &[u8]) {
        match self.links.hear(hello) {
            Ok(Hello::Candidate(node)) => self.probe(Some(node)).await,
            Ok(Hello::NumberTaken) => self.log.say("node-number-taken", &[("node", self.me.into())]),
            // Both may have lost each other: whoever is spoken to knows that the other is there
            Ok(Hello::Known(node)) if self.nodes[node as usize].heard.is_none() => {
                if let Ok(message) = self.links.seal(node, &[]) {
                    self.publish(format!("node.{node}"), message).await;
                }
            }
            Ok(Hello::Own | Hello::Known(_)) => {}
            Err(_) => one(&self.state.stats.refused),
        }
    }

    /// Lets candidates prove that they are alive.
    async fn probe(&mut self, only: Option<u32>) {
        for (node, probe) in self.links.probes(only) {
            self.publish(format!("node.{node}"), probe).await;
        }
    }

    async fn send_all(&mut self, text: &[u8]) {
        for node in 0..NodeLayout::NODES {
            if self.nodes[node as usize].heard.is_some() {
                self.send(node, text).await;
            }
        }
    }

    async fn send(&mut self, node: u32, text: &[u8]) -> bool {
        let sealed = self.nodes[node as usize].heard.and_then(|_| self.links.seal(node, text).ok());
        let sent = match sealed {
            Some(message) => self.publish(format!("node.{node}"), message).await,
            None => false,
        };
        let stats = &self.state.stats;
        one(if sent { &stats.sent } else { &stats.undelivered });
        sent
    }

    /// Gives NATS a message. A server that is stalled must not stall this thread: the message is then dropped.
    async fn publish(&mut self, subject: String, message: Vec<u8>) -> bool {
        let limit = if self.stalled { Duration::ZERO } else { PUBLISH };
        let published = self.nats.publish(format!("{}.{subject}", self.name), message.into());
        let published = tokio::time::timeout(limit, published).await;
        self.stalled = published.is_err();
        matches!(published, Ok(Ok(())))
    }

    async fn receive(&mut self, mut message: Vec<u8>) {
        let (node, is_new, text) = match self.links.open(&mut message) {
            Ok(Opened::Present { node, is_new, text }) => (node, is_new, text.to_vec()),
            Ok(Opened::Candidate { node }) => {
                one(&self.state.stats.received);
                return self.probe(Some(node)).await;
            }
            Err(_) => return one(&self.state.stats.refused),
        };
        message.zeroize();
        let text = Zeroizing::new(text);
        one(&self.state.stats.received);
        let returned = self.nodes[node as usize].heard.replace(Instant::now()).is_none();
        if is_new {
            // What its former incarnation had is gone
            self.state.directory().lost(node);
        }
        if is_new || returned {
            self.log.say("node-met", &[("node", node.into())]);
            let heartbeat = message::heartbeat(self.state.directory().digest(self.me));
            self.send(node, &heartbeat).await;
        }
        match message::read(&text) {
            Some(message) => self.handle(node, message).await,
            // A probe of a node that was a candidate
            None if text.is_empty() => {}
            None => one(&self.state.stats.refused),
        }
    }

    async fn handle(&mut self, node: u32, message: Message<'_>) {
        match message {
            // A node speaks for its own sessions alone
            Message::Frames(frames) => {
                let mut class = self.state.classes();
                let all = frames.count() as u64;
                let own = frames.filter(|&(_, from, _)| node_of(from) == node);
                let taken = self.relay.deliver(own.map(|(to, from, data)| (to, (from, class(from)), data)));
                self.state.stats.frames_received.fetch_add(all, Ordering::Relaxed);
                self.state.stats.frames_refused.fetch_add(all - taken, Ordering::Relaxed);
            }
            Message::Opened { address, age, name } => self.opened(node, address, age, name),
            Message::Closed { address, name } => self.state.directory().closed(name, address),
            Message::Heartbeat(digest) => {
                let known = &mut self.nodes[node as usize];
                let asked = known.requested.is_some_and(|requested| requested.elapsed() < REQUEST);
                if self.state.directory().digest(node) != digest && !asked {
                    known.requested = Some(Instant::now());
                    self.send(node, &message::request()).await;
                }
            }
            Message::Request => {
                let parts = {
                    let directory = self.state.directory();
                    let mine = directory.at(self.me).map(|(name, entry)| (entry.address, age(entry), name));
                    message::names(mine)
                };
                for part in parts {
                    self.send(node, &part).await;
                }
            }
            Message::Names { part, names } => self.names(node, part, &names),
        }
    }

    /// A name was opened at another node: if that counts, its session here ends.
    fn opened(&mut self, node: u32, address: Address, age: i64, name: &str) {
        // Ages before this node's clock began count as its beginning
        let span = Duration::from_millis(age.unsigned_abs());
        let now = Instant::now();
        let opened = if age < 0 { now.checked_add(span.min(AHEAD)) } else { now.checked_sub(span) };
        let Some(opened) = opened.filter(|_| node_of(address) == node) else { return };
        let former = self.state.directory().opened(name, Entry { address, opened });
        if let Some(former) = former.filter(|former| former.node() == self.me) {
            self.relay.remove(former.address);
            self.log.say("moved", &[("name", name.into()), ("session", address.session.into())]);
        }
    }

    /// A part of the list of a node's names. When the list has ended, names that are not in it are gone.
    fn names(&mut self, node: u32, part: u8, names: &[(Address, i64, &str)]) {
        if part & FIRST != 0 {
            self.nodes[node as usize].names = Some(HashSet::new());
        }
        for &(address, age, name) in names {
            self.opened(node, address, age, name);
            if let Some(all) = &mut self.nodes[node as usize].names {
                all.insert(name.to_owned());
            }
        }
        if part & LAST != 0
            && let Some(all) = self.nodes[node as usize].names.take()
        {
            self.state.directory().keep(node, &all);
        }
    }
}

/// Milliseconds since a name was opened; negative if it is stamped later than now.
fn age(entry: Entry) -> i64 {
    let now = Instant::now();
    match now.checked_duration_since(entry.opened) {
        Some(since) => since.as_millis() as i64,
        None => -(entry.opened.duration_since(now).as_millis() as i64),
    }
}
