//! The worst exit code of several inputs, of which a failing one does not stop the rest.

use sealwright_terminal::{CommandError, Exit, print, say};

/// The highest exit code so far.
#[derive(Debug)]
pub(crate) struct Worst {
    exit: Exit,
    /// Whether writing to standard output has failed; it is reported once.
    mute: bool,
}

impl Worst {
    /// Nothing has failed yet.
    pub(crate) fn new() -> Worst {
        Worst { exit: Exit::Done, mute: false }
    }

    /// Prints on standard output. A failure of that does not hide the exit codes of other failures, which may tell
    /// more.
    pub(crate) fn print(&mut self, text: &str) {
        if self.mute {
            return;
        }
        if let Err(error) = print(text) {
            self.mute = true;
            self.failed(&error);
        }
    }

    /// Reports a failure.
    pub(crate) fn failed(&mut self, error: &CommandError) {
        say(error);
        self.exit = error.exit().max(self.exit);
    }

    /// The exit code of the process.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }
}
