//! Several attackers in one run, and commands that no node sent.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    sync::mpsc::{self, RecvTimeoutError},
    time::Duration,
};

use common::config;
use sealwright_smp::{
    Image, Machine, Outcome,
    access::{Access, Operation, Source, Steps},
    attack::{Attack, Attacker},
    message::Detector,
    run::Report,
};

fn run(settings: &[&str], attacks: &[(Attack, u64)]) -> Report {
    common::run(("fft", 8), settings, attacks.iter().map(|(attack, at)| Attacker::new(*attack, *at)))
}

fn struck(report: &Report) -> Vec<Option<u64>> {
    report.strikes.iter().map(|strike| strike.struck).collect()
}

#[test]
fn every_strike_is_told_by_itself() {
    let report = run(&[], &[(Attack::Flip, 30), (Attack::Spoof, 60), (Attack::DropInvalidation, 200)]);
    assert_eq!(report.outcome, Outcome::Completed, "in the clear nothing is ever noticed");
    let [flip, spoof, kept] = &report.strikes[..] else { panic!("{:?}", report.strikes) };
    assert_eq!((flip.struck, spoof.struck), (Some(30), Some(60)));
    assert!(kept.struck.is_some_and(|number| number >= 200), "{kept:?}");
    assert!(flip.cycle < spoof.cycle && flip.detector.is_none() && spoof.later.is_none());
    assert_eq!(flip.wrong_reads, report.wrong_reads, "no load was wrong before the first strike");
    assert!(spoof.wrong_reads.unwrap() > 0 && spoof.wrong_reads < flip.wrong_reads, "{:?}", report.strikes);
    assert_eq!(report.stats.number("strikes.1.struck"), 60.0);
}

#[test]
fn an_attacker_beside_another_changes_nothing_until_its_own_strike() {
    for scheme in ["scheme.name=clear", "scheme.name=gcm", "scheme.name=senss"] {
        for attack in Attack::ALL {
            let alone = run(&[scheme], &[(attack, 30)]);
            let beside = run(&[scheme], &[(Attack::Drop, u64::MAX), (attack, 30), (Attack::Replay, u64::MAX)]);
            assert_eq!((&alone.outcome, alone.struck()), (&beside.outcome, beside.struck()), "{scheme} {attack}");
            assert_eq!(alone.strikes[0], beside.strikes[1], "{scheme} {attack}");
            assert_eq!(beside.stats.at("strikes.0"), None, "what never came has no numbers");
            assert_eq!(alone.stats.number("cycles"), beside.stats.number("cycles"), "{scheme} {attack}");
        }
    }
}

#[test]
fn the_first_alarm_ends_the_run_and_the_chances_of_all_others() {
    let report = run(&["scheme.name=gcm"], &[(Attack::Flip, 60), (Attack::Flip, 30), (Attack::Flip, 31)]);
    assert_eq!(struck(&report), [None, Some(30), None]);
    assert_eq!(report.strikes[1].detector, Some(Detector::Tag));
    assert_eq!((report.strikes[0].detector, report.strikes[0].wrong_reads), (None, None));
}

#[test]
fn an_alarm_counts_for_every_strike_before_it() {
    // A MAC in a hundred lines: both are in its interval, and it does not tell which of them it found
    let report = run(&["scheme.name=senss"], &[(Attack::Flip, 30), (Attack::Spoof, 40)]);
    let Outcome::Detected(detection) = &report.outcome else { panic!("{:?}", report.outcome) };
    for strike in &report.strikes {
        assert_eq!(strike.detector, Some(detection.detector), "{strike:?}");
        assert_eq!(strike.later, Some(detection.transfer - strike.struck.unwrap()));
    }
    assert_eq!(struck(&report), [Some(30), Some(40)]);
}

