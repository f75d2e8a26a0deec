//! Commands that carry their number: who missed one knows it at the next.

use crate::message::How;

/// How many commands were ordered, and how many each unit saw.
#[derive(Clone, Debug)]
pub(super) struct Commands {
    ordered: u64,
    seen: Vec<u64>,
}

impl Commands {
    pub(super) fn new(units: usize) -> Commands {
        Commands { ordered: 0, seen: vec![0; units] }
    }

    /// A command as `unit` saw it or not; units are told in order, from 0.
    pub(super) fn told(&mut self, unit: usize, seen: bool) -> Result<(), How> {
        self.ordered += u64::from(unit == 0);
        if !seen {
            return Ok(());
        }
        self.seen[unit] += 1;
        if self.seen[unit] == self.ordered { Ok(()) } else { Err(How::Command) }
    }
}
