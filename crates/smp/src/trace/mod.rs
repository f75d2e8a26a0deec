//! Traces of real programs: `.smpt`, DynamoRIO's drmemtrace, SynchroTraceGen, ChampSim.
//!
//! A reader turns records into steps; a reference that crosses a line becomes two. Traces hold no values: a store writes a
//! number that follows from its processor and place, so that lines on the bus differ and can be checked.

mod champsim;
mod check;
mod chunks;
mod drmemtrace;
mod open;
mod smpt;
mod synchro;
mod windows;

pub use champsim::ChampSim;
pub use check::Summary;
pub use drmemtrace::Drmemtrace;
pub use open::{Format, Part, Trace, TraceError};
pub use smpt::{Smpt, Writer};
pub use synchro::SynchroTrace;
pub use windows::{Windows, WindowsError};

use crate::access::{Access, Kind};
#[cfg(test)]
use crate::access::{Source, SourceError};

/// Steps that a reader makes at a time.
pub(crate) const BATCH: usize = 4096;

/// Addresses have 48 bits, as in `.smpt`.
const ADDRESSES: u64 = (1 << 48) - 1;

/// Makes steps of references.
#[derive(Clone, Debug)]
pub(crate) struct Stepper {
    line: u64,
    seed: u64,
    gap: u64,
    /// Whether the last instruction has referred to nothing yet.
    idle: bool,
}

impl Stepper {
    /// For processor number `thread` and lines of `line` bytes.
    pub(crate) fn new(line: usize, thread: usize) -> Stepper {
        Stepper { line: line as u64, seed: (thread as u64 + 1) << 56, gap: 0, idle: false }
    }

    /// Instructions that refer to nothing.
    pub(crate) fn work(&mut self, instructions: u64) {
        self.gap = self.gap.saturating_add(instructions);
    }

    /// An instruction, whose references follow. It is counted by them, or in the gap if there are none.
    pub(crate) fn instruction(&mut self) {
        self.settle();
        self.idle = true;
    }

    fn settle(&mut self) {
        let idle = std::mem::take(&mut self.idle);
        self.work(u64::from(idle));
    }

    fn gap(&mut self) -> u32 {
        u32::try_from(std::mem::take(&mut self.gap)).unwrap_or(u32::MAX)
    }

    /// A reference of `size` bytes.
    pub(crate) fn reference(&mut self, steps: &mut Vec<Access>, kind: Kind, address: u64, size: u64) {
        self.idle &= kind == Kind::Fetch;
        let (mut at, mut left) = (address & ADDRESSES, size.max(1));
        while left > 0 {
            let n = left.min(self.line - at % self.line);
            self.seed = self.seed.wrapping_add(0x9e37_79b9);
            let gap = self.gap();
            steps.push(Access { address: at, value: self.seed, gap, kind, size: n as u8 });
            at = (at + n) & ADDRESSES;
            left -= n;
        }
    }

    /// A synchronisation; a barrier may wait for `count` processors.
    pub(crate) fn synchronise(&mut self, steps: &mut Vec<Access>, kind: Kind, object: u64, count: u64) {
        self.settle();
        let gap = self.gap();
        steps.push(Access { address: object, value: count, gap, kind, size: 0 });
    }
}

/// Everything that a source gives, for tests.
#[cfg(test)]
pub(crate) fn all(mut source: impl Source) -> Result<Vec<Access>, SourceError> {
    let (mut all, mut steps) = (Vec::new(), Vec::new());
    loop {
        source.fill(&mut steps)?;
        if steps.is_empty() {
            return Ok(all);
        }
        all.append(&mut steps);
    }
}
