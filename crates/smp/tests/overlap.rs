//! Misses that overlap: the time that they take, what joins a line under way, what waits for all of them, and that
//! results stay right.
#![allow(clippy::unwrap_used)]

mod common;

use common::{config, run};
use sealwright_smp::{
    Image, Machine, Outcome, Stats,
    access::{Access, Operation, Source, Steps},
    attack::{Attack, Attacker},
    scheme::SchemeName,
    topology,
};

/// What processor 0 of two does alone: kinds, addresses and gaps.
fn alone(steps: &[(Operation, u64, u32)], settings: &[&str]) -> Stats {
    let access =
        |&(kind, address, gap): &_| Access { address, value: u64::from(kind == Operation::Store), gap, kind, size: 8 };
    let sources: Vec<Box<dyn Source>> =
        vec![Box::new(Steps(steps.iter().map(access).collect())), Box::new(Steps(Vec::new()))];
    let settings = [&["machine.processors=2"], settings].concat();
    let mut machine = Machine::new(&config(&settings), Image::default(), sources).unwrap();
    machine.check_values();
    assert_eq!(machine.run(u64::MAX).unwrap(), Some(Outcome::Completed));
    machine.check_all().unwrap();
    assert_eq!(machine.wrong_reads(), Some(0));
    machine.stats()
}

fn numbers<const N: usize>(stats: &Stats, names: [&str; N]) -> [f64; N] {
    names.map(|name| stats.number(name))
}

/// Issue 2, arbitration 3, memory 160, 72 bytes at 10 a cycle and their way (12).
const LINE: u32 = 2 + 3 + 160 + 12;
const HIT: u32 = 4;

#[test]
fn lines_come_side_by_side_and_a_full_file_waits() {
    let loads = [(Operation::Load, 64, 0), (Operation::Load, 128, 0), (Operation::Load, 192, 0)];
    let cycles = |count: usize, mshrs: &str| alone(&loads[..count], &[mshrs]).number("cycles");
    assert_eq!(cycles(2, "machine.mshrs=1"), f64::from(2 * (LINE + HIT)));
    // The second load begins when a hit would have been done, and its line waits for the first on the data lines
    assert_eq!(cycles(2, "machine.mshrs=2"), f64::from(LINE + HIT + 8));
    let three = alone(&loads, &["machine.mshrs=2"]);
    assert_eq!(three.number("cycles"), f64::from(LINE + LINE + HIT), "the third waits for the first one's register");
    let names = ["mshr.primary", "mshr.secondary", "mshr.full_cycles", "mshr.drain_cycles", "mshr.most_taken"];
    // It asked after two hits' time, and goes on a hit after it got the register
    assert_eq!(numbers(&three, names), [3.0, 0.0, f64::from(LINE - 2 * HIT), f64::from(LINE), 2.0]);
    assert_eq!(three.number("wait.lines"), f64::from(LINE - 2 * HIT + LINE));
    // Taken are: the first from 0, the second from a hit on, the third from the first one's end
    let taken = f64::from(LINE + (LINE + 8 - HIT) + LINE) / (2.0 * three.number("cycles"));
    assert!((three.number("mshr.mean_taken") - taken).abs() < 1e-9, "{}", three.number("mshr.mean_taken"));
    let missing = f64::from(LINE + (LINE + 8 - HIT) + LINE) / f64::from(2 * LINE);
    assert!((three.number("mshr.mean_while_missing") - missing).abs() < 1e-9);
    assert!(alone(&loads, &["machine.mshrs=1"]).at("mshr.primary").is_none());
}

