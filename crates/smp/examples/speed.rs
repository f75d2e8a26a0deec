//! How fast the simulator is: references a second, wall and processor time, of whole runs.
//!
//! `cargo run --release -p sealwright-smp --example speed`, with words to choose rows: `speed fft P8`.

use sealwright_smp::{
    Config, Outcome,
    run::{Simulation, Workload},
    scheme::SchemeName,
    topology::TopologyKind,
};

/// Seconds of this thread on a processor, where the system tells.
fn on_processor() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse::<u64>().ok().map(|ns| ns as f64 / 1e9)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    println!("row                               M references  M/s of wall  M/s of processor       cycles");
    for (kernel, size) in [("fft", 16), ("luc", 512), ("lunc", 512), ("radix", 18)] {
        for (processors, kind) in [
            (2, TopologyKind::Bus),
            (8, TopologyKind::Bus),
            (64, TopologyKind::Bus),
            (2, TopologyKind::Mesh),
            (16, TopologyKind::Mesh),
            (64, TopologyKind::Mesh),
        ] {
            for (scheme, functional) in [("clear", false), ("gcm", false), ("gcm", true)] {
                let what = if functional { "functional" } else { "timing" };
                let on = if kind == TopologyKind::Bus { String::new() } else { format!("{}, ", kind.name()) };
                let row = format!("{kernel} {size}, P{processors}, {on}{scheme} {what}");
                if !words.iter().all(|word| row.contains(word.as_str())) {
                    continue;
                }
                let mut config = Config::default();
                config.machine.processors = processors;
                config.interconnect.kind = kind;
                config.scheme.name = SchemeName::find(scheme).ok_or("no such scheme")?;
                config.scheme.functional = functional;
                let workload = Workload::kernel(kernel, size, false).ok_or("no such kernel")?;
                let before = on_processor();
                let report = Simulation::new(config, workload).run(&mut |_| {})?;
                let busy = before.and_then(|before| Some(on_processor()? - before));
                assert!(
                    report.outcome == Outcome::Completed && matches!(report.result, Some(Ok(_))),
                    "{:?}",
                    report.result
                );
                let references = report.stats.number("references") / 1e6;
                let busy = busy.map_or_else(|| "not told".to_owned(), |busy| format!("{:.1}", references / busy));
                let (wall, cycles) = (references / report.seconds, report.stats.number("cycles"));
                println!("{row:32}  {references:12.2}  {wall:11.1}  {busy:>16}  {cycles:11}");
            }
        }
    }
    Ok(())
}
