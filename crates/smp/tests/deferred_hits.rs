//! Processors on a bus put off what they hit until somebody looks, but not where values are checked: both count the
//! same.
#![allow(clippy::unwrap_used)]

use sealwright_smp::{
    Config, Image, Machine, Outcome,
    access::{Access, Operation, Source, Steps},
    run::{Simulation, Workload},
};

fn config(settings: &[&str]) -> Config {
    settings.iter().fold(Config::default(), |config, setting| config.set(setting).unwrap())
}

/// Everything that is counted on the way to the end.
fn counted(mut machine: Machine, checked: bool) -> String {
    if checked {
        machine.check_values();
    }
    let end = machine.run(u64::MAX).unwrap();
    assert_eq!(end, Some(Outcome::Completed));
    machine.stats().json().to_string()
}

/// Hits, misses, shared lines, locks, barriers and bounds of the region of interest, at random; each processor ends at
/// its own time.
fn program(node: u64, processors: u64, seed: u64) -> Box<dyn Source> {
    let mut x = seed * 77 + node * 1_000_003 + 1;
    let mut below = move |most: u64| {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (x >> 33) % most
    };
    let mut steps = Vec::new();
    let mut add = |kind, address, value, gap| steps.push(Access { address, value, gap, kind, size: 8 });
    for i in 0..400 + node % 5 * 60 {
        let line = if below(4) > 0 { 100 + node * 16 + below(12) } else { below(24) };
        let kind = [Operation::Load, Operation::Store, Operation::Load, Operation::Fetch][below(4) as usize];
        let gap = if below(8) == 0 { below(60) as u32 } else { 0 };
        add(kind, line * 64 + below(8) * 8, below(1 << 30), gap);
        if below(40) == 0 {
            let lock = below(3);
            add(Operation::Lock, lock, 0, 1);
            add(Operation::Store, lock * 64, i, 0);
            add(Operation::Unlock, lock, 0, 2);
        }
        if i == 200 {
            add(Operation::Barrier, 9, 0, 0);
        }
        if i == 100 && node == seed % processors {
            add(Operation::RegionBegin, 0, 0, 1);
        }
        if i == 350 && node == (seed + 1) % processors {
            add(Operation::RegionEnd, 0, 0, 1);
        }
    }
    Box::new(Steps(steps))
}

fn random(config: &Config, seed: u64, checked: bool) -> String {
    let processors = config.machine.processors as u64;
    let sources = (0..processors).map(|node| program(node, processors, seed)).collect();
    let counted = counted(Machine::new(config, Image::default(), sources).unwrap(), checked);
    let tree: serde_json::Value = serde_json::from_str(&counted).unwrap();
    for node in tree["nodes"].as_array().unwrap() {
        let waited = node["waited"].as_u64().unwrap() + node["met"].as_u64().unwrap();
        assert!(waited <= tree["cycles"].as_u64().unwrap(), "more waits than there was time: {counted}");
    }
    counted
}

#[test]
fn random_programs_count_the_same_whether_hits_are_put_off_or_not() {
    let more = [
        ["bus.protocol=mesi", "machine.mshrs=1"],
        ["bus.protocol=moesi", "machine.mshrs=1"],
        ["l1.hit=1", "machine.mshrs=1"],
        ["bus.skew=9", "machine.mshrs=1"],
        ["bus.mode=atomic", "machine.mshrs=1"],
        ["bus.arbiter=fixed", "machine.mshrs=1"],
        ["bus.issue=0", "machine.mshrs=1"],
        ["scheme.name=gcm", "machine.mshrs=1"],
        ["bus.protocol=mosi", "machine.mshrs=2"],
        ["bus.protocol=moesi", "machine.mshrs=4"],
        ["bus.skew=9", "machine.mshrs=3"],
        ["bus.issue=0", "machine.mshrs=8"],
    ];
    for processors in [2, 4, 16, 40] {
        let processors = format!("machine.processors={processors}");
        for more in more {
            let small = [&processors, "l1.bytes=512", "l1.ways=2", "l2.bytes=2048", "l2.ways=2"];
            let config = config(&[&small[..], &more].concat());
            for seed in 0..3 {
                assert_eq!(random(&config, seed, false), random(&config, seed, true), "{processors} {more:?} {seed}");
            }
        }
    }
}

#[test]
fn kernels_count_the_same_whether_hits_are_put_off_or_not() {
    let machines: [&[&str]; 6] = [
        &["machine.processors=4"],
        &["machine.processors=16", "bus.protocol=mesi"],
        &["machine.processors=16", "processes.count=3", "processes.quantum=5000", "bus.protocol=moesi"],
        &["machine.processors=16", "l1.hit=1", "bus.issue=0", "scheme.name=gcm"],
        &["machine.processors=16", "machine.mshrs=4", "bus.protocol=moesi"],
        &["machine.processors=4", "machine.mshrs=8", "processes.count=3", "processes.quantum=5000"],
    ];
    for settings in machines {
        for (kernel, size) in [("fft", 10), ("luc", 64), ("radix", 10)] {
            let run = |check| {
                let mut simulation = Simulation::new(config(settings), Workload::kernel(kernel, size, false).unwrap());
                simulation.check = check;
                let report = simulation.run(&mut |_| {}).unwrap();
                assert!(matches!(report.result, Some(Ok(_))), "{settings:?} {kernel}");
                report.stats.json().to_string()
            };
            assert_eq!(run(false), run(true), "{settings:?} {kernel}");
        }
    }
}
