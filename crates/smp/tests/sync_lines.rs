//! Synchronisation that sends the lines of its objects over the bus (`machine.sync_lines`).
#![allow(clippy::unwrap_used)]

mod common;

use common::config;
use sealwright_smp::{
    Image, Machine, Outcome, Stats,
    access::{Access, Operation, Source, Steps},
};

const LINES: &str = "machine.sync_lines=true";

/// Two processors that take a lock `times` times each, and hold and leave it for a while.
fn alternate(settings: &[&str], times: usize) -> Stats {
    let turn = |gap: u32| {
        [(Operation::Lock, gap), (Operation::Unlock, 200)].map(|(kind, gap)| Access {
            address: 0x7000_1000,
            value: 0,
            gap,
            kind,
            size: 0,
        })
    };
    let steps = |gap: u32| -> Box<dyn Source> { Box::new(Steps((0..times).flat_map(|_| turn(gap)).collect())) };
    let config = config(&[&["machine.processors=2"][..], settings].concat());
    let mut machine = Machine::new(&config, Image::default(), vec![steps(10), steps(15)]).unwrap();
    machine.check_values();
    assert_eq!(machine.run(u64::MAX).unwrap(), Some(Outcome::Completed));
    machine.check_all().unwrap();
    assert_eq!(machine.wrong_reads(), Some(0));
    machine.stats()
}

#[test]
fn a_lock_that_is_handed_on_sends_its_line() {
    let transfers = |settings: &[&str], times| alternate(settings, times).number("transfers.count");
    assert_eq!(transfers(&[], 200), 0.0, "without lines, only time passes");
    let [few, many] = [100, 200].map(|times| transfers(&[LINES], times));
    // The processors alternate, and each handover moves the line at least once
    assert!(few >= 150.0 && (1.8..2.2).contains(&(many / few)), "{few} and {many} transfers");
}

#[test]
fn handing_a_lock_on_costs_a_critical_mac_more_than_pads() {
    let cycles = |settings: &[&str]| alternate(settings, 200).number("cycles");
    let loss = |scheme: &str| {
        let of = |scheme: &str| cycles(&[LINES, &format!("scheme.name={scheme}")]);
        of(scheme) / of("clear") - 1.0
    };
    let (gcm, cbc) = (loss("gcm"), loss("cbc"));
    assert!(gcm > 0.0 && cbc > 2.0 * gcm, "gcm {gcm}, cbc {cbc}");
    // Without its lines, synchronisation costs all schemes the same
    let of = |scheme: &str| cycles(&[&format!("scheme.name={scheme}")]);
    assert_eq!((of("gcm"), of("cbc")), (of("clear"), of("clear")));
}

/// Barriers and semaphores, and every kind of machine: values are checked, and the kernels' results are right.
#[test]
fn kernels_compute_the_same_on_every_machine() {
    for more in [
        &["scheme.name=gcm"][..],
        &["machine.mshrs=4", "bus.protocol=moesi"],
        &["bus.mode=atomic"],
        &["bus.skew=30"],
        &["interconnect.kind=mesh", "scheme.name=cxl-ide"],
        &["processes.count=2", "processes.quantum=5000"],
        &["machine.chips=2", "memory.protect=tree"],
    ] {
        for kernel in [("fft", 8), ("radix", 8)] {
            let (report, plain) =
                (common::run(kernel, &[&[LINES][..], more].concat(), []), common::run(kernel, more, []));
            assert_eq!(report.outcome, Outcome::Completed, "{more:?}");
            assert!(report.result.is_some_and(|result| result.is_ok()), "{more:?}");
            let number = |name| (report.stats.number(name), plain.stats.number(name));
            let (with, without) = number("references");
            assert!(with > without, "{more:?}: {with} and {without} references");
        }
    }
}
