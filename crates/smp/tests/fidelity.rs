//! What an architect may rely on: regions of interest, detection without an oracle, containment, checks under skew.
#![allow(clippy::unwrap_used)]

mod common;

use common::config;
use sealwright_smp::{
    Image, Machine, Outcome,
    access::{Access, Operation, Source, SourceError, Steps},
    attack::{Attack, Attacker},
    message::Detector,
    run::{Report, SimulationError},
};

fn run(settings: &[&str], attacker: Option<Attacker>) -> Report {
    common::run(("fft", 8), settings, attacker)
}

fn access(kind: Operation, address: u64, gap: u32) -> Access {
    Access { address, value: 7, gap, kind, size: if kind.synchronises() { 0 } else { 8 } }
}

#[test]
fn what_happens_before_the_region_of_interest_is_not_counted() {
    let region = vec![access(Operation::Load, 64, 0), access(Operation::Load, 64, 10)];
    let whole = |begin: bool| {
        let mut first = vec![access(Operation::Load, 4096, 1_000_000)];
        if begin {
            first.push(access(Operation::RegionBegin, 0, 0));
        }
        first.extend(region.clone());
        if begin {
            first.push(access(Operation::RegionEnd, 0, 0));
        }
        first.push(access(Operation::Load, 8192, 500_000));
        let sources: Vec<Box<dyn Source>> = vec![Box::new(Steps(first)), Box::new(Steps(Vec::new()))];
        let mut machine = Machine::new(&config(&["machine.processors=2"]), Image::default(), sources).unwrap();
        assert_eq!(machine.run(u64::MAX).unwrap(), Some(Outcome::Completed));
        machine.stats()
    };
    let (all, region) = (whole(false), whole(true));
    assert!(all.number("cycles") > 1_500_000.0);
    assert!(region.number("cycles") < 1_000.0, "{}", region.text());
    assert_eq!(region.number("cycles_of_run"), all.number("cycles"));
    assert_eq!((all.number("cache.misses"), region.number("cache.misses")), (3.0, 1.0));
}

/// An end of the region is one of what is counted in it, and not of what is told of the whole run.
#[test]
fn numbers_of_the_whole_run_go_beyond_the_region() {
    let told = |ends: bool| {
        let mut first = vec![access(Operation::RegionBegin, 0, 0), access(Operation::Store, 64, 1)];
        first.extend(ends.then(|| access(Operation::RegionEnd, 0, 0)));
        first.extend((2..10).map(|line| access(Operation::Store, 64 * line, 1)));
        let reads =
            || (2..10).map(|line| access(Operation::Load, 64 * line, if line == 2 { 20_000 } else { 1 })).collect();
        let sources: Vec<Box<dyn Source>> =
            vec![Box::new(Steps(first)), Box::new(Steps(reads())), Box::new(Steps(reads()))];
        let settings = ["machine.processors=3", "machine.mshrs=4", "scheme.name=gcm", "scheme.gcm.iv=faithful-sender"];
        let mut machine = Machine::new(&config(&settings), Image::default(), sources).unwrap();
        assert_eq!(machine.run(u64::MAX).unwrap(), Some(Outcome::Completed));
        machine.stats()
    };
    let (cut, whole) = (told(true), told(false));
    assert!(cut.number("cycles") < whole.number("cycles") && cut.number("stores") == 1.0);
    for name in ["scheme.nonces.used", "scheme.nonces.repeated", "scheme.exchange_bytes", "mshr.most_taken"] {
        assert!(cut.number(name) > 0.0 && cut.number(name) == whole.number(name), "{name}: {}", cut.text());
    }
    let finished = |stats: &sealwright_smp::Stats| {
        let leaves = stats.leaves().into_iter().filter(|(name, _)| name.ends_with(".finished"));
        leaves.filter_map(|(_, cycle)| cycle.as_u64()).collect::<Vec<_>>()
    };
    assert_eq!(finished(&cut), finished(&whole));
    assert!(finished(&cut).len() == 3 && !finished(&cut).contains(&0));
}

/// What a machine counts whose first processor does this: loads, then a bound, and so on. The second one loads nothing.
fn bounded(settings: &[&str], steps: &[(u64, Option<Operation>)]) -> sealwright_smp::Stats {
    let mut first = Vec::new();
    for (loads, bound) in steps {
        first.extend((0..*loads).map(|load| access(Operation::Load, 64 * (load % 4), 1)));
        first.extend(bound.map(|bound| access(bound, 0, 0)));
    }
    let sources: Vec<Box<dyn Source>> = vec![Box::new(Steps(first)), Box::new(Steps(Vec::new()))];
    let settings = [&["machine.processors=2"], settings].concat();
    let mut machine = Machine::new(&config(&settings), Image::default(), sources).unwrap();
    assert_eq!(machine.run(u64::MAX).unwrap(), Some(Outcome::Completed));
    machine.stats()
}

