//! Frames for sessions of other nodes, on their way out.

use sealwright_session::frame::{address, payload};

use crate::{
    data::{count::Count, worker::Worker},
    fleet,
    layout::NodeLayout,
};

impl Worker {
    /// Sets an opened frame aside for the node of its destination, if there are other nodes.
    pub(super) fn send_abroad(&mut self, to: u32, from: u32, frame: &[u8]) -> bool {
        if self.shared.fleet.get().is_none() {
            return false;
        }
        let node = NodeLayout::of(to, 1).node();
        let Some((_, data)) = address(payload(frame)) else { return false };
        if node == self.shared.layout.node() {
            return false;
        }
        let letter = &mut self.abroad[node as usize];
        if !letter.is_empty() && fleet::is_full(letter, data.len()) {
            self.post_to(node);
        }
        let letter = &mut self.abroad[node as usize];
        if letter.is_empty() {
            *letter = fleet::frames();
        }
        if fleet::is_full(letter, data.len()) {
            return false;
        }
        fleet::push(letter, to, from, data);
        self.counts.one(Count::Abroad);
        true
    }

    /// Sends what was set aside.
    pub(super) fn post_abroad(&mut self) {
        if self.shared.fleet.get().is_some() {
            (0..NodeLayout::NODES).for_each(|node| self.post_to(node));
        }
    }

    fn post_to(&mut self, node: u32) {
        let letter = std::mem::take(&mut self.abroad[node as usize]);
        if letter.is_empty() {
            return;
        }
        if self.shared.fleet.get().is_some_and(|fleet| !fleet.post(node, letter)) {
            self.counts.one(Count::Slow);
        }
    }
}
