//! Bus, ring and mesh compared: the same programs on each, with every scheme that it supports.

use rayon::prelude::*;
use sealwright_measure::{Cell, Column, Interval, Table};
use sealwright_smp::{
    Config, ConfigError,
    kernel::Kernel,
    run::{RunError, Simulation, Workload},
    topology::TopologyKind,
};

use super::{
    error::GridError,
    programs::{PROGRAMS, Suite, workload},
    seeds::{over_seeds, seeds},
};

/// Names and settings of the schemes. A scheme's position determines its colour in figures; losses are relative to the
/// first scheme.
pub(super) const SCHEMES: [(&str, &[&str]); 8] = [
    ("none", &["scheme.name=clear"]),
    ("GCM, end to end", &["scheme.name=gcm"]),
    ("CBC, a chain for each pair, end to end", &["scheme.name=cbc", "scheme.cbc.scope=pair"]),
    ("I2SEMS, end to end", &["scheme.name=i2sems"]),
    ("SENSS, one chain for all", &["scheme.name=senss"]),
    ("CXL IDE on each link, containment", &["scheme.name=cxl-ide"]),
    ("CXL IDE on each link, skid", &["scheme.name=cxl-ide", "scheme.cxl-ide.release=skid"]),
    ("PCIe IDE on each link", &["scheme.name=pcie-ide"]),
];

/// A program on a number of processors.
struct Case {
    program: &'static str,
    processors: usize,
    workload: Workload,
}

/// The kernels on more processors than suit a bus, and a recorded program on as many as it has threads. RADIX takes as
/// long as the other kernels together, so the quick study omits it.
fn cases(quick: bool) -> Vec<Case> {
    let (fft, radix) = (Kernel::Fft { m: 12 }, Kernel::Radix { m: 14 });
    let lu = |n| Kernel::Lu { n, contiguous: false };
    let kernels = if quick { vec![fft, lu(64)] } else { vec![fft, lu(128), radix] };
    let machines: &[usize] = if quick { &[16] } else { &[16, 64] };
    let of = |processors: usize| {
        let case = |kernel: &Kernel| {
            let (program, workload) = (kernel.name(), Workload::Kernel(*kernel, false));
            Case { program, processors, workload }
        };
        kernels.iter().map(case).collect::<Vec<_>>()
    };
    let mut cases: Vec<Case> = machines.iter().flat_map(|processors| of(*processors)).collect();
    let (recorded, threads) = (Suite::Recorded.programs().start, 8);
    let workload = workload(recorded, threads, false, quick);
    cases.push(Case { program: PROGRAMS[recorded], processors: threads, workload });
    cases
}

/// The results of a program with a scheme on an interconnect.
#[derive(Clone, Debug)]
pub(super) struct Connected {
    program: &'static str,
    processors: usize,
    kind: TopologyKind,
    /// Index in [`SCHEMES`].
    scheme: usize,
    /// One value per seed.
    cycles: Vec<f64>,
    /// From the first seed: the mean number of links that a message crossed, and the share of time in which the bus,
    /// or the busiest link, was occupied.
    hops: f64,
    busiest: f64,
}

fn config(kind: TopologyKind, scheme: usize, processors: usize, seed: u64) -> Result<Config, ConfigError> {
    let mut config = Config::default();
    (config.machine.processors, config.machine.seed) = (processors, seed);
    (config.memory.latency, config.memory.jitter) = (158, 4);
    config.interconnect.kind = kind;
    SCHEMES[scheme].1.iter().try_fold(config, |config, setting| config.set(setting))
}

/// Whether the interconnect supports the scheme.
fn possible(kind: TopologyKind, scheme: usize) -> bool {
    config(kind, scheme, 8, 1).is_ok_and(|config| config.check().is_ok())
}

/// Runs every program on every interconnect with every scheme that it supports and every seed.
pub(super) fn connect(quick: bool) -> Result<Vec<Connected>, GridError> {
    let cases = cases(quick);
    let places = TopologyKind::ALL.into_iter().flat_map(|kind| (0..SCHEMES.len()).map(move |scheme| (kind, scheme)));
    let places: Vec<(TopologyKind, usize)> = places.filter(|(kind, scheme)| possible(*kind, *scheme)).collect();
    let runs: Vec<(&Case, TopologyKind, usize)> =
        cases.iter().flat_map(|case| places.iter().map(move |(kind, scheme)| (case, *kind, *scheme))).collect();
    runs.into_par_iter().map(|(case, kind, scheme)| run(case, kind, scheme, seeds(quick))).collect()
}

