//! The region of interest: statistics cover what happens between its bounds. Without bounds it is the whole run.

use super::{Machine, mshrs::Stall};
use crate::{engine::Cycle, scheme::SchemeCounters, stats::Counters};

/// The bounds of the region that have been reached, and what was counted until then.
#[derive(Debug, Default)]
pub(super) struct Region {
    begin: Option<Mark>,
    end: Option<Mark>,
    /// Whether the program set the beginning, and not the warm-up.
    own: bool,
}

/// A kind of bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// The end of the warm-up (`machine.warm_up` references).
    WarmedUp,
    /// The beginning of the region that the program marks.
    Begin,
    /// The end of the region that the program marks.
    End,
}

/// A bound that was reached, with the counters at that time.
#[derive(Clone, Debug)]
struct Mark {
    at: Cycle,
    counters: Counters,
    scheme: SchemeCounters,
}

impl Region {
    /// Records a bound. Of the program's marks, the first beginning and the last end after it count; the warm-up counts
    /// only if the program has marked nothing.
    fn mark(&mut self, bound: Bound, at: Cycle, counters: Counters, scheme: SchemeCounters) {
        let mark = Some(Mark { at, counters, scheme });
        match bound {
            Bound::End => self.end = mark,
            Bound::Begin if self.own => {}
            Bound::Begin => *self = Region { begin: mark, end: None, own: true },
            Bound::WarmedUp if self.open() => self.begin = mark,
            Bound::WarmedUp => {}
        }
    }

    /// When the region began; 0 if no beginning was reached.
    fn began(&self) -> Cycle {
        self.begin.as_ref().map_or(0, |begin| begin.at)
    }

    /// Cycles from `since` to `to` that are not before the region: a wait that began earlier counts from there on.
    pub(super) fn within(&self, since: Cycle, to: Cycle) -> u64 {
        to.saturating_sub(since.max(self.began()))
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
        let mut last =
            self.end.clone().unwrap_or_else(|| Mark { at: cycles, counters: counters.clone(), scheme: scheme.clone() });
        // These are of the whole run, wherever the region ends
        for (node, run) in last.counters.nodes.iter_mut().zip(&counters.nodes) {
            (node.most_held, node.finished) = (run.most_held, run.finished);
        }
        (last.scheme.nonces, last.scheme.exchange_bytes) = (scheme.nonces, scheme.exchange_bytes);
        match &self.begin {
            Some(first) => {
                let counters = last.counters.since(&first.counters);
                (last.at.saturating_sub(first.at), counters, last.scheme.since(&first.scheme))
            }
            None => (last.at, last.counters, last.scheme),
        }
    }
}

impl Machine {
    /// The region of interest begins or ends.
    pub(super) fn bound_region(&mut self, bound: Bound, now: Cycle) {
        self.catch_up_all(now);
        for (node, counters) in self.coherence.caches.nodes.iter_mut().zip(&mut self.context.counters.nodes) {
            node.mshrs.count(counters, now);
        }
        // Another processor may have begun it a few cycles later, in the same window of time
        let now = now.max(self.context.region.began());
        let mut counters = self.context.counters.clone();
        for (core, counters) in self.processors.cores.iter().zip(&mut counters.nodes) {
            counters.waited -= core.paid.saturating_sub(now).min(counters.waited);
        }
        if bound == Bound::End {
            self.count_open_waits(now, &mut counters);
        }
        self.context.region.mark(bound, now, counters, self.transfers.scheme.counters());
    }

    /// Counts waits that have not ended, up to `now`.
    pub(super) fn count_open_waits(&self, now: Cycle, counters: &mut Counters) {
        let region = &self.context.region;
        for (place, counters) in counters.nodes.iter_mut().enumerate() {
            let (core, mshrs) = (&self.processors.cores[place], &self.coherence.caches.nodes[place].mshrs);
            counters.waited += mshrs.waits().map(|since| region.within(since, now)).sum::<u64>();
            counters.synchronised += core.threads.idle.map_or(0, |since| region.within(since, now));
            counters.retried += if core.refused { region.within(core.time, now) } else { 0 };
            let Some(stall) = core.stall else { continue };
            let cycles = region.within(core.time, now);
            counters.waited += cycles;
            match stall {
                Stall::Full => counters.full += cycles,
                Stall::Synchronises | Stall::Ends => counters.drained += cycles,
                Stall::Line(_) => {}
            }
        }
    }
}
