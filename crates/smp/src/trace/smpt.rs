//! The `.smpt` format: for each thread one stream of little-endian 64-bit records, compressed with zstd.
//!
//! | bits | field |
//! |---|---|
//! | 0..47 | address |
//! | 48..58 | instructions since the previous record; 2047: the preceding escape record holds the count |
//! | 59..61 | log2 of the size |
//! | 62..63 | 0 load, 1 store, 2 escape (bits 0..47 hold a long count), 3 synchronisation |
//!
//! A synchronisation has its code in bits 47 (most significant) and 59..61, and its object in bits 0..46:
//!
//! | codes | meaning |
//! |---|---|
//! | 1, 2 | barrier: begin, end |
//! | 3, 4 | lock: begin, end |
//! | 5, 6 | unlock: begin, end |
//! | 7, 13 | a thread is created, a thread is joined |
//! | 8 | all threads have been created; the recorder does not write it |
//! | 9, 10 | semaphore post: begin, end |
//! | 11, 12 | semaphore wait: begin, end |
//! | 14, 15 | the region of interest begins, ends |
//!
//! The size field of an escape is 0, or 1 if it holds the number of threads that the next barrier waits for; without
//! it, the barrier waits for all running threads. Bits 48..58 of an escape are 0. A recorded thread begins by waiting for a semaphore that its creator posts, and ends
//! by posting one that the joining thread waits for.

use std::io::{self, Read, Write};

use super::{BATCH, Stepper};
use crate::access::{Access, Operation, Source, SourceError};

const LONG: u64 = 2047;

/// Reads the records of a thread as the accesses and synchronisations of a processor.
pub struct Smpt {
    input: Box<dyn Read>,
    name: String,
    stepper: Stepper,
    long: Option<u64>,
    count: Option<u64>,
    records: u64,
    left: Vec<u8>,
}

impl std::fmt::Debug for Smpt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Smpt").field("name", &self.name).field("records", &self.records).finish_non_exhaustive()
    }
}

impl Smpt {
    /// Reads uncompressed records of thread `thread` for lines of `line` bytes. Error messages contain `name`.
    pub fn new(input: Box<dyn Read>, name: &str, line: usize, thread: usize) -> Smpt {
        let stepper = Stepper::new(line, thread);
        Smpt { input, name: name.to_owned(), stepper, long: None, count: None, records: 0, left: Vec::new() }
    }

    fn wrong(&self, what: impl std::fmt::Display) -> SourceError {
        SourceError(format!("{}: record {}: {what}", self.name, self.records))
    }

    /// The error for a record that could not be read completely.
    fn wrong_next(&self, what: impl std::fmt::Display) -> SourceError {
        SourceError(format!("{}: record {}: {what}", self.name, self.records + 1))
    }

    /// The input has ended: checks that it may end here.
    fn end(&self) -> Result<(), SourceError> {
        match (self.left.is_empty(), self.long, self.count) {
            (false, ..) => Err(self.wrong_next("the trace ends within a record")),
            (_, Some(_), _) => Err(self.wrong("the trace ends after an escape record")),
            (_, _, Some(_)) => Err(self.wrong("the trace ends after the count of a barrier")),
            _ => Ok(()),
        }
    }

    fn record(&mut self, record: u64, steps: &mut Vec<Access>) -> Result<(), SourceError> {
        self.records += 1;
        let address = record & ((1 << 48) - 1);
        let (gap, middle, kind) = (record >> 48 & LONG, record >> 59 & 7, record >> 62);
        if kind == 2 && (middle > 1 || gap > 0) {
            return Err(self.wrong(format_args!("an escape record with size field {middle} and gap {gap}")));
        }
        if kind == 2 && middle == 1 {
            if self.count.replace(address).is_some() {
                return Err(self.wrong("two counts for one barrier"));
            }
            return Ok(());
        }
        if kind == 2 {
            if self.long.replace(address).is_some() {
                return Err(self.wrong("two escape records, one after the other"));
            }
            return Ok(());
        }
        match (gap, self.long.take()) {
            (LONG, Some(long)) => self.stepper.work(long),
            (LONG, None) => return Err(self.wrong("a long count without its escape record")),
            (_, Some(_)) => return Err(self.wrong("an escape record that no record needs")),
            (gap, None) => self.stepper.work(gap),
        }
        .map_err(|error| self.wrong(error))?;
        match kind {
            0 => self.stepper.reference(steps, Operation::Load, address, 1 << middle),
            1 => self.stepper.reference(steps, Operation::Store, address, 1 << middle),
            _ => {
                let code = middle | (record >> 47 & 1) << 3;
                let object = record & ((1 << 47) - 1);
                let kind = match code {
                    1 => Operation::Barrier,
                    3 => Operation::Lock,
                    5 => Operation::Unlock,
                    9 => Operation::Post,
                    11 => Operation::Wait,
                    14 => Operation::RegionBegin,
                    15 => Operation::RegionEnd,
                    // Ends of calls; threads created or joined
                    2 | 4 | 6 | 7 | 8 | 10 | 12 | 13 => return Ok(()),
                    _ => return Err(self.wrong(format_args!("synchronisation code {code} does not exist"))),
                };
                let count = if kind == Operation::Barrier { self.count.take().unwrap_or(0) } else { 0 };
                self.stepper.synchronise(steps, kind, object, count).map_err(|error| self.wrong(error))?;
            }
        }
        Ok(())
    }
}

