//! The checker: every value read is the one written last.

use super::node::write_value;
use crate::{access::Access, engine::Cycle, memory::Image, message::LONGEST_LINE};

/// An invariant of the protocol that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cycle {cycle}: {what}")]
pub struct InvariantError {
    /// What is wrong.
    pub what: String,
    /// When that was found.
    pub cycle: Cycle,
}

/// Memory as a machine without caches would have it.
#[derive(Debug)]
pub(super) struct Checker {
    pub(super) image: Image,
    /// Reads that gave another value than the one written last.
    pub(super) wrong_reads: u64,
    pub(super) first: Option<InvariantError>,
    /// Whether all nodes see a write at one time. Where not, a node may read what was there before, so loads are not
    /// compared.
    pub(super) at_once: bool,
}

impl Checker {
    pub(super) fn new(image: &Image, at_once: bool) -> Checker {
        Checker { image: image.clone(), wrong_reads: 0, first: None, at_once }
    }

    /// A store happened.
    pub(super) fn stored(&mut self, access: &Access) {
        let mut bytes = [0; LONGEST_LINE];
        write_value(&mut bytes, access.value, access.size);
        self.image.write(access.address, &bytes[..usize::from(access.size)]);
    }

    /// A load found `line`.
    pub(super) fn loaded(&mut self, line: &[u8], access: &Access, shift: u32, cycle: Cycle) {
        if !self.at_once {
            return;
        }
        let start = access.address as usize & ((1 << shift) - 1);
        let found = &line[start..start + usize::from(access.size)];
        let mut last = [0; LONGEST_LINE];
        let last = &mut last[..found.len()];
        self.image.read(access.address, last);
        if found != last {
            self.wrong_reads += 1;
            if self.first.is_none() {
                let what =
                    format!("a load at {:#x} found {found:02x?} where {last:02x?} was written last", access.address);
                self.first = Some(InvariantError { what, cycle });
            }
        }
    }
}
