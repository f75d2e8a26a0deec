//! The location of a session (node, shard and slot), which its number determines.

/// How many bits of a session's number name its node.
const NODE_BITS: u32 = 4;
const INDEX_BITS: u32 = u32::BITS - NODE_BITS;

/// How session numbers map to nodes, shards and slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeLayout {
    node: u32,
    shards: u32,
}

impl NodeLayout {
    /// The most nodes.
    pub const NODES: u32 = 1 << NODE_BITS;
    /// The most sessions of a node.
    pub const SESSIONS: u32 = 1 << INDEX_BITS;

    /// The layout of node `node`, whose sessions are divided among `shards` workers.
    ///
    /// # Panics
    /// If there is no such node, or `shards` is 0.
    pub fn new(node: u32, shards: u32) -> NodeLayout {
        assert!(node < NodeLayout::NODES && shards > 0, "a node below {} and at least one shard", NodeLayout::NODES);
        NodeLayout { node, shards }
    }

    /// The layout, with `shards` workers, of the node that this session belongs to.
    ///
    /// # Panics
    /// If `shards` is 0.
    pub fn of(session: u32, shards: u32) -> NodeLayout {
        NodeLayout::new(session >> INDEX_BITS, shards)
    }

    /// The number of this node.
    pub fn node(&self) -> u32 {
        self.node
    }

    /// The number of the `index`th session.
    pub fn session(&self, index: u32) -> u32 {
        self.node << INDEX_BITS | index
    }

    /// The index of a session, if it belongs to this node.
    pub fn index(&self, session: u32) -> Option<u32> {
        (session >> INDEX_BITS == self.node).then_some(session & (NodeLayout::SESSIONS - 1))
    }

    /// The shard and the slot there of a session of this node.
    pub fn locate(&self, session: u32) -> Option<(usize, u32)> {
        self.index(session).map(|index| ((index % self.shards) as usize, index / self.shards))
    }

    /// How many workers share the sessions.
    pub fn shards(&self) -> u32 {
        self.shards
    }

    /// How many of `sessions` sessions are in shard `shard`.
    pub fn slots(&self, sessions: u32, shard: u32) -> u32 {
        sessions / self.shards + u32::from(sessions % self.shards > shard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_session_has_a_slot_of_its_own() {
        for shards in [1, 2, 3, 8] {
            let layout = NodeLayout::new(9, shards);
            let mut taken = vec![Vec::new(); shards as usize];
            for index in 0..100 {
                let session = layout.session(index);
                assert_eq!(layout.index(session), Some(index));
                let (shard, slot) = layout.locate(session).expect("the session is of this node");
                taken[shard].push(slot);
            }
            for (shard, slots) in taken.iter().enumerate() {
                let expected: Vec<u32> = (0..layout.slots(100, shard as u32)).collect();
                assert_eq!(*slots, expected);
            }
        }
    }

    /// The highest four bits of a number name the node; the rest is an index.
    #[test]
    fn a_number_says_where_its_session_lives() {
        for (session, node) in [(0, 0), (0x0fff_ffff, 0), (0x1000_0000, 1), (0x9000_0007, 9), (u32::MAX, 15)] {
            let layout = NodeLayout::of(session, 5);
            assert_eq!((layout.node(), layout.shards(), layout), (node, 5, NodeLayout::new(node, 5)));
            assert_eq!(layout.index(session), Some(session & 0x0fff_ffff));
            assert_eq!(layout.session(session & 0x0fff_ffff), session);
        }
    }

    #[test]
    fn sessions_of_other_nodes_are_not_here() {
        assert_eq!(NodeLayout::new(1, 2).locate(NodeLayout::new(2, 2).session(7)), None);
    }
}
