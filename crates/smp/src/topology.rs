//! Topologies: a shared bus, or links between neighbours and the routes of messages over them.

use serde::{Deserialize, Serialize};

/// What connects the nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TopologyKind {
    /// A bus: every node sees every command.
    #[default]
    Bus,
    /// Links to two neighbours; a message takes the shorter way round.
    Ring,
    /// Links to up to four neighbours; a message goes along its row first, then along the column.
    Mesh,
}

impl TopologyKind {
    /// Every kind.
    pub const ALL: [TopologyKind; 3] = [TopologyKind::Bus, TopologyKind::Ring, TopologyKind::Mesh];

    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            TopologyKind::Bus => "bus",
            TopologyKind::Ring => "ring",
            TopologyKind::Mesh => "mesh",
        }
    }

    /// Links that leave a node.
    fn ports(self) -> usize {
        match self {
            TopologyKind::Bus => 0,
            TopologyKind::Ring => 2,
            TopologyKind::Mesh => 4,
        }
    }
}

/// The nodes of a ring or mesh and their links. Links are unidirectional; a link's number is the node that it leaves
/// times the ports of a node, plus a direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Topology {
    kind: TopologyKind,
    nodes: usize,
    columns: usize,
}

impl Topology {
    /// `nodes` nodes, in a mesh `columns` to a row; with 0 columns a mesh as square as it can be.
    pub(crate) fn new(kind: TopologyKind, nodes: usize, columns: usize) -> Topology {
        let square = || (1..=nodes).find(|columns| columns * columns >= nodes && nodes.is_multiple_of(*columns));
        let columns = if columns == 0 { square().unwrap_or(nodes) } else { columns };
        Topology { kind, nodes, columns }
    }

    /// The link from `at` towards another node `to`, and the node that it leads to.
    pub(crate) fn hop(&self, at: usize, to: usize) -> (usize, usize) {
        let direction = match self.kind {
            TopologyKind::Mesh => {
                let (x, wanted) = (at % self.columns, to % self.columns);
                match (x < wanted, x > wanted, at < to) {
                    (true, ..) => 0,
                    (_, true, _) => 1,
                    (.., true) => 2,
                    _ => 3,
                }
            }
            _ => usize::from(2 * ((to + self.nodes - at) % self.nodes) > self.nodes),
        };
        let link = at * self.ports() + direction;
        (link, self.end(link))
    }

    /// The node that a link leads to.
    pub(crate) fn end(&self, link: usize) -> usize {
        let (at, direction) = (link / self.ports(), link % self.ports());
        match (self.kind, direction) {
            (TopologyKind::Mesh, 0) => at + 1,
            (TopologyKind::Mesh, 1) => at - 1,
            (TopologyKind::Mesh, 2) => at + self.columns,
            (TopologyKind::Mesh, _) => at - self.columns,
            (_, 0) => (at + 1) % self.nodes,
            _ => (at + self.nodes - 1) % self.nodes,
        }
    }

    /// Links that leave a node, at most.
    pub(crate) fn ports(&self) -> usize {
        self.kind.ports()
    }

    /// Size of the range of link numbers.
    pub(crate) fn numbers(&self) -> usize {
        self.nodes * self.ports()
    }

    /// Links that some message may take. At the edge of a mesh not every direction has one.
    pub(crate) fn links(&self) -> usize {
        let rows = self.nodes / self.columns;
        match self.kind {
            TopologyKind::Mesh => 2 * (rows * (self.columns - 1) + self.columns * (rows - 1)),
            // With two nodes, both directions lead to the same neighbour
            _ if self.nodes == 2 => 2,
            _ => self.numbers(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The nodes of a route, without its first.
    fn route(topology: Topology, from: usize, to: usize) -> Vec<usize> {
        let mut nodes = Vec::new();
        let mut at = from;
        while at != to {
            at = topology.hop(at, to).1;
            nodes.push(at);
        }
        nodes
    }

    #[test]
    fn every_route_is_a_shortest_one_and_every_link_is_used() {
        for (kind, nodes, columns) in [
            (TopologyKind::Ring, 2, 0),
            (TopologyKind::Ring, 5, 0),
            (TopologyKind::Ring, 64, 0),
            (TopologyKind::Mesh, 2, 0),
            (TopologyKind::Mesh, 64, 0),
        ]
        .into_iter()
        .chain([
            (TopologyKind::Mesh, 8, 2),
            (TopologyKind::Mesh, 7, 0),
            (TopologyKind::Mesh, 12, 0),
            (TopologyKind::Mesh, 6, 1),
        ]) {
            let topology = Topology::new(kind, nodes, columns);
            let mut used = BTreeSet::new();
            for (from, to) in (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to))) {
                let apart = |a: usize, b: usize| a.abs_diff(b);
                let least = match kind {
                    TopologyKind::Mesh => {
                        let columns = topology.columns;
                        apart(from % columns, to % columns) + apart(from / columns, to / columns)
                    }
                    _ => apart(from, to).min(nodes - apart(from, to)),
                };
                assert_eq!(route(topology, from, to).len(), least, "{topology:?} from {from} to {to}");
                if from != to {
                    used.insert(topology.hop(from, to).0);
                }
            }
            assert_eq!(used.len(), topology.links(), "{topology:?}");
            assert!(used.iter().all(|link| *link < topology.numbers()));
        }
    }

    #[test]
    fn a_mesh_is_as_square_as_it_can_be_and_rows_come_first() {
        let columns = |nodes| Topology::new(TopologyKind::Mesh, nodes, 0).columns;
        assert_eq!([2, 4, 8, 12, 16, 32, 64].map(columns), [2, 2, 4, 4, 4, 8, 8]);
        assert_eq!(route(Topology::new(TopologyKind::Mesh, 16, 0), 1, 14), [2, 6, 10, 14]);
        assert_eq!(route(Topology::new(TopologyKind::Ring, 8, 0), 1, 6), [0, 7, 6]);
    }
}