#[test]
fn accesses_to_a_line_under_way_join_it_in_their_order() {
    let steps =
        [(Operation::Load, 64, 0), (Operation::Load, 72, 0), (Operation::Store, 80, 0), (Operation::Load, 80, 0)];
    let names = ["mshr.primary", "mshr.secondary", "cache.misses", "cache.upgrades", "cache.first_misses"];
    // For reading alone the store has to ask again, and the load of what it writes follows it
    let mosi = alone(&steps, &["machine.mshrs=4"]);
    assert_eq!(numbers(&mosi, names), [1.0, 3.0, 1.0, 1.0, 4.0]);
    // The only copy may be written
    for protocol in ["bus.protocol=mesi", "bus.protocol=moesi"] {
        let stats = alone(&steps, &["machine.mshrs=4", protocol]);
        assert_eq!(numbers(&stats, names), [1.0, 3.0, 1.0, 0.0, 4.0], "{protocol}");
        assert!(stats.number("cycles") < mosi.number("cycles"));
    }
    // A copy that is being upgraded is not read before the store is done
    let upgrade =
        [(Operation::Load, 64, 0), (Operation::Store, 64, 400), (Operation::Load, 64, 0), (Operation::Load, 128, 0)];
    let stats = alone(&upgrade, &["machine.mshrs=4"]);
    assert_eq!(numbers(&stats, names), [3.0, 1.0, 2.0, 1.0, 4.0]);
}

#[test]
fn synchronisation_and_fetches_wait_and_bounds_of_the_region_do_not() {
    let cycles = |steps: &[(Operation, u64, u32)]| alone(steps, &["machine.mshrs=4"]).number("cycles");
    let (first, second) = ((Operation::Load, 64, 0), (Operation::Load, 128, 0));
    let both = cycles(&[first, second]);
    assert_eq!(both, f64::from(LINE + HIT + 8));
    // The other processor has ended: nobody waits for it, but to be woken takes as long as to arrive
    for (kind, sync) in
        [(Operation::Lock, 20), (Operation::Unlock, 20), (Operation::Post, 20), (Operation::Barrier, 40)]
    {
        let steps = [first, (kind, 1, 0), second];
        assert_eq!(cycles(&steps), f64::from(2 * (LINE + HIT) + sync), "{kind:?}");
        let stats = alone(&steps, &["machine.mshrs=4"]);
        assert_eq!(stats.number("mshr.drain_cycles"), f64::from(2 * LINE), "{kind:?}: there, and at the end");
    }
    let bounded = alone(&[first, (Operation::RegionBegin, 0, 0), second], &["machine.mshrs=4"]);
    assert_eq!(bounded.number("cycles_of_run"), both);
    // A fetch waits for its line, whatever is under way besides
    let fetched = cycles(&[(Operation::Fetch, 64, 0), second]);
    assert_eq!(fetched, f64::from(2 * (LINE + HIT)));
    let behind = cycles(&[second, (Operation::Fetch, 64, 0)]);
    assert_eq!(behind, both);
    // Of a line that comes as data it waits for that, and then takes it from the other first level
    let shared = alone(&[first, (Operation::Fetch, 72, 0)], &["machine.mshrs=4"]);
    assert_eq!(numbers(&shared, ["cycles", "cache.misses", "cache.second_hits"]), [f64::from(LINE + 10), 1.0, 1.0]);
}

#[test]
fn a_store_is_under_way_until_all_copies_are_known_to_be_invalid() {
    let access = |kind, gap| Access { address: 64, value: 1, gap, kind, size: 8 };
    // Node 0 owns the line that node 3 reads, writes it again, and gives back a lock
    let owner = [access(Operation::Store, 0), access(Operation::Store, 3_000), access(Operation::Unlock, 0)];
    let stats = |mshrs: &str, steps: usize| {
        let steps = [owner[..steps].to_vec(), Vec::new(), Vec::new(), vec![access(Operation::Load, 1_000)]];
        let sources = steps.map(|steps| Box::new(Steps(steps)) as Box<dyn Source>).into();
        let settings = ["interconnect.kind=mesh", "interconnect.latency=50", mshrs];
        let mut machine = Machine::new(&config(&settings), Image::default(), sources).unwrap();
        machine.check_values();
        assert_eq!(machine.run(u64::MAX).unwrap(), Some(Outcome::Completed));
        machine.stats()
    };
    let finished = |mshrs, steps| stats(mshrs, steps).json()["nodes"][0]["finished"].as_f64().unwrap();
    let first = finished("machine.mshrs=1", 1);
    for steps in [2, 3] {
        let upgrade = finished("machine.mshrs=1", steps) - first - 3_000.0;
        assert!(upgrade > 200.0, "there and back are two hops each: {upgrade}");
        // The first line is not waited for, the second is: before the lock, or before the end
        assert_eq!(finished("machine.mshrs=4", steps), f64::from(HIT) + 3_000.0 + upgrade, "{steps} steps");
    }
}

