//! Any bytes as a trace in each format: steps that do not cross a cache line, or an error that names the file, but no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sealwright_smp::access::Source;
use sealwright_smp::trace::{ChampSim, Drmemtrace, Smpt, SynchroTrace};
use std::io::Cursor;

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let line = if choice & 128 == 0 { 64 } else { 128 };
    let input = || Box::new(Cursor::new(bytes.to_vec()));
    let mut source: Box<dyn Source> = match choice % 4 {
        0 => Box::new(Smpt::new(input(), "fuzz", line, 0)),
        1 => Box::new(Drmemtrace::new(input(), "fuzz", line, 1)),
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
});
