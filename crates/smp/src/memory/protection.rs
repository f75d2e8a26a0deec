//! The interface of memory protection: the controller's reads and writes of lines, and the stored bytes, which an
//! attacker may change.

use std::fmt;

use crate::{
    engine::Cycle,
    message::{Detector, LONGEST_LINE},
};

/// A memory controller's protection of lines.
pub(crate) trait Protection: InMemory + fmt::Debug + Send {
    /// Reads a line that was requested at `now` and that memory delivers at `at`; returns when it may be used.
    ///
    /// # Errors
    /// How tampering with the line is detected.
    fn read(&mut self, address: u64, out: &mut [u8], now: Cycle, at: Cycle) -> Result<Cycle, Tampered>;

    /// Writes a line.
    ///
    /// # Errors
    /// How tampering with metadata that the write needs, such as counters, is detected.
    fn write(&mut self, address: u64, plain: &[u8]) -> Result<(), Tampered>;

    /// A line as it would be read, without any effect on timing.
    fn peek(&self, address: u64, out: &mut [u8]);

    /// The counters so far.
    fn counters(&self) -> ProtectionCounters;

    /// Pages of ciphertext.
    fn pages(&self) -> usize;
}

/// A check that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tampered {
    /// What detects it.
    pub(crate) detector: Detector,
    /// Cycles from the request until then.
    pub(crate) after: u64,
}

/// The stored form of lines, which an attacker may read and change.
pub(crate) trait InMemory {
    /// The stored form of a line; `None` if it was never written.
    fn stored(&self, address: u64) -> Option<Stored>;

    /// Replaces the stored form of a line.
    fn put(&mut self, address: u64, stored: Stored);
}

/// What lies in memory for a line.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) text: [u8; LONGEST_LINE],
    /// The line's tag or MAC.
    pub(crate) tag: [u8; 16],
    /// The counters of the line's page, if there are any.
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
    /// The same without counters: what an attacker can copy to another address.
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
    /// Number of nonces used, those of the initial contents included; 0 for ciphers without nonces.
    pub nonces: u64,
    /// Number of nonces that had been used before.
    pub repeated_nonces: u64,
}
