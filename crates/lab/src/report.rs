//! `sealwright-lab report`: writes the report again from stored results.

use std::path::{Path, PathBuf};

use clap::Args;
use sealwright_study::{
    check::{self, Checked},
    compare::{self, Folder},
    report::{Written, write, write_comparison},
};
use sealwright_terminal::{CommandError, Exit, print, shown};

use crate::study::{Folders, failed, warn_of_left_out};

const EXAMPLES: &str = "\
The report is one HTML file and needs no network. --compare prints the results that two folders have in
common, from two machines or two versions, and writes them to compare.html. --check writes nothing: it
computes every verdict again from the rules and figures in the result files.

Example:
    sealwright-lab report
    sealwright-lab report --check
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
    /// Compare the results with those of another machine instead
    #[arg(long, value_name = "DIR", conflicts_with_all = ["compare", "check"])]
    against: Option<PathBuf>,
    /// Compute every verdict again from the figures in the result files, and fail if one differs
    #[arg(long, conflicts_with = "compare")]
    check: bool,
}

/// Writes the page and prints its path.
pub(crate) fn run(args: &ReportArgs) -> Result<Exit, CommandError> {
    let options = args.folders.options(false);
    if args.check {
        return check(&options.results, &options.commit);
    }
    let pair = match (args.compare.as_deref(), &args.against) {
        (Some([a, b]), _) => Some([a, b]),
        (_, Some(other)) => Some([&options.results, other]),
        _ => None,
    };
    let page = match pair {
        Some([a, b]) => {
            let [a, b] = [Folder::load(a), Folder::load(b)].map(|folder| folder.map_err(failed));
            let tables = compare::tables(&a?, &b?);
            for table in &tables {
                print(&format!("{}\n", table.to_text()))?;
            }
            write_comparison(&tables, &options.report)
        }
        None => write(&options).map(|Written { page, left_out }| {
            warn_of_left_out(&left_out);
            page
        }),
    };
    print(&format!("{}\n", shown(&page.map_err(failed)?)))?;
    Ok(Exit::Done)
}

/// Computes all verdicts again, and prints which of them differ.
fn check(folder: &Path, commit: &str) -> Result<Exit, CommandError> {
    let checked = check::folder(folder, commit).map_err(failed)?;
    let mut differences = Vec::new();
    for Checked { study, claims, verdicts, differences: found } in checked {
        print(&format!("{study}: {claims} claims, {verdicts} verdicts computed again, {} differ\n", found.len()))?;
        differences.extend(found.into_iter().map(|found| format!("{study}/{found}")));
    }
    if differences.is_empty() {
        return Ok(Exit::Done);
    }
    let hint = "the files were changed, or another version wrote them: run the study again";
    print(&format!("{}\n", differences.join("\n")))?;
    Err(CommandError::failed("verdicts do not follow from the figures").hint(hint))
}
