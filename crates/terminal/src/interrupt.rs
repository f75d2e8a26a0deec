//! SIGINT, SIGTERM and SIGHUP: the program cleans up and ends with exit code 130.

use std::sync::OnceLock;

use crate::{error::CommandError, exit::Exit, streams::say};

/// What to do after an interrupt, where there is something.
static HINT: OnceLock<&str> = OnceLock::new();

/// Sets the hint that is printed after an interrupt.
pub fn hint(hint: &'static str) {
    // One verb a process: nobody has set one before.
    let _ = HINT.set(hint);
}

/// Listens from now on; `clean_up` runs in a thread of its own before the process ends. Called once, before anything
/// is written.
///
/// # Errors
/// If the system refuses the handler.
pub fn listen(clean_up: impl Fn() + Send + 'static) -> Result<(), CommandError> {
    ctrlc::set_handler(move || {
        clean_up();
        let error = CommandError::new(Exit::Interrupted, "interrupted");
        say(HINT.get().into_iter().fold(error, CommandError::hint));
        std::process::exit(Exit::Interrupted as i32);
    })
    .map_err(|error| CommandError::failed(format_args!("cannot listen for signals: {error}")))
}
