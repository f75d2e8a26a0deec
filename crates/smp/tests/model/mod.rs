//! A model of one line in several nodes, which takes nothing from the machine but the protocol's table. A copy, a
//! message and memory each know whether they hold the value written last.
#![allow(clippy::unwrap_used, dead_code)]

use sealwright_smp::{
    mosi::{Action, Event, State},
    protocol::Protocol,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Command {
    GetS,
    GetX,
    PutX,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Node {
    pub(crate) state: State,
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
pub(crate) struct World {
    protocol: Protocol,
    pub(crate) nodes: Vec<Node>,
    /// The node that memory takes for the owner.
    owner: Option<u8>,
    memory: bool,
    /// Lines on their way, in any order: to whom, and whether it is the value written last.
    pub(crate) messages: Vec<(u8, bool)>,
    /// Loads since somebody asked: by whom, and whether of the value written last.
    pub(crate) loads: Vec<(usize, bool)>,
}

impl Node {
    /// Whether no access to this line is under way; a write-back leaves it free.
    pub(crate) fn free(&self) -> bool {
        self.state.stable() || matches!(self.state, State::MI_A | State::OI_A | State::II_A)
    }
}

impl World {
    pub(crate) fn new(protocol: Protocol, nodes: usize) -> World {
        let node = Node { state: State::I, fresh: false, saved: None, waiting: None, forwards: Vec::new() };
        World { protocol, nodes: vec![node; nodes], owner: None, memory: true, messages: Vec::new(), loads: Vec::new() }
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
        use State::*;
        let loads = matches!(from, IS_AD | IS_A | IS_D | IS_D_I | IE_D | IE_D_I | IE_D_O | IE_D_OI | IE_D_S | IE_D_SI);
        if loads {
            self.loads.push((node, fresh));
            assert!(fresh || once, "a stale load in {from:?}: {self:?}");
        } else {
            assert!(fresh, "a store on an old line in {from:?}: {self:?}");
            self.store(node);
        }
    }

    /// The processor of a node loads, stores or evicts; nothing if it must try again.
    pub(crate) fn access(&self, node: usize, event: Event) -> Option<World> {
        let mut world = self.clone();
        let state = self.nodes[node].state;
        let cell = self.protocol.transition(state, event).unwrap_or_else(|| panic!("{event:?} in {state:?}: {self:?}"));
        let one = &mut world.nodes[node];
        match cell.actions {
            [Action::Hit] if event == Event::Store => world.store(node),
            [Action::Hit] => {
                assert!(one.fresh, "a stale hit in {state:?}: {self:?}");
                world.loads.push((node, true));
            }
            [Action::Gets] => one.waiting = Some(Command::GetS),
            [Action::Getx] => one.waiting = Some(Command::GetX),
            [Action::Putx] => one.waiting = Some(Command::PutX),
            [Action::Keep] => {}
            [Action::Drop] => one.fresh = false,
            [Action::Recycle] => return None,
            other => panic!("{event:?} in {state:?} does {other:?}"),
        }
        world.nodes[node].state = cell.next;
        Some(world)
    }

    /// A node's request is ordered: all nodes see it at once, and memory.
    pub(crate) fn order(&self, from: usize) -> Option<World> {
        let command = self.nodes[from].waiting?;
        let mut world = self.clone();
        world.nodes[from].waiting = None;
        // A write-back carries its line
        let carried = self.nodes[from].fresh;
        let gone = |node: &Node| matches!(node.state, State::I | State::IS_AD | State::IM_AD | State::II_A);
        let others = self.nodes.iter().enumerate().filter(|(node, _)| *node != from);
        let alone =
            self.protocol != Protocol::Mosi && command == Command::GetS && others.map(|(_, node)| node).all(gone);
        let mut back = None;
        for node in 0..self.nodes.len() {
            let state = world.nodes[node].state;
            if state == State::I && node != from {
                continue;
            }
            let event = match (command, node == from) {
                (Command::GetS, true) if alone => Event::OwnGetsAlone,
                (Command::GetS, true) => Event::OwnGets,
                (Command::GetX, true) => Event::OwnGetx,
                (Command::PutX, true) => Event::OwnPutx,
                (Command::GetS, false) => Event::OtherGets,
                (Command::GetX, false) => Event::OtherGetx,
                (Command::PutX, false) => Event::OtherPutx,
            };
            let cell =
                self.protocol.transition(state, event).unwrap_or_else(|| panic!("{event:?} in {state:?}: {self:?}"));
            for action in cell.actions {
                match action {
                    Action::Send => world.send(from as u8, world.nodes[node].fresh),
                    Action::SendBack => {
                        world.send(from as u8, world.nodes[node].fresh);
                        back = Some(world.nodes[node].fresh);
                    }
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
                if command == Command::GetX || alone {
                    world.owner = Some(from as u8);
                }
                if let Some(fresh) = back {
                    (world.memory, world.owner) = (fresh, None);
                }
            }
        }
        Some(world)
    }

    /// A line arrives.
    pub(crate) fn arrive(&self, message: usize) -> World {
        let mut world = self.clone();
        let (to, fresh) = world.messages.remove(message);
        let node = usize::from(to);
        let state = self.nodes[node].state;
        let cell =
            self.protocol.transition(state, Event::Data).unwrap_or_else(|| panic!("data in {state:?}: {self:?}"));
        world.nodes[node].state = cell.next;
        for action in cell.actions {
            match action {
                Action::Save => world.nodes[node].saved = Some(fresh),
                Action::Finish => world.finish(node, state, fresh, false),
                Action::Once => {
                    world.finish(node, state, fresh, true);
                }
                Action::Forward | Action::ForwardBack => {
                    if *action == Action::ForwardBack {
                        (world.memory, world.owner) = (world.nodes[node].fresh, None);
                    }
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

    pub(crate) fn check(&self) {
        let owners = self.nodes.iter().filter(|node| node.state.owns()).count();
        assert!(owners <= 1, "{owners} owners: {self:?}");
        let stable = |state| self.nodes.iter().filter(|node| node.state == state).count();
        let only = stable(State::M) + stable(State::E);
        assert!(only == 0 || stable(State::S) + stable(State::O) == 0, "a copy beside M or E: {self:?}");
        // Without an owner, memory answers: it has the value written last
        let on_its_way = self.nodes.iter().any(|node| !node.state.stable());
        assert!(self.owner.is_some() || self.memory || on_its_way, "memory answers with an old value: {self:?}");
        for node in &self.nodes {
            let copy = matches!(
                node.state,
                State::S | State::O | State::E | State::M | State::OM_A | State::MI_A | State::OI_A
            );
            assert!(!copy || node.fresh, "a stale copy in {:?}: {self:?}", node.state);
        }
    }

    pub(crate) fn at_rest(&self) -> bool {
        self.messages.is_empty() && self.nodes.iter().all(|node| node.state.stable())
    }

    /// What the bus may do next, without any processor.
    pub(crate) fn steps(&self) -> Vec<World> {
        let ordered = (0..self.nodes.len()).filter_map(|node| self.order(node));
        ordered.chain((0..self.messages.len()).map(|message| self.arrive(message))).collect()
    }

    pub(crate) fn accesses(&self) -> Vec<World> {
        let events = [Event::Load, Event::Store, Event::Replace];
        let all = (0..self.nodes.len()).flat_map(|node| events.map(|event| (node, event)));
        // One access to a line at a time; only a write-back leaves it free. But another line may take its place at any
        // time
        all.filter(|(node, event)| self.nodes[*node].free() || *event == Event::Replace)
            .filter_map(|(node, event)| self.access(node, event))
            .collect()
    }
}