#[test]
fn a_region_that_ends_before_it_begins_is_from_its_beginning_on() {
    use Operation::{RegionBegin, RegionEnd};
    let counted = |settings: &[&str], steps: &[(u64, Option<Operation>)]| {
        let stats = bounded(settings, steps);
        let (cycles, all) = (stats.number("cycles"), stats.number("cycles_of_run"));
        assert!(cycles > 0.0 && cycles <= all, "{cycles} of {all}");
        stats.number("references")
    };
    assert_eq!(counted(&[], &[(7, Some(RegionEnd)), (20, Some(RegionBegin)), (5, None)]), 5.0);
    let twice = [(7, Some(RegionEnd)), (20, Some(RegionBegin)), (5, Some(RegionEnd)), (9, None)];
    assert_eq!(counted(&[], &twice), 5.0);
    // The end is the program's own bound, so there is nothing to warm up for
    assert_eq!(counted(&["machine.warm_up=15"], &[(10, Some(RegionEnd)), (20, None)]), 10.0);
}

#[test]
fn the_programs_region_goes_before_the_warm_up() {
    let steps = [(100, Some(Operation::RegionBegin)), (90, Some(Operation::RegionEnd)), (50, None)];
    for warm_up in ["machine.warm_up=0", "machine.warm_up=10", "machine.warm_up=150", "machine.warm_up=9000"] {
        assert_eq!(bounded(&[warm_up], &steps).number("references"), 90.0, "{warm_up}");
    }
}

#[test]
fn a_warm_up_that_never_ends_is_a_failure() {
    let (warm, cold) = (run(&["machine.warm_up=3000"], None), run(&["machine.warm_up=3000000"], None));
    assert_eq!((warm.failure(), warm.cold), (None, None));
    let references = cold.stats.number("references") as u64;
    assert_eq!(cold.failure(), Some(SimulationError::Cold(references)));
    assert!(cold.failure().unwrap().to_string().contains(&format!("after {references} references")));
}

/// Where a run ends early, its length is that until it ended, not until the first processor had finished.
#[test]
fn a_run_that_ends_early_took_the_time_until_then() {
    // The first processor holds a lock for which the second one waits for ever; the third has finished at once
    let load = |line: u64| access(Operation::Load, 64 * line, 0);
    let sources: [Vec<Access>; 3] = [
        vec![access(Operation::Lock, 8, 0), load(100)],
        (0..200).map(|line| access(Operation::Store, 64 * line, 50)).chain([access(Operation::Lock, 8, 100)]).collect(),
        vec![load(7)],
    ];
    let sources = sources.map(|steps| Box::new(Steps(steps)) as Box<dyn Source>);
    let mut machine = Machine::new(&config(&["machine.processors=3"]), Image::default(), sources.into()).unwrap();
    assert_eq!(machine.run(u64::MAX).unwrap(), Some(Outcome::Deadlock(vec![1])));
    let stats = machine.stats();
    assert!(stats.number("cycles_of_run") > 10_000.0, "{}", stats.text());
    assert!(stats.number("bus.data_busy") < 1.0 && stats.number("bus.address_busy") < 1.0, "{}", stats.text());
    // An alarm, when others have finished long ago
    let writer: Vec<Access> = (0..300).map(|line| access(Operation::Store, 64 * line, 50)).collect();
    let reader: Vec<Access> = (0..300).map(|line| access(Operation::Load, 64 * line, 700)).collect();
    let sources: Vec<Box<dyn Source>> =
        vec![Box::new(Steps(writer)), Box::new(Steps(reader)), Box::new(Steps(Vec::new()))];
    let settings = ["machine.processors=3", "scheme.name=gcm"];
    let mut machine = Machine::new(&config(&settings), Image::default(), sources).unwrap();
    machine.attack(Attacker::new(Attack::Flip, 200));
    let Some(Outcome::Detected(detection)) = machine.run(u64::MAX).unwrap() else { panic!("{:?}", machine.outcome()) };
    let stats = machine.stats();
    assert!(stats.number("cycles_of_run") >= detection.cycle as f64, "{} {detection:?}", stats.text());
    let finished =
        stats.leaves().into_iter().find(|(name, _)| name == "nodes.0.finished").and_then(|(_, at)| at.as_u64());
    assert!((1..detection.cycle).contains(&finished.unwrap()), "{finished:?} {detection:?}");
}

