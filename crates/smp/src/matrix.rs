//! Every attack against every scheme, by running them.

use rayon::prelude::*;
use serde::Serialize;

use crate::{
    attack::{Attack, Attacker},
    config::Config,
    kernel::Kernel,
    machine::Outcome,
    message::Detector,
    run::{Report, RunError, Simulation, Workload},
    scheme::SchemeName,
};

/// What an attack against a scheme came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The attack.
    pub attack: Attack,
    /// The column's name.
    pub scheme: String,
    /// The transfer, or the command, that was tampered with; `None` if there was no chance.
    pub struck: Option<u64>,
    /// What detected it, if anything did.
    pub detector: Option<Detector>,
    /// Transfers (for a command, commands) from the strike until the detection.
    pub later: Option<u64>,
    /// Loads that gave a wrong value until then.
    pub wrong_reads: u64,
    /// Nodes that wait for ever.
    pub deadlocked: usize,
}

impl Cell {
    /// In a few words.
    pub fn words(&self) -> String {
        match (self.struck, self.detector, self.later) {
            (None, ..) => "no chance".into(),
            (_, Some(Detector::Timeout), _) => "timeout".into(),
            (_, Some(how), Some(0)) => format!("at once ({how})"),
            (_, Some(how), Some(later)) => format!("{later} later ({how})"),
            _ if self.deadlocked > 0 => "never: a node waits for ever".into(),
            _ if self.wrong_reads > 0 => format!("never: {} wrong reads", self.wrong_reads),
            _ => "never: no harm here".into(),
        }
    }
}

/// A column: its name and its machine.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its machine.
    pub config: Config,
}

/// Cycles until a lost line is asked for again, where a scheme does so.
const TIMEOUT: u64 = 20_000;

/// The schemes as columns, the thesis's first, on top of `base`.
pub fn columns(base: &Config) -> Vec<Column> {
    let column = |name: &str, scheme: &str, settings: &[&str]| {
        let mut config = base.clone();
        config.scheme.name = SchemeName::find(scheme).unwrap_or(SchemeName::CLEAR);
        config.scheme.functional = true;
        let set = |config: Config, setting: &&str| config.set(setting).unwrap_or(config);
        Column { name: name.to_owned(), config: settings.iter().fold(config, set) }
    };
    let timeout = format!("bus.timeout={TIMEOUT}");
    vec![
        column("clear", "clear", &[]),
        column("cbc, MAC a line", "cbc", &[]),
        column("cbc, MAC in 10", "cbc", &["scheme.cbc.authenticate=10"]),
        column("senss", "senss", &[]),
        column("gcm", "gcm", &[]),
        column("gcm, commands", "gcm", &["scheme.gcm.commands=true", &timeout]),
        column("i2sems", "i2sems", &[]),
        column("cxl-ide", "cxl-ide", &[]),
        column("cxl-ide, skid", "cxl-ide", &["scheme.cxl-ide.release=skid"]),
        column("pcie-ide", "pcie-ide", &[]),
    ]
}

/// Runs every attack against every column, each striking at the first chance from transfer `at` on, on all cores.
/// Columns are the inner order.
///
/// # Errors
/// When a run fails.
pub fn run(base: &Config, kernel: Kernel, at: u64) -> Result<Vec<Cell>, RunError> {
    let columns = columns(base);
    let cells: Vec<_> =
        Attack::ALL.iter().flat_map(|attack| columns.iter().map(move |column| (*attack, column))).collect();
    cells.into_par_iter().map(|(attack, column)| cell(attack, column, kernel, at)).collect()
}

/// The cells of a whole [`run`] as rows of words: each scheme, and what came of every attack in the order of
/// [`Attack::ALL`].
pub fn rows(cells: &[Cell]) -> impl Iterator<Item = (&str, impl Iterator<Item = String>)> {
    let first = cells.iter().take_while(|cell| cell.attack == Attack::ALL[0]);
    first.map(|first| {
        let of_scheme = cells.iter().filter(|cell| cell.scheme == first.scheme);
        (first.scheme.as_str(), of_scheme.map(Cell::words))
    })
}

fn cell(attack: Attack, column: &Column, kernel: Kernel, at: u64) -> Result<Cell, RunError> {
    let mut config = column.config.clone();
    if attack == Attack::ReorderPair {
        // In order, a node waits for one line at a time: the pair's next one is the same line, asked for again
        config.bus.timeout = TIMEOUT;
    }
    let mut simulation = Simulation::new(config, Workload::Kernel(kernel, false));
    simulation.check = true;
    simulation.attacker = Some(Attacker::new(attack, at));
    let report = simulation.run(&mut |_| {})?;
    Ok(judge(attack, column, &report))
}

fn judge(attack: Attack, column: &Column, report: &Report) -> Cell {
    let Report { outcome, struck, wrong_reads, .. } = report;
    let (mut detector, mut later, mut deadlocked) = (None, None, 0);
    match outcome {
        Outcome::Detected(found) => {
            let now = if attack == Attack::DropInvalidation { found.command } else { found.transfer };
            detector = Some(found.detector);
            later = struck.map(|struck| now.saturating_sub(struck));
        }
        Outcome::Deadlock(nodes) => deadlocked = nodes.len(),
        Outcome::Completed => {}
    }
    let wrong_reads = wrong_reads.unwrap_or(0);
    Cell { attack, scheme: column.name.clone(), struck: *struck, detector, later, wrong_reads, deadlocked }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_matrix_is_as_the_schemes_promise() {
        let cells = run(&Config::default(), Kernel::Fft { m: 8 }, 30).unwrap();
        let cell = |attack, scheme: &str| {
            cells
                .iter()
                .find(|cell| cell.attack == attack && cell.scheme == scheme)
                .unwrap_or_else(|| panic!("{scheme}"))
        };
        for cell in &cells {
            assert!(cell.struck.is_some(), "{cell:?}");
        }
        // In the clear nothing is ever seen, and a changed bit is read
        for attack in Attack::ALL {
            assert_eq!(cell(attack, "clear").detector, None, "{attack}");
        }
        assert!(cell(Attack::Flip, "clear").wrong_reads > 0);
        assert!(cell(Attack::Spoof, "clear").wrong_reads > 0);
        // GCM sees every changed line at once, and nothing of it is used
        for attack in [Attack::Flip, Attack::Spoof, Attack::Replay] {
            for scheme in ["gcm", "gcm, commands", "cbc, MAC a line", "cxl-ide", "pcie-ide"] {
                let cell = cell(attack, scheme);
                assert_eq!((cell.detector.is_some(), cell.later, cell.wrong_reads), (true, Some(0), 0), "{cell:?}");
            }
            assert!(cell(attack, "cbc, MAC in 10").later.is_some_and(|later| later <= 10), "{attack}");
        }
        assert_eq!(cell(Attack::ReorderPair, "gcm").detector, Some(Detector::Tag));
        assert_eq!(cell(Attack::ReorderOther, "gcm").detector, None, "pairs know nothing of each other");
        assert!(cell(Attack::ReorderOther, "gcm, commands").detector.is_some());
        assert!(cell(Attack::Drop, "gcm").deadlocked > 0, "the thesis has nobody who asks again");
        assert!(cell(Attack::Drop, "gcm, commands").detector.is_some());
        assert_eq!(cell(Attack::DropInvalidation, "gcm").detector, None, "commands carry no tag");
        assert_eq!(cell(Attack::DropInvalidation, "gcm, commands").detector, Some(Detector::Command));
    }
}