fn run(case: &Case, kind: TopologyKind, scheme: usize, seeds: u64) -> Result<Connected, GridError> {
    let Case { program, processors, workload } = case;
    let one = |seed| {
        let config = config(kind, scheme, *processors, seed).map_err(RunError::from)?;
        let report = Simulation::new(config, workload.clone()).run(&mut |_| {})?;
        match report.failure() {
            None => Ok(report.stats),
            Some(failure) => {
                let what = format!("{program}, {}, {}: {failure}", kind.name(), SCHEMES[scheme].0);
                Err(GridError::Wrong(what))
            }
        }
    };
    let all = (1..=seeds).map(one).collect::<Result<Vec<_>, GridError>>()?;
    let first = |name| all.first().map_or(0.0, |stats| stats.number(name));
    let busiest = match kind {
        TopologyKind::Bus => first("bus.data_busy").max(first("bus.address_busy")),
        _ => first("links.most_busy"),
    };
    let cycles = all.iter().map(|stats| stats.number("cycles")).collect();
    let (program, processors) = (*program, *processors);
    Ok(Connected { program, processors, kind, scheme, cycles, hops: first("links.mean_hops"), busiest })
}

/// The distinct pairs of program and number of processors, in order.
fn rows(runs: &[Connected]) -> Vec<(&'static str, usize)> {
    let mut rows = Vec::new();
    for run in runs {
        if !rows.contains(&(run.program, run.processors)) {
            rows.push((run.program, run.processors));
        }
    }
    rows
}

fn find<'a>(
    runs: &'a [Connected],
    (program, processors): (&str, usize),
    kind: TopologyKind,
    scheme: usize,
) -> Option<&'a Connected> {
    let wanted = |run: &&Connected| (run.kind, run.scheme) == (kind, scheme);
    runs.iter().filter(wanted).find(|run| run.program == program && run.processors == processors)
}

/// The time that a scheme adds to a program, in per cent of the time in the clear on the same interconnect; one value
/// per seed.
fn losses(runs: &[Connected], row: (&str, usize), kind: TopologyKind, scheme: usize) -> Option<Vec<f64>> {
    let (clear, with) = (find(runs, row, kind, 0)?, find(runs, row, kind, scheme)?);
    Some(with.cycles.iter().zip(&clear.cycles).map(|(with, clear)| (with / clear - 1.0) * 100.0).collect())
}

/// The mean of these losses over the kernels on a number of processors, with its interval over the seeds.
pub(super) fn mean(runs: &[Connected], processors: usize, kind: TopologyKind, scheme: usize) -> Option<Interval> {
    let of = rows(runs).into_iter().filter(|row| row.1 == processors);
    let all: Vec<Vec<f64>> = of.map(|row| losses(runs, row, kind, scheme)).collect::<Option<_>>()?;
    let seeds = all.iter().map(Vec::len).min()?;
    let means = (0..seeds).map(|seed| all.iter().map(|of| of[seed]).sum::<f64>() / all.len() as f64);
    over_seeds(&means.collect::<Vec<_>>())
}

/// The programs in that mean as text: `FFT, LU and RADIX`.
pub(super) fn programs(runs: &[Connected], processors: usize) -> String {
    let of = rows(runs).into_iter().filter(|row| row.1 == processors);
    let names: Vec<String> =
        of.map(|(name, _)| if name == "lunc" { "LU".into() } else { name.to_uppercase() }).collect();
    match &names[..] {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        names => names.concat(),
    }
}