/// A processor that only hits runs on after the last event; who waits meanwhile waits until then.
#[test]
fn waits_without_an_end_are_as_long_as_the_run() {
    // The first processor takes a lock, hits and ends; the second one waits for the lock for ever
    let holder = [access(Operation::Lock, 8, 0)].into_iter().chain((0..3000).map(|_| access(Operation::Load, 64, 0)));
    for kind in ["interconnect.kind=bus", "interconnect.kind=mesh"] {
        let sources: Vec<Box<dyn Source>> =
            vec![Box::new(Steps(holder.clone().collect())), Box::new(Steps(vec![access(Operation::Lock, 8, 100)]))];
        let mut machine = Machine::new(&config(&["machine.processors=2", kind]), Image::default(), sources).unwrap();
        assert_eq!(machine.run(u64::MAX).unwrap(), Some(Outcome::Deadlock(vec![1])), "{kind}");
        let stats = machine.stats();
        let (cycles, met) = (stats.number("cycles"), stats.number("wait.processors"));
        assert!(cycles > 12_000.0 && (cycles - 500.0..=cycles).contains(&met), "{kind}: {}", stats.text());
    }
}

#[test]
fn counting_begins_after_the_warm_up() {
    let (all, warm) = (run(&[], None), run(&["machine.warm_up=3000"], None));
    assert_eq!(all.stats.number("cycles"), warm.stats.number("cycles_of_run"));
    assert!(warm.stats.number("cache.misses") < all.stats.number("cache.misses"));
}

/// Accesses that a thread's source gives a batch at a time, as traces and kernels do.
struct Batches(Vec<Access>);

impl Source for Batches {
    fn fill(&mut self, steps: &mut Vec<Access>) -> Result<(), SourceError> {
        *steps = self.0.drain(..self.0.len().min(4096)).collect();
        Ok(())
    }
}

/// A processor that only hits runs far ahead of the last event.
#[test]
fn the_warm_up_takes_the_time_of_its_references() {
    const ALL: u64 = 100_000;
    let loads = |count: u64| (0..count).map(|load| access(Operation::Load, 64 * (load % 4), 0)).collect();
    // Hits are counted a batch later, of each processor; the second one hits as many times, or hardly ever
    for (kind, late) in [("bus", 256), ("mesh", 4096)] {
        for (warm_up, hitters) in [5_000, 50_000, 90_000].into_iter().flat_map(|warm_up| [(warm_up, 1), (warm_up, 2)]) {
            let (warm_up_set, kind_set) = (format!("machine.warm_up={warm_up}"), format!("interconnect.kind={kind}"));
            let settings = ["machine.processors=2", &warm_up_set, &kind_set];
            let second = if hitters == 2 { ALL } else { 4 };
            let sources: Vec<Box<dyn Source>> = vec![Box::new(Batches(loads(ALL))), Box::new(Batches(loads(second)))];
            let mut machine = Machine::new(&config(&settings), Image::default(), sources).unwrap();
            assert_eq!(machine.run(u64::MAX).unwrap(), Some(Outcome::Completed));
            let stats = machine.stats();
            let (left, cycles) = (stats.number("references") as u64, stats.number("cycles") as u64);
            let (most, name) = (hitters * ALL - warm_up, format!("{kind} {warm_up} {hitters}"));
            assert!((most - hitters * late..=most + 4).contains(&left), "{name}: {left}");
            // Of two, one begins to hit a few lines' time after the other
            let (each, apart) = (4 * left / hitters, if hitters == 2 { 1_000 } else { 8 });
            assert!((each - apart..=each + apart).contains(&cycles), "{name}: {cycles} for {left} hits");
        }
    }
}

