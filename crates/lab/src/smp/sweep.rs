//! `sealwright-lab smp sweep`: simulates every combination of settings on all cores.

use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;
use rayon::prelude::*;
use sealwright_smp::{Config, Stats, run::Simulation};
use sealwright_terminal::{CommandError, Exit, ProgressArgs, Status, print};
use serde_json::{Value, json};

use super::{
    machine::{MachineArgs, WorkArgs},
    run::failed,
};

const EXAMPLES: &str = "\
Example:
    sealwright-lab smp sweep --workload fft --size 10 --vary scheme.name=clear,gcm --vary machine.processors=2,4";

/// Simulate every combination of settings on all cores, and print one line of CSV for each
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    work: WorkArgs,
    #[command(flatten)]
    machine: MachineArgs,
    /// A setting and its values; can be repeated
    #[arg(long, value_name = "A.B=C,D", required = true)]
    vary: Vec<String>,
    /// Print JSON Lines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    progress: ProgressArgs,
}

/// The settings in which a run differs from the others: names and values.
type Settings = Vec<(String, String)>;

/// The maximum number of runs in a sweep; more is probably a mistake.
const MOST: usize = 100_000;

pub(super) fn run(args: &SweepArgs) -> Result<Exit, CommandError> {
    let (workload, threads) = args.work.workload()?;
    let mut points = vec![(Vec::new(), args.machine.config(threads)?)];
    for vary in &args.vary {
        let Some((name, values)) = vary.split_once('=') else {
            return Err(CommandError::usage(format_args!("{vary}: not of the form a.b=c,d")));
        };
        let mut crossed = Vec::new();
        for (settings, config) in &points {
            for value in values.split(',') {
                let config = config.set(&format!("{name}={value}")).map_err(CommandError::usage)?;
                let mut settings: Settings = settings.clone();
                settings.push((name.to_owned(), value.to_owned()));
                crossed.push((settings, config));
            }
        }
        points = crossed;
        if points.len() > MOST {
            return Err(CommandError::usage(format_args!("more than {MOST} runs")));
        }
    }
    points.iter().try_for_each(|(_, config): &(_, Config)| config.check().map_err(CommandError::usage))?;
    let total = points.len();
    let (status, done) = (Status::new(&args.progress), AtomicUsize::new(0));
    let rows: Result<Vec<(Settings, Stats)>, CommandError> = points
        .into_par_iter()
        .map(|(settings, config)| {
            let report = Simulation::new(config, workload.clone()).run(&mut |_| {}).map_err(failed)?;
            let n = done.fetch_add(1, Ordering::Relaxed) + 1;
            status.now(format!("{n} of {total} runs"), || json!({ "done": n, "total": total }));
            Ok((settings, report.stats))
        })
        .collect();
    drop(status);
    print(&printed(rows?, args.json))?;
    Ok(Exit::Done)
}

fn printed(rows: Vec<(Settings, Stats)>, json: bool) -> String {
    if json {
        let line = |(settings, stats): &(Settings, Stats)| {
            let settings: serde_json::Map<String, Value> =
                settings.iter().map(|(name, value)| (name.clone(), Value::from(value.clone()))).collect();
            format!("{}\n", json!({ "settings": settings, "stats": stats.json() }))
        };
        return rows.iter().map(line).collect();
    }
    // The settings stand first; their names and values have neither commas nor quotes
    let words = |pick: fn(&(String, String)) -> &str, settings: &[(String, String)]| {
        settings.iter().map(|setting| pick(setting).to_owned() + ",").collect::<String>()
    };
    let heads = rows.iter().take(1).map(|(settings, _)| words(|(name, _)| name, settings));
    let heads: Vec<String> =
        heads.chain(rows.iter().map(|(settings, _)| words(|(_, value)| value, settings))).collect();
    let trees: Vec<Stats> = rows.into_iter().map(|(_, stats)| stats.in_all()).collect();
    heads.iter().zip(Stats::csv(&trees).lines()).map(|(head, line)| format!("{head}{line}\n")).collect()
}
