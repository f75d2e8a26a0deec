//! A ring or mesh of links with a directory: values and invariants, the time of each hop, protection of each link, and
//! what an attacker on a link can do.
#![allow(clippy::unwrap_used)]

mod common;

use common::{config, run};
use sealwright_smp::{
    Config, Image, Machine, Outcome, Stats,
    access::{Access, Operation, Source, Steps},
    attack::{Attack, Attacker},
    message::Detector,
    run::{Simulation, Workload},
};

const KINDS: [&str; 2] = ["interconnect.kind=ring", "interconnect.kind=mesh"];
const SCHEMES: [&str; 3] = ["scheme.name=clear", "scheme.name=pcie-ide", "scheme.name=cxl-ide"];

/// What processor 0 alone does on a mesh of 4.
fn alone(steps: &[(Operation, u64)], settings: &[&str]) -> Stats {
    let access =
        |(kind, address): &(Operation, u64)| Access { address: *address, value: 7, gap: 0, kind: *kind, size: 8 };
    let mut sources: Vec<Box<dyn Source>> = vec![Box::new(Steps(steps.iter().map(access).collect()))];
    sources.resize_with(4, || Box::new(Steps(Vec::new())));
    let settings = [&["interconnect.kind=mesh"], settings].concat();
    let mut machine = Machine::new(&config(&settings), Image::default(), sources).unwrap();
    machine.check_values();
    assert_eq!(machine.run(u64::MAX).unwrap(), Some(Outcome::Completed));
    machine.check_all().unwrap();
    machine.stats()
}

#[test]
fn kernels_give_the_right_results_with_every_number_of_nodes() {
    let all = ["bus.protocol=mosi", "bus.protocol=mesi", "bus.protocol=moesi"];
    // All nodes read the result: with many of them, fewer machines for time
    for (processors, work, schemes, protocols) in [
        (2, ("radix", 9), &SCHEMES[..], &all[..]),
        (4, ("lunc", 32), &SCHEMES[..], &all[..]),
        (16, ("fft", 8), &SCHEMES[..], &all[..]),
        (16, ("radix", 9), &SCHEMES[..2], &all[1..2]),
        (64, ("fft", 12), &SCHEMES[..2], &all[2..]),
    ] {
        let processors = format!("machine.processors={processors}");
        for (kind, scheme) in KINDS.into_iter().flat_map(|kind| schemes.iter().map(move |scheme| (kind, scheme))) {
            for protocol in protocols {
                let report = run(work, &[&processors, kind, scheme, protocol, "l2.bytes=65536"], None);
                let right = matches!(report.result, Some(Ok(_))) && report.wrong_reads == Some(0);
                assert!(right, "{work:?} {processors} {kind} {scheme} {protocol}: {report:?}");
            }
        }
    }
}

#[test]
fn a_line_from_memory_takes_the_time_of_its_hops() {
    // Issue 2; the request's byte cycle and two hops of 4 (10); look-up 6; memory 160; 72 bytes at 16 a cycle and two
    // hops (13); hit 4
    let far = [(Operation::Load, 3 * 64)];
    let clear = alone(&far, &[]);
    assert_eq!(clear.number("cycles"), f64::from(2 + 9 + 6 + 160 + 13 + 4));
    assert_eq!((clear.number("links.messages"), clear.number("links.mean_hops")), (2.0, 2.0));
    assert_eq!(clear.number("links.busy_cycles"), f64::from(2 + 2 * 5));
    assert_eq!(clear.number("links.count"), 8.0);
    // Within the home only its own work is left
    let near = alone(&[(Operation::Load, 4 * 64)], &[]);
    assert_eq!(near.number("cycles"), f64::from(2 + 6 + 160 + 5 + 4));
    assert_eq!(near.number("links.messages"), 0.0);
    // A packet is held at each hop until its MAC, a cycle behind it, is checked: GHASH 4 and 1; encryption takes a
    // cycle
    let ide = alone(&far, &["scheme.name=pcie-ide"]);
    let hop = |cycles: u32| 1 + cycles + 4 + (1 + 4 + 1);
    assert_eq!(ide.number("cycles"), f64::from(2 + 2 * hop(1) + 6 + 160 + 2 * hop(5) + 4));
    assert_eq!(ide.number("links.tag_bytes"), 4.0 * 16.0);
    // In skid mode nothing waits for a MAC
    let skid = alone(&far, &["scheme.name=cxl-ide", "scheme.cxl-ide.release=skid"]);
    assert!(clear.number("cycles") < skid.number("cycles") && skid.number("cycles") < ide.number("cycles"));
}

