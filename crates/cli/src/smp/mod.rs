//! `sealwright smp`: a shared-memory multiprocessor with a sealed bus, simulated.

mod attack;
mod check;
mod machine;
mod record;
mod run;
mod sweep;

use clap::{Args, Subcommand};

use crate::{exit::Exit, failure::Failure};

const EXAMPLES: &str = "\
Example:
    sealwright smp run --workload fft --size 10 --scheme gcm
    sealwright smp attack";

/// Simulate processors whose cache-to-cache transfers are sealed
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LowArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Run(run::LowArgs),
    Attack(attack::LowArgs),
    Sweep(sweep::LowArgs),
    Record(record::LowArgs),
    Check(check::LowArgs),
}

pub(crate) fn run(args: &LowArgs) -> Result<Exit, Failure> {
    match &args.verb {
        Verb::Run(args) => run::run(args),
        Verb::Attack(args) => attack::run(args),
        Verb::Sweep(args) => sweep::run(args),
        Verb::Record(args) => record::run(args),
        Verb::Check(args) => check::run(args),
    }
}
