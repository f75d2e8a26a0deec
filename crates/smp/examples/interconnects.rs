//! A bus, a ring and a mesh side by side, in the clear and with IDE on each link: the table of docs/BUS_RESULTS.md.
//!
//! `cargo run --release -p sealwright-smp --example interconnects`

use sealwright_smp::{
    Config, Outcome,
    run::{Report, Simulation, Workload},
    scheme::SchemeName,
    topology::TopologyKind,
};

/// FFT of 2^12 points without an encryption of its lines: that takes the same cycles.
fn run(processors: usize, kind: TopologyKind, scheme: &str) -> Result<Report, Box<dyn std::error::Error>> {
    let mut config = Config::default();
    config.machine.processors = processors;
    config.interconnect.kind = kind;
    config.scheme.name = SchemeName::find(scheme).ok_or("no such scheme")?;
    config.scheme.functional = false;
    let workload = Workload::kernel("fft", 12, false).ok_or("no such kernel")?;
    let report = Simulation::new(config, workload).run(&mut |_| {})?;
    assert!(report.outcome == Outcome::Completed && matches!(report.result, Some(Ok(_))), "{:?}", report.result);
    Ok(report)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("| processors | | cycles in the clear | `cxl-ide`, % | `pcie-ide`, % | hops | busiest, % |");
    println!("|---|---|---|---|---|---|---|");
    for (processors, kind) in [4, 16, 64].into_iter().flat_map(|n| TopologyKind::ALL.map(|kind| (n, kind))) {
        let clear = run(processors, kind, "clear")?.stats;
        let cycles = clear.number("cycles");
        let slower =
            |scheme: &str| run(processors, kind, scheme).map(|it| (it.stats.number("cycles") / cycles - 1.0) * 100.0);
        let (cxl, pcie) = (slower("cxl-ide")?, slower("pcie-ide")?);
        let bus = kind == TopologyKind::Bus;
        let hops = if bus { String::new() } else { format!("{:.2}", clear.number("links.mean_hops")) };
        let busiest = if bus {
            clear.number("bus.data_busy").max(clear.number("bus.address_busy"))
        } else {
            clear.number("links.most_busy")
        };
        let busiest = busiest * 100.0;
        println!("| {processors} | {} | {cycles} | {cxl:.2} | {pcie:.2} | {hops} | {busiest:.1} |", kind.name());
    }
    Ok(())
}
