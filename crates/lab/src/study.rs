//! `sealwright-lab study`: papers replayed on this machine.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use sealwright_study::{BENCH, Options, Ran, Results, Step, bench, names, run_all, run_one};
use sealwright_terminal::{
    CommandError, Exit, ProgressArgs, Status, interrupt, print, shown,
    size::{self, Size},
};
use serde_json::json;

const EXAMPLES: &str = "\
`all` keeps each study's results as it ends. Interrupted, the same command goes on where it stopped: with the same
program, machine and grid, within a day. `bench` is speed beside other libraries, kept for the report.

Example:
    sealwright-lab study all --quick    # about two minutes; then open report/index.html";

/// Below it there is not a page for each connection.
const LEAST_BUDGET: u64 = 16 << 20;

/// Replay what papers measured, and judge their claims on this machine
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct StudyArgs {
    /// The study, `bench` or `all`
    #[arg(value_name = "STUDY", value_parser = names().chain([BENCH, "all"]).collect::<Vec<_>>())]
    name: String,
    /// Two minutes for all instead of twenty, with wider intervals
    #[arg(long)]
    quick: bool,
    /// With `all`: measure everything, even what an interrupted run has measured
    /// already
    #[arg(long)]
    fresh: bool,
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
    /// For the library; rows of whole processes run the `sealwright` beside this program.
    pub(crate) fn options(&self, quick: bool) -> Options {
        let beside = std::env::current_exe().ok().map(|lab| lab.with_file_name("sealwright"));
        let binary = beside.filter(|path| path.exists());
        Options { quick, results: self.results.clone(), report: self.report.clone(), binary, ..Options::default() }
    }
}

/// Runs one study or all, and prints what they found.
pub(crate) fn run(args: &StudyArgs) -> Result<Exit, CommandError> {
    let budget = args.budget.map(|size| size.0);
    if budget.is_some_and(|bytes| bytes < LEAST_BUDGET) {
        return Err(CommandError::usage("a server needs a budget of at least 16MiB"));
    }
    let options = Options { budget, fresh: args.fresh, ..args.folders.options(args.quick) };
    let status = Status::new(&args.progress);
    let mut tell = |step: Step<'_>| {
        status.now(sentence(&step), || {
            json!({
                "study": step.study, "done": step.done, "total": step.total, "now": step.what, "trial": step.trial,
                "seconds_left": step.left.as_secs(),
            })
        });
    };
    let ran = match args.name.as_str() {
        "all" => {
            interrupt::hint("the same command goes on where it stopped");
            run_all(&options, &mut tell)
        }
        name => run_one(name, &options, &mut tell),
    }
    .map_err(CommandError::failed)?;
    drop(status);
    print_all(args, &ran)
}

fn print_all(args: &StudyArgs, ran: &Ran) -> Result<Exit, CommandError> {
    let line = |json: serde_json::Result<String>| json.map(|json| json + "\n").map_err(CommandError::failed);
    for results in &ran.results {
        print(&if args.json { line(serde_json::to_string(results))? } else { as_text(results) })?;
    }
    if let Some(report) = &ran.bench {
        print(&if args.json { line(serde_json::to_string(report))? } else { bench_as_text(report) })?;
    }
    if !args.json {
        for (study, begun) in &ran.kept {
            print(&format!("{study}: kept from the run begun {begun}; --fresh measures it again\n"))?;
        }
        print(&format!("The report is {}\n", shown(&ran.page)))?;
    }
    Ok(Exit::Done)
}

/// `files 3/37, about 4 min left: whole processes, encrypt 1 MB: seal`.
fn sentence(step: &Step<'_>) -> String {
    let trial = step.trial.map(|trial| format!(": {trial}")).unwrap_or_default();
    format!("{} {}/{}, {} left: {}{trial}", step.study, step.done, step.total, about(step.left), step.what)
}

/// Seconds to the minute and a half, minutes from there.
fn about(left: Duration) -> String {
    match left.as_secs() {
        seconds if seconds < 90 => format!("{seconds} s"),
        seconds => format!("{} min", (seconds + 30) / 60),
    }
}

/// What `bench` found, as its own verb prints it.
pub(crate) fn bench_as_text(report: &bench::Report) -> String {
    let peers: Vec<String> = report.peers.iter().map(|peer| format!("{} {}", peer.name, peer.version)).collect();
    let mut text = format!("{}\npeers: {}\n", report.machine, peers.join(", "));
    for table in report.tables() {
        text += &format!("\n{}", table.to_text());
    }
    text
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_reads_as_a_sentence() {
        let step = Step {
            study: "files",
            what: "encrypt 1 MB",
            trial: Some("seal"),
            done: 3,
            total: 37,
            left: Duration::from_secs(238),
        };
        assert_eq!(sentence(&step), "files 3/37, 4 min left: encrypt 1 MB: seal");
        let step = Step { trial: None, left: Duration::from_secs(89), ..step };
        assert_eq!(sentence(&step), "files 3/37, 89 s left: encrypt 1 MB");
    }
}
