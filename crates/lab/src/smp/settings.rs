//! `sealwright-lab smp settings`: prints a whole simulation as a settings file.

use clap::Args;
use sealwright_terminal::{CommandError, Exit, print};

use super::machine::{MachineArgs, WorkArgs};

const EXAMPLES: &str = "\
Example:
    sealwright-lab smp settings --preset modern-server --workload fft --size 10 > server.toml
    sealwright-lab smp run --config server.toml --scheme gcm";

/// Print all settings of a simulation as a file for --config
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SettingsArgs {
    #[command(flatten)]
    work: WorkArgs,
    #[command(flatten)]
    machine: MachineArgs,
}

pub(super) fn run(args: &SettingsArgs) -> Result<Exit, CommandError> {
    print(&args.machine.settings(Some(&args.work))?.text().map_err(CommandError::usage)?)?;
    Ok(Exit::Done)
}
