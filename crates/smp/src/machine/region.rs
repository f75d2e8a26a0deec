//! The region of interest: what is counted between its bounds. Without bounds it is the whole run.

use crate::{engine::Cycle, scheme::SchemeCounters, stats::Counters};

/// The bounds of the region that have been reached, and what was counted until then.
#[derive(Debug, Default)]
pub(super) struct Region {
    begin: Option<Mark>,
    end: Option<Mark>,
    /// Whether the program set the beginning, and not the warm-up.
    own: bool,
}

/// What is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// As many references as the machine was to warm up with.
    WarmedUp,
    /// The program's beginning of its region.
    Begin,
    /// The program's end of it.
    End,
}

/// A bound.
#[derive(Clone, Debug)]
struct Mark {
    at: Cycle,
    counters: Counters,
    scheme: SchemeCounters,
}

impl Region {
    /// A bound is reached. The program's first beginning counts, and the last end after it; the warm-up counts only where the
    /// program has set no bound.
    pub(super) fn mark(&mut self, bound: Bound, at: Cycle, counters: &Counters, scheme: SchemeCounters) {
        let mark = || Some(Mark { at, counters: counters.clone(), scheme: scheme.clone() });
        match bound {
            Bound::End => self.end = mark(),
            Bound::Begin if self.own => {}
            Bound::Begin => *self = Region { begin: mark(), end: None, own: true },
            Bound::WarmedUp if self.open() => self.begin = mark(),
            Bound::WarmedUp => {}
        }
    }

    /// Whether no bound was reached.
    pub(super) fn open(&self) -> bool {
        self.begin.is_none() && self.end.is_none()
    }

    /// The region's cycles and counters, of those of the whole run, which took `cycles`.
    pub(super) fn of(
        &self,
        cycles: Cycle,
        counters: &Counters,
        scheme: SchemeCounters,
    ) -> (Cycle, Counters, SchemeCounters) {
        let last = self.end.clone().unwrap_or(Mark { at: cycles, counters: counters.clone(), scheme });
        match &self.begin {
            Some(first) => {
                let counters = last.counters.since(&first.counters);
                (last.at.saturating_sub(first.at), counters, last.scheme.since(&first.scheme))
            }
            None => (last.at, last.counters, last.scheme),
        }
    }
}
