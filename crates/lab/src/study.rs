//! `sealwright-lab study`: repeats the measurements of papers on this machine.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use sealwright_measure::Machine;
use sealwright_study::{
    ATTACKS, BENCH, Failure, Options, Ran, Results, Step, StudyError, attacks, bench, names, run_all, run_one,
};
use sealwright_terminal::{
    CommandError, Exit, ProgressArgs, interrupt, print, printable, say, shown,
    size::{self, Size},
};
use serde_json::json;

use crate::status::Status;

const EXAMPLES: &str = "\
`all` stores the results of each study when that study ends. If the run is interrupted, the same command continues
it, with the same program, machine, grid and budget, within a day. `bench` compares the speed with other libraries and
stores the results for the report. `attacks` does the same with every attack.

Example:
    sealwright-lab study all --quick    # about four minutes; then open report/index.html";

/// The minimum budget: with less memory there would not be a page for each connection.
const LEAST_BUDGET: u64 = 16 << 20;

/// Repeat the measurements of papers on this machine, and judge the papers' claims
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct StudyArgs {
    /// The study to run, `attacks`, `bench` or `all`
    #[arg(value_name = "STUDY", value_parser = names().chain([ATTACKS, BENCH, "all"]).collect::<Vec<_>>())]
    name: String,
    /// Take four minutes for all studies instead of 40; intervals are wider
    #[arg(long)]
    quick: bool,
    /// With `all`: measure everything again, even if an interrupted run has measured it
    #[arg(long)]
    fresh: bool,
    /// Print the results of each study as one line of JSON
    #[arg(long)]
    json: bool,
    /// Memory of the server in the study `sessions` [default: 256MiB, 32MiB with --quick]
    #[arg(long, value_name = "BYTES", value_parser = size::parse)]
    budget: Option<Size>,
    #[command(flatten)]
    folders: Folders,
    #[command(flatten)]
    progress: ProgressArgs,
}

/// The folders of the results and of the report.
#[derive(Args, Debug)]
pub(crate) struct Folders {
    /// Folder of the results
    #[arg(long, value_name = "DIR", default_value = "results")]
    results: PathBuf,
    /// Folder of the report
    #[arg(long, value_name = "DIR", default_value = "report")]
    report: PathBuf,
}

impl Folders {
    /// The options for the library. Measurements of whole processes run the `sealwright` program in this program's
    /// folder.
    pub(crate) fn options(&self, quick: bool) -> Options {
        let beside = std::env::current_exe().ok().map(|lab| lab.with_file_name("sealwright"));
        let binary = beside.filter(|path| path.exists());
        let commit = env!("SEALWRIGHT_COMMIT").to_owned();
        let (results, report) = (self.results.clone(), self.report.clone());
        Options { quick, results, report, binary, commit, ..Options::default() }
    }
}

/// Runs one study or all, and prints what they found.
pub(crate) fn run(args: &StudyArgs) -> Result<Exit, CommandError> {
    let budget = args.budget.map(|size| size.0);
    if budget.is_some_and(|bytes| bytes < LEAST_BUDGET) {
        return Err(CommandError::usage("the budget must be at least 16MiB"));
    }
    if budget.is_some() && !["sessions", "all"].contains(&args.name.as_str()) {
        return Err(CommandError::usage("--budget is for the study `sessions`"));
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
            interrupt::hint("run the same command again to continue");
            run_all(&options, &mut tell)
        }
        name => run_one(name, &options, &mut tell),
    }
    .map_err(failed)?;
    drop(status);
    let machines = ran.results.iter().map(|results| &results.machine);
    let mut machines = machines.chain(ran.bench.iter().map(|report| &report.machine));
    if let Some(machine) = machines.next().or(ran.attacks.as_ref().map(|report| &report.machine)) {
        warn_if_slow(&args.progress, machine);
    }
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
    if let Some(report) = &ran.attacks {
        print(&if args.json {
            line(serde_json::to_string(report))?
        } else {
            format!("{}\n\n{}\n", report.machine, attacks::table(&report.attacks).to_text())
        })?;
    }
    if !args.json {
        for (study, begun) in &ran.kept {
            print(&format!("{study}: taken from the run that began {begun}; --fresh measures it again\n"))?;
        }
        if let Some(page) = &ran.page {
            print(&format!("The report is {}\n", shown(page)))?;
        }
    }
    if !args.progress.quiet {
        warn_of_left_out(&ran.left_out);
    }
    let mut failures = ran
        .failures
        .iter()
        .map(|Failure { part, error, hint }| CommandError::failed(format_args!("{part}: {error}")).hints(hint));
    match failures.next_back() {
        None => Ok(Exit::Done),
        Some(last) => {
            failures.for_each(say);
            Err(last)
        }
    }
}

