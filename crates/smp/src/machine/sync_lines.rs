//! Synchronisation over the bus (`machine.sync_lines`): as the instructions of a lock, a barrier or a semaphore would,
//! a processor writes the line of the object first, and after it has waited it reads what the processor wrote that woke
//! it.

use crate::{
    access::{Access, Operation, Source, SourceError, Window},
    config::ADDRESS_BITS,
};

/// The lines of objects begin here, in the upper half of the address space, which no program in user mode uses.
const OBJECTS: u64 = 1 << (ADDRESS_BITS - 1);

/// Below this, objects are numbers and not addresses: each has a line of its own.
const NUMBERS: u64 = 4096;

/// A source whose synchronisations have loads and stores of their own.
pub(super) struct SyncLines {
    source: Box<dyn Source>,
    /// Log2 of the bytes of a line.
    shift: u32,
    /// The accesses of the source.
    steps: Vec<Access>,
}

impl SyncLines {
    pub(super) fn new(source: Box<dyn Source>, line: usize) -> SyncLines {
        SyncLines { source, shift: line.trailing_zeros(), steps: Vec::new() }
    }

    /// The address of an object. Objects of a program that are in one line of it are in one line here, too.
    fn address(&self, kind: Operation, object: u64) -> u64 {
        let kind = match kind {
            Operation::Barrier => 0,
            Operation::Lock | Operation::Unlock => 1,
            _ => 2,
        };
        let place = if object < NUMBERS { (3 * object + kind) << self.shift } else { object };
        OBJECTS | place & (OBJECTS - 1) & !7
    }
}

impl Source for SyncLines {
    fn fill(&mut self, steps: &mut Vec<Access>) -> Result<(), SourceError> {
        self.source.fill(&mut self.steps)?;
        steps.clear();
        for access in &self.steps {
            if !access.kind.synchronises() {
                steps.push(*access);
                continue;
            }
            let address = self.address(access.kind, access.address);
            let store = Access { address, value: access.address, kind: Operation::Store, size: 8, ..*access };
            steps.extend([store, Access { gap: 0, ..*access }]);
            if matches!(access.kind, Operation::Barrier | Operation::Lock | Operation::Wait) {
                steps.push(Access { value: 0, gap: 0, kind: Operation::Load, ..store });
            }
        }
        Ok(())
    }

    fn windows(&self) -> Vec<Window> {
        self.source.windows()
    }

    fn unplayed(&self) -> u64 {
        self.source.unplayed()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{access::Steps, trace::all};

    fn lines(kind: Operation, object: u64) -> Vec<(Operation, u64, u32)> {
        let access = Access { address: object, value: 0, gap: 9, kind, size: 0 };
        let source = SyncLines::new(Box::new(Steps(vec![access])), 64);
        all(source).unwrap().iter().map(|step| (step.kind, step.address, step.gap)).collect()
    }

    #[test]
    fn a_synchronisation_writes_its_line_and_reads_it_after_a_wait() {
        use Operation::{Barrier, Load, Lock, Post, Store, Unlock, Wait};
        let at = OBJECTS | 0x7f00_1238;
        for kind in [Barrier, Lock, Wait] {
            assert_eq!(lines(kind, 0x7f00_123c), [(Store, at, 9), (kind, 0x7f00_123c, 0), (Load, at, 0)]);
        }
        for kind in [Unlock, Post] {
            assert_eq!(lines(kind, 0x7f00_123c), [(Store, at, 9), (kind, 0x7f00_123c, 0)]);
        }
        assert_eq!(lines(Load, 8), [(Load, 8, 9)]);
        let line = |kind, object| lines(kind, object)[0].1 / 64;
        let own: BTreeSet<u64> =
            (0..4).flat_map(|object| [Barrier, Lock, Post].map(|kind| line(kind, object))).collect();
        assert_eq!(own.len(), 12, "numbered objects share no line");
        assert_eq!((line(Lock, 1), line(Post, 1)), (line(Unlock, 1), line(Wait, 1)));
    }
}
