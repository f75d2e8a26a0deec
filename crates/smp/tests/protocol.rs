//! The protocol's table, checked exhaustively: every interleaving of two and of three nodes that load, store and evict one line.
//!
//! The model takes nothing from the machine but the table. A copy, a message and memory each know whether they hold the value
//! written last. Checked in every state that can be reached: no event without a transition, one owner, no copy beside a
//! modified one, no stale copy that could be read, no state from which the nodes cannot come to rest.
#![allow(clippy::unwrap_used)]

use std::collections::{HashMap, HashSet, VecDeque};

use sealwright_smp::mosi::{Action, Event, State, transition};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Command {
    GetS,
    GetX,
    PutX,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    state: State,
    /// Whether its copy, if it has one, is the value written last.
    fresh: bool,
    /// Data that arrived before its own request was ordered.
    saved: Option<bool>,
    /// Its request that is not ordered yet.
    waiting: Option<Command>,
    /// Nodes that get the line once it is here.
    forwards: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    nodes: Vec<Node>,
    /// The node that memory takes for the owner.
    owner: Option<u8>,
    memory: bool,
    /// Lines on their way, in any order: to whom, and whether it is the value written last.
    messages: Vec<(u8, bool)>,
}

impl World {
    fn new(nodes: usize) -> World {
        let node = Node { state: State::I, fresh: false, saved: None, waiting: None, forwards: Vec::new() };
        World { nodes: vec![node; nodes], owner: None, memory: true, messages: Vec::new() }
    }

    /// A node writes: every other value is now an old one.
    fn store(&mut self, node: usize) {
        for (number, other) in self.nodes.iter_mut().enumerate() {
            other.fresh = number == node;
            other.saved = other.saved.map(|_| false);
        }
        self.messages.iter_mut().for_each(|(_, fresh)| *fresh = false);
        self.memory = false;
    }

    fn send(&mut self, to: u8, fresh: bool) {
        self.messages.push((to, fresh));
        self.messages.sort_unstable();
    }

    /// The access that a node's transaction was for; `once` may load an old value, ordered before a later write.
    fn finish(&mut self, node: usize, from: State, fresh: bool, once: bool) {
        self.nodes[node].fresh = fresh;
        let loads = matches!(from, State::IS_AD | State::IS_A | State::IS_D | State::IS_D_I);
        if loads {
            assert!(fresh || once, "a stale load in {from:?}: {self:?}");
        } else {
            assert!(fresh, "a store on an old line in {from:?}: {self:?}");
            self.store(node);
        }
    }

    /// The processor of a node loads, stores or evicts; nothing if it must try again.
    fn access(&self, node: usize, event: Event) -> Option<World> {
        let mut world = self.clone();
        let state = self.nodes[node].state;
        let cell = transition(state, event).unwrap_or_else(|| panic!("{event:?} in {state:?}: {self:?}"));
        let one = &mut world.nodes[node];
        match cell.actions {
            [Action::Hit] if event == Event::Store => world.store(node),
            [Action::Hit] => assert!(one.fresh, "a stale hit in {state:?}: {self:?}"),
            [Action::Gets] => one.waiting = Some(Command::GetS),
            [Action::Getx] => one.waiting = Some(Command::GetX),
            [Action::Putx] => one.waiting = Some(Command::PutX),
            [Action::Drop] => one.fresh = false,
            [Action::Recycle] => return None,
            other => panic!("{event:?} in {state:?} does {other:?}"),
        }
        world.nodes[node].state = cell.next;
        Some(world)
    }

    /// A node's request is ordered: all nodes see it at once, and memory.
    fn order(&self, from: usize) -> Option<World> {
        let command = self.nodes[from].waiting?;
        let mut world = self.clone();
        world.nodes[from].waiting = None;
        // A write-back carries its line
        let carried = self.nodes[from].fresh;
        for node in 0..self.nodes.len() {
            let state = world.nodes[node].state;
            if state == State::I && node != from {
                continue;
            }
            let event = match (command, node == from) {
                (Command::GetS, true) => Event::OwnGets,
                (Command::GetX, true) => Event::OwnGetx,
                (Command::PutX, true) => Event::OwnPutx,
                (Command::GetS, false) => Event::OtherGets,
                (Command::GetX, false) => Event::OtherGetx,
                (Command::PutX, false) => Event::OtherPutx,
            };
            let cell = transition(state, event).unwrap_or_else(|| panic!("{event:?} in {state:?}: {self:?}"));
            for action in cell.actions {
                match action {
                    Action::Send => world.send(from as u8, world.nodes[node].fresh),
                    Action::Record => world.nodes[node].forwards.push(from as u8),
                    Action::Drop => world.nodes[node].fresh = false,
                    Action::Finish => {
                        let saved = world.nodes[node].saved.take().unwrap();
                        world.finish(node, state, saved, false);
                    }
                    Action::Hit => world.store(node),
                    other => panic!("{event:?} in {state:?} does {other:?}"),
                }
            }
            world.nodes[node].state = cell.next;
        }
        match command {
            Command::PutX => {
                if self.owner == Some(from as u8) {
                    world.memory = carried;
                    world.owner = None;
                }
            }
            Command::GetS | Command::GetX => {
                if self.owner.is_none() {
                    world.send(from as u8, world.memory);
                }
                if command == Command::GetX {
                    world.owner = Some(from as u8);
                }
            }
        }
        Some(world)
    }

