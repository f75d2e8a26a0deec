//! What schemes cost where misses overlap: the tables of docs/BUS_RESULTS.md.
//!
//! `cargo run --release -p sealwright-smp --example overlap`

use sealwright_smp::{
    Config, Outcome, Stats,
    run::{Simulation, Workload},
};

type Failed = Box<dyn std::error::Error>;

const MSHRS: [usize; 4] = [1, 2, 4, 8];

/// Scheme and settings, the clear first.
const SCHEMES: [(&str, &[&str]); 6] = [
    ("", &["scheme.name=clear"]),
    ("`gcm`", &["scheme.name=gcm"]),
    ("`gcm` with 16 pads", &["scheme.name=gcm", "scheme.gcm.pads=16"]),
    ("`cbc`, a chain for each pair", &["scheme.name=cbc", "scheme.cbc.scope=pair"]),
    ("`cxl-ide`, containment", &["scheme.name=cxl-ide"]),
    ("`cxl-ide`, skid", &["scheme.name=cxl-ide", "scheme.cxl-ide.release=skid"]),
];

/// A run without an encryption of its lines: that takes the same cycles.
fn run((kernel, size): (&str, u32), settings: &[&str], mshrs: usize) -> Result<Stats, Failed> {
    let mut config = Config::default();
    config.machine.processors = 16;
    config.machine.mshrs = mshrs;
    config.scheme.functional = false;
    let config = settings.iter().try_fold(config, |config, setting| config.set(setting))?;
    let workload = Workload::kernel(kernel, size, false).ok_or("no such kernel")?;
    let report = Simulation::new(config, workload).run(&mut |_| {})?;
    assert!(report.outcome == Outcome::Completed && matches!(report.result, Some(Ok(_))), "{:?}", report.result);
    Ok(report.stats)
}

/// A row for each scheme: what `cell` makes of the runs with 1, 2, 4 and 8 registers, of those in the clear, and of its
/// name.
fn rows(work: (&str, u32), kind: &str) -> Result<(), Failed> {
    let kind_setting = format!("interconnect.kind={kind}");
    let all = |settings: &[&str]| -> Result<Vec<Stats>, Failed> {
        MSHRS.into_iter().map(|mshrs| run(work, &[settings, &[&kind_setting]].concat(), mshrs)).collect()
    };
    let row = |what: &str, cells: Vec<String>| println!("| {} | {kind} | {what} | {} |", work.0, cells.join(" | "));
    let clear = all(SCHEMES[0].1)?;
    row("cycles in the clear", clear.iter().map(|stats| stats.number("cycles").to_string()).collect());
    let taken =
        |stats: &Stats| stats.at("mshr.mean_while_missing").map_or(1.0, |_| stats.number("mshr.mean_while_missing"));
    row("lines under way", clear.iter().map(|stats| format!("{:.2}", taken(stats))).collect());
    for (name, settings) in &SCHEMES[1..] {
        let with = all(settings)?;
        let slower = |(with, clear): (&Stats, &Stats)| {
            format!("{:.2}", (with.number("cycles") / clear.number("cycles") - 1.0) * 100.0)
        };
        row(&format!("{name}, %"), with.iter().zip(&clear).map(slower).collect());
        if *name == "`gcm`" {
            let ready = |stats: &Stats| format!("{:.1}", stats.number("scheme.send.ready_share") * 100.0);
            row("its pads ready to send, %", with.iter().map(ready).collect());
        }
    }
    Ok(())
}

fn main() -> Result<(), Failed> {
    println!("| kernel | | | 1 | 2 | 4 | 8 |\n|---|---|---|---|---|---|---|");
    for (work, kind) in
        [("fft", 12), ("lunc", 128)].into_iter().flat_map(|work| ["bus", "mesh"].map(|kind| (work, kind)))
    {
        rows(work, kind)?;
    }
    println!(
        "\n| `machine.mshrs` | `interconnect.occupancy` | cycles | busiest home, % | waited for homes |\n|---|---|---|---|---|"
    );
    for (mshrs, occupancy) in [1, 8].into_iter().flat_map(|mshrs| [0, 10, 20, 40].map(|cycles| (mshrs, cycles))) {
        let setting = format!("interconnect.occupancy={occupancy}");
        let stats = run(("fft", 12), &["interconnect.kind=mesh", &setting], mshrs)?;
        let [cycles, busiest, waited] = ["cycles", "directory.most_busy", "directory.waited"]
            .map(|name| stats.at(name).map_or(0.0, |_| stats.number(name)));
        println!("| {mshrs} | {occupancy} | {cycles} | {:.1} | {waited} |", busiest * 100.0);
    }
    Ok(())
}
