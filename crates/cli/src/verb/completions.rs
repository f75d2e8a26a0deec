//! `sealwright completions`: a completion script for a shell.

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use sealwright_terminal::{CommandError, Exit, pages, print};

const EXAMPLES: &str = "\
Example:
    sealwright completions bash > sealwright.bash    # then: . ./sealwright.bash";

/// Print a completion script for a shell
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Prints the completion script of the program `A`.
pub(crate) fn run<A: CommandFactory>(args: &CompletionsArgs) -> Result<Exit, CommandError> {
    print(&pages::completions::<A>(args.shell))?;
    Ok(Exit::Done)
}