#[test]
fn waits_count_as_far_as_they_are_in_the_region_of_interest() {
    use Operation::{Load, Lock, Post, RegionBegin, RegionEnd, Wait};
    let load = |line: u64, gap| access(Load, 64 * line, gap);
    let begin = [load(0, 0), access(Lock, 9, 0), access(RegionBegin, 0, 100_000)];
    let end =
        [access(Post, 1, 1_000), load(1, 1_000), access(RegionEnd, 0, 1_000), access(Post, 2, 50_000), load(2, 50_000)];
    // One waits from before the region on, one until after it, and one from before it until after it
    let others =
        [vec![access(Wait, 1, 0), load(3, 0)], vec![load(4, 100_500), access(Wait, 2, 0)], vec![access(Lock, 9, 500)]];
    for more in ["machine.mshrs=1", "machine.mshrs=4", "interconnect.kind=mesh"] {
        let first: Vec<Access> = begin.into_iter().chain(end).chain([access(Operation::Unlock, 9, 0)]).collect();
        let sources =
            [vec![first], others.to_vec()].concat().into_iter().map(|it| Box::new(Steps(it)) as Box<dyn Source>);
        let settings = ["machine.processors=4", more];
        let mut machine = Machine::new(&config(&settings), Image::default(), sources.collect()).unwrap();
        assert_eq!(machine.run(u64::MAX).unwrap(), Some(Outcome::Completed));
        let stats = machine.stats();
        let cycles = stats.number("cycles");
        assert!((3_000.0..4_000.0).contains(&cycles), "{more}: {}", stats.text());
        let tree = stats.json();
        let met = |node: usize| tree["nodes"][node]["met"].as_f64().unwrap();
        for node in 0..4 {
            let waited = tree["nodes"][node]["waited"].as_f64().unwrap();
            assert!(met(node) + waited <= cycles, "{more}, node {node}: {}", stats.text());
        }
        assert!((1_000.0..1_500.0).contains(&met(1)) && met(2) > cycles - 1_000.0, "{more}: {}", stats.text());
        assert_eq!(met(3), cycles, "{more}");
    }
}

#[test]
fn an_attacker_who_never_strikes_is_never_detected() {
    // A timeout about as long as a fill from memory fires often
    let settings = ["scheme.name=gcm", "bus.timeout=150"];
    let (alone, watched) = (run(&settings, None), run(&settings, Some(Attacker::new(Attack::Drop, u64::MAX))));
    assert!(alone.stats.number("bus.timeouts") > 100.0);
    assert_eq!((&watched.outcome, watched.struck()), (&Outcome::Completed, None));
    assert_eq!(alone.stats, watched.stats);
}

#[test]
fn a_request_that_is_never_answered_raises_the_alarm_with_or_without_an_attacker() {
    // Ten cycles are shorter than any transfer: the node gives up, whoever is on the bus
    for attacker in [None, Some(Attacker::new(Attack::Drop, u64::MAX))] {
        let report = run(&["scheme.name=gcm", "bus.timeout=10"], attacker);
        let Outcome::Detected(detection) = report.outcome else { panic!("{:?}", report.outcome) };
        assert_eq!(detection.detector, Detector::Timeout);
    }
}

#[test]
fn containment_lets_no_changed_line_through() {
    for scheme in ["cxl-ide", "pcie-ide"] {
        let settings = [
            format!("scheme.name={scheme}"),
            "scheme.cxl-ide.early=false".to_owned(),
            "scheme.pcie-ide.aggregation=4".to_owned(),
        ];
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        for at in (10..100).step_by(9) {
            for attack in [Attack::Flip, Attack::Spoof, Attack::Replay, Attack::Drop] {
                let report = run(&settings, Some(Attacker::new(attack, at)));
                assert!(report.struck().is_some(), "{scheme} {attack} at {at}");
                assert!(
                    matches!(report.outcome, Outcome::Detected(_)),
                    "{scheme} {attack} at {at}: {:?}",
                    report.outcome
                );
                assert_eq!(report.wrong_reads, Some(0), "{scheme} {attack} at {at}");
            }
        }
    }
}

#[test]
fn a_link_never_uses_a_line_out_of_its_place() {
    for scheme in ["scheme.name=cxl-ide", "scheme.name=pcie-ide"] {
        for attack in
            [Attack::Flip, Attack::Spoof, Attack::Replay, Attack::ReorderPair, Attack::ReorderOther, Attack::Drop]
        {
            for at in (10..100).step_by(9) {
                let report = run(&[scheme, "bus.timeout=2000"], Some(Attacker::new(attack, at)));
                assert_eq!(report.wrong_reads, Some(0), "{scheme} {attack} at {at}: {:?}", report.outcome);
                let passes = attack == Attack::ReorderOther && report.outcome == Outcome::Completed;
                assert!(passes || matches!(report.outcome, Outcome::Detected(_)), "{scheme} {attack} at {at}");
            }
        }
    }
}

#[test]
fn epochs_and_aggregates_that_are_not_ended_early_cost_time() {
    let cycles = |settings: &[&str]| run(settings, None).stats.number("cycles");
    let clear = cycles(&[]);
    let early = cycles(&["scheme.name=cxl-ide"]);
    let full = cycles(&["scheme.name=cxl-ide", "scheme.cxl-ide.early=false"]);
    let packet = cycles(&["scheme.name=pcie-ide"]);
    let eight = cycles(&["scheme.name=pcie-ide", "scheme.pcie-ide.aggregation=8"]);
    assert!(clear < early && early < full, "{clear} {early} {full}");
    assert!(early < packet && packet < eight, "{early} {packet} {eight}");
}

