//! Protection of the bus and of memory in one machine: the cost of each alone and of both.

use rayon::prelude::*;
use sealwright_measure::{Cell, Column, Table};
use sealwright_smp::{
    Config, ConfigError,
    attack::Attack,
    kernel::Kernel,
    matrix,
    run::{RunError, Simulation, Workload},
};

use super::{error::GridError, programs::PROCESSORS};

/// The combinations of protections. Losses are relative to the first row, which has none.
const ROWS: [(&str, &[&str]); 8] = [
    ("nothing", &["scheme.name=clear"]),
    ("bus: GCM", &["scheme.name=gcm"]),
    ("memory: XTS", &["scheme.name=clear", "memory.protect=xts"]),
    ("memory: XTS and a MAC", &["scheme.name=clear", "memory.protect=xts-mac"]),
    ("memory: counters and a tree", &["scheme.name=clear", "memory.protect=tree"]),
    ("bus: GCM; memory: XTS and a MAC", &["scheme.name=gcm", "memory.protect=xts-mac"]),
    ("bus: GCM; memory: counters and a tree", &["scheme.name=gcm", "memory.protect=tree"]),
    ("bus: CXL IDE; memory: counters and a tree", &["scheme.name=cxl-ide", "memory.protect=tree"]),
];

/// The cycles of a row with a number of processors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Protected {
    row: usize,
    processors: usize,
    cycles: f64,
    counter_misses: f64,
}

/// Runs every row. The second-level cache is small, so that many lines come from memory.
pub(super) fn protect(quick: bool) -> Result<Vec<Protected>, GridError> {
    let runs: Vec<(usize, usize)> =
        (0..ROWS.len()).flat_map(|row| PROCESSORS.map(|processors| (row, processors))).collect();
    runs.into_par_iter().map(|(row, processors)| run(row, processors, quick)).collect()
}

fn config(row: usize, processors: usize) -> Result<Config, ConfigError> {
    let mut config = Config::default();
    config.machine.processors = processors;
    (config.l1.bytes, config.l2.bytes) = (4 << 10, 16 << 10);
    ROWS[row].1.iter().try_fold(config, |config, setting| config.set(setting))
}

fn run(row: usize, processors: usize, quick: bool) -> Result<Protected, GridError> {
    let config = config(row, processors).map_err(RunError::from)?;
    let kernel = Kernel::Fft { m: if quick { 10 } else { 14 } };
    let report = Simulation::new(config, Workload::Kernel(kernel, false)).run(&mut |_| {})?;
    if let Some(failure) = report.failure() {
        return Err(GridError::Wrong(format!("{}, {processors} processors: {failure}", ROWS[row].0)));
    }
    let number = |path| report.stats.number(path);
    let (cycles, counter_misses) = (number("cycles"), number("memory.protection.counter_misses"));
    Ok(Protected { row, processors, cycles, counter_misses })
}

pub(super) fn table(runs: &[Protected]) -> Table {
    let heads = std::iter::once(Column::text("protected"));
    let losses = PROCESSORS.map(|processors| Column::number(format!("{processors} processors")).unit("%"));
    let heads = heads.chain(losses).chain([Column::number("counters not at hand, 8 processors")]);
    let note = "FFT with a second-level cache of 16 KB, so that many lines come from memory; losses relative to no \
        protection. XTS is used by AMD's SEV; Intel's TDX adds a MAC of 28 bits for each line. A line is decrypted \
        after it has arrived, by the thesis's AES unit. The tree is what the thesis leaves for future work: split \
        counters, encrypted lines, and a Merkle tree over the counters, as in SGX; its pads are computed while the \
        line is on its way.";
    let mut table = Table::new("Bus and memory protected in one machine", heads).with_note(note);
    let find = |row: usize, processors: usize| runs.iter().find(|run| run.row == row && run.processors == processors);
    for (row, (name, _)) in ROWS.iter().enumerate().skip(1) {
        let loss = |processors| Some((find(row, processors)?.cycles / find(0, processors)?.cycles - 1.0) * 100.0);
        let cells = PROCESSORS
            .map(|processors| loss(processors).map_or_else(|| Cell::empty("not run"), |loss| Cell::number(loss, 2)));
        let misses = find(row, 8).map_or_else(|| Cell::empty("not run"), |run| Cell::count(run.counter_misses as u64));
        table.row(std::iter::once(Cell::text(*name)).chain(cells).chain([misses]));
    }
    table
}

/// Table of the outcomes of attacks on memory.
pub(super) fn attacks(cells: &[matrix::Cell], strikes: u64) -> Table {
    let attacks = Attack::ON_MEMORY.map(|attack| Column::text(attack.name()));
    let heads = std::iter::once(Column::text("memory.protect")).chain(attacks);
    let note = format!(
        "Simulated: FFT and RADIX, 4 processors, a second-level cache of 4 KB. Each attack struck {strikes} times \
         on each program, once per run, from the 50th line read from memory on, at intervals of 13 lines. It \
         changed a line in memory, put another line in its place, or restored an earlier content. Cells show after \
         how many more lines read from memory it was detected, and by what. In the rows with memory protection, the \
         bus is not protected; the thesis's scheme protects only the bus."
    );
    let mut table = Table::new("Attacks on memory: what was seen, and when", heads).with_note(note);
    for (protection, words) in matrix::rows(cells) {
        table.row(std::iter::once(Cell::text(protection)).chain(words.map(Cell::text)));
    }
    table
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn protection_of_memory_costs_time_beside_that_of_the_bus() {
        assert!(config(1, 2).unwrap().scheme.functional, "each run encrypts, and fails if a unit raises an alarm");
        let names = ROWS.each_ref().map(|(name, _)| *name);
        let row = |name: &str| run(names.iter().position(|row| *row == name).unwrap(), 2, true).unwrap().cycles;
        let (nothing, bus, xts) = (row("nothing"), row("bus: GCM"), row("memory: XTS"));
        let (tree, both) = (row("memory: counters and a tree"), row("bus: GCM; memory: counters and a tree"));
        assert!(xts > nothing && tree > nothing && both > bus, "{nothing} {bus} {xts} {tree} {both}");
    }
}
