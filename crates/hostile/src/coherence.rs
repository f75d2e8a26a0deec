//! Cache coherence: the tables against the model, and machines against a memory without caches.

use sealwright_smp::{
    Config, Image, Machine, Outcome,
    access::{Access, Operation, Source, Steps},
    config::{BusMode, Protect},
    mosi::Event,
    protocol::Protocol,
    scheme::SchemeName,
    topology::TopologyKind,
};

// The model that the tests of the simulator explore with two and three nodes.
#[path = "../../smp/tests/model/mod.rs"]
mod model;

use model::World;

/// Takes arbitrary bytes as the actions of two to nine nodes on one line, in an order that the bus allows. Every state
/// keeps the invariants of the model, and the nodes become idle once there are no more requests.
pub(crate) fn smp_table(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let protocol = Protocol::ALL[usize::from(choice) % 3];
    let nodes = 2 + usize::from(choice / 3) % 8;
    let mut world = World::new(protocol, nodes);
    for &byte in bytes.iter().take(1000) {
        let (what, which) = (byte % 5, usize::from(byte / 5));
        let node = which % nodes;
        let event = [Event::Load, Event::Store, Event::Replace][usize::from(what) % 3];
        let next = match what {
            0..3 if world.nodes[node].free() || event == Event::Replace => world.access(node, event),
            3 => world.order(node),
            4 if !world.messages.is_empty() => Some(world.arrive(which % world.messages.len())),
            _ => None,
        };
        let Some(next) = next else { continue };
        world = next;
        world.loads.clear();
        world.check();
    }
    // The bus alone: each step serves a request or delivers a line, so that they end
    for _ in 0..1000 {
        if world.at_rest() {
            return;
        }
        let ordered = (0..nodes).find_map(|node| world.order(node));
        world = match ordered {
            Some(next) => next,
            None if !world.messages.is_empty() => world.arrive(0),
            None => panic!("nodes wait for what never comes: {world:?}"),
        };
        world.check();
    }
    panic!("the bus does not end: {world:?}");
}

/// A machine with caches of a few lines, as eight bytes choose it.
fn machine(choices: [u8; 8]) -> Config {
    let [kind, nodes, skew, latency, jitter, response, scheme, more] = choices;
    let mut config = Config::default();
    config.machine.processors = 2 + usize::from(nodes) % 7;
    // Misses overlap, but for an eighth
    config.machine.mshrs = 1 + usize::from(nodes / 32);
    config.machine.line = if more & 1 == 0 { 64 } else { 128 };
    (config.l1.bytes, config.l1.ways) = (4 * config.machine.line, 2);
    (config.l2.bytes, config.l2.ways) = (8 * config.machine.line, 2);
    config.bus.protocol = Protocol::ALL[usize::from(kind) % 3];
    config.bus.mode = if kind & 128 == 0 { BusMode::Split } else { BusMode::Atomic };
    config.bus.skew = if more & 2 == 0 { 0 } else { skew.into() };
    config.bus.response = response.into();
    config.bus.tags = more & 4 != 0;
    (config.memory.latency, config.memory.jitter) = (latency.into(), jitter.into());
    let schemes: Vec<SchemeName> = SchemeName::all().collect();
    config.scheme.name = schemes[usize::from(scheme) % schemes.len()];
    if more & 8 != 0 {
        config.memory.protect = Protect::Tree;
        config.memory.counter_cache = 1;
    }
    if more & 16 != 0 {
        config.machine.chips = 2;
    }
    if more & 32 != 0 {
        // Links in place of the bus, and a directory at each home. What the bus alone has chooses their times.
        config.interconnect.kind = if more & 64 == 0 { TopologyKind::Ring } else { TopologyKind::Mesh };
        (config.bus.mode, config.bus.skew) = (BusMode::Split, 0);
        config.interconnect.latency = (skew & 15).into();
        config.interconnect.occupancy = (skew >> 4).into();
        config.interconnect.directory = (response & 15).into();
        config.interconnect.width = if more & 128 == 0 { 16 } else { 1 };
    }
    config
}