#[test]
fn requests_queue_at_a_home_that_is_busy() {
    // Nodes 1 and 2 are a hop away from node 3, the home of lines 3 and 7, and ask at one time
    let stats = |settings: &[&str], lines: [Option<u64>; 2]| {
        let load = |line| Access { address: line * 64, value: 0, gap: 0, kind: Operation::Load, size: 8 };
        let [one, two] = lines.map(|line| line.map(load).into_iter().collect::<Vec<_>>());
        let sources: Vec<Box<dyn Source>> =
            [Vec::new(), one, two, Vec::new()].map(|it| Box::new(Steps(it)) as _).into();
        let settings = [&["interconnect.kind=mesh"], settings].concat();
        let mut machine = Machine::new(&config(&settings), Image::default(), sources).unwrap();
        assert_eq!(machine.run(u64::MAX).unwrap(), Some(Outcome::Completed));
        machine.stats()
    };
    let (busy, both) = (["interconnect.occupancy=50"], [Some(3), Some(7)]);
    let finished = |stats: &Stats| [1, 2].map(|node: usize| stats.json()["nodes"][node]["finished"].as_f64().unwrap());
    let free = stats(&[], both);
    let [first, second] = finished(&free);
    assert!(first == second && free.at("directory.waited").is_none());
    let queued = stats(&busy, both);
    assert_eq!(finished(&queued), [first, first + 50.0], "to be busy takes no time of the request itself");
    let names = ["directory.busy_cycles", "directory.waited", "directory.most_busy"];
    assert_eq!(names.map(|name| queued.number(name)), [100.0, 50.0, 100.0 / (first + 50.0)]);
    // Alone, or at another home, a request waits for nobody
    assert_eq!(finished(&stats(&busy, [None, Some(7)])), [0.0, first]);
    assert_eq!(stats(&busy, [Some(3), Some(2)]).number("directory.waited"), 0.0);
    // A line that its owner gives back to memory keeps the home busy too
    let settings = |protocol, occupancy| ["machine.processors=16", "interconnect.kind=mesh", protocol, occupancy];
    for protocol in ["bus.protocol=mosi", "bus.protocol=mesi", "bus.protocol=moesi"] {
        let cycles = |occupancy| run(("fft", 8), &settings(protocol, occupancy), None).stats;
        let (free, busy) = (cycles("interconnect.occupancy=0"), cycles("interconnect.occupancy=40"));
        assert!(busy.number("cycles") > free.number("cycles"), "{protocol}");
        let commands = 40.0 * busy.number("directory.commands");
        let given = busy.number("directory.busy_cycles") - commands;
        assert_eq!(given > 0.0, protocol == "bus.protocol=mesi", "{protocol}: {given}");
    }
}

#[test]
fn homes_turn_to_messages_in_the_order_of_arrival() {
    // Lines 0 and 8 have one home, node 0. Node 4 is four hops away and asks first; what node 1 asks a little later is
    // there before.
    let load = |line: u64, gap| vec![Access { address: line * 64, value: 0, gap, kind: Operation::Load, size: 8 }];
    let stats = |far: Vec<Access>, near: Vec<Access>| {
        let mut sources: Vec<Box<dyn Source>> = (0..8).map(|_| Box::new(Steps(Vec::new())) as _).collect();
        (sources[4], sources[1]) = (Box::new(Steps(far)), Box::new(Steps(near)));
        let settings = ["interconnect.kind=ring", "machine.processors=8", "interconnect.occupancy=50"];
        let mut machine = Machine::new(&config(&settings), Image::default(), sources).unwrap();
        assert_eq!(machine.run(u64::MAX).unwrap(), Some(Outcome::Completed));
        machine.stats()
    };
    let finished = |stats: &Stats, node: usize| stats.json()["nodes"][node]["finished"].as_f64().unwrap();
    let both = stats(load(0, 0), load(8, 3));
    let (far, near) = (stats(load(0, 0), Vec::new()), stats(Vec::new(), load(8, 3)));
    assert_eq!(finished(&both, 1), finished(&near, 1), "who is there first waits for nobody");
    let waited = both.number("directory.waited");
    assert!(waited > 0.0 && waited < 50.0, "{waited}");
    assert_eq!(finished(&both, 4), finished(&far, 4) + waited);
}