    /// A line arrives.
    fn arrive(&self, message: usize) -> World {
        let mut world = self.clone();
        let (to, fresh) = world.messages.remove(message);
        let node = usize::from(to);
        let state = self.nodes[node].state;
        let cell = transition(state, Event::Data).unwrap_or_else(|| panic!("data in {state:?}: {self:?}"));
        world.nodes[node].state = cell.next;
        for action in cell.actions {
            match action {
                Action::Save => world.nodes[node].saved = Some(fresh),
                Action::Finish => world.finish(node, state, fresh, false),
                Action::Once => {
                    world.finish(node, state, fresh, true);
                }
                Action::Forward => {
                    let forwards = std::mem::take(&mut world.nodes[node].forwards);
                    let value = world.nodes[node].fresh;
                    forwards.into_iter().for_each(|to| world.send(to, value));
                }
                other => panic!("data in {state:?} does {other:?}"),
            }
        }
        if cell.next == State::I {
            world.nodes[node].fresh = false;
        }
        world
    }

    fn check(&self) {
        let owners = self.nodes.iter().filter(|node| node.state.owns()).count();
        assert!(owners <= 1, "{owners} owners: {self:?}");
        let stable = |state| self.nodes.iter().filter(|node| node.state == state).count();
        assert!(stable(State::M) == 0 || stable(State::S) + stable(State::O) == 0, "a copy beside M: {self:?}");
        for node in &self.nodes {
            let copy = matches!(node.state, State::S | State::O | State::M | State::OM_A | State::MI_A | State::OI_A);
            assert!(!copy || node.fresh, "a stale copy in {:?}: {self:?}", node.state);
        }
    }

    fn at_rest(&self) -> bool {
        self.messages.is_empty() && self.nodes.iter().all(|node| node.state.stable())
    }

    /// What the bus may do next, without any processor.
    fn steps(&self) -> Vec<World> {
        let ordered = (0..self.nodes.len()).filter_map(|node| self.order(node));
        ordered.chain((0..self.messages.len()).map(|message| self.arrive(message))).collect()
    }

    fn accesses(&self) -> Vec<World> {
        let events = [Event::Load, Event::Store, Event::Replace];
        let all = (0..self.nodes.len()).flat_map(|node| events.map(|event| (node, event)));
        // A processor waits for its access before it makes the next; only a write-back leaves it free
        let free = |node: &Node| node.state.stable() || matches!(node.state, State::MI_A | State::OI_A | State::II_A);
        all.filter(|(node, _)| free(&self.nodes[*node])).filter_map(|(node, event)| self.access(node, event)).collect()
    }
}

/// Every state that can be reached; how many.
fn explore(nodes: usize) -> usize {
    let mut known: HashMap<World, usize> = HashMap::new();
    let mut queue = VecDeque::from([World::new(nodes)]);
    // For each state, the states that the bus alone leads to it from
    let (mut before, mut rest) = (Vec::<Vec<usize>>::new(), Vec::new());
    known.insert(World::new(nodes), 0);
    before.push(Vec::new());
    while let Some(world) = queue.pop_front() {
        world.check();
        let number = known[&world];
        if world.at_rest() {
            rest.push(number);
        }
        let steps = world.steps();
        let by_bus = steps.len();
        for (place, next) in steps.into_iter().chain(world.accesses()).enumerate() {
            let count = known.len();
            let id = *known.entry(next.clone()).or_insert(count);
            if id == count {
                before.push(Vec::new());
                queue.push_back(next);
            }
            if place < by_bus {
                before[id].push(number);
            }
        }
    }
    // Backwards from rest: every state can come to rest by the bus alone
    let mut comes: HashSet<usize> = rest.iter().copied().collect();
    let mut open = rest;
    while let Some(state) = open.pop() {
        for earlier in &before[state] {
            if comes.insert(*earlier) {
                open.push(*earlier);
            }
        }
    }
    assert_eq!(comes.len(), known.len(), "states that never come to rest");
    known.len()
}

#[test]
fn two_nodes_in_every_order() {
    assert!(explore(2) > 100);
}

#[test]
fn three_nodes_in_every_order() {
    assert!(explore(3) > 1_000);
}
