//! DynamoRIO's drmemtrace: packed entries of 12 bytes (type 2, size 2, address 8, little-endian), one file a thread.
//!
//! Types are those of `trace_entry.h` of DynamoRIO, version 7 of the format. Read are loads, stores, instructions of every
//! kind, and the markers of traced functions: with `-record_function` of
//! `pthread_mutex_lock|1&pthread_mutex_unlock|1&pthread_barrier_wait|1` in that order (identifiers 0, 1, 2), locks
//! and barriers are played. Everything else (encodings, prefetches, other markers) is passed over.

use std::io::{self, Read};

use super::{BATCH, Stepper};
use crate::access::{Access, Kind, Source, SourceError};

const READ: u16 = 0;
const WRITE: u16 = 1;
const HEADER: u16 = 25;
const FOOTER: u16 = 26;
const MARKER: u16 = 28;
/// An instruction that repeats, and is not fetched again.
const NO_FETCH: u16 = 29;
/// The last type that this version knows, with room for those to come.
const LAST: u16 = 63;

/// Whether entries of a type are instructions: plain ones, jumps, calls and returns, a system call, conditional jumps that
/// were taken or not.
fn instruction(kind: u16) -> bool {
    matches!(kind, 10..=16 | 31 | 48 | 49)
}

const FUNCTION: u16 = 4;
const ARGUMENT: u16 = 6;

/// What the identifiers of traced functions mean, from 0.
const FUNCTIONS: [Kind; 3] = [Kind::Lock, Kind::Unlock, Kind::Barrier];

/// A thread's entries as steps of a processor.
pub struct Drmemtrace {
    input: Box<dyn Read>,
    name: String,
    stepper: Stepper,
    function: Option<u64>,
    entries: u64,
    line: u64,
    fetched: Option<u64>,
}

impl std::fmt::Debug for Drmemtrace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Drmemtrace").field("name", &self.name).field("entries", &self.entries).finish_non_exhaustive()
    }
}

impl Drmemtrace {
    /// Reads uncompressed entries of thread `thread` for lines of `line` bytes; `name` is for messages.
    pub fn new(input: Box<dyn Read>, name: &str, line: usize, thread: usize) -> Drmemtrace {
        Drmemtrace {
            input,
            name: name.to_owned(),
            stepper: Stepper::new(line, thread),
            function: None,
            entries: 0,
            line: line as u64,
            fetched: None,
        }
    }

    fn wrong(&self, what: impl std::fmt::Display) -> SourceError {
        SourceError(format!("{}: entry {}: {what}", self.name, self.entries))
    }

    fn entry(&mut self, bytes: [u8; 12], steps: &mut Vec<Access>) -> Result<(), SourceError> {
        self.entries += 1;
        let [a, b, c, d, rest @ ..] = bytes;
        let (kind, size, address) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]), u64::from_le_bytes(rest));
        if self.entries == 1 && kind != HEADER {
            return Err(self.wrong("not a final drmemtrace: it does not begin with a header"));
        }
        match kind {
            READ | WRITE => {
                if size > 4096 {
                    return Err(self.wrong(format_args!("a reference of {size} bytes")));
                }
                let kind = if kind == READ { Kind::Load } else { Kind::Store };
                self.stepper.reference(steps, kind, address, u64::from(size));
            }
            kind if instruction(kind) => {
                self.stepper.work(1);
                // A fetch for each new line of instructions
                let line = address / self.line;
                if self.fetched.replace(line) != Some(line) {
                    self.stepper.reference(steps, Kind::Fetch, address, 1);
                }
            }
            NO_FETCH => self.stepper.work(1),
            MARKER if size == FUNCTION => self.function = Some(address),
            MARKER if size == ARGUMENT => {
                let function = self.function.take().and_then(|id| FUNCTIONS.get(usize::try_from(id).ok()?));
                if let Some(kind) = function {
                    self.stepper.synchronise(steps, *kind, address, 0);
                }
            }
            kind if kind <= LAST => {}
            kind => return Err(self.wrong(format_args!("entries of type {kind} do not exist"))),
        }
        Ok(())
    }
}

impl Source for Drmemtrace {
    fn fill(&mut self, steps: &mut Vec<Access>) -> Result<(), SourceError> {
        steps.clear();
        let mut bytes = [0; 12];
        while steps.len() < BATCH {
            match self.input.read(&mut bytes[..1]) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.wrong(error)),
            }
            self.input.read_exact(&mut bytes[1..]).map_err(|_| self.wrong("the trace ends within an entry"))?;
            if u16::from_le_bytes([bytes[0], bytes[1]]) == FOOTER {
                break;
            }
            self.entry(bytes, steps)?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(kind: u16, size: u16, address: u64) -> Vec<u8> {
        [&kind.to_le_bytes()[..], &size.to_le_bytes(), &address.to_le_bytes()].concat()
    }

    fn read(bytes: Vec<u8>) -> Result<Vec<Access>, SourceError> {
        let (mut source, mut steps) = (Drmemtrace::new(Box::new(io::Cursor::new(bytes)), "test", 64, 0), Vec::new());
        source.fill(&mut steps)?;
        Ok(steps)
    }

    #[test]
    fn entries_become_steps() {
        let bytes = [
            entry(HEADER, 0, 5),
            entry(10, 4, 0x40_0000),
            entry(47, 4, 0xf20f),
            entry(48, 4, 0x40_0004),
            entry(NO_FETCH, 4, 0x40_0004),
            entry(READ, 8, 0x1000),
            entry(MARKER, FUNCTION, 2),
            entry(MARKER, ARGUMENT, 0x6000),
            entry(WRITE, 32, 0x1030),
            entry(FOOTER, 0, 0),
            entry(READ, 8, 0x1000),
        ];
        let steps: Vec<_> = read(bytes.concat()).unwrap().iter().map(|s| (s.kind, s.address, s.size, s.gap)).collect();
        assert_eq!(
            steps,
            [
                (Kind::Fetch, 0x40_0000, 1, 1),
                (Kind::Load, 0x1000, 8, 2),
                (Kind::Barrier, 0x6000, 0, 0),
                (Kind::Store, 0x1030, 16, 0),
                (Kind::Store, 0x1040, 16, 0),
            ]
        );
    }

    #[test]
    fn damage_is_told_with_its_place() {
        assert!(read(entry(READ, 8, 0)).unwrap_err().0.contains("does not begin with a header"));
        let cut = [entry(HEADER, 0, 5), vec![0; 5]].concat();
        assert!(read(cut).unwrap_err().0.contains("within an entry"));
        let wide = [entry(HEADER, 0, 5), entry(READ, 5000, 0)].concat();
        assert!(read(wide).unwrap_err().0.contains("entry 2: a reference of 5000 bytes"));
    }

    proptest! {
        #[test]
        fn any_bytes_give_steps_or_an_error(bytes in proptest::collection::vec(0..32u8, 0..400)) {
            let _ = read([entry(HEADER, 0, 5), bytes].concat());
        }
    }
}