#[test]
fn strikes_at_once_take_one_line_each() {
    // The same bits changed twice in one line would be no strike at all
    let report = run(&[], &[(Attack::Flip, 30), (Attack::Flip, 30)]);
    assert_eq!(struck(&report), [Some(30), Some(31)]);
    let small = ["l1.bytes=1024", "l2.bytes=4096"];
    let report = run(&small, &[(Attack::MemoryFlip, 20), (Attack::MemoryFlip, 20), (Attack::Flip, 20)]);
    assert_eq!(struck(&report), [Some(20), Some(21), Some(20)]);
    // What one holds back reaches no other
    let report = run(&[], &[(Attack::ReorderOther, 30), (Attack::Flip, 30)]);
    assert_eq!(struck(&report), [Some(30), Some(31)]);
}

const LINE: u64 = 64;

fn access(kind: Operation, address: u64) -> Access {
    let (value, size) = if kind.synchronises() { (0, 0) } else { (7, 8) };
    Access { address, value, gap: 1, kind, size }
}

/// Node 0 writes two lines and goes on with others; then node 1 reads the first one, or does not.
fn victim(settings: &[&str], reads: bool) -> (Machine, Outcome) {
    let first = (1..=4).map(|line| access(Operation::Store, line * LINE)).chain([access(Operation::Barrier, 1)]);
    let second = [access(Operation::Barrier, 1)].into_iter().chain(reads.then(|| access(Operation::Load, LINE)));
    let sources: Vec<Box<dyn Source>> = vec![Box::new(Steps(first.collect())), Box::new(Steps(second.collect()))];
    let config = config(&[&["machine.processors=2"][..], settings].concat());
    let mut machine = Machine::new(&config, Image::default(), sources).unwrap();
    machine.check_values();
    machine.attack(Attacker::new(Attack::ForgeCommand, 1));
    let outcome = machine.run(u64::MAX).unwrap().unwrap();
    (machine, outcome)
}

#[test]
fn a_forged_command_loses_the_line_of_its_owner() {
    for scheme in ["clear", "gcm", "cbc", "senss", "i2sems"] {
        let scheme = format!("scheme.name={scheme}");
        // The owner sends the line to a node that never asked: nobody has it, and whoever asks for it waits for ever
        let (machine, outcome) = victim(&[&scheme], true);
        assert_eq!(outcome, Outcome::Deadlock(vec![1]), "{scheme}");
        assert!(machine.strikes()[0].struck.is_some_and(|number| number > 1));
        // If nobody asks, nobody notices that it is lost
        let (machine, outcome) = victim(&[&scheme], false);
        assert_eq!((outcome, machine.lost_lines()), (Outcome::Completed, Some(1)), "{scheme}");
        // A node that waits raises the alarm in the end, where it may
        let (_, outcome) = victim(&[&scheme, "bus.timeout=1000"], true);
        let Outcome::Detected(detection) = outcome else { panic!("{scheme}: {outcome:?}") };
        assert_eq!((detection.detector, detection.node), (Detector::Timeout, 1), "{scheme}");
    }
}

#[test]
fn a_tag_on_each_command_tells_a_forged_one_at_once() {
    for settings in [
        &["scheme.name=gcm", "scheme.gcm.commands=true"][..],
        &["scheme.name=cxl-ide"],
        &["scheme.name=cxl-ide", "scheme.cxl-ide.release=skid"],
        &["scheme.name=pcie-ide"],
    ] {
        let (machine, outcome) = victim(settings, true);
        let Outcome::Detected(detection) = outcome else { panic!("{settings:?}: {outcome:?}") };
        assert_eq!((detection.detector, detection.node), (Detector::Command, 0), "the node that it is for");
        assert_eq!(machine.strikes()[0].later, Some(0), "{settings:?}");
    }
}

#[test]
fn forged_commands_strike_every_kind_of_bus() {
    for kind in [
        &["bus.protocol=mesi"][..],
        &["bus.protocol=moesi"],
        &["bus.mode=atomic"],
        &["bus.skew=30"],
        &["machine.chips=2"],
        &["machine.processors=2"],
        &["bus.arbiter=fixed", "machine.processors=8"],
        &["l1.bytes=1024", "l2.bytes=4096"],
    ] {
        for at in [40, 100, 300] {
            let report = run(&[kind, &["scheme.name=gcm"]].concat(), &[(Attack::ForgeCommand, at)]);
            assert!(report.struck().is_some_and(|number| number >= at), "{kind:?}");
            let harm = matches!(report.outcome, Outcome::Deadlock(_)) || report.lost_lines > Some(0);
            assert!(harm, "{kind:?} at {at}: {:?}, {:?} lost", report.outcome, report.lost_lines);
            let tags = ["scheme.name=gcm", "scheme.gcm.commands=true"];
            let report = run(&[kind, &tags].concat(), &[(Attack::ForgeCommand, at)]);
            let Outcome::Detected(detection) = report.outcome else { panic!("{kind:?}: {:?}", report.outcome) };
            assert_eq!(detection.detector, Detector::Command, "{kind:?}");
        }
    }
}