/// The error of a study or a report, with its hint.
pub(crate) fn failed(error: StudyError) -> CommandError {
    let hint = error.hint();
    CommandError::failed(error).hints(hint)
}

/// Warns on standard error of files of results that cannot be read.
pub(crate) fn warn_of_left_out(left_out: &[StudyError]) {
    for error in left_out {
        say(format_args!("sealwright-lab: warning: left out: {}", printable(&error.to_string())));
        error.hint().iter().for_each(|hint| say(format_args!("hint: {hint}")));
    }
}

/// The text of a progress line: `files 3/37, about 4 min left: whole processes, encrypt 1 MB: seal`.
fn sentence(step: &Step<'_>) -> String {
    let trial = step.trial.map(|trial| format!(": {trial}")).unwrap_or_default();
    format!("{} {}/{}, {} left: {}{trial}", step.study, step.done, step.total, about(step.left), step.what)
}

/// A duration in seconds if it is shorter than 90 s, else in minutes.
fn about(left: Duration) -> String {
    match left.as_secs() {
        seconds if seconds < 90 => format!("{seconds} s"),
        seconds => format!("{} min", (seconds + 30) / 60),
    }
}

/// Warns on standard error if this program was not compiled with optimisation: its figures would not apply to the
/// programs that people use.
pub(crate) fn warn_if_slow(progress: &ProgressArgs, machine: &Machine) {
    if machine.unoptimised() && !progress.quiet {
        let level = &machine.opt_level;
        eprintln!(
            "sealwright-lab: warning: these are figures of a build at opt-level {level}, which is slower than one at 3"
        );
        eprintln!("hint: cargo build --release -p sealwright-lab");
    }
}

/// The results of `bench`, as the verb `bench` prints them.
pub(crate) fn bench_as_text(report: &bench::Report) -> String {
    let peers: Vec<String> = report.peers.iter().map(|peer| format!("{} {}", peer.name, peer.version)).collect();
    let mut text = format!("{}\npeers: {}\n", report.machine, peers.join(", "));
    for absent in &report.absent {
        text += &format!("{absent}\n");
    }
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
        text += &format!("\nClaim {}: {}\n", claim.id, claim.reading);
        for verdict in &claim.verdicts {
            let direction = verdict.direction.as_ref().map(|found| found.verdict.to_string());
            let number = verdict.magnitude.as_ref().map(|found| format!("the paper's number {}", found.place.words()));
            let words = direction.into_iter().chain(number).collect::<Vec<_>>().join(", ");
            text += &format!("  {}: {words}. {}\n", verdict.scope, verdict.evidence());
        }
        if let Some(why) = &claim.untestable {
            text += &format!("  cannot be tested here. {why}\n");
        }
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise a change of one of these files would not add the `+` to the commit.
    #[test]
    fn the_commit_is_noted_again_when_a_part_of_the_program_changes() {
        let parts: Vec<&str> = env!("SEALWRIGHT_PARTS").split(' ').collect();
        for part in ["aead/src", "lab/src", "measure/src", "peers/shim", "study/report", "terminal/Cargo.toml"] {
            assert!(parts.contains(&&format!("crates/{part}")[..]), "{part}: {parts:?}");
        }
        assert!(parts.contains(&"Cargo.lock") && parts.iter().any(|part| part.starts_with("rtl/results/")));
        assert!(!parts.iter().any(|part| part.starts_with("crates/cli") || part.ends_with("/tests")), "{parts:?}");
    }

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
