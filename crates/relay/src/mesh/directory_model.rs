//! Model check: nodes agree on one name. Explores exhaustively up to three openings on three nodes, at the same time and
//! apart, by clocks that agree or do not, with messages delayed or lost. Every step runs through [`Directory`]; the
//! model only tracks what each node knows.

use std::collections::{BTreeSet, HashSet, VecDeque};

use super::*;

const NODES: usize = 3;

/// An opening: its number, its node and its stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Opening {
    number: usize,
    node: u32,
    stamp: u64,
}

#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct World {
    /// How many openings have happened.
    opened: usize,
    /// The opening that each node knows.
    known: [Option<Opening>; NODES],
    /// The opening whose session each node keeps.
    live: [Option<usize>; NODES],
    /// Messages in transit between each pair of nodes, in order: openings.
    queues: [[VecDeque<Opening>; NODES]; NODES],
    /// Openings that were known when a later one happened.
    outdated: BTreeSet<usize>,
}

struct Scenario {
    /// Node of each opening, and the time by its clock.
    openings: Vec<(u32, u64)>,
}

impl Scenario {
    fn entry(&self, opening: Opening) -> Entry {
        let session = NodeLayout::new(opening.node, 1).session(7);
        Entry { address: Address { session, generation: opening.number as u32 }, epoch: None, stamp: opening.stamp }
    }

    fn opening(&self, entry: Entry) -> Opening {
        Opening { number: entry.address.generation as usize, node: entry.node(), stamp: entry.stamp }
    }

    /// The directory of a node in this state.
    fn directory(&self, world: &World, node: usize) -> Directory {
        let mut directory = Directory::default();
        if let Some(known) = world.known[node] {
            directory.opened("alice", self.entry(known));
        }
        directory
    }

    fn note(&self, world: &mut World, node: usize, directory: &Directory) {
        world.known[node] = directory.entries.get("alice").map(|&entry| self.opening(entry));
    }

    /// The next opening happens; its node notifies the others.
    fn open(&self, world: &mut World) {
        let number = world.opened;
        let (node, at) = self.openings[number];
        let mut directory = self.directory(world, node as usize);
        world.outdated.extend(world.known[node as usize].map(|known| known.number));
        let address = self.entry(Opening { number, node, stamp: at }).address;
        let entry = directory.opened_here("alice", (address, 1), at);
        self.note(world, node as usize, &directory);
        world.live[node as usize] = Some(number);
        for other in (0..NODES).filter(|&other| other != node as usize) {
            world.queues[node as usize][other].push_back(self.opening(entry));
        }
        world.opened += 1;
    }

    /// A node receives news of an opening on another one, and ends its own session if that one counts.
    fn hear(&self, world: &mut World, node: usize, opening: Opening) {
        let mut directory = self.directory(world, node);
        let former = directory.opened("alice", self.entry(opening));
        if let Some(former) = former.filter(|former| former.node() == node as u32) {
            let number = self.opening(former).number;
            world.live[node] = world.live[node].filter(|&live| live != number);
        }
        self.note(world, node, &directory);
    }

    /// Node `to` compares digests with `from`; if they differ, it gets the list of names.
    fn reconcile(&self, world: &mut World, from: usize, to: usize) {
        let (theirs, ours) = (self.directory(world, from), self.directory(world, to));
        if theirs.digest(from as u32) == ours.digest(from as u32) {
            return;
        }
        let names: Vec<Entry> = theirs.at(from as u32).map(|(_, entry)| entry).collect();
        for &entry in &names {
            self.hear(world, to, self.opening(entry));
        }
        let mut directory = self.directory(world, to);
        directory.keep(from as u32, &names.iter().map(|_| "alice".to_owned()).collect());
        self.note(world, to, &directory);
    }

    fn steps(&self, world: &World) -> Vec<World> {
        let mut next = Vec::new();
        if world.opened < self.openings.len() {
            let mut after = world.clone();
            self.open(&mut after);
            next.push(after);
        }
        for (from, to) in pairs() {
            if let Some(&opening) = world.queues[from][to].front() {
                let mut lost = world.clone();
                lost.queues[from][to].pop_front();
                let mut delivered = lost.clone();
                self.hear(&mut delivered, to, opening);
                next.extend([lost, delivered]);
            }
        }
        next
    }

    /// Explores the scenario. Each state without messages in transit is judged after the nodes have reconciled.
    fn explore(&self) -> usize {
        let mut known = HashSet::from([World::default()]);
        let mut open = VecDeque::from([World::default()]);
        while let Some(world) = open.pop_front() {
            let next = self.steps(&world);
            if next.is_empty() {
                let mut world = world;
                for _ in 0..3 {
                    pairs().for_each(|(from, to)| self.reconcile(&mut world, from, to));
                }
                self.judge(&world);
            }
            for world in next {
                if known.insert(world.clone()) {
                    open.push_back(world);
                }
            }
        }
        known.len()
    }

    fn judge(&self, world: &World) {
        let what = &self.openings;
        assert!(
            world.known.iter().all(|known| *known == world.known[0]),
            "{what:?}: nodes disagree: {:?}",
            world.known
        );
        let live: Vec<usize> = world.live.iter().flatten().copied().collect();
        let wanted: Vec<usize> = world.known[0].map(|known| known.number).into_iter().collect();
        assert_eq!(live, wanted, "{what:?}: the sessions that live, and the one that is found");
        for number in &live {
            assert!(
                !world.outdated.contains(number),
                "{what:?}: opening {number} counts, though a later one knew of it"
            );
        }
        assert!(!live.is_empty(), "{what:?}: no session is left");
    }
}

fn pairs() -> impl Iterator<Item = (usize, usize)> {
    (0..NODES).flat_map(|from| (0..NODES).map(move |to| (from, to))).filter(|(from, to)| from != to)
}

#[test]
fn nodes_agree_on_a_name_whatever_is_late_or_lost() {
    let (mut scenarios, mut states) = (BTreeSet::new(), 0);
    for code in 0..27_u32 {
        let nodes = [code % 3, code / 3 % 3, code / 9];
        // The second and third opening are at the same millisecond, later, or earlier by a clock that is behind
        for (second, third) in [3, 4, 2].into_iter().flat_map(|second| [3, 5, 1].map(|third| (second, third))) {
            for count in 1..=3 {
                let openings: Vec<_> = nodes.into_iter().zip([3, second, third]).take(count).collect();
                if scenarios.insert(openings.clone()) {
                    states += Scenario { openings }.explore();
                }
            }
        }
    }
    eprintln!("{} scenarios, {states} states", scenarios.len());
    assert!(states > 10_000, "{states} states");
}
