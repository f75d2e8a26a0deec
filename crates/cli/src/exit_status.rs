//! The worst of what became of several inputs, of which one that fails does not stop the rest.

use sealwright_terminal::{CommandError, Exit, print, say};

/// The highest exit code so far.
#[derive(Debug)]
pub(crate) struct Worst {
    exit: Exit,
    /// Standard output could not be written to, which is said once.
    mute: bool,
}

impl Worst {
    /// Nothing has failed yet.
    pub(crate) fn new() -> Worst {
        Worst { exit: Exit::Done, mute: false }
    }

    /// Prints on standard output. Where that fails, it is a failure beside the others: theirs may tell more.
    pub(crate) fn print(&mut self, text: &str) {
        if self.mute {
            return;
        }
        if let Err(error) = print(text) {
            self.mute = true;
            self.failed(&error);
        }
    }

    /// Says what failed.
    pub(crate) fn failed(&mut self, error: &CommandError) {
        say(error);
        self.exit = error.exit().max(self.exit);
    }

    /// What the process ends with.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }
}
