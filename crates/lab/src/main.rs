//! The command `sealwright-lab`: replays papers, measures peers, simulates buses, loads relays.
//!
//! Arguments are in `args`; each verb is one file; errors are printed by `sealwright_terminal::run`.

mod advise;
mod args;
mod attack;
mod bench;
mod completions;
mod load;
mod measure;
mod report;
mod smp;
mod status;
mod study;

use std::process::ExitCode;

use sealwright_smp::output::remove_unfinished;
use sealwright_terminal::{CommandError, Exit, interrupt, run};

use crate::args::{LabArgs, Verb};

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    run("sealwright-lab", &words, dispatch).into()
}

fn dispatch(args: &LabArgs) -> Result<Exit, CommandError> {
    // An interrupted study continues where it stopped, so only unfinished files of a simulation have to be removed
    interrupt::listen(remove_unfinished)?;
    match &args.verb {
        Verb::Study(args) => study::run(args),
        Verb::Report(args) => report::run(args),
        Verb::Bench(args) => bench::run(args),
        Verb::Advise(args) => advise::run(args),
        Verb::Attack(args) => attack::run(args),
        Verb::Smp(args) => smp::run(args),
        Verb::Load(args) => load::run(args),
        Verb::Measure(args) => measure::run(args),
        Verb::Completions(args) => completions::run::<LabArgs>(args),
    }
}
