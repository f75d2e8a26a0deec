//! `sealwright report`: the page again, from the results that are kept.

use clap::Args;

use crate::exit::Exit;
use crate::failure::{Failure, shown};
use crate::stream;
use crate::study::Folders;

const EXAMPLES: &str = "\
One file that needs no network.

Example:
    sealwright report";

/// Write the report anew from the results that are kept
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LowArgs {
    #[command(flatten)]
    folders: Folders,
}

/// Writes the page and says where it is.
pub(crate) fn run(args: &LowArgs) -> Result<Exit, Failure> {
    let page = sealwright_study::report::write(&args.folders.options(false)).map_err(Failure::failed)?;
    stream::print(&format!("{}\n", shown(&page)))?;
    Ok(Exit::Done)
}
