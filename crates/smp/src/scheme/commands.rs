//! Authenticated commands carry their number: a unit that missed one notices at the next.

use crate::message::Detector;

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

    /// A command was ordered, and `unit` saw it or not; called for every unit in order, from 0.
    pub(super) fn ordered(&mut self, unit: usize, seen: bool) -> Result<(), Detector> {
        self.ordered += u64::from(unit == 0);
        if !seen {
            return Ok(());
        }
        self.seen[unit] += 1;
        if self.seen[unit] == self.ordered { Ok(()) } else { Err(Detector::Command) }
    }
}
