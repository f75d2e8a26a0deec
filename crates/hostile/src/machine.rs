//! What the simulator reads: traces and settings.

use std::io::Cursor;

use sealwright_smp::{
    Config, Image, Machine,
    access::{Access, Kind, Source, Steps},
    trace::{ChampSim, Drmemtrace, Smpt, SynchroTrace},
};

/// Any bytes as a trace in each format: steps that do not cross a cache line, or an error that names the file.
pub(crate) fn smp_trace(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let line = if choice & 128 == 0 { 64 } else { 128 };
    let input = || Box::new(Cursor::new(bytes.to_vec()));
    let mut source: Box<dyn Source> = match choice % 4 {
        0 => Box::new(Smpt::new(input(), "fuzz", line, 0)),
        1 => Box::new(Drmemtrace::new(input(), "fuzz", line, 1).region("1..2".parse().ok())),
        2 => Box::new(SynchroTrace::new(input(), "fuzz", line, 2)),
        _ => Box::new(ChampSim::new(input(), "fuzz", line, 3)),
    };
    let mut steps = Vec::new();
    loop {
        match source.fill(&mut steps) {
            Err(error) => return assert!(error.0.starts_with("fuzz: ")),
            Ok(()) if steps.is_empty() => return,
            Ok(()) => {}
        }
        for step in steps.iter().filter(|step| !step.kind.synchronises()) {
            assert!(step.address % line as u64 + u64::from(step.size) <= line as u64, "{step:?}");
        }
    }
}

/// Runs a few steps on a machine with these settings, if they are valid. Large machines are skipped, for speed.
fn takes_steps(config: &Config) {
    let small = config.l1.bytes <= 1 << 16 && config.l2.bytes <= 1 << 20 && config.machine.processors <= 4;
    if config.check().is_err() || !small {
        return;
    }
    let steps = |node: u64| {
        let kinds = [Kind::Load, Kind::Store, Kind::Fetch, Kind::Store];
        let step = |i: u64| Access {
            address: (i * 7 + node) % 50 * 8,
            value: i,
            gap: 1,
            kind: kinds[i as usize % 4],
            size: 8,
        };
        Box::new(Steps((0..60).map(step).collect())) as Box<dyn Source>
    };
    let threads = config.machine.processors * config.processes.count;
    let sources = (0..threads as u64).map(steps).collect();
    let mut machine = Machine::new(config, Image::default(), sources).expect("the settings were checked");
    machine.check_values();
    let end = machine.run(100_000).expect("no invariant breaks");
    assert!(end.is_some(), "a few steps end");
}

/// Any text as settings, as a file and line by line: a machine that runs, or an error.
pub(crate) fn smp_config(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
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
}
