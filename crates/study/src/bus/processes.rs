//! Several processes on one machine: the cost of a key for each process in time and in storage.

use rayon::prelude::*;
use sealwright_measure::{Cell, Column, Table};
use sealwright_smp::{
    Config, ConfigError,
    kernel::Kernel,
    run::{RunError, Simulation, Workload},
};

use super::error::GridError;

/// Number of processes that share the machine.
pub(super) const PROCESSES: usize = 4;

/// Scheduling quanta: the number of cycles after which a processor switches to its next process.
const QUANTA: [u64; 2] = [10_000, 100_000];

/// Key arrangements: keys, and the number of processes whose pads are stored at once.
const KEYS: [(&str, &[&str]); 4] = [
    ("none: without a scheme", &["scheme.name=clear"]),
    ("one for all, as in the thesis", &["scheme.name=gcm"]),
    ("one for each, pads for the one that runs", &["scheme.name=gcm", "scheme.gcm.keys=each"]),
    ("one for each, pads for all of them", &["scheme.name=gcm", "scheme.gcm.keys=each", "scheme.gcm.stored=4"]),
];

/// The results of a run with several processes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared {
    quantum: u64,
    /// Index in [`KEYS`].
    pub(super) keys: usize,
    cycles: f64,
    switches: f64,
    pub(super) bytes: f64,
}

/// Runs every quantum with every key arrangement: 8 processors, four processes of FFT.
pub(super) fn share(quick: bool) -> Result<Vec<Shared>, GridError> {
    let runs: Vec<(u64, usize)> =
        QUANTA.into_iter().flat_map(|quantum| (0..KEYS.len()).map(move |keys| (quantum, keys))).collect();
    runs.into_par_iter().map(|(quantum, keys)| run(quantum, keys, quick)).collect()
}

fn config(quantum: u64, keys: usize) -> Result<Config, ConfigError> {
    let mut config = Config::default();
    config.machine.processors = 8;
    (config.processes.count, config.processes.quantum) = (PROCESSES, quantum);
    KEYS[keys].1.iter().try_fold(config, |config, setting| config.set(setting))
}

fn run(quantum: u64, keys: usize, quick: bool) -> Result<Shared, GridError> {
    let config = config(quantum, keys).map_err(RunError::from)?;
    let kernel = Kernel::Fft { m: if quick { 10 } else { 14 } };
    let report = Simulation::new(config, Workload::Kernel(kernel, false)).run(&mut |_| {})?;
    if let Some(failure) = report.failure() {
        return Err(GridError::Wrong(format!("{PROCESSES} processes, {}: {failure}", KEYS[keys].0)));
    }
    let number = |path| report.stats.number(path);
    let (cycles, switches, bytes) = (number("cycles"), number("processes.switches"), number("scheme.storage_bytes"));
    Ok(Shared { quantum, keys, cycles, switches, bytes })
}

/// The time that a key arrangement adds, in per cent of the time without a scheme.
pub(super) fn loss(runs: &[Shared], quantum: u64, keys: usize) -> Option<f64> {
    let find = |keys| runs.iter().find(|run| run.quantum == quantum && run.keys == keys);
    Some((find(keys)?.cycles / find(0)?.cycles - 1.0) * 100.0)
}

pub(super) fn table(runs: &[Shared]) -> Table {
    let heads = [
        Column::text("keys"),
        Column::number("cycles of a turn"),
        Column::number("changes"),
        Column::number("loss").unit("%"),
        Column::number("storage of a node").unit("B"),
    ];
    let note = "FFT in four processes on 8 processors, which take turns; a process switch takes 1000 cycles, and \
        processors also switch when a process waits. With a key for each process, a unit either stores only the \
        pads of the running process and computes all of them again after each switch, or stores those of all \
        processes. AES pipelined, 320 cycles.";
    let mut table = Table::new("Processes: what a key for each costs", heads).with_note(note);
    for run in runs.iter().filter(|run| run.keys > 0) {
        let loss = loss(runs, run.quantum, run.keys);
        table.row([
            Cell::text(KEYS[run.keys].0),
            Cell::count(run.quantum),
            Cell::count(run.switches as u64),
            loss.map_or_else(|| Cell::empty("not run"), |loss| Cell::number(loss, 2)),
            Cell::count(run.bytes as u64),
        ]);
    }
    table
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_key_for_each_process_costs_storage() {
        // Each run encrypts, and fails if a unit raises an alarm
        assert!(config(QUANTA[0], 2).unwrap().scheme.functional);
        let bytes: Vec<f64> = [1, 2, 3].map(|keys| run(QUANTA[0], keys, true).unwrap().bytes).into();
        assert!(bytes[0] < bytes[1] && bytes[1] < bytes[2], "{bytes:?}");
    }
}
