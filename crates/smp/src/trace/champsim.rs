//! ChampSim's traces: a record of 64 bytes for each instruction, one file a program.
//!
//! A record (`input_instr` of ChampSim's `inc/trace_instruction.h`) has the instruction's address, whether it is a
//! branch and was taken, 2 registers written and 4 read, 2 addresses written and 4 read (0 means none), little-endian.
//! It has no sizes, so each reference is one byte. Such traces are of single-threaded programs: several of them are
//! several programs, each in its own address space, in which the low 42 bits of an address are used. Programs use few
//! of the areas that these bits do not tell apart; a trace in which two of them would be one is refused.

use std::io::Read;

use super::{ADDRESSES, Stepper, read_whole};
use crate::access::{Access, Operation, Source, SourceError};

const RECORD: usize = 64;

/// Number of records read at a time.
const STRETCH: usize = 256;

/// The lowest address bit that holds the number of a program's address space.
const SPACE: u32 = 42;

/// Log2 of the bytes of a block: each belongs to one area of 2^`SPACE` bytes.
const BLOCK: u32 = 20;

/// A program's records as steps of a processor.
pub struct ChampSim {
    input: Box<dyn Read>,
    name: String,
    stepper: Stepper,
    space: u64,
    /// For each block below 2^`SPACE`: 1 + the address bits above `SPACE` of those who use it; 0 if nobody does.
    areas: Vec<u8>,
    line: u64,
    fetched: Option<u64>,
    records: u64,
}

impl std::fmt::Debug for ChampSim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChampSim").field("name", &self.name).field("records", &self.records).finish_non_exhaustive()
    }
}

fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

impl ChampSim {
    /// Reads uncompressed records of program `thread` for lines of `line` bytes; `name` is for messages.
    pub fn new(input: Box<dyn Read>, name: &str, line: usize, thread: usize) -> ChampSim {
        ChampSim {
            input,
            name: name.to_owned(),
            stepper: Stepper::new(line, thread),
            space: (thread as u64) << SPACE,
            areas: vec![0; 1 << (SPACE - BLOCK)],
            line: line as u64,
            fetched: None,
            records: 0,
        }
    }

    fn wrong(&self, what: impl std::fmt::Display) -> SourceError {
        SourceError(format!("{}: record {}: {what}", self.name, self.records))
    }

    /// An address in the program's own address space.
    fn own(&mut self, address: u64) -> Result<u64, SourceError> {
        let low = address & ((1 << SPACE) - 1);
        // What all readers drop above these bits is a sign extension
        let area = (address & ADDRESSES) >> SPACE;
        let known = &mut self.areas[(low >> BLOCK) as usize];
        match u64::from(*known) {
            0 => *known = area as u8 + 1,
            before if before == area + 1 => {}
            before => {
                let other = low >> BLOCK << BLOCK | (before - 1) << SPACE;
                return Err(self.wrong(format_args!(
                    "{address:#x} and an address in the MiB from {other:#x} on differ in bits that are dropped: the low \
                     {SPACE} bits count"
                )));
            }
        }
        Ok(low | self.space)
    }

    fn record(&mut self, record: &[u8], steps: &mut Vec<Access>) -> Result<(), SourceError> {
        self.records += 1;
        if record[8] > 1 || record[9] > 1 {
            return Err(self.wrong("not a record of ChampSim: its marks of a branch are neither 0 nor 1"));
        }
        let instruction = self.own(word(&record[..8]))?;
        self.stepper.instruction().map_err(|error| self.wrong(error))?;
        if self.fetched.replace(instruction / self.line) != Some(instruction / self.line) {
            self.stepper.reference(steps, Operation::Fetch, instruction, 1);
        }
        let addresses =
            |from: usize, count: usize| (0..count).map(move |i| word(&record[from + 8 * i..from + 8 * i + 8]));
        let (writes, reads) = (addresses(16, 2), addresses(32, 4));
        for (kind, address) in reads.map(|at| (Operation::Load, at)).chain(writes.map(|at| (Operation::Store, at))) {
            if address != 0 {
                let address = self.own(address)?;
                self.stepper.reference(steps, kind, address, 1);
            }
        }
        Ok(())
    }
}