#[test]
fn what_a_sharer_hits_before_the_owner_writes_is_no_wrong_read() {
    let access = |kind, value, gap| Access { address: 64, value, gap, kind, size: 8 };
    // Node 0 owns the line that node 2 reads all the time, and writes it again
    let owner = vec![access(Operation::Store, 1, 0), access(Operation::Store, 2, 3_000)];
    let sharer = (0..1_000).map(|at| access(Operation::Load, 0, if at == 0 { 1_000 } else { 0 })).collect();
    let sources: Vec<Box<dyn Source>> = [owner, Vec::new(), sharer].map(|it| Box::new(Steps(it)) as _).into();
    let settings = ["interconnect.kind=ring", "machine.processors=3"];
    let mut machine = Machine::new(&config(&settings), Image::default(), sources).unwrap();
    machine.check_values();
    assert_eq!(machine.run(u64::MAX).unwrap(), Some(Outcome::Completed));
    assert_eq!(machine.wrong_reads(), Some(0));
}

#[test]
fn a_request_goes_to_its_home_the_owner_and_the_sharers_alone() {
    let stats = |settings: &[&str]| run(("fft", 8), &[&["machine.processors=16"], settings].concat(), None).stats;
    let mesh = stats(&["interconnect.kind=mesh"]);
    let (reads, writes) = (mesh.number("directory.reads"), mesh.number("directory.writes"));
    assert_eq!(mesh.number("directory.commands"), reads + writes + mesh.number("directory.write_backs"));
    assert!(mesh.number("directory.forwards") > 0.0 && mesh.number("directory.forwards") <= reads + writes);
    assert!(mesh.number("directory.invalidations") > 0.0);
    // Request, forwarded request or invalidation and its answer, line: far fewer than sixteen nodes a command
    assert!(mesh.number("links.messages") < 6.0 * mesh.number("directory.commands"));
    assert!(mesh.at("bus.commands").is_none() && stats(&[]).at("links.count").is_none());
    let ring = stats(&["interconnect.kind=ring"]);
    assert!(ring.number("links.mean_hops") > mesh.number("links.mean_hops"), "four rows of four are nearer");
    // A narrow link is held for longer, and messages wait
    let narrow = stats(&["interconnect.kind=mesh", "interconnect.width=1"]);
    assert!(narrow.number("links.waited") > 10.0 * mesh.number("links.waited"));
    assert!(narrow.number("cycles") > mesh.number("cycles"));
}

#[test]
fn encryption_takes_the_time_that_was_counted_without() {
    for scheme in ["clear", "gcm", "i2sems", "pcie-ide", "cxl-ide"] {
        for units in ["thesis", "equal"] {
            let cycles = ["true", "false"].map(|functional| {
                let settings = [
                    "interconnect.kind=mesh".to_owned(),
                    format!("scheme.name={scheme}"),
                    format!("scheme.functional={functional}"),
                    format!("engines.units={units}"),
                    "scheme.pcie-ide.aggregation=4".to_owned(),
                ];
                let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
                run(("fft", 8), &settings, None).stats.number("cycles")
            });
            assert_eq!(cycles[0], cycles[1], "{scheme} {units}");
        }
    }
}

#[test]
fn a_changed_bit_is_found_where_it_leaves_its_link() {
    for (kind, scheme) in KINDS.into_iter().flat_map(|kind| SCHEMES[1..].iter().map(move |scheme| (kind, *scheme))) {
        for early in ["scheme.cxl-ide.early=true", "scheme.cxl-ide.early=false"] {
            let settings = ["machine.processors=16", kind, scheme, early];
            for at in (10..100).step_by(15) {
                for attack in [Attack::Flip, Attack::Spoof, Attack::Replay] {
                    let report = run(("fft", 8), &settings, Some(Attacker::new(attack, at)));
                    let said = format!("{settings:?} {attack} at {at}: {:?}", report.outcome);
                    let Outcome::Detected(detection) = &report.outcome else { panic!("{said}") };
                    assert_eq!((detection.detector, report.wrong_reads), (Detector::Mac, Some(0)), "{said}");
                    assert!(report.strikes[0].struck.is_some(), "{said}");
                }
            }
        }
    }
    // Without protection it is read
    let report = run(("fft", 8), &[KINDS[1]], Some(Attacker::new(Attack::Flip, 30)));
    assert!(report.outcome == Outcome::Completed && report.wrong_reads.unwrap() > 0);
    // From end to end, the receiver finds it
    let report = run(("fft", 8), &[KINDS[1], "scheme.name=gcm"], Some(Attacker::new(Attack::Flip, 30)));
    assert!(matches!(report.outcome, Outcome::Detected(found) if found.detector == Detector::Tag));
}

