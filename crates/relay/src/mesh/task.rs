//! The thread of the mesh: receives messages over NATS, and sends them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use async_nats::{Client, SubscribeError, Subscriber};
use futures_util::StreamExt;
use tokio::sync::mpsc::Receiver;
use zeroize::Zeroizing;

use crate::{
    address::Address,
    data::{Frames, Plaintext, Relay},
    layout::NodeLayout,
    log::Log,
    mesh::{
        MeshState,
        directory::Entry,
        link::{Hello, Links, Opened},
        message::{self, Message},
        message_handler::{MessageHandler, Node},
        stats::LossReport,
    },
};

/// The interval between hellos and between heartbeats.
const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(500);
/// A node that was silent for this long is lost.
const NODE_TIMEOUT: Duration = Duration::from_secs(3);
/// The shortest time between two log lines about another node with this node's number: anybody can replay the hello of
/// an earlier start.
const NUMBER_TAKEN_LOG_INTERVAL: Duration = Duration::from_secs(10);
/// How long NATS may take to accept a message. While it is stalled, further messages are dropped at once.
const PUBLISH_TIMEOUT: Duration = Duration::from_millis(100);

/// What other threads ask this one to send.
pub(crate) enum Order {
    /// Frames for a node.
    Frames(u32, Plaintext),
    /// A name was opened on this node.
    Opened(String, Entry),
    /// The session of a name on this node has ended.
    Closed(String, Address),
}