impl Source for Smpt {
    fn fill(&mut self, steps: &mut Vec<Access>) -> Result<(), SourceError> {
        steps.clear();
        let mut chunk = [0; 8 * BATCH];
        while steps.is_empty() {
            let n = match self.input.read(&mut chunk) {
                Ok(0) => return self.end(),
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.wrong_next(error)),
            };
            self.left.extend_from_slice(&chunk[..n]);
            let left = std::mem::take(&mut self.left);
            let mut records = left.chunks_exact(8);
            for record in &mut records {
                let mut bytes = [0; 8];
                bytes.copy_from_slice(record);
                self.record(u64::from_le_bytes(bytes), steps)?;
            }
            self.left = records.remainder().to_vec();
        }
        Ok(())
    }
}

/// Writes records, uncompressed.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
}

impl<W: Write> Writer<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Writer<W> {
        Writer { out }
    }

    fn put(&mut self, gap: u64, rest: u64) -> io::Result<()> {
        if gap >= LONG {
            self.out.write_all(&(2 << 62 | gap & ((1 << 48) - 1)).to_le_bytes())?;
        }
        self.out.write_all(&(rest | gap.min(LONG) << 48).to_le_bytes())
    }

    /// Writes a load or store of 2^`size` bytes, `gap` instructions after the previous record.
    ///
    /// # Errors
    /// When the output fails.
    pub fn refer(&mut self, gap: u64, store: bool, address: u64, size: u32) -> io::Result<()> {
        self.put(gap, address & ((1 << 48) - 1) | u64::from(size & 7) << 59 | u64::from(store) << 62)
    }

    /// Writes a synchronisation with this code.
    ///
    /// # Errors
    /// When the output fails.
    pub fn meet(&mut self, gap: u64, code: u64, object: u64) -> io::Result<()> {
        self.put(gap, object & ((1 << 47) - 1) | (code >> 3 & 1) << 47 | (code & 7) << 59 | 3 << 62)
    }

    /// Writes the number of threads that the next barrier waits for.
    ///
    /// # Errors
    /// When the output fails.
    pub fn count(&mut self, threads: u64) -> io::Result<()> {
        self.out.write_all(&(2 << 62 | 1 << 59 | threads & ((1 << 48) - 1)).to_le_bytes())
    }

    /// Returns the output.
    pub fn into_inner(self) -> W {
        self.out
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::trace::{
        all,
        tests::{Failing, read_damaged},
    };

    fn read(bytes: &[u8]) -> Result<Vec<Access>, SourceError> {
        all(Smpt::new(Box::new(io::Cursor::new(bytes.to_vec())), "test", 64, 0))
    }

    #[test]
    fn what_is_written_is_read() {
        let mut writer = Writer::new(Vec::new());
        writer.refer(3, false, 0x7fff_1234_5678, 3).unwrap();
        writer.refer(5000, true, 0x1003c, 3).unwrap();
        writer.meet(1, 1, 0x40_0000).unwrap();
        writer.meet(0, 11, 0x50).unwrap();
        writer.meet(0, 2, 0x40_0000).unwrap();
        writer.count(3).unwrap();
        writer.meet(2000, 1, 0x40_0000).unwrap();
        let steps = read(&writer.into_inner()).unwrap();
        let short: Vec<_> = steps.iter().map(|s| (s.kind, s.address, s.gap, s.size)).collect();
        assert_eq!(
            short,
            [
                (Operation::Load, 0x7fff_1234_5678, 3, 8),
                // A store that crosses a line becomes two
                (Operation::Store, 0x1003c, 5000, 4),
                (Operation::Store, 0x10040, 0, 4),
                (Operation::Barrier, 0x40_0000, 1, 0),
                (Operation::Wait, 0x50, 0, 0),
                (Operation::Barrier, 0x40_0000, 2000, 0),
            ]
        );
        let barriers: Vec<_> = steps.iter().filter(|s| s.kind == Operation::Barrier).map(|s| s.value).collect();
        assert_eq!(barriers, [0, 3], "for everybody, and for three");
    }

    #[test]
    fn damage_is_told_with_its_place() {
        let mut writer = Writer::new(Vec::new());
        writer.refer(0, false, 64, 3).unwrap();
        writer.refer(9999, false, 64, 3).unwrap();
        let bytes = writer.into_inner();
        for (cut, what) in [
            (7, "test: record 1: the trace ends within a record"),
            (15, "test: record 2: the trace ends within a record"),
            (16, "test: record 2: the trace ends after an escape record"),
        ] {
            assert_eq!(read(&bytes[..cut]).unwrap_err().0, what, "{cut}");
        }
        assert!(read(&bytes[16..]).unwrap_err().0.contains("record 1: a long count without"));
        assert!(read(&[&bytes[8..16], &bytes[..8]].concat()).unwrap_err().0.contains("no record needs"));
        for (middle, gap) in [(5, 0), (0, 1), (1, 2047)] {
            let why = read(&(2u64 << 62 | middle << 59 | gap << 48 | 4).to_le_bytes()).unwrap_err().0;
            assert_eq!(why, format!("test: record 1: an escape record with size field {middle} and gap {gap}"));
        }
        assert!(read(&(3u64 << 62).to_le_bytes()).unwrap_err().0.contains("code 0 does not exist"));
        let failing = Smpt::new(Box::new(io::Cursor::new(bytes[..8].to_vec()).chain(Failing)), "test", 64, 0);
        assert_eq!(all(failing).unwrap_err().0, "test: record 2: the disk is gone");
    }

    #[test]
    fn a_count_needs_its_barrier() {
        let written = |write: &dyn Fn(&mut Writer<Vec<u8>>) -> io::Result<()>| {
            let mut writer = Writer::new(Vec::new());
            write(&mut writer).unwrap();
            read(&writer.into_inner()).map(|steps| steps.len()).map_err(|error| error.0)
        };
        let what = "test: record 2: the trace ends after the count of a barrier";
        assert_eq!(written(&|w| w.refer(0, false, 64, 3).and_then(|()| w.count(2))), Err(what.to_owned()));
        let what = "test: record 2: two counts for one barrier";
        assert_eq!(written(&|w| w.count(2).and_then(|()| w.count(2))), Err(what.to_owned()));
        assert_eq!(written(&|w| w.count(0).and_then(|()| w.meet(0, 1, 64))), Ok(1));
    }

    #[test]
    fn instructions_beyond_a_gap_are_refused() {
        let mut writer = Writer::new(Vec::new());
        writer.refer(u64::from(u32::MAX), false, 64, 3).unwrap();
        writer.refer(u64::from(u32::MAX) + 1, false, 64, 3).unwrap();
        let bytes = writer.into_inner();
        assert_eq!(read(&bytes[..16]).unwrap()[0].gap, u32::MAX);
        let why = read(&bytes).unwrap_err().0;
        assert!(why.starts_with("test: record 4: more than 4294967295 instructions"), "{why}");
    }

    #[test]
    fn damaged_records_give_steps_or_an_error() {
        let mut writer = Writer::new(Vec::new());
        for n in 0..4 {
            writer.refer(n * 1000, n % 2 == 0, 0x1003c + n, 3).unwrap();
            writer.refer(5000, true, 0x7fff_1234_5678, 2).unwrap();
            writer.meet(1, 11, 0x50).unwrap();
            writer.count(3).unwrap();
            writer.meet(2000, 1, 0x40_0000).unwrap();
        }
        read_damaged(&writer.into_inner(), |bytes| Smpt::new(Box::new(io::Cursor::new(bytes)), "test", 64, 0));
    }
}