/// The numbers of processors that kernels were run on.
pub(super) fn machines(runs: &[Connected]) -> Vec<usize> {
    let mut all: Vec<usize> = runs.iter().map(|run| run.processors).filter(|processors| *processors > 8).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn interval(found: Option<Interval>, decimals: u8) -> Cell {
    match found {
        None => Cell::empty("not run"),
        Some(found) if found.low == found.high => Cell::number(found.median, decimals),
        Some(found) => Cell::interval(found, decimals),
    }
}

/// The programs in the clear: their time on each interconnect, and how busy it is.
pub(super) fn clear(runs: &[Connected]) -> Table {
    let heads = [Column::text("program"), Column::number("processors")];
    let cycles = TopologyKind::ALL.map(|kind| Column::number(format!("{}: cycles", kind.name())));
    let hops = [TopologyKind::Ring, TopologyKind::Mesh].map(|kind| Column::number(format!("{}: hops", kind.name())));
    let busy = TopologyKind::ALL.map(|kind| Column::number(format!("{}: busiest", kind.name())).unit("%"));
    let heads = heads.into_iter().chain(cycles).chain(hops).chain(busy);
    let note = "Without a scheme, with the nodes of the thesis. Cycles have their 95 % interval over the seeds. \
        Hops: links that a message crosses, on average. Busiest: fraction of the time in which the bus, or the \
        busiest link, is held. Hops and busiest are those of the first seed.";
    let mut table = Table::new("Bus, ring and mesh: programs in the clear", heads).with_note(note);
    for row in rows(runs) {
        let at = |kind| find(runs, row, kind, 0);
        let number = |value: Option<f64>| value.map_or_else(|| Cell::empty("not run"), |value| Cell::number(value, 2));
        let mut cells = vec![Cell::text(row.0), Cell::count(row.1 as u64)];
        cells.extend(TopologyKind::ALL.map(|kind| interval(at(kind).and_then(|run| over_seeds(&run.cycles)), 0)));
        cells.extend([TopologyKind::Ring, TopologyKind::Mesh].map(|kind| number(at(kind).map(|run| run.hops))));
        cells.extend(TopologyKind::ALL.map(|kind| number(at(kind).map(|run| run.busiest * 100.0))));
        table.row(cells);
    }
    table
}

/// The cost of each scheme on each interconnect.
pub(super) fn table(runs: &[Connected]) -> Table {
    let heads = [Column::text("program"), Column::number("processors"), Column::text("scheme")];
    let heads = heads.into_iter().chain(TopologyKind::ALL.map(|kind| Column::number(kind.name()).unit("%")));
    let note = "Per cent of the time of the same program on the same interconnect without a scheme, with its 95 % \
        interval over the seeds (different inputs and memory latencies of 158 to 162 cycles). Units thesis. End to \
        end: intermediate nodes forward a line unchanged. On each link: every node on the way decrypts each \
        message, checks it and encrypts it again, including commands; on a bus, every node has a link to a hub. One \
        chain for all nodes needs a bus, because every node must see every line.";
    let mut table = Table::new("Bus, ring and mesh: what schemes cost", heads).with_note(note);
    for row in rows(runs) {
        for (scheme, (name, _)) in SCHEMES.iter().enumerate().skip(1) {
            let cell = |kind| match losses(runs, row, kind, scheme) {
                None if !possible(kind, scheme) => Cell::empty("needs a bus"),
                losses => interval(losses.and_then(|losses| over_seeds(&losses)), 2),
            };
            let cells = [Cell::text(row.0), Cell::count(row.1 as u64), Cell::text(*name)];
            table.row(cells.into_iter().chain(TopologyKind::ALL.map(cell)));
        }
    }
    table
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_for_all_needs_a_bus_and_everything_else_runs_everywhere() {
        for kind in TopologyKind::ALL {
            let refused: Vec<&str> =
                (0..SCHEMES.len()).filter(|at| !possible(kind, *at)).map(|at| SCHEMES[at].0).collect();
            let expected: &[&str] = if kind == TopologyKind::Bus { &[] } else { &["SENSS, one chain for all"] };
            assert_eq!(refused, expected, "{}", kind.name());
        }
    }

    /// Small runs that encrypt, as those of the study: per-link IDE costs what its checks at each hop take, end-to-end GCM costs less, and results vary
    /// with the seed.
    #[test]
    fn ide_pays_at_each_hop_what_pads_made_ahead_do_not() {
        let kernel = Kernel::Fft { m: 10 };
        let case = Case { program: "fft", processors: 16, workload: Workload::Kernel(kernel, false) };
        let schemes = [0, 1, 5];
        let runs =
            TopologyKind::ALL.into_iter().flat_map(|kind| schemes.map(|scheme| run(&case, kind, scheme, 2).unwrap()));
        let runs: Vec<Connected> = runs.collect();
        assert_eq!((rows(&runs), machines(&runs)), (vec![("fft", 16)], vec![16]));
        // A title must name the programs that were run, as `--quick` omits one
        let with = |names: &[&'static str]| {
            let runs = names.iter().map(|&program| Connected { program, ..runs[0].clone() });
            programs(&runs.collect::<Vec<_>>(), 16)
        };
        assert_eq!([with(&["fft"]), with(&["fft", "lunc"])], ["FFT", "FFT and LU"]);
        assert_eq!(with(&["fft", "lunc", "radix"]), "FFT, LU and RADIX");
        let of = |kind, scheme| mean(&runs, 16, kind, scheme).unwrap();
        assert!(
            of(TopologyKind::Mesh, 5).low > of(TopologyKind::Mesh, 1).high,
            "{:?} {:?}",
            of(TopologyKind::Mesh, 5),
            of(TopologyKind::Mesh, 1)
        );
        assert!(of(TopologyKind::Mesh, 5).median > of(TopologyKind::Bus, 5).median);
        assert!(runs.iter().all(|run| run.cycles[0] != run.cycles[1]), "{runs:?}");
        let (clear, costs) = (clear(&runs).to_text(), table(&runs).to_text());
        assert!(clear.contains("fft") && !clear.contains("not run"), "{clear}");
        let senss = costs.lines().find(|line| line.contains("SENSS")).unwrap();
        assert_eq!(senss.matches("needs a bus").count(), 2, "{costs}");
    }
}
