//! What every protection of memory has: a controller that reads and writes lines, and what lies in memory, where an attacker
//! may change it.

use std::fmt;

use crate::{
    engine::Cycle,
    message::{Detector, LONGEST_LINE},
};

/// Cycles of AES for a line, as the thesis's unit has them, unless `engines.latency` says otherwise.
pub(super) const AES: u64 = 320;

/// A memory controller's protection of lines.
pub(crate) trait Protection: InMemory + fmt::Debug + Send {
    /// Reads a line that memory has at `at` and was asked for at `now`; when it may be used.
    ///
    /// # Errors
    /// What detected that this is not what was written.
    fn read(&mut self, address: u64, out: &mut [u8], now: Cycle, at: Cycle) -> Result<Cycle, Detector>;

    /// Writes a line.
    ///
    /// # Errors
    /// What detected that what it needs of memory for this is not genuine.
    fn write(&mut self, address: u64, plain: &[u8]) -> Result<(), Detector>;

    /// A line as it would be read, without time passing.
    fn peek(&self, address: u64, out: &mut [u8]);

    /// What was counted.
    fn counters(&self) -> ProtectionCounters;

    /// Pages of ciphertext.
    fn pages(&self) -> usize;
}

/// What lies in memory, where an attacker may read and change it.
pub(crate) trait InMemory {
    /// What lies in memory for a line; `None` if nothing was ever written.
    fn stored(&self, address: u64) -> Option<Stored>;

    /// Puts other bytes there.
    fn put(&mut self, address: u64, stored: Stored);
}

/// What lies in memory for a line.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) text: [u8; LONGEST_LINE],
    /// Its tag or MAC.
    pub(crate) tag: [u8; 16],
    /// The counters of its page, where there are any.
    pub(super) page: Option<Page>,
}

/// Lines that share counters.
pub(super) const LINES: usize = 64;

/// The counters of a page.
#[derive(Clone, Debug)]
pub(super) struct Page {
    pub(super) long: u64,
    pub(super) short: [u8; LINES],
}

impl Default for Stored {
    fn default() -> Self {
        Stored { text: [0; LONGEST_LINE], tag: [0; 16], page: None }
    }
}

impl Stored {
    /// The same without counters: what can be moved to another address.
    pub(crate) fn without_counters(self) -> Stored {
        Stored { page: None, ..self }
    }
}

/// The counters of the controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ProtectionCounters {
    /// Number of lines read.
    pub reads: u64,
    /// Number of lines written.
    pub writes: u64,
    /// Number of reads and writes whose counters were not cached.
    pub counter_misses: u64,
    /// Number of pages encrypted again because a short counter was used up.
    pub reencrypted: u64,
}