pub(crate) struct Task {
    nats: Client,
    inbox: Subscriber,
    hellos: Subscriber,
    name: String,
    links: Links,
    handler: MessageHandler,
    /// Whether NATS did not accept the last message in time.
    stalled: bool,
    /// When the last log line about another node with this node's number was written.
    taken: Option<Instant>,
    losses: LossReport,
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
        let handler = MessageHandler::new(relay, state, log);
        Ok(Task {
            nats,
            inbox,
            hellos,
            name,
            links,
            handler,
            stalled: false,
            taken: None,
            losses: LossReport::default(),
        })
    }

    /// Runs until no sender of orders is left.
    pub(crate) async fn run(mut self, mut orders: Receiver<Order>, waiting: Arc<AtomicUsize>) {
        let mut tick = tokio::time::interval(HEARTBEAT_INTERVAL);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                order = orders.recv() => match order {
                    Some(Order::Frames(node, batch)) => {
                        waiting.fetch_sub(batch.len(), Ordering::Relaxed);
                        let message = Zeroizing::new(message::frames(&batch));
                        let sent = self.send(node, &message).await;
                        let stats = &self.handler.state.stats;
                        let count = if sent { &stats.frames_sent } else { &stats.frames_undelivered };
                        count.fetch_add(Frames(&batch).count() as u64, Ordering::Relaxed);
                    }
                    Some(Order::Opened(name, entry)) => {
                        self.send_all(&message::opened(entry.address, entry.stamp, &name)).await;
                    }
                    Some(Order::Closed(name, address)) => self.send_all(&message::closed(address, &name)).await,
                    None => return,
                },
                Some(message) = self.inbox.next() => self.receive(Plaintext::new(message.payload.to_vec())).await,
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
        let heartbeat = message::heartbeat(self.handler.state.directory().digest(self.handler.me));
        self.send_all(&heartbeat).await;
        for node in 0..NodeLayout::NODES {
            let known = &mut self.handler.nodes[node as usize];
            if known.heard.is_some_and(|heard| heard.elapsed() > NODE_TIMEOUT) {
                *known = Node::default();
                self.handler.state.directory().lost(node);
                self.handler.log.say("node-lost", &[("node", node.into())]);
            }
        }
        let present = self.handler.nodes.iter().filter(|node| node.heard.is_some()).count();
        let stats = &self.handler.state.stats;
        stats.nodes.store(present as u64, Ordering::Relaxed);
        if let Some(lost) = self.losses.due(stats.lost.load(Ordering::Relaxed), Instant::now()) {
            self.handler.log.say("messages-lost", &[("messages", lost.into())]);
        }
    }

    async fn hear(&mut self, hello: &[u8]) {
        match self.links.hear(hello, Instant::now()) {
            Ok(Hello::Candidate(node)) => self.probe(Some(node)).await,
            Ok(Hello::NumberTaken) => {
                one(&self.handler.state.stats.refused);
                if self.taken.is_none_or(|last| last.elapsed() > NUMBER_TAKEN_LOG_INTERVAL) {
                    self.taken = Some(Instant::now());
                    self.handler.log.say("node-number-taken", &[("node", self.handler.me.into())]);
                }
            }
            // Both nodes may have lost each other: a message makes this node present to the other again
            Ok(Hello::Known(node)) if self.handler.nodes[node as usize].heard.is_none() => {
                if let Ok(message) = self.links.seal(node, &[]) {
                    self.publish(format!("node.{node}"), message).await;
                }
            }
            Ok(Hello::Own | Hello::Known(_)) => {}
            Err(_) => one(&self.handler.state.stats.refused),
        }
    }

    /// Sends probes, so that candidates can prove that they are live.
    async fn probe(&mut self, only: Option<u32>) {
        for (node, probe) in self.links.probes(only) {
            self.publish(format!("node.{node}"), probe).await;
        }
    }

    async fn send_all(&mut self, text: &[u8]) {
        for node in 0..NodeLayout::NODES {
            if self.handler.nodes[node as usize].heard.is_some() {
                self.send(node, text).await;
            }
        }
    }

    async fn send(&mut self, node: u32, text: &[u8]) -> bool {
        let sealed = self.handler.nodes[node as usize].heard.and_then(|_| self.links.seal(node, text).ok());
        let sent = match sealed {
            Some(message) => self.publish(format!("node.{node}"), message).await,
            None => false,
        };
        let stats = &self.handler.state.stats;
        one(if sent { &stats.sent } else { &stats.undelivered });
        sent
    }

    /// Passes a message to NATS, or drops it: a stalled server must not stall this thread.
    async fn publish(&mut self, subject: String, message: Vec<u8>) -> bool {
        let limit = if self.stalled { Duration::ZERO } else { PUBLISH_TIMEOUT };
        let published = self.nats.publish(format!("{}.{subject}", self.name), message.into());
        let published = tokio::time::timeout(limit, published).await;
        self.stalled = published.is_err();
        matches!(published, Ok(Ok(())))
    }

    async fn receive(&mut self, mut message: Plaintext) {
        let (node, is_new, text) = match self.links.open(&mut message, Instant::now()) {
            Ok(Opened::Present { node, is_new, text }) => (node, is_new, Plaintext::new(text.to_vec())),
            Ok(Opened::Candidate { node }) => {
                one(&self.handler.state.stats.received);
                return self.probe(Some(node)).await;
            }
            Err(_) => return one(&self.handler.state.stats.refused),
        };
        drop(message);
        one(&self.handler.state.stats.received);
        let returned = self.handler.nodes[node as usize].heard.replace(Instant::now()).is_none();
        if is_new {
            // The sessions of its former incarnation are gone
            self.handler.state.directory().lost(node);
        }
        if is_new || returned {
            self.handler.log.say("node-met", &[("node", node.into())]);
            let heartbeat = message::heartbeat(self.handler.state.directory().digest(self.handler.me));
            self.send(node, &heartbeat).await;
        }
        match message::read(&text) {
            Some(message) => self.handle(node, message).await,
            // A probe, sent while we were a candidate of that node
            None if text.is_empty() => {}
            None => one(&self.handler.state.stats.refused),
        }
    }

    async fn handle(&mut self, node: u32, message: Message<'_>) {
        for answer in self.handler.handle(node, message) {
            self.send(node, &answer).await;
        }
    }
}
