//! `sealwright-lab smp sweep`: simulates every combination of settings on all cores.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use clap::Args;
use rayon::prelude::*;
use sealwright_smp::{
    Stats, settings,
    sweep::{self, Grid, Journal, Point},
};
use sealwright_terminal::{CommandError, Exit, ProgressArgs, print, shown};
use serde_json::{Value, json};

use super::{
    machine::{MachineArgs, WorkArgs, failed_run, unusable},
    output::{exists, whole},
};
use crate::status::Status;

const EXAMPLES: &str = "\
Example:
    sealwright-lab smp sweep --workload fft --size 10 --vary scheme.name=clear,gcm --vary machine.processors=2,4

With --grid, one file holds everything: settings as smp settings prints them, and a table `vary` of settings with lists
of values. With --output, an interrupted sweep can be continued: completed runs are kept in FILE.journal, and are reused
only by the same build of this program and with the same trace. A run that raises an alarm, deadlocks or computes a
wrong result ends the sweep.";

/// Simulate every combination of settings on all cores, and print one line of CSV for each
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, group = clap::ArgGroup::new("varied").args(["vary", "grid"]).required(true).multiple(true))]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    work: WorkArgs,
    #[command(flatten)]
    machine: MachineArgs,
    /// A setting and its values; can be repeated
    #[arg(long, value_name = "A.B=C,D")]
    vary: Vec<String>,
    /// Read the whole sweep from a TOML file; only options for progress and output can be combined with it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["vary", "workload", "trace", "windows", "config", "preset", "set", "scheme",
        "processors", "line", "engine", "units", "faithful_iv", "timing_only"])]
    grid: Option<PathBuf>,
    /// Write the table to FILE when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(long, requires = "output")]
    force: bool,
    /// Run everything again, even what an interrupted sweep has completed
    #[arg(long, requires = "output")]
    fresh: bool,
    /// Print JSON Lines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    progress: ProgressArgs,
}

/// The varied settings of a run, and its statistics.
type Row = (Vec<(String, String)>, Stats);

pub(super) fn run(args: &SweepArgs) -> Result<Exit, CommandError> {
    if let Some(path) = args.output.as_deref().filter(|path| !args.force && path.exists()) {
        return Err(exists(path));
    }
    let grid = grid(args)?;
    let journal = args.output.as_deref().map(|output| journal(output, args.fresh)).transpose()?;
    let total = grid.count();
    let (status, done) = (Status::new(&args.progress), AtomicUsize::new(0));
    let rows: Result<Vec<Row>, CommandError> = (0..total)
        .into_par_iter()
        .map(|number| {
            let point = grid.point(number).map_err(CommandError::usage)?;
            let stats = match journal.as_ref().and_then(|(_, journal)| journal.known(&point)) {
                Some(stats) => stats.clone(),
                None => simulated(&point, journal.as_ref())?,
            };
            let n = done.fetch_add(1, Ordering::Relaxed) + 1;
            status.now(format!("{n} of {total} runs"), || json!({ "done": n, "total": total }));
            Ok((point.varied, stats))
        })
        .collect();
    drop(status);
    let rows = rows?;
    let text = if args.json { lines(&rows) } else { sweep::table(&rows) };
    match (&args.output, &journal) {
        (Some(output), Some((path, _))) => {
            whole(output, &text, args.force)?;
            std::fs::remove_file(path).map_err(|error| CommandError::io(path, &error))?;
        }
        _ => print(&text)?,
    }
    Ok(Exit::Done)
}

/// The statistics of a run, or an error that names the run if it failed or gave a wrong result.
fn simulated(point: &Point, journal: Option<&(PathBuf, Journal)>) -> Result<Stats, CommandError> {
    let name = point.name();
    let named = |error: CommandError| if name.is_empty() { error } else { error.about(Path::new(&name)) };
    let report = settings::run(&point.settings).map_err(|error| named(unusable(error)))?;
    if let Some(failure) = report.failure() {
        return Err(named(failed_run(failure)).hint("smp run with these settings prints the statistics until then"));
    }
    if let Some((path, journal)) = journal {
        journal.keep(point, &report.stats).map_err(|error| CommandError::io(path, &error))?;
    }
    Ok(report.stats)
}

/// Opens the journal of completed runs, which lies beside the table.
fn journal(output: &Path, fresh: bool) -> Result<(PathBuf, Journal), CommandError> {
    let mut path = output.as_os_str().to_owned();
    path.push(".journal");
    let path = PathBuf::from(path);
    if fresh && path.exists() {
        std::fs::remove_file(&path).map_err(|error| CommandError::io(&path, &error))?;
    }
    let program = sweep::program().map_err(|error| CommandError::failed(format_args!("this program: {error}")))?;
    let journal = Journal::open(&path, &program).map_err(|error| CommandError::io(&path, &error))?;
    Ok((path, journal))
}

fn grid(args: &SweepArgs) -> Result<Grid, CommandError> {
    if let Some(path) = &args.grid {
        let text = std::fs::read_to_string(path).map_err(|error| CommandError::io(path, &error))?;
        return Grid::parse(&text).map_err(|error| CommandError::failed(format_args!("{}: {error}", shown(path))));
    }
    let base = args.machine.settings(Some(&args.work))?;
    let mut axes = Vec::new();
    for vary in &args.vary {
        let Some((name, values)) = vary.split_once('=') else {
            return Err(CommandError::usage(format_args!("{vary}: not of the form a.b=c,d")));
        };
        axes.push((name.to_owned(), values.split(',').map(str::to_owned).collect()));
    }
    Grid::over(&base, &axes).map_err(CommandError::usage)
}

fn lines(rows: &[Row]) -> String {
    let line = |(varied, stats): &Row| {
        let settings: serde_json::Map<String, Value> =
            varied.iter().map(|(name, value)| (name.clone(), Value::from(value.clone()))).collect();
        format!("{}\n", json!({ "settings": settings, "stats": stats.json() }))
    };
    rows.iter().map(line).collect()
}
