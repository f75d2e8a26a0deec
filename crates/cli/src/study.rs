//! `sealwright study`: papers replayed on this machine.

use std::path::PathBuf;

use clap::Args;
use sealwright_study::{Options, Results, Step, names, run_all, run_one};
use serde_json::json;

use crate::args::ProgressArgs;
use crate::exit::Exit;
use crate::failure::{Failure, shown};
use crate::size::{self, Size};
use crate::status::Status;
use crate::stream;

const EXAMPLES: &str = "\
Example:
    sealwright study all --quick    # some minutes; then open report/index.html";

/// Below it there is not a page for each connection.
const LEAST_BUDGET: u64 = 16 << 20;

/// Replay what papers measured, and judge their claims on this machine
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LowArgs {
    /// The study, or `all`
    #[arg(value_name = "STUDY", value_parser = names().chain(["all"]).collect::<Vec<_>>())]
    name: String,
    /// About a minute a study instead of some, with wider intervals
    #[arg(long)]
    quick: bool,
    /// Print each study's results as one line of JSON
    #[arg(long)]
    json: bool,
    /// Memory of the server in `sessions` [default: 256MiB, 32MiB with --quick]
    #[arg(long, value_name = "BYTES", value_parser = size::parse)]
    budget: Option<Size>,
    #[command(flatten)]
    folders: Folders,
    #[command(flatten)]
    progress: ProgressArgs,
}

/// Where results and the page lie.
#[derive(Args, Debug)]
pub(crate) struct Folders {
    /// Where results are kept
    #[arg(long, value_name = "DIR", default_value = "results")]
    results: PathBuf,
    /// Where the page is written
    #[arg(long, value_name = "DIR", default_value = "report")]
    report: PathBuf,
}

impl Folders {
    /// For the library; rows of whole processes run this very program.
    pub(crate) fn options(&self, quick: bool) -> Options {
        let binary = std::env::current_exe().ok();
        Options { quick, results: self.results.clone(), report: self.report.clone(), binary, ..Options::default() }
    }
}

/// Runs one study or all, and prints what they found.
pub(crate) fn run(args: &LowArgs) -> Result<Exit, Failure> {
    let budget = args.budget.map(|size| size.0);
    if budget.is_some_and(|bytes| bytes < LEAST_BUDGET) {
        return Err(Failure::usage("a server needs a budget of at least 16MiB"));
    }
    let options = Options { budget, ..args.folders.options(args.quick) };
    let status = Status::new(&args.progress);
    let mut tell = |step: Step<'_>| {
        status.now(
            format!("{} {}/{}: {}", step.study, step.done, step.total, step.what),
            || json!({ "study": step.study, "done": step.done, "total": step.total, "now": step.what }),
        );
    };
    let (all, page) = match args.name.as_str() {
        "all" => run_all(&options, &mut tell),
        name => run_one(name, &options, &mut tell).map(|(results, page)| (vec![results], page)),
    }
    .map_err(Failure::failed)?;
    drop(status);
    for results in &all {
        let text = match args.json {
            true => serde_json::to_string(results).map_err(Failure::failed)? + "\n",
            false => as_text(results),
        };
        stream::print(&text)?;
    }
    if !args.json {
        stream::print(&format!("The report is {}\n", shown(&page)))?;
    }
    Ok(Exit::Done)
}

fn as_text(results: &Results) -> String {
    let mut text =
        format!("{} ({:.0} s)\n{}\n\n{}\n", results.study, results.seconds, results.machine, results.outcome.summary);
    for table in &results.outcome.tables {
        text += &format!("\n{}", table.to_text());
    }
    for claim in &results.outcome.claims {
        text += &format!("\nClaim: {}\n", claim.reading);
        for verdict in &claim.verdicts {
            text += &format!("  {}: {}. {}\n", verdict.scope, verdict.claim.verdict, verdict.claim.evidence);
        }
    }
    text + "\n"
}
