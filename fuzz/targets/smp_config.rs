//! Any text as settings, as a file and line by line: a machine that runs, or an error, but no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sealwright_smp::access::{Access, Kind, Source, Steps};
use sealwright_smp::{Config, Image, Machine};

/// Runs a few steps on a machine with these settings, if they are valid. Large machines are skipped, for speed.
fn takes_steps(config: &Config) {
    let small = config.l1.bytes <= 1 << 16 && config.l2.bytes <= 1 << 20 && config.machine.processors <= 4;
    if config.check().is_err() || !small {
        return;
    }
    let steps = |node: u64| {
        let kinds = [Kind::Load, Kind::Store, Kind::Fetch, Kind::Store];
        let step = |i: u64| Access { address: (i * 7 + node) % 50 * 8, value: i, gap: 1, kind: kinds[i as usize % 4], size: 8 };
        Box::new(Steps((0..60).map(step).collect())) as Box<dyn Source>
    };
    let threads = config.machine.processors * config.processes.count;
    let sources = (0..threads as u64).map(steps).collect();
    let mut machine = Machine::new(config, Image::default(), sources).expect("the settings were checked");
    machine.check_values();
    let end = machine.run(100_000).expect("no invariant breaks");
    assert!(end.is_some(), "a few steps end");
}

fuzz_target!(|text: &str| {
    if let Ok(config) = Config::default().merge(text) {
        takes_steps(&config);
    }
    let mut config = Config::default();
    for setting in text.lines() {
        if let Ok(next) = config.set(setting) {
            config = next;
        }
    }
    takes_steps(&config);
});
