//! `sealwright-lab smp`: simulates a shared-memory multiprocessor whose bus is protected.

mod attack;
mod check;
mod machine;
mod output;
mod plot;
mod record;
mod run;
mod settings;
mod stats;
mod sweep;
mod trace;

use clap::{Args, Subcommand};
use sealwright_terminal::{CommandError, Exit};

const EXAMPLES: &str = "\
Example:
    sealwright-lab smp run --workload fft --size 10 --scheme gcm
    sealwright-lab smp attack";

/// Simulate processors whose cache-to-cache transfers are sealed
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SmpArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Run(run::RunArgs),
    Attack(attack::AttackArgs),
    Sweep(sweep::SweepArgs),
    Plot(plot::PlotArgs),
    Record(record::RecordArgs),
    Trace(trace::TraceArgs),
    Settings(settings::SettingsArgs),
    Stats(stats::StatsArgs),
    Check(check::CheckArgs),
}

pub(crate) fn run(args: &SmpArgs) -> Result<Exit, CommandError> {
    match &args.verb {
        Verb::Run(args) => run::run(args),
        Verb::Attack(args) => attack::run(args),
        Verb::Sweep(args) => sweep::run(args),
        Verb::Plot(args) => plot::run(args),
        Verb::Record(args) => record::run(args),
        Verb::Trace(args) => trace::run(args),
        Verb::Settings(args) => settings::run(args),
        Verb::Stats(args) => stats::run(args),
        Verb::Check(args) => check::run(args),
    }
}
