//! `sealwright-lab smp plot`: draws tables of sweeps and statistics of runs.

use std::path::PathBuf;

use clap::Args;
use sealwright_study::{
    figure::PlotKind,
    plot::{PlotError, Question, Rows, drawing, figure},
};
use sealwright_terminal::{CommandError, Exit, print, shown};

use super::output::{exists, whole};

const EXAMPLES: &str = "\
Example:
    sealwright-lab smp sweep --workload fft --size 8 --vary scheme.name=clear,gcm,cbc --vary bus.width=8,16,32 -o table.csv
    sealwright-lab smp plot table.csv --x bus.width --y slowdown --by scheme -o plot.svg
    sealwright-lab smp plot table.csv --x scheme --y transfers.mean_cycles --where bus.width=16 -o bars.svg

A part between dots is enough to name a column: width for bus.width. `--y slowdown` stands for
`--y cycles --over scheme.name=clear`. Runs that differ only in machine.seed become one point: their mean with its 95 %
interval. smp stats list explains the statistics.";

/// Draw tables of smp sweep, or what smp run --json printed, as SVG
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PlotArgs {
    /// Tables (CSV) of smp sweep, or the output of smp sweep --json or smp run --json
    #[arg(value_name = "TABLE", required = true)]
    tables: Vec<PathBuf>,
    /// Column along the horizontal axis
    #[arg(long, value_name = "COLUMN", default_value = "file")]
    x: String,
    /// Column along the vertical axis
    #[arg(long, value_name = "COLUMN")]
    y: String,
    /// Column whose values each get their own line, or colour of bars
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
    /// Plot the difference, in per cent, from the run with this value and otherwise the same settings
    #[arg(long, value_name = "COLUMN=VALUE")]
    over: Option<String>,
    /// Use only rows with this value; can be repeated
    #[arg(long = "where", value_name = "COLUMN=VALUE")]
    only: Vec<String>,
    /// Draw bars, even if the horizontal axis has numbers
    #[arg(long)]
    bars: bool,
    /// Draw lines [default: lines for numbers, bars for words]
    #[arg(long, conflicts_with = "bars")]
    lines: bool,
    /// Make the horizontal axis logarithmic
    #[arg(long)]
    log_x: bool,
    /// Make the vertical axis logarithmic
    #[arg(long)]
    log_y: bool,
    /// Text alternative for readers who cannot see the plot
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Write the plot to FILE when it is complete [default: print it]
    #[arg(short, long, value_name = "FILE", alias = "out")]
    output: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(long, requires = "output")]
    force: bool,
}

pub(super) fn run(args: &PlotArgs) -> Result<Exit, CommandError> {
    if let Some(path) = args.output.as_deref().filter(|path| !args.force && path.exists()) {
        return Err(exists(path));
    }
    let question = Question {
        x: args.x.clone(),
        y: args.y.clone(),
        by: args.by.clone(),
        over: args.over.as_deref().map(pair).transpose()?,
        only: args.only.iter().map(|only| pair(only)).collect::<Result<_, _>>()?,
        kind: match (args.bars, args.lines) {
            (true, _) => Some(PlotKind::Bars),
            (_, true) => Some(PlotKind::Lines),
            _ => None,
        },
        title: args.title.clone(),
        log_x: args.log_x,
        log_y: args.log_y,
    };
    let mut rows = Rows::default();
    for path in &args.tables {
        let text = std::fs::read_to_string(path).map_err(|error| CommandError::io(path, &error))?;
        rows.add(&shown(path), &text).map_err(told)?;
    }
    let drawn = drawing(&figure(&rows, &question).map_err(told)?);
    match &args.output {
        Some(path) => whole(path, &drawn, args.force)?,
        None => print(&drawn)?,
    }
    Ok(Exit::Done)
}

/// Splits `COLUMN=VALUE`.
fn pair(text: &str) -> Result<(String, String), CommandError> {
    let (column, value) = text
        .split_once('=')
        .ok_or_else(|| CommandError::usage(format_args!("{text}: not of the form COLUMN=VALUE")))?;
    Ok((column.to_owned(), value.to_owned()))
}

/// The maximum number of columns that a hint lists.
const NAMED: usize = 12;

/// Converts an error of the plot into a message and a hint.
fn told(error: PlotError) -> CommandError {
    let hint = match &error {
        PlotError::Column { near, .. } => {
            let more = if near.len() > NAMED { format!(" and {} more", near.len() - NAMED) } else { String::new() };
            format!("columns: {}{more}", near[..near.len().min(NAMED)].join(", "))
        }
        PlotError::Empty(_) | PlotError::Unreadable { .. } => {
            "smp sweep -o TABLE.csv writes tables, smp run --json > FILE the statistics of a run".to_owned()
        }
        PlotError::Ambiguous { .. } => "write the whole name".to_owned(),
        PlotError::NotNumber { .. } | PlotError::Nothing(_) => {
            "the vertical axis takes a statistic; smp stats list shows them".to_owned()
        }
        PlotError::NoRow { .. } => "values are written as in the table".to_owned(),
        PlotError::Mixed { column, values } => {
            format!("--by {column}, or --where {column}={}", values.first().map_or("VALUE", String::as_str))
        }
        PlotError::Twice { .. } => {
            "draw each table and each run once, or use --by to separate runs by another column".to_owned()
        }
        PlotError::Bases { .. } => "draw one of them; --where chooses it by a column in which they differ".to_owned(),
        PlotError::NoBase { .. } => "a sweep that varies this setting has such runs; of two sweeps, --over file=NAME \
                                     compares one with the other"
            .to_owned(),
        PlotError::Words { .. } => "--bars".to_owned(),
        PlotError::Log { .. } => "leave --log-x or --log-y out".to_owned(),
    };
    CommandError::failed(error).hint(hint)
}