impl Source for ChampSim {
    fn fill(&mut self, steps: &mut Vec<Access>) -> Result<(), SourceError> {
        steps.clear();
        let mut bytes = [0; RECORD * STRETCH];
        while steps.is_empty() {
            let (n, failed) = read_whole(&mut self.input, &mut bytes);
            let (records, rest) = bytes[..n].as_chunks::<RECORD>();
            for record in records {
                self.record(record, steps)?;
            }
            if let Some(error) = failed {
                self.records += 1;
                return Err(self.wrong(error));
            }
            if !rest.is_empty() {
                self.records += 1;
                return Err(self.wrong("the trace ends within a record"));
            }
            if n == 0 {
                break;
            }
        }
        Ok(())
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

    /// A record as `struct input_instr` is laid out.
    fn record(ip: u64, writes: [u64; 2], reads: [u64; 4]) -> Vec<u8> {
        let mut bytes = ip.to_le_bytes().to_vec();
        bytes.extend([0, 0, 1, 0, 2, 0, 0, 0]);
        bytes.extend(writes.iter().chain(&reads).flat_map(|address| address.to_le_bytes()));
        assert_eq!(bytes.len(), RECORD);
        bytes
    }

    fn read(bytes: Vec<u8>, thread: usize) -> Result<Vec<Access>, SourceError> {
        all(ChampSim::new(Box::new(std::io::Cursor::new(bytes)), "c.0.champsim", 64, thread))
    }

    #[test]
    fn instructions_read_and_write_what_their_records_say() {
        let bytes =
            [record(0x40_1000, [0, 0], [0; 4]), record(0x40_1004, [0x7000, 0], [0x6000, 0, 0, 0x6100])].concat();
        let steps = read(bytes.clone(), 0).unwrap();
        let short: Vec<_> = steps.iter().map(|step| (step.kind, step.address, step.gap)).collect();
        let expected = [
            (Operation::Fetch, 0x40_1000, 0),
            (Operation::Load, 0x6000, 1),
            (Operation::Load, 0x6100, 0),
            (Operation::Store, 0x7000, 0),
        ];
        assert_eq!(short, expected);
        // Another program has another address space
        assert!(read(bytes, 1).unwrap().iter().all(|step| step.address >> SPACE == 1));
    }

    #[test]
    fn damage_is_told_with_its_place() {
        let good = record(1, [0; 2], [0; 4]);
        let why = read([good.clone(), good[..10].to_vec()].concat(), 0).unwrap_err().0;
        assert_eq!(why, "c.0.champsim: record 2: the trace ends within a record");
        // In the second stretch of records, after the first three bytes of one
        let many = good.repeat(STRETCH + 5);
        let failing = std::io::Cursor::new([many, good[..3].to_vec()].concat()).chain(Failing);
        let why = all(ChampSim::new(Box::new(failing), "c.0.champsim", 64, 0)).unwrap_err().0;
        assert_eq!(why, "c.0.champsim: record 262: the disk is gone");
        let mut other = good;
        other[8] = 7;
        assert!(read(other, 0).unwrap_err().0.contains("record 1: not a record of ChampSim"));
    }

    /// A stack, a heap and a program lie in areas that the low bits do not tell apart, and do not meet there.
    #[test]
    fn addresses_that_would_become_one_are_refused() {
        let usual = [0x40_1000, 0x5555_5555_4000, 0x7fff_ffff_e000, 0xffff_8880_0000_0000];
        let bytes: Vec<u8> = usual.iter().flat_map(|at| record(0x40_1000, [*at, 0], [0; 4])).collect();
        let lines: std::collections::BTreeSet<u64> = read(bytes, 1).unwrap().iter().map(|step| step.address).collect();
        assert_eq!(lines.len(), 4);
        let two = [0x1_2345, 1 << 43 | 0x1_2345].map(|at| record(0x40_1000, [0, 0], [at, 0, 0, 0]));
        let why = read(two.concat(), 0).unwrap_err().0;
        assert!(why.contains("record 2: 0x80000012345 and an address in the MiB from 0x0 on differ in bits"), "{why}");
    }

    #[test]
    fn damaged_records_give_steps_or_an_error() {
        let good: Vec<u8> = (1..9).flat_map(|n| record(n << 12, [n << 20, 0], [0, n << 24, 0, 64])).collect();
        read_damaged(&good, |bytes| ChampSim::new(Box::new(std::io::Cursor::new(bytes)), "c.0.champsim", 64, 3));
    }
}
