//! The arguments as they are typed: one verb a file of source.

use clap::{Parser, Subcommand};

use crate::{advise, bench, completions, load, report, smp, study};

const EXITS: &str = "\
Exit codes:
    0  done
    1  input, output or configuration failed
    2  the command line makes no sense
    3  not authentic: a simulated attack was detected
  130  interrupted

Example:
    sealwright-lab study files --quick
    sealwright-lab report";

/// Replay papers, measure peers, simulate buses and load relays
#[derive(Debug, Parser)]
#[command(name = "sealwright-lab", version, after_help = EXITS)]
pub(crate) struct LabArgs {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Study(study::StudyArgs),
    Report(report::ReportArgs),
    Bench(bench::BenchArgs),
    Advise(advise::AdviseArgs),
    Smp(smp::SmpArgs),
    Load(load::LoadArgs),
    Completions(completions::CompletionsArgs),
}
