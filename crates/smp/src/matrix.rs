//! Every attack against every scheme, by running them.

use rayon::prelude::*;
use serde::Serialize;

use crate::{
    attack::{Attack, Attacker},
    config::Config,
    kernel::Kernel,
    machine::End,
    message::How,
    run::{Failure, Job, Report, Workload},
    scheme::Name,
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
    /// How it was seen, or never.
    pub seen: Option<How>,
    /// Transfers (for a command, commands) from the strike until it was seen.
    pub later: Option<u64>,
    /// Loads that gave a wrong value until then.
    pub wrong_reads: u64,
    /// Nodes that wait for ever.
    pub stuck: usize,
}

impl Cell {
    /// In a few words.
    pub fn words(&self) -> String {
        match (self.struck, self.seen, self.later) {
            (None, ..) => "no chance".into(),
            (_, Some(How::Timeout), _) => "timeout".into(),
            (_, Some(how), Some(0)) => format!("at once ({how})"),
            (_, Some(how), Some(later)) => format!("{later} later ({how})"),
            _ if self.stuck > 0 => "never: a node waits for ever".into(),
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

/// Cycles until a lost line is asked for again, where somebody asks.
const TIMEOUT: u64 = 20_000;

/// The schemes as columns, the thesis's first, on top of `base`.
pub fn columns(base: &Config) -> Vec<Column> {
    let column = |name: &str, scheme: Name, settings: &[&str]| {
        let mut config = base.clone();
        config.shu.scheme = scheme;
        config.shu.functional = true;
        let set = |config: Config, setting: &&str| config.set(setting).unwrap_or(config);
        Column { name: name.to_owned(), config: settings.iter().fold(config, set) }
    };
    let timeout = format!("bus.timeout={TIMEOUT}");
    vec![
        column("clear", Name::Clear, &[]),
        column("cbc, MAC a line", Name::Cbc, &[]),
        column("cbc, MAC in 10", Name::Cbc, &["shu.authenticate=10"]),
        column("senss", Name::Senss, &[]),
        column("gcm", Name::Gcm, &[]),
        column("gcm, commands", Name::Gcm, &["shu.commands=true", &timeout]),
        column("i2sems", Name::I2sems, &[]),
        column("cxl-ide", Name::CxlIde, &[]),
        column("cxl-ide, skid", Name::CxlIde, &["shu.release=skid"]),
        column("pcie-ide", Name::PcieIde, &[]),
    ]
}

/// Runs every attack against every column, each striking at the first chance from transfer `at` on, on all cores.
/// Columns are the inner order.
///
/// # Errors
/// When a run fails.
pub fn run(base: &Config, kernel: Kernel, at: u64) -> Result<Vec<Cell>, Failure> {
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

fn cell(attack: Attack, column: &Column, kernel: Kernel, at: u64) -> Result<Cell, Failure> {
    let mut config = column.config.clone();
    if attack == Attack::ReorderPair {
        // In order, a node waits for one line at a time: the pair's next one is the same line, asked for again
        config.bus.timeout = TIMEOUT;
    }
    let mut job = Job::new(config, Workload::Kernel(kernel, false));
    job.watch = true;
    job.attacker = Some(Attacker::new(attack, at));
    let report = job.run(&mut |_| {})?;
    Ok(judge(attack, column, &report))
}

fn judge(attack: Attack, column: &Column, report: &Report) -> Cell {
    let Report { end, struck, wrong_reads, .. } = report;
    let (mut seen, mut later, mut stuck) = (None, None, 0);
    match end {
        End::Alarm(alarm) => {
            let now = if attack == Attack::DropInvalidation { alarm.command } else { alarm.transfer };
            seen = Some(alarm.how);
            later = struck.map(|struck| now.saturating_sub(struck));
        }
        End::Stuck(nodes) => stuck = nodes.len(),
        End::Done => {}
    }
    let wrong_reads = wrong_reads.unwrap_or(0);
    Cell { attack, scheme: column.name.clone(), struck: *struck, seen, later, wrong_reads, stuck }
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
            assert_eq!(cell(attack, "clear").seen, None, "{attack}");
        }
        assert!(cell(Attack::Flip, "clear").wrong_reads > 0);
        assert!(cell(Attack::Spoof, "clear").wrong_reads > 0);
        // GCM sees every changed line at once, and nothing of it is used
        for attack in [Attack::Flip, Attack::Spoof, Attack::Replay] {
            for scheme in ["gcm", "gcm, commands", "cbc, MAC a line", "cxl-ide", "pcie-ide"] {
                let cell = cell(attack, scheme);
                assert_eq!((cell.seen.is_some(), cell.later, cell.wrong_reads), (true, Some(0), 0), "{cell:?}");
            }
            assert!(cell(attack, "cbc, MAC in 10").later.is_some_and(|later| later <= 10), "{attack}");
        }
        assert_eq!(cell(Attack::ReorderPair, "gcm").seen, Some(How::Tag));
        assert_eq!(cell(Attack::ReorderOther, "gcm").seen, None, "pairs know nothing of each other");
        assert!(cell(Attack::ReorderOther, "gcm, commands").seen.is_some());
        assert!(cell(Attack::Drop, "gcm").stuck > 0, "the thesis has nobody who asks again");
        assert!(cell(Attack::Drop, "gcm, commands").seen.is_some());
        assert_eq!(cell(Attack::DropInvalidation, "gcm").seen, None, "commands carry no tag");
        assert_eq!(cell(Attack::DropInvalidation, "gcm, commands").seen, Some(How::Command));
    }
}
