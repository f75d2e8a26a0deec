//! `sealwright-lab smp attack`: runs every attack against every scheme and prints a matrix.

use clap::Args;
use sealwright_measure::{Cell, Column, Table};
use sealwright_smp::{attack::Attack, kernel::Kernel, matrix, run::WorkloadSettings};
use sealwright_terminal::{CommandError, Exit, print};

use super::machine::{MachineArgs, failed};

const EXAMPLES: &str = "\
Example:
    sealwright-lab smp attack --processors 8
    sealwright-lab smp attack --memory

The table shows what detects an attack and when: at once, or after how many more transfers (or commands, for a dropped
invalidation and a forged command). --scheme limits it to one scheme. With --memory, the attacker manipulates memory
instead of the bus, and the table has a row for each memory protection (memory.protect).";

/// The size of the kernel if nothing names one.
const SIZE: u32 = 10;

/// Run every attack against every scheme, and print what was detected and when
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AttackArgs {
    #[command(flatten)]
    machine: MachineArgs,
    /// Attack at the first opportunity from transfer N on
    #[arg(long, value_name = "N", default_value_t = 77)]
    at: u64,
    /// Number of attacks, each in its own run, 13 transfers apart
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    strikes: u64,
    /// Kernel that runs during the attack [default: that of --config, or fft]
    #[arg(long, value_name = "NAME", value_parser = Kernel::NAMES)]
    workload: Option<String>,
    /// Size of the kernel [default: that of --config, or 10]
    #[arg(long, value_name = "N")]
    size: Option<u32>,
    /// Attack memory instead of the bus
    #[arg(long, conflicts_with = "scheme")]
    memory: bool,
    /// Print one line of JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &AttackArgs) -> Result<Exit, CommandError> {
    let settings = args.machine.settings(None)?;
    let config = settings.config;
    if !config.scheme.functional {
        return Err(CommandError::usage("attacks need lines that are really encrypted").hint("leave --timing-only out"));
    }
    let kernel = kernel(args, &settings.workload)?;
    let scheme = args.machine.names_scheme(&config).then_some(config.scheme.name);
    let (found, attacks): (_, &[Attack]) = match scheme {
        _ if args.memory => (matrix::memory(&config, kernel, args.at, args.strikes), &Attack::ON_MEMORY),
        Some(scheme) => (matrix::against(scheme, &config, kernel, args.at, args.strikes), &Attack::ALL),
        None => (matrix::run(&config, kernel, args.at, args.strikes), &Attack::ALL),
    };
    let cells = found.map_err(failed)?;
    if args.json {
        print(&(serde_json::to_string(&cells).map_err(CommandError::failed)? + "\n"))?;
        return Ok(Exit::Done);
    }
    // Schemes are rows, because their names are too long for columns
    let first = if args.memory { "memory.protect" } else { "scheme" };
    let heads = std::iter::once(Column::text(first)).chain(attacks.iter().map(|attack| Column::text(attack.name())));
    let mut table = Table::new("What was detected, and when", heads);
    for (scheme, words) in matrix::rows(&cells) {
        table.row(std::iter::once(Cell::text(scheme)).chain(words.map(Cell::text)));
    }
    print(&table.to_text())?;
    Ok(Exit::Done)
}

/// The kernel of the command line, or else of the settings file.
fn kernel(args: &AttackArgs, file: &WorkloadSettings) -> Result<Kernel, CommandError> {
    let (name, size) = match &args.workload {
        Some(name) => (name.as_str(), args.size),
        None if file.trace.is_some() || file.windows.is_some() || file.align => {
            let why = "an attack runs a kernel whose arrays are not aligned to pages";
            return Err(CommandError::usage(why).hint("--workload replaces the workload of --config"));
        }
        None => (file.kernel.as_deref().unwrap_or("fft"), args.size.or(file.size)),
    };
    Kernel::by_name(name, Some(size.unwrap_or(SIZE))).ok_or_else(|| CommandError::usage("no such kernel"))
}
