//! `sealwright-lab smp stats`: what the statistics mean, and how those of two runs differ.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use sealwright_measure::{Cell, Column, Table};
use sealwright_smp::{Difference, MEANINGS, Stats, meaning};
use sealwright_terminal::{CommandError, Exit, print, shown};
use serde_json::Value;

const EXAMPLES: &str = "\
Example:
    sealwright-lab smp run --workload fft --size 8 --json > a.json
    sealwright-lab smp run --workload fft --size 8 --scheme gcm --json > b.json
    sealwright-lab smp stats diff a.json b.json";

const LIST_EXAMPLE: &str = "\
Example:
    sealwright-lab smp stats list";

/// Explain the statistics of runs, or compare two runs
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct StatsArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Print every statistic with its unit and description
    #[command(after_help = LIST_EXAMPLE)]
    List,
    /// Print the settings and the statistics in which two runs differ
    #[command(after_help = EXAMPLES)]
    Diff {
        /// Output of smp run --json
        #[arg(value_name = "A")]
        a: PathBuf,
        /// Output of smp run --json for another run
        #[arg(value_name = "B")]
        b: PathBuf,
        /// Omit statistics that differ by less than this, in per cent
        #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
        least: f64,
    },
}

pub(super) fn run(args: &StatsArgs) -> Result<Exit, CommandError> {
    match &args.verb {
        Verb::List => {
            let heads = ["name", "unit", "meaning"].map(Column::text);
            let mut table = Table::new("Statistics of a run; * stands for a number", heads);
            for known in MEANINGS {
                table.row([known.name, known.unit, known.meaning].map(Cell::text));
            }
            print(&table.to_text())?;
        }
        Verb::Diff { a, b, least } => print(&compared(&read(a)?, &read(b)?, *least))?,
    }
    Ok(Exit::Done)
}

/// A run's settings and statistics.
struct Run {
    config: Stats,
    stats: Stats,
}

fn read(path: &Path) -> Result<Run, CommandError> {
    let text = std::fs::read_to_string(path).map_err(|error| CommandError::io(path, &error))?;
    let wrong = || {
        let why = format_args!("{}: not the statistics of a run", shown(path)).to_string();
        CommandError::failed(why).hint("smp run --json > FILE")
    };
    let tree: Value = serde_json::from_str(&text).map_err(|_| wrong())?;
    let part = |name: &str| tree.get(name).and_then(Stats::from_json).ok_or_else(wrong);
    Ok(Run { config: part("config")?, stats: part("stats")? })
}

fn compared(a: &Run, b: &Run, least: f64) -> String {
    let settings = a.config.differences(&b.config);
    let mut text = String::new();
    if !settings.is_empty() {
        let mut table = Table::new("Settings", ["setting", "A", "B"].map(Column::text));
        for Difference { name, a, b, .. } in settings {
            table.row([name, a, b].map(Cell::text));
        }
        text += &(table.to_text() + "\n");
    }
    let more = |found: &Difference| found.more.is_none_or(|more| more.abs() >= least);
    let differences: Vec<Difference> = a.stats.differences(&b.stats).into_iter().filter(more).collect();
    if differences.is_empty() {
        return text + "the statistics are the same\n";
    }
    let numbers = ["A", "B"].map(Column::number);
    let heads = std::iter::once(Column::text("statistic")).chain(numbers);
    let heads = heads.chain([Column::number("B : A").unit("%"), Column::text("unit")]);
    let mut table = Table::new("Statistics", heads);
    for Difference { name, a, b, more, .. } in differences {
        let unit = meaning(&name).map_or("", |known| known.unit);
        let more = more.map_or_else(|| Cell::empty(""), |more| Cell::text(format!("{more:+.2}")));
        table.row([Cell::text(&name), Cell::text(a), Cell::text(b), more, Cell::text(unit)]);
    }
    text + &table.to_text()
}