/// A node that asks again for a lost line reaches its peer at no cost: nothing more is on the address lines.
#[test]
fn a_line_that_is_asked_for_again_adds_no_command() {
    let run = |attack: Option<Attack>| {
        let sources: [Vec<Access>; 2] = [
            vec![access(Operation::Store, LINE), access(Operation::Barrier, 1)],
            vec![access(Operation::Barrier, 1), access(Operation::Load, LINE)],
        ];
        let sources = sources.map(|steps| -> Box<dyn Source> { Box::new(Steps(steps)) });
        let config = config(&["machine.processors=2", "bus.timeout=2000"]);
        let mut machine = Machine::new(&config, Image::default(), sources.into()).unwrap();
        attack.into_iter().for_each(|attack| machine.attack(Attacker::new(attack, 1)));
        assert_eq!(machine.run(u64::MAX).unwrap(), Some(Outcome::Completed));
        let stats = machine.stats();
        ["bus.timeouts", "transfers.count", "bus.commands"].map(|name| stats.number(name))
    };
    let ([none, once, commands], [one, twice, same]) = (run(None), run(Some(Attack::Drop)));
    assert_eq!((none, once, one, twice), (0.0, 1.0, 1.0, 2.0));
    assert_eq!((commands, same), (2.0, 2.0));
}

/// On an atomic bus nobody has a turn after a line that is lost. Who waits for a write-back of its own tries again and
/// again, which is no progress.
#[test]
fn retries_alone_end_no_run() {
    let (told, heard) = mpsc::channel();
    std::thread::spawn(move || {
        let levels = ["l1.bytes=64", "l1.ways=1", "l2.bytes=64", "l2.ways=1"];
        let settings = [&["machine.processors=2", "bus.mode=atomic", "scheme.name=gcm"][..], &levels].concat();
        for gap in (100..1500).step_by(50) {
            let stores = [1, 2, 3, 1].map(|page| access(Operation::Store, page << 12));
            let load = Access { gap, ..access(Operation::Load, 2 << 12) };
            let sources: Vec<Box<dyn Source>> = vec![Box::new(Steps(stores.to_vec())), Box::new(Steps(vec![load]))];
            let mut machine = Machine::new(&config(&settings), Image::default(), sources).unwrap();
            machine.attack(Attacker::new(Attack::Drop, 1));
            let outcome = machine.run(u64::MAX).unwrap().unwrap();
            told.send((outcome, machine.stats().number("cache.retries"))).unwrap();
        }
    });
    let mut stuck = 0;
    loop {
        let (outcome, retries) = match heard.recv_timeout(Duration::from_secs(60)) {
            Ok(found) => found,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("a run goes on for ever"),
        };
        stuck += u32::from(outcome == Outcome::Deadlock(vec![0, 1]) && retries > 0.0);
    }
    assert!(stuck > 0);
}

#[test]
fn attacks_have_names_of_their_own() {
    let names: Vec<&str> = Attack::every().map(Attack::name).collect();
    assert_eq!(names.len(), Attack::ALL.len() + Attack::ON_MEMORY.len());
    for (place, name) in names.iter().enumerate() {
        assert_eq!(names.iter().position(|other| other == name), Some(place), "{name} twice");
        assert_eq!(Attack::by_name(name).map(Attack::name), Some(*name));
        assert_eq!(serde_json::to_value(Attack::by_name(name)).unwrap(), *name, "in results as on command lines");
    }
    assert_eq!(Attack::by_name("shout"), None);
}
