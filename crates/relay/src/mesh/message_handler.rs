//! What a node does with the opened messages of other nodes.

use std::{
    collections::HashSet,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use crate::{
    address::Address,
    data::Relay,
    layout::NodeLayout,
    log::Log,
    mesh::{
        MeshState,
        directory::Entry,
        message::{self, FIRST, LAST, Message},
        node_of,
    },
};

/// The shortest time between two requests for all names of a node.
const NAMES_REQUEST_INTERVAL: Duration = Duration::from_secs(1);

/// The state of another node.
#[derive(Debug, Default)]
pub(crate) struct Node {
    /// When it was last heard from; `None` while it is not present.
    pub(crate) heard: Option<Instant>,
    /// When it was last asked for its names.
    requested: Option<Instant>,
    /// The names received so far of an incomplete list.
    names: Option<HashSet<String>>,
}

/// Acts on the messages of other nodes.
pub(crate) struct MessageHandler {
    pub(crate) me: u32,
    pub(crate) nodes: Vec<Node>,
    relay: Arc<Relay>,
    pub(crate) state: Arc<MeshState>,
    pub(crate) log: Arc<Log>,
}

impl MessageHandler {
    pub(crate) fn new(relay: Arc<Relay>, state: Arc<MeshState>, log: Arc<Log>) -> MessageHandler {
        let nodes = (0..NodeLayout::NODES).map(|_| Node::default()).collect();
        MessageHandler { me: relay.layout().node(), nodes, relay, state, log }
    }

    /// Handles a message of another node. Returns the answers.
    pub(crate) fn handle(&mut self, node: u32, message: Message<'_>) -> Vec<Vec<u8>> {
        match message {
            // A node can only speak for its own sessions
            Message::Frames(frames) => {
                let mut class = self.state.classes();
                let all = frames.count() as u64;
                let own = frames.filter(|&(_, from, _)| node_of(from) == node);
                let taken = self.relay.deliver(own.map(|(to, from, data)| (to, (from, class(from)), data)));
                self.state.stats.frames_received.fetch_add(all, Ordering::Relaxed);
                self.state.stats.frames_refused.fetch_add(all - taken, Ordering::Relaxed);
            }
            Message::Opened { address, stamp, name } => self.opened(node, address, stamp, name),
            Message::Closed { address, name } if node_of(address) == node => {
                self.state.directory().closed(name, address);
            }
            Message::Closed { .. } => {}
            Message::Heartbeat(digest) => {
                let known = &mut self.nodes[node as usize];
                let asked = known.requested.is_some_and(|requested| requested.elapsed() < NAMES_REQUEST_INTERVAL);
                if self.state.directory().digest(node) != digest && !asked {
                    known.requested = Some(Instant::now());
                    return vec![message::request()];
                }
            }
            Message::Request => {
                let directory = self.state.directory();
                return message::names(directory.at(self.me).map(|(name, entry)| (entry.address, entry.stamp, name)));
            }
            Message::Names { part, names } => self.names(node, part, &names),
        }
        Vec::new()
    }

    /// A name was opened on another node. If that opening counts, the session of the name on this node ends.
    fn opened(&mut self, node: u32, address: Address, stamp: u64, name: &str) {
        if node_of(address) != node {
            return;
        }
        let former = self.state.directory().opened(name, Entry { address, epoch: None, stamp });
        if let Some(former) = former.filter(|former| former.node() == self.me) {
            // The client may be opening it here again, under the same number: end only the session with the superseded
            // keys
            match former.epoch {
                Some(epoch) => self.relay.remove_keys(former.address, epoch),
                None => self.relay.remove(former.address),
            }
            self.state.moved().insert(name.to_owned(), former.address);
            self.log.say("moved", &[("name", name.into()), ("session", address.session.into())]);
        }
    }

    /// A part of a node's list of names. After the last part, names that are not in the list are removed.
    fn names(&mut self, node: u32, part: u8, names: &[(Address, u64, &str)]) {
        if part & FIRST != 0 {
            self.nodes[node as usize].names = Some(HashSet::new());
        }
        for &(address, stamp, name) in names {
            self.opened(node, address, stamp, name);
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwright_session::{Material, Plan, table};

    use super::*;
    use crate::{
        data::{INBOX_BYTES, Settings},
        mesh::{fuzz::handler, unix_millis},
    };

    fn address(node: u32, index: u32) -> Address {
        Address { session: NodeLayout::new(node, 1).session(index), generation: 1 }
    }

    /// The handler of a node with a relay of its own.
    fn at(node: u32) -> MessageHandler {
        let sessions = table(Plan::new("gcm-on64".parse().unwrap(), 4)).unwrap();
        let local = "127.0.0.1:0".parse().unwrap();
        let relay = Relay::start(local, node, Settings::default(), vec![sessions]).unwrap();
        MessageHandler::new(Arc::new(relay), Arc::default(), Arc::new(Log::to(std::io::sink())))
    }

    #[test]
    fn frames_of_another_node_that_no_frame_can_hold_are_refused() {
        for len in [0, 1000, 65_495, 65_496, 65_499, 65_500, 65_535_usize] {
            let mut handler = handler();
            let (to, from) = (address(0, 1).to_bytes(), address(3, 1).to_bytes());
            let batch = [&to[..], &from, &(len as u16).to_be_bytes(), &vec![7; len]].concat();
            handler.handle(3, message::read(&message::frames(&batch)).unwrap());
            let refused = handler.state.stats.frames_refused.load(Ordering::Relaxed);
            assert_eq!(refused, u64::from(len > 65_495), "{len}");
        }
    }

    #[test]
    fn a_node_sends_frames_of_its_own_sessions_alone() {
        for (node, refused) in [(3, 0), (5, 1)] {
            let mut handler = handler();
            let batch = [&address(0, 1).to_bytes()[..], &address(3, 1).to_bytes(), &[0, 4], b"data"].concat();
            handler.handle(node, message::read(&message::frames(&batch)).unwrap());
            assert_eq!(handler.state.stats.frames_refused.load(Ordering::Relaxed), refused, "node {node}");
        }
    }

    /// Whatever other nodes send, a bounded amount waits for a busy worker.
    #[test]
    fn frames_for_a_worker_that_is_too_busy_are_refused() {
        const MANY: u64 = 200;
        let mut handler = at(0);
        let busy = handler.relay.occupy_worker();
        let (to, from, data) = (address(0, 1).to_bytes(), address(3, 1).to_bytes(), vec![7; 60_000]);
        let batch = [&to[..], &from, &(data.len() as u16).to_be_bytes(), &data].concat();
        let message = message::frames(&batch);
        (0..MANY).for_each(|_| drop(handler.handle(3, message::read(&message).unwrap())));
        drop(busy);
        let stats = &handler.state.stats;
        let [received, refused] =
            [&stats.frames_received, &stats.frames_refused].map(|count| count.load(Ordering::Relaxed));
        // Up to the limit, plus what was sent before it was reached
        let taken = INBOX_BYTES as u64 / 60_000 + 1;
        assert!(received == MANY && (MANY - taken..MANY).contains(&refused), "{refused} of {received}");
    }

    #[test]
    fn a_node_says_of_its_own_sessions_alone_that_they_are_gone() {
        let mut handler = handler();
        handler.handle(5, Message::Opened { address: address(5, 1), stamp: 2000, name: "alice" });
        handler.handle(3, Message::Closed { address: address(5, 1), name: "alice" });
        assert_eq!(handler.state.directory().find("alice"), Some(address(5, 1)));
        handler.handle(5, Message::Closed { address: address(5, 1), name: "alice" });
        assert_eq!(handler.state.directory().find("alice"), None);
    }

    /// A client returns while the news of its opening elsewhere is in transit: its new keys stay valid.
    #[test]
    fn a_name_that_moves_takes_no_keys_along_that_it_got_anew() {
        for (comes_back, live) in [(false, 0), (true, 1)] {
            let mut handler = at(0);
            let admit = |handler: &MessageHandler| {
                handler.relay.admit(address(0, 1), Material::random().unwrap()).unwrap().epoch()
            };
            let opened = (address(0, 1), admit(&handler));
            handler.state.directory().opened_here("alice", opened, 1000);
            if comes_back {
                admit(&handler);
            }
            handler.handle(5, Message::Opened { address: address(5, 1), stamp: 2000, name: "alice" });
            assert_eq!(handler.state.directory().find("alice"), Some(address(5, 1)));
            assert!(handler.relay.responds(Duration::from_secs(60)));
            assert_eq!(handler.relay.live(), live);
        }
    }

    /// A client opens its name at a second node that has not heard of the first opening yet; the news of both arrive
    /// late.
    #[test]
    fn of_two_openings_one_counts_however_late_the_news_are() {
        for (first, second) in [(2, 1), (1, 2)] {
            let nodes = [first, second].map(at);
            let mut news = nodes.each_ref().map(|node| {
                let here = address(node.me, 1);
                let epoch = node.relay.admit(here, Material::random().unwrap()).unwrap().epoch();
                let entry = node.state.directory().opened_here("alice", (here, epoch), unix_millis());
                let news = message::opened(entry.address, entry.stamp, "alice");
                std::thread::sleep(Duration::from_millis(250));
                (node.me, news)
            });
            std::thread::sleep(Duration::from_millis(200));
            news.reverse();
            for (mut node, (from, news)) in nodes.into_iter().zip(news) {
                node.handle(from, message::read(&news).unwrap());
                assert!(node.relay.responds(Duration::from_secs(60)));
                // The client is where it opened its name last.
                assert_eq!(node.relay.live(), u32::from(node.me == second), "{first} then {second}: {}", node.me);
                assert_eq!(node.state.directory().find("alice"), Some(address(second, 1)));
            }
        }
    }

    #[test]
    fn a_session_has_the_name_that_was_opened_last() {
        let mut handler = handler();
        for name in ["alice", "bob"] {
            handler.handle(5, Message::Opened { address: address(5, 1), stamp: 2000, name });
        }
        handler.state.directory().check();
        assert_eq!(handler.state.directory().name_at(address(5, 1)), Some("bob"));
        assert_eq!(handler.state.directory().find("alice"), None);
    }
}
