//! SIGINT, SIGTERM and SIGHUP: unfinished outputs go away, the terminal gets its echo back, exit code 130.

use sealwright_file::output::abandon_all;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::prompt;

/// Listens from now on. Called once, before anything is written.
pub(crate) fn listen() -> Result<(), Failure> {
    ctrlc::set_handler(|| {
        // Workers may be waiting for a pipe that never speaks again: they are not asked, what they wrote is removed.
        abandon_all();
        prompt::restore_terminal();
        eprintln!("{}", Failure::new(Exit::Interrupted, "interrupted"));
        std::process::exit(Exit::Interrupted as i32);
    })
    .map_err(|error| Failure::failed(format_args!("cannot listen for signals: {error}")))
}
