//! Several processes on one machine: results, keys, and what pads of a process cost.
#![allow(clippy::unwrap_used)]

use sealwright_smp::{
    Config, Outcome,
    kernel::Kernel,
    run::{Report, Simulation, Workload},
    scheme::SchemeName,
    trace::{Trace, Writer},
};

fn machine(settings: &[&str]) -> Config {
    let mut config = Config::default();
    config.machine.processors = 4;
    settings.iter().fold(config, |config, setting| config.set(setting).unwrap())
}

fn run(config: Config, kernel: Kernel, check: bool) -> Report {
    let simulation = Simulation { check, ..Simulation::new(config, Workload::Kernel(kernel, false)) };
    let report = simulation.run(&mut |_| {}).unwrap();
    assert_eq!(report.outcome, Outcome::Completed);
    assert!(matches!(report.result, Some(Ok(_))), "{:?}", report.result);
    report
}

#[test]
fn each_process_computes_its_own_result_through_every_scheme() {
    for kernel in [Kernel::Fft { m: 8 }, Kernel::Radix { m: 10 }, Kernel::Lu { n: 48, contiguous: false }] {
        for scheme in SchemeName::all() {
            // A quantum so short that threads change in the midst of everything, and none at all
            for quantum in ["processes.quantum=700", "processes.quantum=0"] {
                let name = format!("scheme.name={scheme}");
                let config = machine(&["processes.count=3", quantum, "processes.switch=50", &name]);
                let report = run(config, kernel, true);
                assert_eq!(report.wrong_reads, Some(0), "{scheme} {kernel:?}");
                assert!(report.stats.number("processes.switches") >= 8.0, "{scheme} {kernel:?}");
            }
        }
    }
}

#[test]
fn a_key_for_each_process_repeats_no_nonce_and_takes_the_time_that_was_counted() {
    let settings = ["processes.count=2", "processes.quantum=2000", "scheme.name=gcm", "scheme.gcm.keys=each"];
    let report = run(machine(&settings), Kernel::Fft { m: 8 }, true);
    assert_eq!(report.stats.number("scheme.nonces.repeated"), 0.0);
    assert!(report.stats.number("scheme.nonces.used") > 100.0);
    let timed = run(machine(&settings).set("scheme.functional=false").unwrap(), Kernel::Fft { m: 8 }, false);
    assert_eq!(timed.stats.number("cycles"), report.stats.number("cycles"));
}

/// A line that waits for a pad on demand is not overtaken by the next line of its pair, whose pad is ready sooner: the
/// receiver counts for itself.
#[test]
fn a_key_for_each_process_raises_no_alarm() {
    for (mshrs, chips) in [(1, 0), (4, 0), (1, 2), (4, 2)] {
        for (quantum, pads) in [(10_000, 5), (500, 5), (500, 1)] {
            let settings = [
                "processes.count=2",
                "processes.switch=1000",
                "scheme.name=gcm",
                "scheme.gcm.keys=each",
                &format!("processes.quantum={quantum}"),
                &format!("scheme.gcm.pads={pads}"),
                &format!("machine.mshrs={mshrs}"),
                &format!("machine.chips={chips}"),
            ];
            let simulation = Simulation::new(machine(&settings), Workload::Kernel(Kernel::Fft { m: 8 }, false));
            assert_eq!(simulation.run(&mut |_| {}).unwrap().outcome, Outcome::Completed, "{settings:?}");
        }
    }
}

/// Threads that were woken while their processor ran another process: their instructions take its time.
#[test]
fn a_processor_executes_no_more_than_an_instruction_a_cycle() {
    const AFTER: u64 = 1_000_000;
    let folder = tempfile::tempdir().unwrap();
    for (thread, before) in [(0, 100), (1, 50_000)] {
        let mut writer = Writer::new(Vec::new());
        writer.refer(before, false, 0x10000 * (thread + 1), 3).unwrap();
        writer.meet(0, 1, 8).unwrap();
        writer.refer(if thread == 0 { AFTER } else { 100 }, false, 0x10000 * (thread + 1), 3).unwrap();
        std::fs::write(folder.path().join(format!("t.{thread}.smpt")), writer.into_inner()).unwrap();
    }
    let trace = Trace::find(&folder.path().join("t")).unwrap();
    for count in [1, 2, 8] {
        for quantum in [0, 20_000] {
            let settings = [&format!("processes.count={count}"), &format!("processes.quantum={quantum}")];
            let mut config = machine(&settings.map(String::as_str));
            config.machine.processors = 2;
            let report = Simulation::new(config, Workload::Trace(trace.clone())).run(&mut |_| {}).unwrap();
            let number = |name: &str| report.stats.number(name);
            // The first processor alone executes all instructions after the barrier
            assert!(number("cycles") >= (count * AFTER) as f64, "{count} processes: {} cycles", number("cycles"));
            assert!(number("instructions") <= 2.0 * number("cycles"), "{count} processes");
        }
    }
}

