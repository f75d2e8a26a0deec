//! `sealwright-lab smp run`: runs one simulation and prints its statistics as text, JSON or CSV.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use sealwright_smp::{
    Outcome, Stats, StrikeReport,
    attack::{Attack, Attacker},
    run::{Progress, Report, Simulation, SimulationError},
};
use sealwright_terminal::{CommandError, Exit, ProgressArgs, print};
use serde_json::json;

use super::{
    machine::{MachineArgs, WorkArgs, failed, failed_run, unusable},
    output::exists,
};
use crate::status::Status;

const EXAMPLES: &str = "\
Example:
    sealwright-lab smp run --workload radix --size 12 --processors 8 --scheme senss --json
    sealwright-lab smp run --workload fft --size 12 --processors 16 --set interconnect.kind=mesh --scheme pcie-ide";

/// Run one simulation
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    work: WorkArgs,
    #[command(flatten)]
    machine: MachineArgs,
    /// Check every value read and the invariants of the coherence protocol; slow
    #[arg(long)]
    watch: bool,
    /// Tamper once with the bus or with memory, at the first opportunity from transfer (or command, or line read from
    /// memory) number N on; can be repeated. The first alarm ends the run
    #[arg(long, value_name = "ATTACK@N")]
    attack: Vec<String>,
    /// Write every command and every line on the bus, with its bytes, to FILE as JSON Lines
    #[arg(long, value_name = "FILE")]
    dump: Option<PathBuf>,
    /// Replace the FILE of --dump if it exists
    #[arg(long, requires = "dump")]
    force: bool,
    /// Output format
    #[arg(long, value_name = "HOW", default_value = "text")]
    format: Shape,
    /// Same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    #[command(flatten)]
    progress: ProgressArgs,
}

/// The forms of `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shape {
    Text,
    /// Text with the unit and the description of each statistic
    Explained,
    Json,
    Csv,
}

pub(super) fn run(args: &RunArgs) -> Result<Exit, CommandError> {
    if let Some(path) = args.dump.as_deref().filter(|path| !args.force && path.exists()) {
        return Err(exists(path));
    }
    let settings = args.machine.settings(Some(&args.work))?;
    if !args.attack.is_empty() && !settings.config.scheme.functional {
        let why = "--attack needs lines that are really encrypted";
        return Err(CommandError::usage(why).hint("leave --timing-only out"));
    }
    let mut simulation = settings.simulation().map_err(unusable)?;
    simulation.check = args.watch || !args.attack.is_empty();
    simulation.attackers = args.attack.iter().map(|words| attacker(words)).collect::<Result<_, _>>()?;
    simulation.dump.clone_from(&args.dump);
    let status = Status::new(&args.progress);
    let report = simulation.run(&mut |progress| tell(&status, progress)).map_err(failed)?;
    drop(status);
    print(&printed(&simulation, &report, if args.json { Shape::Json } else { args.format })?)?;
    match report.failure() {
        None => Ok(Exit::Done),
        // The alarm was already printed as part of the report
        Some(SimulationError::Detected(_)) => Ok(Exit::NotAuthentic),
        Some(failure) => Err(failed_run(failure)),
    }
}

fn attacker(words: &str) -> Result<Attacker, CommandError> {
    let known = || Attack::every().map(Attack::name).collect::<Vec<_>>().join(", ");
    let parsed =
        words.split_once('@').and_then(|(name, at)| Some(Attacker::new(Attack::by_name(name)?, at.parse().ok()?)));
    parsed.ok_or_else(|| {
        CommandError::usage(format_args!("{words} is not of the form ATTACK@N; the attacks are {}", known()))
            .hint("flip@100")
    })
}

fn tell(status: &Status, progress: Progress) {
    let Progress { references, cycles, seconds } = progress;
    let rate = references as f64 / seconds.max(1e-9);
    status.now(
        format!("{cycles} cycles, {references} references, {:.1} M/s", rate / 1e6),
        || json!({ "cycles": cycles, "references": references, "references_per_second": rate.round() }),
    );
}

/// The result of an attack as one line of text.
fn told_strike(strike: &StrikeReport) -> String {
    let StrikeReport { attack, at, struck, cycle, detector, later, wrong_reads } = strike;
    let name = format!("{attack}@{at}");
    let (Some(struck), Some(cycle)) = (struck, cycle) else {
        return format!("{name}: no chance before the run ended\n");
    };
    let target = attack.target();
    let seen = match (detector, later) {
        (Some(detector), Some(0)) => format!("alarm at once, by {detector}"),
        (Some(detector), Some(later)) => format!("alarm {later} {target}s later, by {detector}"),
        _ => "no alarm".to_owned(),
    };
    let wrong = wrong_reads.map_or_else(String::new, |wrong| format!(", wrong reads from then on: {wrong}"));
    format!("{name}: {target} {struck} at cycle {cycle}, {seen}{wrong}\n")
}

fn printed(simulation: &Simulation, report: &Report, shape: Shape) -> Result<String, CommandError> {
    Ok(match shape {
        Shape::Json => simulation.json(report).map_err(CommandError::failed)?.to_string() + "\n",
        Shape::Csv => Stats::csv(std::slice::from_ref(&report.stats)),
        Shape::Text | Shape::Explained => {
            let explains = shape == Shape::Explained;
            let mut text = if explains { report.stats.explained() } else { report.stats.text() };
            match &report.outcome {
                Outcome::Completed => {}
                Outcome::Detected(detection) => {
                    text += &format!(
                        "detected: node {} at cycle {}, transfer {}, by {}\n",
                        detection.node, detection.cycle, detection.transfer, detection.detector
                    );
                }
                Outcome::Deadlock(nodes) => text += &format!("nodes {nodes:?} wait for ever\n"),
            }
            text.extend(report.strikes.iter().map(told_strike));
            if let Some(wrong) = report.wrong_reads {
                text += &format!("wrong reads: {wrong}\n");
            }
            if let Some(lost) = report.lost_lines.filter(|lost| *lost > 0) {
                text += &format!("lost lines: {lost}\n");
            }
            if let Some(Ok(said)) = &report.result {
                text += &format!("result: {said}\n");
            }
            let rate = report.stats.number("references") / report.seconds.max(1e-9) / 1e6;
            text + &format!("{:.2} s, {rate:.1} M references/s\n", report.seconds)
        }
    })
}
