//! The protocols' tables, checked exhaustively: every interleaving of two and of three nodes that load, store and evict
//! one line, under MOSI, MESI and MOESI.
//!
//! Checked in every state that can be reached: no event without a transition, one owner, no copy beside a
//! modified one, no stale copy that could be read, no state from which the nodes cannot come to rest.
#![allow(clippy::unwrap_used)]

mod model;

use std::collections::{HashMap, HashSet, VecDeque};

use model::World;
use sealwright_smp::{
    Image, Machine, Outcome,
    access::{Access, Operation, Source, Steps},
    mosi::State,
    protocol::Protocol,
};

/// Every state that can be reached; how many.
fn explore(protocol: Protocol, nodes: usize) -> (usize, HashSet<State>) {
    let mut known: HashMap<World, usize> = HashMap::new();
    let mut queue = VecDeque::from([World::new(protocol, nodes)]);
    let mut states = HashSet::new();
    // For each state, the states that the bus alone leads to it from
    let (mut before, mut rest) = (Vec::<Vec<usize>>::new(), Vec::new());
    known.insert(World::new(protocol, nodes), 0);
    before.push(Vec::new());
    while let Some(world) = queue.pop_front() {
        world.check();
        states.extend(world.nodes.iter().map(|node| node.state));
        let number = known[&world];
        if world.at_rest() {
            rest.push(number);
        }
        let steps = world.steps();
        let by_bus = steps.len();
        for (place, mut next) in steps.into_iter().chain(world.accesses()).enumerate() {
            next.loads.clear();
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
    (known.len(), states)
}

/// States that only late snoops lead to: a line comes before the request for it is ordered.
const LATE: [State; 3] = [State::IS_A, State::IM_A, State::SM_A];

#[test]
fn two_nodes_in_every_order() {
    for protocol in Protocol::ALL {
        assert!(explore(protocol, 2).0 > 100, "{protocol:?}");
    }
}

#[test]
fn three_nodes_in_every_order_reach_every_state_of_the_table() {
    for protocol in Protocol::ALL {
        let (worlds, states) = explore(protocol, 3);
        assert!(worlds > 1_000, "{protocol:?}");
        for state in protocol.states().into_iter().filter(|state| !LATE.contains(state)) {
            assert!(states.contains(&state), "{protocol:?} never reaches {state:?}");
        }
    }
}

/// A line that its node has not written goes back to memory as an address: memory has its bytes.
#[test]
fn clean_exclusive_lines_leave_without_their_bytes() {
    let counts = |protocol: &str, kind: Operation, interconnect: &str| {
        let small = ["machine.processors=2", "l1.bytes=512", "l2.bytes=1024", protocol, interconnect];
        let config = small.iter().fold(sealwright_smp::Config::default(), |config, one| config.set(one).unwrap());
        let access = |line: u64, kind| Access { address: 64 * line, value: 3, gap: 0, kind, size: 8 };
        let steps = (0..100).map(|line| access(line, kind)).chain((0..100).map(|line| access(line, Operation::Load)));
        let sources: Vec<Box<dyn Source>> = vec![Box::new(Steps(steps.collect())), Box::new(Steps(Vec::new()))];
        let mut machine = Machine::new(&config, Image::default(), sources).unwrap();
        machine.check_values();
        assert_eq!(machine.run(u64::MAX).unwrap(), Some(Outcome::Completed));
        machine.check_all().unwrap();
        let stats = machine.stats();
        let (lines, group) = (stats.number("cache.write_backs"), interconnect.ends_with("bus"));
        let commands = stats.number(if group { "bus.write_backs" } else { "directory.write_backs" });
        let busy = if group { stats.number("bus.address_busy") * stats.number("cycles") } else { 0.0 };
        (lines, commands, (busy / stats.number(if group { "bus.commands" } else { "cycles" })).round())
    };
    for interconnect in ["interconnect.kind=bus", "interconnect.kind=mesh"] {
        assert_eq!(counts("bus.protocol=mosi", Operation::Load, interconnect).1, 0.0);
        for protocol in ["bus.protocol=mesi", "bus.protocol=moesi"] {
            let (lines, commands, address) = counts(protocol, Operation::Load, interconnect);
            assert!(lines == 0.0 && commands > 100.0 && address <= 2.0, "{lines} {commands} {address}");
            let (lines, commands, _) = counts(protocol, Operation::Store, interconnect);
            assert!(lines > 50.0 && commands > lines, "{lines} {commands}");
        }
    }
}

/// A node that can only read a line is sent it again when it writes: by memory, or by the owner if another node has
/// written it. Its own line moves only if the node is the owner.
#[test]
fn an_upgrade_moves_the_line_unless_its_node_owns_it() {
    let step = |kind, gap| Access { address: 4096, value: 7, gap, kind, size: 8 };
    let counted = |protocol: Protocol, first: Vec<Access>, second: Vec<Access>| {
        let mut config = sealwright_smp::Config::default();
        (config.machine.processors, config.bus.protocol) = (2, protocol);
        let sources: Vec<Box<dyn Source>> = vec![Box::new(Steps(first)), Box::new(Steps(second))];
        let mut machine = Machine::new(&config, Image::default(), sources).unwrap();
        assert_eq!(machine.run(u64::MAX).unwrap(), Some(Outcome::Completed));
        let stats = machine.stats();
        ["cache.upgrades", "cache.upgrades_with_data", "transfers.count", "memory.fills"].map(|name| stats.number(name))
    };
    let (load, store) = (Operation::Load, Operation::Store);
    for protocol in [Protocol::Mosi, Protocol::Moesi, Protocol::Mesi] {
        // Both read, then one writes. Where there are exclusive lines, the first reader sends the line to the second
        let read_by_both = counted(protocol, vec![step(load, 0), step(store, 20_000)], vec![step(load, 10_000)]);
        let expected = match protocol {
            Protocol::Mosi => [1.0, 1.0, 0.0, 3.0],
            // The first reader owns the line that it has sent, and writes without data
            Protocol::Moesi => [1.0, 0.0, 1.0, 1.0],
            Protocol::Mesi => [1.0, 1.0, 1.0, 2.0],
        };
        assert_eq!(read_by_both, expected, "{protocol:?}");
        // One has written it before: the other, who reads and then writes, is sent it twice; by the owner, or by memory
        let written = counted(protocol, vec![step(store, 0)], vec![step(load, 10_000), step(store, 10_000)]);
        let expected = if protocol == Protocol::Mesi { [1.0, 1.0, 1.0, 2.0] } else { [1.0, 1.0, 2.0, 1.0] };
        assert_eq!(written, expected, "{protocol:?}");
    }
}
