//! Traces of real programs: `.smpt`, DynamoRIO's drmemtrace, SynchroTraceGen, ChampSim.
//!
//! A reader converts records to accesses; a reference that crosses a line becomes two. Traces hold no values: a store
//! writes a number that depends on its processor and its position, so that lines on the bus differ and can be checked.

mod champsim;
mod check;
mod chunks;
mod drmemtrace;
mod lz4;
mod open;
mod smpt;
mod synchro;
mod windows;

use std::io::{self, Read};

pub use champsim::ChampSim;
pub use check::Summary;
pub use drmemtrace::Drmemtrace;
pub use open::{Format, Part, Trace, TraceError};
pub use smpt::{Smpt, Writer};
pub use synchro::SynchroTrace;
pub use windows::{Windows, WindowsError};

#[cfg(test)]
use crate::access::{Source, SourceError};
use crate::{
    access::{Access, Operation},
    config::ADDRESS_BITS,
};

/// The number of accesses that a reader produces at a time.
pub(crate) const BATCH: usize = 4096;

/// Mask of the address bits that are kept. Higher bits are a sign extension in all valid addresses, so dropping them
/// maps no two addresses to one.
const ADDRESSES: u64 = (1 << ADDRESS_BITS) - 1;

/// The most instructions of a gap.
const LONGEST_GAP: u64 = u32::MAX as u64;

/// More instructions than a gap holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {LONGEST_GAP} instructions from one reference or synchronisation to the next")]
pub(crate) struct GapError;

/// Converts references to accesses.
#[derive(Clone, Debug)]
pub(crate) struct Stepper {
    line: u64,
    seed: u64,
    gap: u32,
    /// Whether the last instruction has made no reference yet.
    idle: bool,
}

impl Stepper {
    /// For processor number `thread` and lines of `line` bytes.
    pub(crate) fn new(line: usize, thread: usize) -> Stepper {
        Stepper { line: line as u64, seed: (thread as u64 + 1) << 56, gap: 0, idle: false }
    }

    /// Counts instructions without references.
    pub(crate) fn work(&mut self, instructions: u64) -> Result<(), GapError> {
        self.gap =
            u64::from(self.gap).checked_add(instructions).and_then(|gap| u32::try_from(gap).ok()).ok_or(GapError)?;
        Ok(())
    }

    /// An instruction whose references follow: it is counted with them, or in the next gap if there are none.
    pub(crate) fn instruction(&mut self) -> Result<(), GapError> {
        self.settle()?;
        self.idle = true;
        Ok(())
    }

    fn settle(&mut self) -> Result<(), GapError> {
        let idle = std::mem::take(&mut self.idle);
        self.work(u64::from(idle))
    }

    fn gap(&mut self) -> u32 {
        std::mem::take(&mut self.gap)
    }

    /// A reference of `size` bytes.
    pub(crate) fn reference(&mut self, steps: &mut Vec<Access>, kind: Operation, address: u64, size: u64) {
        self.idle &= kind == Operation::Fetch;
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
    pub(crate) fn synchronise(
        &mut self,
        steps: &mut Vec<Access>,
        kind: Operation,
        object: u64,
        count: u64,
    ) -> Result<(), GapError> {
        self.settle()?;
        let gap = self.gap();
        steps.push(Access { address: object, value: count, gap, kind, size: 0 });
        Ok(())
    }
}

/// Fills a buffer as far as possible; returns the number of bytes, and the error if the input failed after them.
pub(crate) fn read_whole(input: &mut dyn Read, out: &mut [u8]) -> (usize, Option<io::Error>) {
    let mut done = 0;
    while done < out.len() {
        match input.read(&mut out[done..]) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (done, Some(error)),
        }
    }
    (done, None)
}

/// Reads a source to its end, for tests.
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(crate) mod tests {
    use std::{
        cell::Cell,
        io::{self, Read},
    };

    use proptest::{prelude::*, sample::Index, test_runner::TestRunner};

    use crate::access::Source;

    /// An input that fails.
    pub(crate) struct Failing;

    impl Read for Failing {
        fn read(&mut self, _out: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }

    /// Reads a good trace with a few bytes changed, many times: each gives steps that do not cross a line of 64 bytes,
    /// or an error. Of short texts, about half the cases get as far as a step; the others only try how a trace begins.
    pub(crate) fn read_damaged<S: Source>(good: &[u8], open: impl Fn(Vec<u8>) -> S) {
        let (cases, reached) = (Cell::new(0), Cell::new(0));
        let changes = proptest::collection::vec(any::<(Index, u8)>(), 1..5);
        let read = |changes: Vec<(Index, u8)>| {
            let mut bytes = good.to_vec();
            for (index, byte) in changes {
                *index.get_mut(&mut bytes) = byte;
            }
            let (mut source, mut steps, mut all) = (open(bytes), Vec::new(), 0);
            loop {
                let read = source.fill(&mut steps);
                for step in steps.iter().filter(|step| !step.kind.synchronises()) {
                    prop_assert!(step.address % 64 + u64::from(step.size) <= 64);
                }
                all += steps.len();
                if read.is_err() || steps.is_empty() {
                    break;
                }
            }
            cases.set(cases.get() + 1);
            reached.set(reached.get() + u32::from(all > 0));
            Ok(())
        };
        TestRunner::default().run(&changes, read).unwrap();
        assert!(reached.get() * 4 > cases.get(), "{} of {} cases reach a step", reached.get(), cases.get());
    }
}