#[test]
fn pads_of_one_process_at_a_time_cost_time_and_those_of_all_cost_storage() {
    let with = |more: &[&str]| {
        let base = ["processes.count=4", "processes.quantum=3000", "processes.switch=100", "scheme.name=gcm"];
        let report = run(machine(&[&base[..], more].concat()), Kernel::Fft { m: 10 }, false);
        let number = |name: &str| report.stats.number(name);
        (number("scheme.send.cycles") + number("scheme.receive.cycles"), number("scheme.storage_bytes"))
    };
    let one = with(&[]);
    let each = with(&["scheme.gcm.keys=each"]);
    let all = with(&["scheme.gcm.keys=each", "scheme.gcm.stored=4"]);
    assert!(each.0 > 1.2 * all.0, "pads made anew at each change: {each:?} {all:?}");
    assert!(one.1 < each.1 && each.1 < all.1, "{one:?} {each:?} {all:?}");
}

#[test]
fn what_makes_no_set_of_processes_is_refused() {
    for setting in ["processes.count=0", "processes.count=17"] {
        assert!(Config::default().set(setting).unwrap().check().unwrap_err().to_string().contains("not 1 to 16"));
    }
    let why = Config::default().set("scheme.gcm.keys=none").unwrap_err().to_string();
    assert!(why.contains("one") && why.contains("each"), "{why}");
}

/// Programs of ChampSim with the same addresses, each several times: none has a line of another one.
#[test]
fn programs_and_processes_share_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    for program in 0..4 {
        let instruction = |address: u64| {
            let words = [0x40_0000, 0, address, 0, 0, 0, 0, 0u64];
            words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()
        };
        let bytes: Vec<u8> = (0..64).flat_map(|line| instruction(0x10000 + 64 * line)).collect();
        std::fs::write(folder.path().join(format!("c.{program}.champsim")), bytes).unwrap();
    }
    let trace = Trace::find(&folder.path().join("c")).unwrap();
    for count in [1, 2, 16] {
        let config = machine(&[&format!("processes.count={count}"), "processes.quantum=3000", "scheme.name=gcm"]);
        let simulation = Simulation { check: true, ..Simulation::new(config, Workload::Trace(trace.clone())) };
        let report = simulation.run(&mut |_| {}).unwrap();
        assert_eq!(report.outcome, Outcome::Completed);
        assert_eq!((report.stats.number("transfers.count"), report.wrong_reads), (0.0, Some(0)), "{count} processes");
    }
}

/// A stack and a heap whose addresses differ in the highest bits of 48 alone.
#[test]
fn processes_keep_all_bits_of_a_traces_addresses() {
    let folder = tempfile::tempdir().unwrap();
    for thread in 0..2u64 {
        let mut writer = Writer::new(Vec::new());
        // Own lines of each thread, if nothing is cut
        for line in 0..64 {
            writer.refer(0, true, ((5 + 5 * thread) << 43) + line * 64, 3).unwrap();
        }
        std::fs::write(folder.path().join(format!("t.{thread}.smpt")), writer.into_inner()).unwrap();
    }
    let trace = Trace::find(&folder.path().join("t")).unwrap();
    for protect in ["none", "tree"] {
        let mut config =
            machine(&["processes.count=3", "processes.quantum=3000", &format!("memory.protect={protect}")]);
        config.machine.processors = 2;
        let simulation = Simulation { check: true, ..Simulation::new(config, Workload::Trace(trace.clone())) };
        let report = simulation.run(&mut |_| {}).unwrap();
        assert_eq!((report.outcome, report.stats.number("transfers.count")), (Outcome::Completed, 0.0), "{protect}");
    }
}
