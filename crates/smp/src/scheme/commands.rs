//! Authenticated commands carry their number: a unit that missed one notices at the next.

use crate::message::Detector;

/// How many commands each unit saw.
#[derive(Clone, Debug)]
pub(super) struct Commands {
    seen: Vec<u64>,
}

impl Commands {
    pub(super) fn new(units: usize) -> Commands {
        Commands { seen: vec![0; units] }
    }

    /// `unit` sees the command of that number, the first being 1.
    pub(super) fn seen(&mut self, unit: usize, number: u64) -> Result<(), Detector> {
        self.seen[unit] += 1;
        if self.seen[unit] == number { Ok(()) } else { Err(Detector::Command) }
    }
}
