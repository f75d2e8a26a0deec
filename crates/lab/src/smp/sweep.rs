//! `sealwright-lab smp sweep`: simulates every combination of settings on all cores.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use clap::Args;
use rayon::prelude::*;
use sealwright_smp::{
    Stats, settings,
    sweep::{self, Journal, Point},
};
use sealwright_terminal::{CommandError, Exit, ProgressArgs, Status, print, shown};
use serde_json::{Value, json};

use super::{
    machine::{MachineArgs, WorkArgs, unusable},
    output::whole,
};

const EXAMPLES: &str = "\
Example:
    sealwright-lab smp sweep --workload fft --size 10 --vary scheme.name=clear,gcm --vary machine.processors=2,4

With --grid, everything is in one file: settings as smp settings prints them, and a table vary of settings with lists
of values. With --output, a sweep that was interrupted goes on where it was: its runs so far are in FILE.journal.
Another build of this program takes none of them for its own.";

/// Simulate every combination of settings on all cores, and print one line of CSV for each
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    work: WorkArgs,
    #[command(flatten)]
    machine: MachineArgs,
    /// A setting and its values; can be repeated
    #[arg(long, value_name = "A.B=C,D", required_unless_present = "grid")]
    vary: Vec<String>,
    /// The sweep as a TOML file; only progress and output are then given in words
    #[arg(long, value_name = "FILE", conflicts_with_all = ["vary", "workload", "trace", "windows", "config", "preset", "set", "scheme",
        "processors", "line", "engine", "units", "faithful_iv", "timing_only"])]
    grid: Option<PathBuf>,
    /// Write the table to FILE once it is whole
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Run everything, even what an interrupted sweep has run already
    #[arg(long, requires = "output")]
    fresh: bool,
    /// Print JSON Lines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    progress: ProgressArgs,
}

pub(super) fn run(args: &SweepArgs) -> Result<Exit, CommandError> {
    let points = points(args)?;
    let journal = args.output.as_deref().map(|output| journal(output, args.fresh)).transpose()?;
    let total = points.len();
    let (status, done) = (Status::new(&args.progress), AtomicUsize::new(0));
    let rows: Result<Vec<(&Point, Stats)>, CommandError> = points
        .par_iter()
        .map(|point| {
            let stats = match journal.as_ref().and_then(|(_, journal)| journal.known(point)) {
                Some(stats) => stats.clone(),
                None => simulated(point, journal.as_ref())?,
            };
            let n = done.fetch_add(1, Ordering::Relaxed) + 1;
            status.now(format!("{n} of {total} runs"), || json!({ "done": n, "total": total }));
            Ok((point, stats))
        })
        .collect();
    drop(status);
    let rows = rows?;
    let text = if args.json { lines(&rows) } else { sweep::table(&rows) };
    match (&args.output, &journal) {
        (Some(output), Some((path, _))) => {
            whole(output, &text, true)?;
            std::fs::remove_file(path).map_err(|error| CommandError::io(path, &error))?;
        }
        _ => print(&text)?,
    }
    Ok(Exit::Done)
}

fn simulated(point: &Point, journal: Option<&(PathBuf, Journal)>) -> Result<Stats, CommandError> {
    let stats = settings::run(&point.settings).map_err(unusable)?.stats;
    if let Some((path, journal)) = journal {
        journal.keep(point, &stats).map_err(|error| CommandError::io(path, &error))?;
    }
    Ok(stats)
}

/// The file of what has been run, beside the table.
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

fn points(args: &SweepArgs) -> Result<Vec<Point>, CommandError> {
    if let Some(path) = &args.grid {
        let text = std::fs::read_to_string(path).map_err(|error| CommandError::io(path, &error))?;
        return sweep::points(&text).map_err(|error| CommandError::failed(format_args!("{}: {error}", shown(path))));
    }
    let base = args.machine.settings(Some(&args.work))?;
    let mut axes = Vec::new();
    for vary in &args.vary {
        let Some((name, values)) = vary.split_once('=') else {
            return Err(CommandError::usage(format_args!("{vary}: not of the form a.b=c,d")));
        };
        axes.push((name.to_owned(), values.split(',').map(str::to_owned).collect()));
    }
    sweep::cross_words(&base, &axes).map_err(CommandError::usage)
}

fn lines(rows: &[(&Point, Stats)]) -> String {
    let line = |(point, stats): &(&Point, Stats)| {
        let settings: serde_json::Map<String, Value> =
            point.varied.iter().map(|(name, value)| (name.clone(), Value::from(value.clone()))).collect();
        format!("{}\n", json!({ "settings": settings, "stats": stats.json() }))
    };
    rows.iter().map(line).collect()
}
