//! Runs every attack against every scheme.

use rayon::prelude::*;
use serde::Serialize;

use crate::{
    attack::{Attack, Attacker},
    config::{Config, Protect},
    error::ConfigError,
    kernel::Kernel,
    machine::Outcome,
    message::Detector,
    run::{Report, RunError, Simulation, Workload},
    scheme::{REGISTRY, SchemeName},
    topology::TopologyKind,
};

/// The outcome of an attack against a scheme, with strikes at several transfers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The attack.
    pub attack: Attack,
    /// The name of the scheme's variant.
    pub scheme: String,
    /// The strikes, each in its own run.
    pub strikes: Vec<Strike>,
}

/// The outcome of one strike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Strike {
    /// The transfer, command or answer of memory that was tampered with; `None` if there was no opportunity.
    pub struck: Option<u64>,
    /// What detected it, if anything.
    pub detector: Option<Detector>,
    /// Number of transfers (commands, answers) from the strike until its detection.
    pub later: Option<u64>,
    /// Number of loads that returned a wrong value until then.
    pub wrong_reads: u64,
    /// Number of nodes in deadlock.
    pub deadlocked: usize,
    /// Number of lines whose last written value is lost at the end.
    pub lost_lines: u64,
}

impl Cell {
    /// Summary: how many strikes were detected, by what and how many transfers later, and the harm done by the others.
    pub fn words(&self) -> String {
        let struck: Vec<&Strike> = self.strikes.iter().filter(|strike| strike.struck.is_some()).collect();
        if struck.is_empty() {
            return "no chance".into();
        }
        let mut later: Vec<u64> = struck.iter().filter_map(|strike| strike.later).collect();
        later.sort_unstable();
        let missed: Vec<&&Strike> = struck.iter().filter(|strike| strike.detector.is_none()).collect();
        let harm = match () {
            () if missed.iter().any(|strike| strike.deadlocked > 0) => "a node waits for ever".to_owned(),
            () if missed.iter().any(|strike| strike.wrong_reads > 0) => {
                format!("up to {} wrong reads", missed.iter().map(|strike| strike.wrong_reads).max().unwrap_or(0))
            }
            () if missed.iter().any(|strike| strike.lost_lines > 0) => {
                format!("up to {} lines lost", missed.iter().map(|strike| strike.lost_lines).max().unwrap_or(0))
            }
            () => "no harm here".to_owned(),
        };
        let Some(detector) = struck.iter().find_map(|strike| strike.detector) else { return format!("never: {harm}") };
        let when = match (later.first(), later.last()) {
            (Some(0), Some(0)) => "at once".to_owned(),
            (Some(first), Some(last)) if first == last => format!("{first} later"),
            (Some(first), Some(last)) => format!("{first} to {last} later, median {}", median(&later)),
            _ => String::new(),
        };
        let words = format!("{when} ({detector})");
        if missed.is_empty() { words } else { format!("{} of {}: {words}; else {harm}", later.len(), struck.len()) }
    }
}

/// The median of sorted numbers; of an even count, the mean of the two in the middle.
fn median(ordered: &[u64]) -> f64 {
    let upper = ordered.len() / 2;
    let middle = &ordered[upper - usize::from(ordered.len().is_multiple_of(2))..=upper];
    middle.iter().sum::<u64>() as f64 / middle.len() as f64
}

/// A column: its name and its machine.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its machine.
    pub config: Config,
}

/// `bus.timeout` of the runs without an attacker.
const TIMEOUT: u64 = 20_000;

/// The columns that the schemes register, on top of `base`, or only those of one scheme; where there is no bus, without
/// those that need one.
///
/// # Errors
/// When `base` changes a setting that tells columns of a scheme apart: it would have no effect.
pub fn columns(base: &Config, only: Option<SchemeName>) -> Result<Vec<Column>, ConfigError> {
    let mut columns = Vec::new();
    for scheme in REGISTRY {
        let Some(name) = SchemeName::find(scheme.name).filter(|name| only.is_none_or(|only| only == *name)) else {
            continue;
        };
        // The first column has the usual values
        for setting in scheme.columns.iter().take(1).flat_map(|variant| variant.settings) {
            if base.set(setting)? != *base {
                let names: Vec<_> = scheme.columns.iter().map(|variant| format!("{:?}", variant.name)).collect();
                let setting = setting.split('=').next().unwrap_or_default();
                let why = format!("{setting} tells {} apart, so it cannot be set for them", names.join(" and "));
                return Err(ConfigError(why));
            }
        }
        for variant in scheme.columns {
            let mut config = base.clone();
            config.scheme.name = name;
            config.scheme.functional = true;
            let config = variant.settings.iter().try_fold(config, |config, setting| config.set(setting))?;
            columns.push(Column { name: variant.name.to_owned(), config });
        }
    }
    columns.retain(|column| base.interconnect.kind == TopologyKind::Bus || column.config.check().is_ok());
    Ok(columns)
}

/// Transfers from one strike to the next: a prime, so that strikes fall on all positions of an interval of 10 or 100
/// lines.
const STEP: u64 = 13;

