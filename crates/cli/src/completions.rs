//! `sealwright completions`: what a shell needs to complete our words, made from the arguments themselves.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::{args, exit::Exit, failure::Failure, stream};

const EXAMPLES: &str = "\
Example:
    sealwright completions bash > sealwright.bash    # then: . ./sealwright.bash";

/// Print a script that completes words in a shell
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LowArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Prints the script.
pub(crate) fn run(args: &LowArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut args::LowArgs::command(), "sealwright", &mut script);
    stream::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