/// Takes arbitrary bytes as the settings of a small machine and, four bytes each, the reads and writes of its
/// processors. The machine is refused, or every read returns the last value written, every invariant of the protocol
/// holds after each transaction, and all processors finish.
pub(crate) fn smp_machine(bytes: &[u8]) {
    ran(bytes);
}

/// The machine after its run; none if it is refused.
fn ran(bytes: &[u8]) -> Option<Machine> {
    let (&choices, bytes) = bytes.split_first_chunk()?;
    let config = machine(choices);
    config.check().ok()?;
    let mut steps = vec![Vec::new(); config.machine.processors];
    for (i, &[node, what, place, gap]) in bytes.as_chunks().0.iter().take(500).enumerate() {
        let size = 1_u64 << (what >> 2 & 3);
        let kind = [Operation::Load, Operation::Store, Operation::Store, Operation::Fetch][usize::from(what) % 4];
        let line = u64::from(place % 24) * config.machine.line as u64;
        let address = line + u64::from(place) / 24 * 8 + (u64::from(what >> 4) & 7 & !(size - 1));
        let access = Access { address, value: i as u64 * 0x0101_0101_0101, gap: gap.into(), kind, size: size as u8 };
        let nodes = steps.len();
        steps[usize::from(node) % nodes].push(access);
    }
    let sources = steps.into_iter().map(|steps| Box::new(Steps(steps)) as Box<dyn Source>).collect();
    let mut machine = Machine::new(&config, Image::default(), sources).expect("the settings were checked");
    machine.check_values();
    assert_eq!(machine.run(u64::MAX).expect("no invariant breaks"), Some(Outcome::Completed));
    machine.check_all().expect("what was written is there");
    assert_eq!(machine.wrong_reads(), Some(0));
    Some(machine)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    /// The statistics of an input of the corpus.
    fn stats(name: &str) -> impl Fn(&str) -> f64 {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/smp_machine");
        let bytes = fs::read(folder.join(name)).unwrap();
        machine(*bytes.first_chunk().unwrap()).check().unwrap_or_else(|why| panic!("{name}: {why}"));
        let stats = ran(&bytes).unwrap().stats();
        move |path| stats.number(path)
    }

    #[test]
    fn rings_and_meshes_use_their_directories() {
        for name in ["ring-mosi", "ring-mesi-chips", "mesh-moesi", "mesh-mosi-busy-homes", "mesh-moesi-cxl-tree"] {
            let of = stats(name);
            for path in ["directory.forwards", "directory.invalidations", "links.messages", "memory.fills"] {
                assert!(of(path) > 0.0, "{name}: {path} is {}", of(path));
            }
            assert_eq!(of("directory.waited") > 0.0, name.contains("busy-homes"), "{name}: {}", of("directory.waited"));
        }
        // Those of a bus run as well, without either
        for name in ["mesi-atomic", "moesi-wide-lines-tree", "mosi-late-snoops"] {
            let of = stats(name);
            assert!(of("transfers.count") > 0.0, "{name}");
            assert_eq!(of("directory.forwards") + of("links.messages"), 0.0, "{name}");
        }
    }

    #[test]
    fn the_choices_reach_every_interconnect() {
        let kind = |more| machine([0, 0, 0, 0, 0, 0, 0, more]).interconnect.kind;
        assert_eq!(
            [0, 64, 32, 96].map(kind),
            [TopologyKind::Bus, TopologyKind::Bus, TopologyKind::Ring, TopologyKind::Mesh]
        );
        // Most schemes work with links
        let works = |scheme| machine([0, 0, 0, 0, 0, 0, scheme, 32]).check().is_ok();
        assert!((0..SchemeName::all().count() as u8).filter(|scheme| works(*scheme)).count() > 3);
    }
}
