//! Fuzz target: a node. Whatever other nodes tell it, its directory stays consistent, and no node can speak for the
//! sessions of another.

use std::{
    collections::HashMap,
    io::sink,
    sync::{Arc, OnceLock},
};

use sealwright_session::{Plan, table};

use super::{
    MeshState,
    directory::LAST_STAMP,
    message::{self, FIRST, LAST, Message},
    message_handler::MessageHandler,
    node_of,
};
use crate::{
    address::Address,
    data::{Relay, Settings},
    layout::NodeLayout,
    log::Log,
};

/// Steps of an input.
const STEPS: usize = 200;

/// The message handler of a node without a network.
pub(super) fn handler() -> MessageHandler {
    static RELAY: OnceLock<(Arc<Relay>, Arc<Log>)> = OnceLock::new();
    let (relay, log) = RELAY.get_or_init(|| {
        let sessions = table(Plan::new("gcm-on64".parse().expect("a scheme"), 4)).expect("there is memory");
        let local = "127.0.0.1:0".parse().expect("an address");
        let relay = Relay::start(local, 0, Settings::default(), vec![sessions]).expect("the system allows a relay");
        (Arc::new(relay), Arc::new(Log::to(sink())))
    });
    MessageHandler::new(relay.clone(), Arc::<MeshState>::default(), log.clone())
}

/// The address of each known name.
fn known(handler: &MessageHandler) -> HashMap<String, Address> {
    let directory = handler.state.directory();
    directory.check();
    let all = (0..NodeLayout::NODES).flat_map(|node| directory.at(node));
    all.map(|(name, entry)| (name.to_owned(), entry.address)).collect()
}

/// One of a few names, so that inputs use the same ones.
fn name(byte: u8) -> String {
    char::from(b'a' + byte % 5).to_string()
}

/// An event on this node: a name is opened or closed, or another node is lost.
fn here(handler: &MessageHandler, what: &[u8; 3]) {
    let [kind, which, index] = *what;
    let address = Address { session: NodeLayout::new(handler.me, 1).session(u32::from(index % 4)), generation: 1 };
    let mut directory = handler.state.directory();
    match kind % 3 {
        0 => {
            directory.opened_here(&name(which), (address, 1), u64::from(index) * 100);
        }
        1 => directory.closed(&name(which), address),
        _ => directory.lost(u32::from(which) % NodeLayout::NODES),
    }
}

/// A valid message made from few bytes, so that names and sessions collide, those of a third node included.
fn written(bytes: &[u8; 6]) -> Vec<u8> {
    let [kind, which, index, owner, high, low] = *bytes;
    let owner = u32::from(owner) % NodeLayout::NODES;
    let address = Address { session: NodeLayout::new(owner, 1).session(u32::from(index % 4)), generation: 1 };
    let stamp = match high & 3 {
        0 => u64::from(low),
        1 => u64::from(low) * 100,
        2 => u64::MAX - u64::from(low),
        _ => LAST_STAMP + 4 - u64::from(low),
    };
    match kind % 3 {
        0 => message::opened(address, stamp, &name(which)),
        1 => message::closed(address, &name(which)),
        _ => {
            let entry = [&address.to_bytes()[..], &stamp.to_be_bytes(), &[1], name(which).as_bytes()].concat();
            [&[6, low & (FIRST | LAST)][..], &entry].concat()
        }
    }
}

/// Steps: a node, a length, and that many bytes, which are the node's message, or describe one, or describe an event on
/// this node.
pub(crate) fn node(mut bytes: &[u8]) {
    let mut handler = handler();
    for _ in 0..STEPS {
        let Some((&[who, len], rest)) = bytes.split_first_chunk() else { return };
        let (said, rest) = rest.split_at(rest.len().min(len.into()));
        bytes = rest;
        let (before, node) = (known(&handler), u32::from(who) % NodeLayout::NODES);
        if node == handler.me {
            said.first_chunk().into_iter().for_each(|what| here(&handler, what));
            known(&handler);
            continue;
        }
        let text = match said.first_chunk() {
            Some(said) if who & 16 != 0 => written(said),
            _ => said.to_vec(),
        };
        let Some(message) = message::read(&text) else { continue };
        for answer in handler.handle(node, message) {
            assert!(matches!(message::read(&answer), Some(Message::Request | Message::Names { .. })));
        }
        let after = known(&handler);
        for (name, address) in &after {
            assert!(before.get(name) == Some(address) || node_of(*address) == node, "{node} speaks for {address:?}");
        }
        for (name, address) in before.iter().filter(|(_, address)| node_of(**address) != node) {
            assert!(after.contains_key(name), "{node} takes away {address:?}");
        }
    }
}
