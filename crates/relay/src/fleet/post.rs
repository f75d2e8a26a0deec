//! The thread of the fleet: what comes over NATS, and what goes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use async_nats::{Client, Subscriber};
use futures_util::StreamExt;
use tokio::sync::mpsc::UnboundedReceiver;
use zeroize::Zeroize;

use crate::{
    data::Relay,
    fleet::{
        Known, Order,
        directory::Entry,
        letter::{self, Letter},
        link::{Life, Links},
    },
    layout::NodeLayout,
    serve::log::Log,
};

/// How often a node says that it lives.
const HELLO: Duration = Duration::from_millis(500);
/// A node that said nothing for so long is lost.
const SILENCE: Duration = Duration::from_secs(3);

pub(crate) struct Post {
    nats: Client,
    inbox: Subscriber,
    hellos: Subscriber,
    name: String,
    me: u32,
    links: Links,
    /// When each node was last heard.
    heard: Vec<Option<Instant>>,
    relay: Arc<Relay>,
    known: Arc<Known>,
    log: Arc<Log>,
}

impl Post {
    pub(crate) async fn open(
        nats: Client,
        name: String,
        links: Links,
        relay: Arc<Relay>,
        known: Arc<Known>,
        log: Arc<Log>,
    ) -> Result<Post, async_nats::SubscribeError> {
        let me = relay.layout().node();
        let inbox = nats.subscribe(format!("{name}.node.{me}")).await?;
        let hellos = nats.subscribe(format!("{name}.hello")).await?;
        let heard = vec![None; NodeLayout::NODES as usize];
        Ok(Post { nats, inbox, hellos, name, me, links, heard, relay, known, log })
    }

    /// Carries until the other end of the orders is gone.
    pub(crate) async fn carry(mut self, mut orders: UnboundedReceiver<Order>, waiting: Arc<AtomicUsize>) {
        let mut tick = tokio::time::interval(HELLO);
        loop {
            tokio::select! {
                order = orders.recv() => match order {
                    Some(Order::Frames(node, letter)) => {
                        waiting.fetch_sub(letter.len(), Ordering::Relaxed);
                        self.send(node, &letter).await;
                    }
                    Some(Order::Opened(name, Entry { session, at, .. })) => {
                        self.send_all(&letter::opened(session, at, &name)).await;
                    }
                    Some(Order::Closed(name)) => self.send_all(&letter::closed(&name)).await,
                    None => return,
                },
                Some(message) = self.inbox.next() => self.receive(message.payload.to_vec()),
                Some(message) = self.hellos.next() => self.meet(&message.payload).await,
                _ = tick.tick() => self.tick().await,
            }
        }
    }

    async fn tick(&mut self) {
        let mut hello = vec![self.me as u8];
        hello.extend_from_slice(&self.links.life());
        // What NATS does not take now, it hears with the next
        let _ = self.nats.publish(format!("{}.hello", self.name), hello.into()).await;
        for node in 0..NodeLayout::NODES {
            if self.heard[node as usize].is_some_and(|heard| heard.elapsed() > SILENCE) {
                self.heard[node as usize] = None;
                self.known.directory().lost(node);
                self.log.say("node-lost", &[("node", node.into())]);
            }
        }
        let nodes = self.heard.iter().flatten().count();
        self.known.traffic.nodes.store(nodes as u64, Ordering::Relaxed);
    }

    async fn meet(&mut self, hello: &[u8]) {
        let Some((&node, life)) = hello.split_first() else { return };
        let (node, Ok(life)) = (u32::from(node), Life::try_from(life)) else { return };
        if node >= NodeLayout::NODES {
            return;
        }
        if node == self.me {
            if life != self.links.life() {
                self.log.say("node-number-taken", &[("node", node.into())]);
            }
            return;
        }
        let Ok(is_new) = self.links.meet(node, life) else { return };
        let returned = self.heard[node as usize].replace(Instant::now()).is_none();
        if is_new {
            // Whatever was there in its former life is gone
            self.known.directory().lost(node);
        }
        if is_new || returned {
            self.log.say("node-met", &[("node", node.into())]);
            let mine: Vec<Vec<u8>> = {
                let directory = self.known.directory();
                directory.at(self.me).map(|(name, entry)| letter::opened(entry.session, entry.at, name)).collect()
            };
            for letter in mine {
                self.send(node, &letter).await;
            }
        }
    }

    async fn send_all(&mut self, letter: &[u8]) {
        for node in 0..NodeLayout::NODES {
            if self.heard[node as usize].is_some() {
                self.send(node, letter).await;
            }
        }
    }

    async fn send(&mut self, node: u32, letter: &[u8]) {
        let traffic = &self.known.traffic;
        if self.heard[node as usize].is_none() {
            traffic.undelivered.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let Ok(message) = self.links.seal(node, letter) else {
            traffic.undelivered.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let sent = self.nats.publish(format!("{}.node.{node}", self.name), message.into()).await;
        let count = if sent.is_ok() { &traffic.sent } else { &traffic.undelivered };
        count.fetch_add(1, Ordering::Relaxed);
    }

    fn receive(&mut self, mut message: Vec<u8>) {
        let traffic = &self.known.traffic;
        let opened = self.links.open(&mut message);
        let Ok((node, Some(letter))) = opened.map(|(node, text)| (node, letter::read(text))) else {
            traffic.refused.fetch_add(1, Ordering::Relaxed);
            return;
        };
        traffic.received.fetch_add(1, Ordering::Relaxed);
        match letter {
            // A node speaks for its own sessions alone
            Letter::Frames(frames) => {
                self.relay.deliver(frames.filter(|&(_, from, _)| NodeLayout::of(from, 1).node() == node));
            }
            Letter::Opened { session, at, name } if NodeLayout::of(session, 1).node() == node => {
                let former = self.known.directory().opened(name, Entry { session, node, at });
                if let Some(former) = former.filter(|former| former.node == self.me) {
                    self.relay.dismiss(former.session);
                    self.log.say("moved", &[("name", name.into()), ("session", session.into())]);
                }
            }
            Letter::Opened { .. } => {}
            Letter::Closed { name } => self.known.directory().closed(name, node),
        }
        message.zeroize();
    }
}
