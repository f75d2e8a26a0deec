//! The region of interest: what is counted between its bounds. Without bounds it is the whole run.

use crate::{engine::Cycle, scheme::SchemeCounters, stats::Counters};

/// The bounds of the region that have been reached, and what was counted until then.
#[derive(Debug, Default)]
pub(super) struct Region {
    begin: Option<Mark>,
    end: Option<Mark>,
}

/// A bound.
#[derive(Clone, Debug)]
struct Mark {
    at: Cycle,
    counters: Counters,
    scheme: SchemeCounters,
}

impl Region {
    /// A bound is reached. The first beginning counts, and the last end.
    pub(super) fn mark(&mut self, begins: bool, at: Cycle, counters: &Counters, scheme: SchemeCounters) {
        let mark = Mark { at, counters: counters.clone(), scheme };
        if !begins {
            self.end = Some(mark);
        } else if self.begin.is_none() {
            self.begin = Some(mark);
        }
    }

    /// Whether its beginning was reached.
    pub(super) fn begun(&self) -> bool {
        self.begin.is_some()
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
