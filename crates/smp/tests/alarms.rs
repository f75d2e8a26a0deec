//! When an alarm is raised: what was tampered with must have arrived and been checked before.
#![allow(clippy::unwrap_used)]

mod common;

use common::config;
use sealwright_smp::{
    Outcome,
    attack::{Attack, Attacker},
    matrix,
    run::{Report, Simulation, Workload},
};
use serde_json::Value;

fn detected(report: &Report) -> u64 {
    let Outcome::Detected(detection) = &report.outcome else { panic!("{:?}", report.outcome) };
    detection.cycle
}

#[test]
fn no_alarm_precedes_the_arrival_of_the_line_that_raises_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bus.jsonl");
    for column in matrix::columns(&config(&["bus.flight=300"]), None).unwrap() {
        if column.name == "clear" {
            continue;
        }
        let bus = &column.config.bus;
        let crosses = (bus.header + column.config.machine.line as u64).div_ceil(bus.width) + bus.flight;
        for attack in [Attack::Flip, Attack::Spoof, Attack::Replay] {
            let mut simulation = Simulation::new(column.config.clone(), Workload::kernel("fft", 8, false).unwrap());
            simulation.attackers.push(Attacker::new(attack, 30));
            simulation.dump = Some(file.clone());
            let report = simulation.run(&mut |_| {}).unwrap();
            let Outcome::Detected(detection) = &report.outcome else { panic!("{}: {attack}", column.name) };
            let events = std::fs::read_to_string(&file).unwrap();
            let mut transfers = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            let refused = transfers.find(|event| event["event"] == "transfer" && event["number"] == detection.transfer);
            let sent = refused.unwrap()["cycle"].as_u64().unwrap();
            // The MAC of an epoch is that of several lines, and later ones may have entered the bus before its check
            let least = if column.name == "cxl-ide, skid" { report.strikes[0].cycle.unwrap() } else { sent };
            assert!(detection.cycle >= least + crosses, "{}, {attack}: {detection:?}", column.name);
        }
    }
}

/// Line 100 carries the MAC that finds it changed, which the nodes of SENSS check while its receiver already computes.
#[test]
fn a_line_that_is_used_before_its_check_is_read_wrongly_until_the_alarm() {
    let reads = [100, 200, 300].map(|at| {
        let report = common::run(("fft", 10), &["scheme.name=senss"], [Attacker::new(Attack::Flip, at)]);
        let strike = &report.strikes[0];
        assert_eq!((strike.struck, strike.later), (Some(at), Some(0)));
        // The MAC of a line takes 80 cycles
        assert!(detected(&report) >= strike.cycle.unwrap() + 80);
        strike.wrong_reads.unwrap()
    });
    assert!(reads.iter().sum::<u64>() > 0, "{reads:?}");
    // A line that waits for its check is never read
    for scheme in ["gcm", "cbc", "i2sems", "cxl-ide", "pcie-ide"] {
        let report = common::run(("fft", 8), &[&format!("scheme.name={scheme}")], [Attacker::new(Attack::Flip, 100)]);
        assert_eq!((report.strikes[0].wrong_reads, report.strikes[0].later), (Some(0), Some(0)), "{scheme}");
    }
}

/// Over links, too, what an attacker held back is checked after it has gone on: no event is in the past.
#[test]
fn over_links_every_attack_is_played_in_the_order_of_time() {
    let base = config(&["interconnect.kind=mesh", "machine.processors=8"]);
    for column in matrix::columns(&base, None).unwrap() {
        for attack in [Attack::ReorderPair, Attack::ReorderOther, Attack::Replay] {
            for at in [50, 76, 141] {
                let mut simulation =
                    Simulation::new(column.config.clone(), Workload::kernel("radix", 10, false).unwrap());
                simulation.attackers.push(Attacker::new(attack, at));
                let report = simulation.run(&mut |_| {}).unwrap();
                if let Outcome::Detected(detection) = &report.outcome {
                    let strike = report.strikes[0].cycle.unwrap();
                    assert!(detection.cycle > strike, "{}, {attack}: {detection:?}", column.name);
                }
            }
        }
    }
}

#[test]
fn no_alarm_of_memory_precedes_the_line_that_it_delivers() {
    let small = ["l1.bytes=1024", "l2.bytes=4096", "memory.latency=500"];
    for (protect, attack) in
        [("xts-mac", Attack::MemoryFlip), ("tree", Attack::MemoryFlip), ("tree", Attack::MemoryReplay)]
    {
        let protect = format!("memory.protect={protect}");
        let settings = [&small[..], &[&protect]].concat();
        let report = common::run(("fft", 8), &settings, [Attacker::new(attack, 20)]);
        let strike = &report.strikes[0];
        assert!(detected(&report) >= strike.cycle.unwrap() + 500, "{protect}: {:?}", report.outcome);
        assert_eq!((strike.wrong_reads, strike.later), (Some(0), Some(0)), "{protect}, {attack}");
    }
}
