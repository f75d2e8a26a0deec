//! SIGINT, SIGTERM and SIGHUP: unfinished outputs go away, the terminal gets its echo back, exit code 130.

use std::sync::OnceLock;

use sealwright_file::output::abandon_all;

use crate::{exit::Exit, failure::Failure, prompt};

/// What to do after an interrupt, where there is something.
static HINT: OnceLock<&str> = OnceLock::new();

/// Says what whoever interrupts should know.
pub(crate) fn hint(hint: &'static str) {
    // One verb a process: nobody has said anything before
    let _ = HINT.set(hint);
}

/// Listens from now on. Called once, before anything is written.
pub(crate) fn listen() -> Result<(), Failure> {
    ctrlc::set_handler(|| {
        // Workers may be waiting for a pipe that never speaks again: they are not asked, what they wrote is removed.
        abandon_all();
        prompt::restore_terminal();
        let failure = Failure::new(Exit::Interrupted, "interrupted");
        eprintln!("{}", HINT.get().into_iter().fold(failure, Failure::hint));
        std::process::exit(Exit::Interrupted as i32);
    })
    .map_err(|error| Failure::failed(format_args!("cannot listen for signals: {error}")))
}