#[test]
fn lines_and_invalidations_that_never_come_leave_a_gap_in_their_link() {
    for attack in [Attack::Drop, Attack::DropInvalidation, Attack::ReorderPair, Attack::ReorderOther] {
        for scheme in &SCHEMES[1..] {
            let settings = ["machine.processors=16", "interconnect.kind=mesh", scheme, "bus.timeout=20000"];
            let report = run(("fft", 8), &settings, Some(Attacker::new(attack, 50)));
            let detected = matches!(report.outcome, Outcome::Detected(_));
            // A line that is let pass with no other on its link between is in its order
            let passed = attack == Attack::ReorderOther && report.outcome == Outcome::Completed;
            assert!((detected || passed) && report.wrong_reads == Some(0), "{attack} {scheme}: {:?}", report.outcome);
        }
    }
    // In the clear, the writer waits for ever for the acknowledgement
    let settings = ["machine.processors=16", "interconnect.kind=mesh"];
    let report = run(("fft", 8), &settings, Some(Attacker::new(Attack::DropInvalidation, 50)));
    assert!(matches!(report.outcome, Outcome::Deadlock(_)), "{:?}", report.outcome);
}

#[test]
fn the_same_run_takes_the_same_cycles_and_a_region_counts_what_is_in_it() {
    let settings = ["machine.processors=16", "interconnect.kind=mesh", "memory.jitter=9", "bus.protocol=moesi"];
    let (one, two) = (run(("radix", 10), &settings, None), run(("radix", 10), &settings, None));
    assert_eq!(one.stats, two.stats);
    let warm = run(("radix", 10), &[&settings[..], &["machine.warm_up=3000"]].concat(), None);
    assert_eq!(one.stats.number("cycles"), warm.stats.number("cycles_of_run"));
    assert!(warm.stats.number("links.messages") < one.stats.number("links.messages"));
}

#[test]
fn processes_chips_and_protected_memory_work_over_links_too() {
    for settings in [
        ["machine.processors=8", "machine.chips=4", "bus.tags=true"],
        ["machine.processors=4", "processes.count=3", "processes.quantum=5000"],
        ["machine.processors=4", "memory.protect=tree", "memory.banks=4"],
    ] {
        for kind in KINDS {
            for scheme in ["scheme.name=gcm", "scheme.name=pcie-ide"] {
                let report = run(("fft", 8), &[&settings[..], &[kind, scheme, "l2.bytes=65536"]].concat(), None);
                let right = matches!(report.result, Some(Ok(_))) && report.wrong_reads == Some(0);
                assert!(right, "{settings:?} {kind} {scheme}: {report:?}");
            }
        }
    }
}

#[test]
fn schemes_that_need_a_bus_say_so() {
    let mesh = Config::default().set("interconnect.kind=mesh").unwrap();
    for (settings, why) in [
        (["scheme.name=senss", "machine.sync=20"], "all units follow each chain"),
        (["scheme.name=gcm", "scheme.gcm.commands=true"], "scheme gcm needs interconnect.kind=bus, not mesh"),
    ] {
        let config = settings.iter().fold(mesh.clone(), |config, setting| config.set(setting).unwrap());
        let error = config.check().unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    let pair = ["scheme.name=cbc", "scheme.cbc.scope=pair"];
    let report = run(("fft", 8), &[&pair[..], &["interconnect.kind=mesh"]].concat(), None);
    assert!(matches!(report.result, Some(Ok(_))), "{:?}", report.outcome);
}

/// A MAC for each flit of four slots, and lines of nine slots: a line waits for the third MAC, and each of the three
/// takes its bytes.
#[test]
fn lines_longer_than_an_epoch_have_several_macs() {
    for kind in ["bus", "ring", "mesh"] {
        for early in [true, false] {
            let settings = ["scheme.name=cxl-ide", "scheme.cxl-ide.flits=1"];
            let more = [format!("interconnect.kind={kind}"), format!("scheme.cxl-ide.early={early}")];
            let all = settings.into_iter().chain(more.iter().map(String::as_str));
            let config = all.fold(Config::for_line(128), |config, setting| config.set(setting).unwrap());
            let workload = Workload::kernel("fft", 8, false).unwrap();
            let simulation = Simulation { check: true, ..Simulation::new(config, workload) };
            let report = simulation.run(&mut |_| {}).unwrap();
            assert_eq!((report.failure(), report.wrong_reads), (None, Some(0)), "{kind}, {early}");
            if kind == "bus" {
                // Every line that a node receives, from a cache or from memory
                let lines = report.stats.number("transfers.count") + report.stats.number("memory.fills");
                let macs = if early { 3.0 } else { 9.0 / 4.0 };
                let bytes = report.stats.number("bus.tag_bytes");
                assert!((bytes - lines * macs * 16.0).abs() < 200.0, "{bytes} bytes of MACs for {lines} lines");
            }
        }
    }
}
