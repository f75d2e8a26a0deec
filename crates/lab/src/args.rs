//! The command line. Each verb is defined in a file of its own.

use clap::{Parser, Subcommand};

use crate::{advise, attack, bench, completions, load, measure, report, smp, study};

const EXITS: &str = "\
Exit codes:
    0  done
    1  an input, an output or the configuration failed
    2  the command line is not valid
    3  not authentic: a simulated attack was detected
  130  interrupted

Example:
    sealwright-lab study files --quick
    sealwright-lab report";

/// Repeat the measurements of papers, benchmark libraries, run attacks, simulate buses and load relays
#[derive(Debug, Parser)]
#[command(name = "sealwright-lab", version, after_help = EXITS)]
pub(crate) struct LabArgs {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Study(study::StudyArgs),
    Report(report::ReportArgs),
    Bench(bench::BenchArgs),
    Advise(advise::AdviseArgs),
    Attack(attack::AttackArgs),
    Smp(Box<smp::SmpArgs>),
    Load(load::LoadArgs),
    Measure(measure::MeasureArgs),
    Completions(completions::CompletionsArgs),
}
