//! The command `sealwright`: seals and opens files, speaks OpenSSL's bytes, checks vectors, measures, replays studies.
//!
//! Arguments are parsed as typed (`args`), each verb resolves its own, and one place prints failures: here.

mod ad;
mod advise;
mod args;
mod bars;
mod bench;
mod client;
mod completions;
mod enc;
mod exit;
mod failure;
mod inspect;
mod interrupt;
mod jobs;
mod key;
mod load;
mod man;
mod open;
mod progress;
mod prompt;
mod report;
mod run;
mod seal;
mod secret;
mod serve;
mod size;
mod smp;
mod status;
mod stream;
mod study;
mod usage;
mod vectors;

use std::process::ExitCode;

use clap::Parser;
use sealwright::Isa;

use crate::{
    args::{LowArgs, Verb},
    exit::Exit,
    failure::{Failure, printable},
};

fn main() -> ExitCode {
    let words = enc::openssl_words(std::env::args_os().collect());
    let exit = match LowArgs::try_parse_from(&words) {
        Ok(args) => dispatch(&args.verb).unwrap_or_else(|failure| {
            eprintln!("{failure}");
            failure.exit()
        }),
        Err(error) => usage::tell(&error, &words),
    };
    exit.into()
}

/// A level that nobody knows would lower nothing, unnoticed.
fn level_asked() -> Result<(), Failure> {
    match std::env::var("SEALWRIGHT_ISA") {
        Ok(name) if !name.is_empty() && !Isa::NAMES.contains(&name.as_str()) => {
            let names = Isa::NAMES.join(", ");
            Err(Failure::usage(format_args!("SEALWRIGHT_ISA={}: not one of {names}", printable(&name))))
        }
        _ => Ok(()),
    }
}

fn dispatch(verb: &Verb) -> Result<Exit, Failure> {
    level_asked()?;
    // Signals tell a relay to reload or to end in order, not to break off
    if !matches!(verb, Verb::Serve(_)) {
        interrupt::listen()?;
    }
    match verb {
        Verb::Seal(args) => seal::run(args),
        Verb::Open(args) => open::run(args),
        Verb::Inspect(args) => inspect::run(args),
        Verb::Key(args) => key::run(args),
        Verb::Enc(args) => enc::run(args),
        Verb::Vectors(args) => vectors::run(args),
        Verb::Bench(args) => bench::run(args),
        Verb::Serve(args) => serve::run(args),
        Verb::Client(args) => client::run(args),
        Verb::Load(args) => load::run(args),
        Verb::Smp(args) => smp::run(args),
        Verb::Study(args) => study::run(args),
        Verb::Report(args) => report::run(args),
        Verb::Advise(args) => advise::run(args),
        Verb::Completions(args) => completions::run(args),
        Verb::Man(args) => man::run(args),
    }
}
