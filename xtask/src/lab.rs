//! `cargo lab`: builds the program of the laboratory together with the product that it measures, and runs it.

use std::process::{Command, ExitCode};

use crate::{programs, steps::Steps};

/// The arguments with which cargo builds `sealwright` and `sealwright-lab`. The feature lets `sealwright vectors check`
/// run the vectors of the research modes, which the referees need. `sealwright-probes` is built apart: it turns on more
/// of the kernels.
pub(crate) const BUILD: &[&str] = &[
    "build",
    "--release",
    "--package",
    "sealwright-cli",
    "--package",
    "sealwright-lab",
    "--features",
    "sealwright-cli/research",
];

/// Builds both programs and runs `sealwright-lab` with `words`.
pub(crate) fn run(steps: &Steps, words: &[String]) -> ExitCode {
    let built = programs::cargo().args(BUILD).current_dir(steps.root()).status();
    if !built.is_ok_and(|status| status.success()) {
        return ExitCode::FAILURE;
    }
    match Command::new(steps.release("sealwright-lab")).args(words).status() {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            eprintln!("sealwright-lab: {error}");
            ExitCode::FAILURE
        }
    }
}