/// Runs every attack against every column on all cores, with `strikes` strikes, each in a run of its own and at the
/// first chance from a transfer on: `at`, and 13 transfers later each. Columns are the inner order.
///
/// # Errors
/// When a run fails, or as [`columns`].
pub fn run(base: &Config, kernel: Kernel, at: u64, strikes: u64) -> Result<Vec<Cell>, RunError> {
    cells(&Attack::ALL, &columns(base, None)?, kernel, at, strikes)
}

/// The same against the columns of one scheme.
///
/// # Errors
/// As [`run`].
pub fn against(
    scheme: SchemeName,
    base: &Config,
    kernel: Kernel,
    at: u64,
    strikes: u64,
) -> Result<Vec<Cell>, RunError> {
    cells(&Attack::ALL, &columns(base, Some(scheme))?, kernel, at, strikes)
}

/// Runs every attack on memory against every protection of memory, as [`run`] does on the bus, which is protected as
/// `base` says: `base` with small caches, so that lines come from memory again and again. A cell's scheme is the
/// protection's name.
///
/// # Errors
/// When a run fails.
pub fn memory(base: &Config, kernel: Kernel, at: u64, strikes: u64) -> Result<Vec<Cell>, RunError> {
    let column = |protect: Protect| {
        let mut config = base.clone();
        config.scheme.functional = true;
        (config.l1.bytes, config.l2.bytes) = (1 << 10, 4 << 10);
        config.memory.protect = protect;
        Column { name: protect.name().to_owned(), config }
    };
    cells(&Attack::ON_MEMORY, &Protect::ALL.map(column), kernel, at, strikes)
}

fn cells(attacks: &[Attack], columns: &[Column], kernel: Kernel, at: u64, strikes: u64) -> Result<Vec<Cell>, RunError> {
    let cells: Vec<_> = attacks.iter().flat_map(|attack| columns.iter().map(move |column| (*attack, column))).collect();
    cells
        .into_par_iter()
        .map(|(attack, column)| {
            let strikes = (0..strikes).map(|n| strike(attack, column, kernel, at + n * STEP));
            let strikes = strikes.collect::<Result<Vec<_>, RunError>>()?;
            Ok(Cell { attack, scheme: column.name.clone(), strikes })
        })
        .collect()
}

/// False alarms in runs without an attacker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Alarms {
    /// The name of the scheme's variant.
    pub scheme: String,
    /// Number of runs.
    pub runs: u64,
    /// Number of runs that ended with an alarm.
    pub alarms: u64,
    /// Number of lines and commands that were checked.
    pub looked_at: u64,
}

/// Runs every column without an attacker, with each of `seeds` seeds and all detectors enabled: any alarm is a false
/// one.
///
/// # Errors
/// When a run fails.
pub fn false_alarms(base: &Config, kernel: Kernel, seeds: u64) -> Result<Vec<Alarms>, RunError> {
    let of = |column: Column| {
        let mut found = Alarms { scheme: column.name, runs: seeds, alarms: 0, looked_at: 0 };
        for seed in 1..=seeds {
            let mut config = column.config.clone();
            (config.machine.seed, config.memory.jitter) = (seed, 4);
            // Requests may time out, too
            config.bus.timeout = TIMEOUT;
            let report = Simulation::new(config, Workload::Kernel(kernel, false)).run(&mut |_| {})?;
            found.alarms += u64::from(report.outcome != Outcome::Completed);
            let number = |path| report.stats.number(path) as u64;
            found.looked_at += number("transfers.count") + number("bus.commands") + number("directory.commands");
        }
        Ok(found)
    };
    columns(base, None)?.into_par_iter().map(of).collect()
}

/// The cells of a whole [`run`] as rows of words: each scheme, and what came of every attack in the order of
/// [`Attack::ALL`]; of [`memory`], in that of [`Attack::ON_MEMORY`].
pub fn rows(cells: &[Cell]) -> impl Iterator<Item = (&str, impl Iterator<Item = String>)> {
    let first = cells.iter().take_while(|cell| cell.attack == cells[0].attack);
    first.map(|first| {
        let of_scheme = cells.iter().filter(|cell| cell.scheme == first.scheme);
        (first.scheme.as_str(), of_scheme.map(Cell::words))
    })
}

fn strike(attack: Attack, column: &Column, kernel: Kernel, at: u64) -> Result<Strike, RunError> {
    let mut simulation = Simulation::new(column.config.clone(), Workload::Kernel(kernel, false));
    simulation.check = true;
    simulation.attackers.push(Attacker::new(attack, at));
    let report = simulation.run(&mut |_| {})?;
    Ok(judge(&report))
}

/// The outcome of a run with one attacker.
fn judge(report: &Report) -> Strike {
    let (detector, deadlocked) = match &report.outcome {
        Outcome::Detected(found) => (Some(found.detector), 0),
        Outcome::Deadlock(nodes) => (None, nodes.len()),
        Outcome::Completed => (None, 0),
    };
    Strike {
        struck: report.struck(),
        detector,
        later: report.strikes.iter().find_map(|strike| strike.later),
        wrong_reads: report.wrong_reads.unwrap_or(0),
        deadlocked,
        lost_lines: report.lost_lines.unwrap_or(0),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
#[path = "matrix_tests.rs"]
mod tests;
