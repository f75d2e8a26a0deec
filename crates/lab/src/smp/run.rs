//! `sealwright-lab smp run`: runs one simulation and prints its statistics as text, JSON or CSV.

use clap::{Args, ValueEnum};
use sealwright_smp::{
    End, Stats,
    attack::{Attack, Attacker},
    run::{Job, Report, SoFar},
};
use sealwright_terminal::{CommandError, Exit, ProgressArgs, Status, print};
use serde_json::{Value, json};

use super::machine::{MachineArgs, WorkArgs};

const EXAMPLES: &str = "\
Example:
    sealwright-lab smp run --workload radix --size 12 --processors 8 --scheme senss --json";

/// Run one simulation
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    work: WorkArgs,
    #[command(flatten)]
    machine: MachineArgs,
    /// Check every value that is read and the invariants of the protocol; slow
    #[arg(long)]
    watch: bool,
    /// Tamper with the bus once, at the first opportunity from transfer N on
    #[arg(long, value_name = "ATTACK@N")]
    attack: Option<String>,
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
    Json,
    Csv,
}

pub(super) fn run(args: &RunArgs) -> Result<Exit, CommandError> {
    let (workload, threads) = args.work.workload()?;
    let mut job = Job::new(args.machine.config(threads)?, workload);
    job.watch = args.watch || args.attack.is_some();
    job.attacker = args.attack.as_deref().map(attacker).transpose()?;
    let status = Status::new(&args.progress);
    let report = job.run(&mut |so_far| tell(&status, so_far)).map_err(failed)?;
    drop(status);
    print(&printed(&job, &report, if args.json { Shape::Json } else { args.format })?)?;
    match (&report.end, &report.check) {
        (End::Alarm(_), _) => Ok(Exit::NotAuthentic),
        (End::Stuck(nodes), _) => Err(CommandError::failed(format_args!("nodes {nodes:?} wait for ever"))),
        (End::Done, Some(Err(why))) => Err(CommandError::failed(format_args!("the result is wrong: {why}"))),
        (End::Done, _) => Ok(Exit::Done),
    }
}

/// Settings that make no machine are the user's slip; everything else is a run that failed.
pub(super) fn failed(failure: sealwright_smp::run::Failure) -> CommandError {
    use sealwright_smp::run::Failure as Cause;
    match failure {
        Cause::Config(_) | Cause::Workload(_) => CommandError::usage(failure),
        Cause::Fault(_) => CommandError::failed(failure),
    }
}

fn attacker(words: &str) -> Result<Attacker, CommandError> {
    let known = || Attack::ALL.map(Attack::name).join(", ");
    let parsed = words.split_once('@').and_then(|(name, at)| {
        let attack = Attack::ALL.into_iter().find(|attack| attack.name() == name)?;
        Some(Attacker::new(attack, at.parse().ok()?))
    });
    parsed.ok_or_else(|| {
        CommandError::usage(format_args!("{words} is not of the form ATTACK@N; the attacks are {}", known()))
            .hint("flip@100")
    })
}

fn tell(status: &Status, so_far: SoFar) {
    let SoFar { references, cycles, seconds } = so_far;
    let rate = references as f64 / seconds.max(1e-9);
    status.now(
        format!("{cycles} cycles, {references} references, {:.1} M/s", rate / 1e6),
        || json!({ "cycles": cycles, "references": references, "references_per_second": rate.round() }),
    );
}

/// A run as a tree: settings, outcome, statistics.
pub(super) fn tree(job: &Job, report: &Report) -> Result<Value, CommandError> {
    Ok(json!({
        "workload": job.workload.name(),
        "config": serde_json::to_value(&job.config).map_err(CommandError::failed)?,
        "end": report.end,
        "check": report.check.as_ref().map(|check| match check {
            Ok(text) => json!({ "right": true, "text": text }),
            Err(text) => json!({ "right": false, "text": text }),
        }),
        "wrong_reads": report.wrong_reads,
        "struck": report.struck,
        "seconds": report.seconds,
        "stats": report.stats.json(),
    }))
}

fn printed(job: &Job, report: &Report, shape: Shape) -> Result<String, CommandError> {
    Ok(match shape {
        Shape::Json => serde_json::to_string(&tree(job, report)?).map_err(CommandError::failed)? + "\n",
        Shape::Csv => Stats::csv(std::slice::from_ref(&report.stats)),
        Shape::Text => {
            let mut text = report.stats.text();
            match &report.end {
                End::Done => {}
                End::Alarm(seen) => {
                    text += &format!(
                        "alarm: node {} at cycle {}, transfer {}, by {}\n",
                        seen.node, seen.cycle, seen.transfer, seen.how
                    );
                }
                End::Stuck(nodes) => text += &format!("nodes {nodes:?} wait for ever\n"),
            }
            if let Some(wrong) = report.wrong_reads {
                text += &format!("wrong reads: {wrong}\n");
            }
            if let Some(Ok(said)) = &report.check {
                text += &format!("result: {said}\n");
            }
            let rate = report.stats.number("references") / report.seconds.max(1e-9) / 1e6;
            text + &format!("{:.2} s, {rate:.1} M references/s\n", report.seconds)
        }
    })
}
