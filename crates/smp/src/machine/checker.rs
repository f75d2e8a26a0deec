//! The checker: every value read is the one written last.

use std::collections::VecDeque;

use super::node::write_value;
use crate::{access::Access, engine::Cycle, memory::Image, message::LONGEST_LINE};

/// A violated invariant of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cycle {cycle}: {what}")]
pub struct InvariantError {
    /// What is wrong.
    pub what: String,
    /// The cycle in which it was found.
    pub cycle: Cycle,
}

/// Reference memory: the contents as a machine without caches would have them.
#[derive(Debug)]
pub(super) struct Checker {
    pub(super) image: Image,
    /// Reads that gave another value than the one written last.
    pub(super) wrong_reads: u64,
    pub(super) first: Option<InvariantError>,
    /// How long after a write nodes may still read what was there before: 0 where all see a write at one time.
    stale: u64,
    /// Bytes overwritten recently that may still be read: when, the address, and the old byte.
    overwritten: VecDeque<(Cycle, u64, u8)>,
}

impl Checker {
    pub(super) fn new(image: &Image, stale: u64) -> Checker {
        Checker { image: image.clone(), wrong_reads: 0, first: None, stale, overwritten: VecDeque::new() }
    }

    /// A store happened.
    pub(super) fn stored(&mut self, access: &Access, cycle: Cycle) {
        let mut bytes = [0; LONGEST_LINE];
        write_value(&mut bytes, access.value, access.size);
        if self.stale > 0 {
            let mut before = [0; LONGEST_LINE];
            let before = &mut before[..usize::from(access.size)];
            self.image.read(access.address, before);
            self.overwritten.extend((access.address..).zip(before.iter()).map(|(at, byte)| (cycle, at, *byte)));
            while self.overwritten.front().is_some_and(|(at, ..)| at + self.stale < cycle) {
                self.overwritten.pop_front();
            }
        }
        self.image.write(access.address, &bytes[..usize::from(access.size)]);
    }

    /// A load found `line`.
    pub(super) fn loaded(&mut self, line: &[u8], access: &Access, shift: u32, cycle: Cycle) {
        let start = access.address as usize & ((1 << shift) - 1);
        let found = &line[start..start + usize::from(access.size)];
        let mut last = [0; LONGEST_LINE];
        let last = &mut last[..found.len()];
        self.image.read(access.address, last);
        let stale = |at: u64, byte: u8| self.overwritten.iter().any(|(_, address, old)| (*address, *old) == (at, byte));
        let right = (access.address..)
            .zip(found.iter().zip(last.iter()))
            .all(|(at, (found, last))| found == last || stale(at, *found));
        if !right {
            self.wrong_reads += 1;
            if self.first.is_none() {
                let what =
                    format!("a load at {:#x} found {found:02x?} where {last:02x?} was written last", access.address);
                self.first = Some(InvariantError { what, cycle });
            }
        }
    }

    /// Whether all nodes see a write at the same time, so that copies always agree.
    pub(super) fn at_once(&self) -> bool {
        self.stale == 0
    }
}