#[test]
fn kernels_give_the_right_results_with_every_scheme_interconnect_and_protocol() {
    for (place, scheme) in SchemeName::all().enumerate() {
        let scheme = format!("scheme.name={scheme}");
        for kind in topology::TopologyKind::ALL {
            let (kind, protocol) = (format!("interconnect.kind={}", kind.name()), ["mosi", "mesi", "moesi"][place % 3]);
            for (mshrs, work) in [(2, ("radix", 9)), (8, ("lunc", 32)), (64, ("fft", 8))] {
                let (protocol, mshrs) = (format!("bus.protocol={protocol}"), format!("machine.mshrs={mshrs}"));
                let settings = [scheme.as_str(), &kind, &protocol, &mshrs, "l1.bytes=1024", "l2.bytes=8192"];
                let made = settings.iter().try_fold(sealwright_smp::Config::default(), |it, setting| it.set(setting));
                if made.unwrap().check().is_err() {
                    continue;
                }
                let report = run(work, &settings, None);
                let right = matches!(report.result, Some(Ok(_))) && report.wrong_reads == Some(0);
                assert!(right, "{work:?} {settings:?}: {report:?}");
                assert!(report.stats.number("mshr.mean_while_missing") > 1.0, "{settings:?}");
            }
        }
    }
}

#[test]
fn encryption_takes_the_time_that_was_counted_without() {
    for (scheme, kind) in SchemeName::all().flat_map(|scheme| [(scheme, "bus"), (scheme, "mesh")]) {
        let cycles = ["true", "false"].map(|functional| {
            let settings = [
                format!("scheme.name={scheme}"),
                format!("scheme.functional={functional}"),
                "machine.mshrs=8".to_owned(),
                // Chains of a group need a bus
                format!("interconnect.kind={}", if ["senss", "cbc"].contains(&scheme.as_str()) { "bus" } else { kind }),
            ];
            let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
            run(("fft", 8), &settings, None).stats.number("cycles")
        });
        assert_eq!(cycles[0], cycles[1], "{scheme} {kind}");
    }
}

#[test]
fn more_registers_take_less_time_and_attacks_are_detected_as_ever() {
    for kind in ["interconnect.kind=bus", "interconnect.kind=mesh"] {
        let stats = |mshrs: &str| run(("fft", 10), &[kind, mshrs, "l2.bytes=65536"], None).stats;
        let cycles = ["machine.mshrs=1", "machine.mshrs=2", "machine.mshrs=8"].map(|it| stats(it).number("cycles"));
        assert!(cycles[0] > 1.2 * cycles[1] && cycles[1] > cycles[2], "{kind}: {cycles:?}");
        for (scheme, at) in ["gcm", "pcie-ide", "cxl-ide"].into_iter().flat_map(|it| [(it, 20), (it, 77)]) {
            let scheme = format!("scheme.name={scheme}");
            for attack in [Attack::Flip, Attack::Spoof, Attack::Replay] {
                let settings = [kind, &scheme, "machine.mshrs=8"];
                let report = run(("fft", 8), &settings, Some(Attacker::new(attack, at)));
                assert!(matches!(report.outcome, Outcome::Detected(_)), "{settings:?} {attack}: {:?}", report.outcome);
                assert_eq!(report.wrong_reads, Some(0), "{settings:?} {attack}");
            }
        }
    }
}