#[test]
fn a_result_is_not_called_right_when_loads_were_wrong() {
    let report = run(&["scheme.name=clear"], Some(Attacker::new(Attack::Flip, 30)));
    assert_eq!(report.outcome, Outcome::Completed);
    assert!(report.wrong_reads.unwrap() > 0);
    assert!(report.result.unwrap().is_err());
}

#[test]
fn late_snoops_are_checked_and_commands_that_are_kept_from_a_node_are_noticed() {
    let settings = ["bus.skew=30", "scheme.name=gcm", "scheme.gcm.commands=true"];
    assert_eq!(run(&settings, None).outcome, Outcome::Completed);
    let report = run(&settings, Some(Attacker::new(Attack::DropInvalidation, 100)));
    let Outcome::Detected(detection) = &report.outcome else { panic!("{:?}", report.outcome) };
    assert_eq!(detection.detector, Detector::Command);
    // A changed line is a wrong read with late snoops too
    let report = run(&["bus.skew=30"], Some(Attacker::new(Attack::Flip, 30)));
    assert!(report.wrong_reads.unwrap() > 0);
}

#[test]
fn tags_take_their_own_bytes_of_the_bus() {
    let busy = |settings: &[&str]| {
        let report = run(&[settings, &["bus.tags=true"]].concat(), None);
        let number = |path| report.stats.number(path);
        ((number("bus.data_busy") * number("cycles")).round(), number("transfers.count"), number("memory.fills"))
    };
    // 72 bytes of header and line take 8 cycles of 10 bytes, 88 with a tag take 9
    let (cycles, transfers, fills) = busy(&["scheme.name=gcm"]);
    assert_eq!(cycles, 9.0 * transfers + 8.0 * fills);
    // A MAC of 8 bytes fits the eighth cycle; of 8 bytes' width it takes a tenth
    let (cycles, transfers, fills) = busy(&["scheme.name=cbc"]);
    assert_eq!(cycles, 8.0 * (transfers + fills));
    let ten = ["scheme.name=cbc", "scheme.cbc.authenticate=10", "scheme.cbc.scope=group", "bus.width=8"];
    let (cycles, transfers, fills) = busy(&ten);
    assert_eq!(cycles, 9.0 * (transfers + fills) + (transfers / 10.0).floor());
}

#[test]
fn a_wider_window_of_i2sems_is_ready_more_often() {
    let ready = |window: &str| {
        let report = run(&["scheme.name=i2sems", window, "engines.units=generous"], None);
        report.stats.number("scheme.receive.ready_share")
    };
    let shares = ["scheme.i2sems.window=1", "scheme.i2sems.window=8", "scheme.i2sems.window=64"].map(ready);
    assert!(shares[0] < shares[1] && shares[1] <= shares[2], "{shares:?}");
    // What is made ahead does not keep lines waiting that were not foreseen; a few per cent are chance
    let cycles = |window: &str| {
        let report = run(&["scheme.name=i2sems", window, "machine.processors=8"], None);
        report.stats.number("cycles")
    };
    let [one, eight, many] =
        ["scheme.i2sems.window=1", "scheme.i2sems.window=8", "scheme.i2sems.window=64"].map(cycles);
    assert!(eight < 1.06 * one && many < one, "{one} {eight} {many}");
}

#[test]
fn units_are_paid_by_the_same_rules() {
    let cycles = |scheme: &str, units: &str, model: &str| {
        let settings =
            [format!("scheme.name={scheme}"), format!("engines.units={units}"), format!("engines.model={model}")];
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        run(&settings, None).stats.number("cycles")
    };
    for scheme in ["gcm", "cbc", "senss", "i2sems", "cxl-ide", "pcie-ide"] {
        let generous = cycles(scheme, "generous", "iterative");
        assert_eq!(generous, cycles(scheme, "generous", "window"), "{scheme}: nothing waits for an engine");
        let equal = ["window", "pipelined", "iterative"].map(|model| cycles(scheme, "equal", model));
        assert!(equal[0] <= equal[2], "{scheme}: {equal:?}");
    }
    // GCM has the same in both; CBC gets a second mask each way
    for model in ["pipelined", "iterative"] {
        assert_eq!(cycles("gcm", "thesis", model), cycles("gcm", "equal", model));
        assert!(cycles("cbc", "thesis", model) > cycles("cbc", "equal", model));
    }
}
