//! Runs every attack against every scheme.

use rayon::prelude::*;
use serde::Serialize;

use crate::{
    attack::{Attack, Attacker},
    config::{Config, Protect},
    kernel::Kernel,
    machine::Outcome,
    message::Detector,
    run::{Report, RunError, Simulation, Workload},
    scheme::{REGISTRY, Registration, SchemeName, Variant},
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

/// The columns that the schemes register, on top of `base`; where there is no bus, without those that need one.
pub fn columns(base: &Config) -> Vec<Column> {
    let of = |scheme: &'static Registration| scheme.columns.iter().map(move |variant| (scheme, variant));
    let column = |(scheme, variant): (&Registration, &Variant)| {
        let mut config = base.clone();
        config.scheme.name = SchemeName::find(scheme.name).unwrap_or(SchemeName::CLEAR);
        config.scheme.functional = true;
        let set = |config: Config, setting: &&str| config.set(setting).unwrap_or(config);
        Column { name: variant.name.to_owned(), config: variant.settings.iter().fold(config, set) }
    };
    let runs = |column: &Column| base.interconnect.kind == TopologyKind::Bus || column.config.check().is_ok();
    REGISTRY.iter().flat_map(of).map(column).filter(runs).collect()
}

/// Transfers from one strike to the next: a prime, so that strikes fall on all positions of an interval of 10 or 100
/// lines.
const STEP: u64 = 13;

/// Runs every attack against every column on all cores, with `strikes` strikes, each in a run of its own and at the
/// first chance from a transfer on: `at`, and 13 transfers later each. Columns are the inner order. Where `base` names
/// a scheme, only its columns are run.
///
/// # Errors
/// When a run fails.
pub fn run(base: &Config, kernel: Kernel, at: u64, strikes: u64) -> Result<Vec<Cell>, RunError> {
    let mut columns = columns(base);
    if base.scheme.name != SchemeName::CLEAR {
        columns.retain(|column| column.config.scheme.name == base.scheme.name);
    }
    cells(&Attack::ALL, &columns, kernel, at, strikes)
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
    columns(base).into_par_iter().map(of).collect()
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
mod tests {
    use super::*;

    #[test]
    fn the_matrix_is_as_the_schemes_promise() {
        let cells = run(&Config::default(), Kernel::Fft { m: 8 }, 30, 1).unwrap();
        let cell = |attack, scheme: &str| {
            let found = cells.iter().find(|cell| cell.attack == attack && cell.scheme == scheme);
            &found.unwrap_or_else(|| panic!("{scheme}")).strikes[0]
        };
        for cell in &cells {
            assert!(cell.strikes[0].struck.is_some(), "{cell:?}");
        }
        // Without a scheme nothing is detected, and a changed bit is read
        for attack in Attack::ALL {
            assert_eq!(cell(attack, "clear").detector, None, "{attack}");
        }
        // Only schemes with authenticated commands detect a forged one; all others lose the line that it requests
        for column in columns(&Config::default()) {
            let cell = cell(Attack::ForgeCommand, &column.name);
            let tags = ["gcm, commands", "cxl-ide", "cxl-ide, skid", "pcie-ide"].contains(&column.name.as_str());
            let found = (cell.detector, cell.later);
            assert_eq!(found, if tags { (Some(Detector::Command), Some(0)) } else { (None, None) }, "{}", column.name);
            assert_eq!(cell.deadlocked + cell.lost_lines as usize > 0, !tags, "{}: {cell:?}", column.name);
        }
        assert!(cell(Attack::Flip, "clear").wrong_reads > 0);
        assert!(cell(Attack::Spoof, "clear").wrong_reads > 0);
        // GCM detects every changed line at once, before it is used
        for attack in [Attack::Flip, Attack::Spoof, Attack::Replay] {
            for scheme in ["gcm", "gcm, commands", "cbc, MAC a line", "cxl-ide", "pcie-ide"] {
                let cell = cell(attack, scheme);
                assert_eq!((cell.detector.is_some(), cell.later, cell.wrong_reads), (true, Some(0), 0), "{cell:?}");
            }
            assert!(cell(attack, "cbc, MAC in 10").detector.is_some(), "{attack}");
        }
        let held = cell(Attack::ReorderPair, "gcm");
        assert!(held.detector.is_none() && held.deadlocked > 0, "whoever waits for the line asks for no later one");
        assert_eq!(cell(Attack::ReorderOther, "gcm").detector, None, "pairs know nothing of each other");
        assert!(cell(Attack::ReorderOther, "gcm, commands").detector.is_some());
        assert!(cell(Attack::Drop, "gcm").deadlocked > 0, "the thesis has nobody who asks again");
        assert!(cell(Attack::Drop, "gcm, commands").detector.is_some());
        assert_eq!(cell(Attack::DropInvalidation, "gcm").detector, None, "commands carry no tag");
        assert_eq!(cell(Attack::DropInvalidation, "gcm, commands").detector, Some(Detector::Command));
    }

    /// Reordering within a pair needs a later line of the pair in flight: the same line sent again, or that of another
    /// miss. Every cell of a matrix has the machine that was asked for.
    #[test]
    fn a_pair_is_reordered_where_its_lines_can_pass_each_other() {
        let strike = |setting: &str| {
            let base = Config::default().set("scheme.name=gcm").unwrap().set(setting).unwrap();
            let cells = run(&base, Kernel::Fft { m: 8 }, 30, 1).unwrap();
            let of = |attack| cells.iter().find(|cell| cell.attack == attack && cell.scheme == "gcm").unwrap();
            (of(Attack::ReorderPair).strikes[0].clone(), of(Attack::Drop).strikes[0].clone())
        };
        let (held, dropped) = strike("bus.timeout=0");
        assert_eq!((held.detector, dropped.detector), (None, None));
        let (held, dropped) = strike("bus.timeout=20000");
        assert_eq!((held.detector, dropped.detector), (Some(Detector::Tag), Some(Detector::Tag)));
        let (held, dropped) = strike("machine.mshrs=4");
        assert_eq!((held.detector, dropped.detector), (Some(Detector::Tag), Some(Detector::Tag)));
        assert!(held.later.is_some_and(|later| later < 30), "{held:?}");
    }

    #[test]
    fn the_median_of_an_even_number_is_between_the_two_in_the_middle() {
        let words = |later: &[u64]| {
            let strike = |later: &u64| Strike {
                struck: Some(30),
                detector: Some(Detector::Mac),
                later: Some(*later),
                wrong_reads: 0,
                deadlocked: 0,
                lost_lines: 0,
            };
            let strikes = later.iter().map(strike).collect();
            Cell { attack: Attack::Flip, scheme: "senss".into(), strikes }.words()
        };
        assert_eq!(words(&[9, 1, 4, 7]), "1 to 9 later, median 5.5 (MAC)");
        assert_eq!(words(&[9, 1]), "1 to 9 later, median 5 (MAC)");
        assert_eq!(words(&[9, 1, 7]), "1 to 9 later, median 7 (MAC)");
    }

    #[test]
    fn without_an_attacker_no_detector_raises_an_alarm() {
        let found = false_alarms(&Config::default(), Kernel::Radix { m: 9 }, 2).unwrap();
        assert_eq!(found.len(), columns(&Config::default()).len());
        for alarms in found {
            assert!(alarms.alarms == 0 && alarms.looked_at > 200, "{alarms:?}");
        }
    }

    #[test]
    fn a_distribution_shows_what_one_strike_hides() {
        let mut base = Config::default();
        base.scheme.name = SchemeName::find("cbc").unwrap();
        let cells = run(&base, Kernel::Fft { m: 8 }, 20, 12).unwrap();
        assert!(cells.iter().all(|cell| cell.scheme.starts_with("cbc")), "the base's scheme alone");
        let found = cells.iter().find(|cell| cell.attack == Attack::Flip && cell.scheme == "cbc, MAC in 10");
        let later: Vec<u64> = found.unwrap().strikes.iter().filter_map(|strike| strike.later).collect();
        assert!(later.len() > 8 && later.iter().max() > later.iter().min(), "{later:?}");
        assert!(found.unwrap().words().contains(" to "), "{}", found.unwrap().words());
    }

    #[test]
    fn a_mac_in_ten_lines_of_one_chain_detects_within_ten_transfers() {
        let base = Config::default().merge("scheme.name = \"cbc\"\nscheme.cbc.scope = \"group\"\n").unwrap();
        for cell in run(&base, Kernel::Fft { m: 8 }, 30, 6).unwrap() {
            let changes = matches!(cell.attack, Attack::Flip | Attack::Spoof | Attack::Replay);
            for strike in cell.strikes.iter().filter(|_| changes && cell.scheme == "cbc, MAC in 10") {
                assert!(strike.later.is_some_and(|later| later <= 10), "{} {strike:?}", cell.attack);
            }
        }
    }

    /// No protection and encryption alone detect nothing; a MAC detects all but old lines; a tree detects everything.
    #[test]
    fn attacks_on_memory() {
        let cells = memory(&Config::default(), Kernel::Fft { m: 8 }, 20, 3).unwrap();
        assert_eq!(cells.len(), 12);
        for cell in cells {
            assert!(cell.strikes.iter().all(|strike| strike.struck.is_some()), "{}: {}", cell.scheme, cell.attack);
            let detected = cell.strikes.iter().filter(|strike| strike.detector.is_some()).count();
            let finds = match cell.scheme.as_str() {
                "tree" => true,
                "xts-mac" => cell.attack != Attack::MemoryReplay,
                _ => false,
            };
            assert_eq!(detected, if finds { 3 } else { 0 }, "{}: {}: {:?}", cell.scheme, cell.attack, cell.strikes);
            let wrong: u64 = cell.strikes.iter().map(|strike| strike.wrong_reads).sum();
            assert_eq!(wrong == 0, finds, "{}: {}", cell.scheme, cell.attack);
        }
    }
}
