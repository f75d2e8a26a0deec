//! `sealwright-lab smp attack`: every attack against every scheme, as a matrix.

use clap::Args;
use sealwright_measure::{Cell, Column, Table};
use sealwright_smp::{attack::Attack, kernel::Kernel, matrix};
use sealwright_terminal::{CommandError, Exit, print};

use super::{machine::MachineArgs, run::failed};

const EXAMPLES: &str = "\
Example:
    sealwright-lab smp attack --processors 8

What is seen: at once, or so many transfers (for a dropped invalidation, commands) later, and by what.";

/// Run every attack against every scheme, and tell what was seen and when
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AttackArgs {
    #[command(flatten)]
    machine: MachineArgs,
    /// Strike at the first chance from transfer N on
    #[arg(long, value_name = "N", default_value_t = 100)]
    at: u64,
    /// A kernel to disturb
    #[arg(long, value_name = "NAME", value_parser = Kernel::NAMES, default_value = "fft")]
    workload: String,
    /// Its size
    #[arg(long, value_name = "N", default_value_t = 10)]
    size: u32,
    /// Print one line of JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &AttackArgs) -> Result<Exit, CommandError> {
    let config = args.machine.config(None)?;
    let kernel =
        Kernel::by_name(&args.workload, Some(args.size)).ok_or_else(|| CommandError::usage("no such kernel"))?;
    let cells = matrix::run(&config, kernel, args.at).map_err(failed)?;
    if args.json {
        print(&(serde_json::to_string(&cells).map_err(CommandError::failed)? + "\n"))?;
        return Ok(Exit::Done);
    }
    // Schemes down, attacks across: names of schemes are long
    let heads = std::iter::once(Column::text("scheme")).chain(Attack::ALL.map(|attack| Column::text(attack.name())));
    let mut table = Table::new("What was seen, and when", heads);
    for (scheme, words) in matrix::rows(&cells) {
        table.row(std::iter::once(Cell::text(scheme)).chain(words.map(Cell::text)));
    }
    print(&table.to_text())?;
    Ok(Exit::Done)
}
