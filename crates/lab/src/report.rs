//! `sealwright-lab report`: writes the report again from stored results.

use std::path::PathBuf;

use clap::Args;
use sealwright_study::{
    compare::{self, Folder},
    report::{write, write_comparison},
};
use sealwright_terminal::{CommandError, Exit, print, shown};

use crate::study::Folders;

const EXAMPLES: &str = "\
The report is one HTML file and needs no network. --compare prints the results that two folders have in
common, from two machines or two versions, and writes them to compare.html.

Example:
    sealwright-lab report
    sealwright-lab report --compare results results-before";

/// Write the report again from stored results
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    folders: Folders,
    /// Compare two folders of results instead
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with = "results")]
    compare: Option<Vec<PathBuf>>,
}

/// Writes the page and prints its path.
pub(crate) fn run(args: &ReportArgs) -> Result<Exit, CommandError> {
    let options = args.folders.options(false);
    let page = match args.compare.as_deref() {
        Some([a, b]) => {
            let [a, b] = [Folder::load(a), Folder::load(b)].map(|folder| folder.map_err(CommandError::failed));
            let tables = compare::tables(&a?, &b?);
            for table in &tables {
                print(&format!("{}\n", table.to_text()))?;
            }
            write_comparison(&tables, &options.report)
        }
        _ => write(&options),
    };
    print(&format!("{}\n", shown(&page.map_err(CommandError::failed)?)))?;
    Ok(Exit::Done)
}
