//! Scheduling of processors on a bus: all run in windows of time in which none can affect another.
//!
//! Each processor looks ahead to its first access that may not hit. A window ends at the next event, or `reach` cycles
//! after the earliest of these, the least time in which a request takes effect over the bus. Until then, a hit depends
//! on its own first level alone. Hits are performed lazily: when a command reaches the node, when the processor's next
//! access does not hit, or when counters are read.

use super::{
    Machine,
    caches::Caches,
    context::Context,
    outcome::MachineError,
    processor::{Processors, Stop, Windows},
    set::Set,
};
use crate::engine::Cycle;

impl Processors {
    /// Opens the next window: returns its end and the processors that have an access in it that does not hit, or `None`
    /// if the next event, at `event`, comes first. No access affects another processor sooner than `reach` cycles
    /// later.
    fn open_window(
        &mut self,
        event: Cycle,
        reach: u64,
        caches: &mut Caches,
        context: &mut Context,
    ) -> Option<(Cycle, Set)> {
        let further = self.hits_until.before(event).both(self.open);
        let anew = std::mem::take(&mut self.touched).or(further);
        let mut behind = false;
        for node in anew.iter() {
            if self.clock(node) < self.windows.end {
                // Perform its pending hits, to see whether it is behind the last window
                self.hit(node, self.windows.end, caches, context);
                behind |= self.clock(node) < self.windows.end;
            }
            self.find_stop(node, event, caches);
        }
        let alone = self.hits_until.first();
        let end = event.min(alone.saturating_add(reach));
        if behind && end < self.windows.end {
            // A processor resumes before the end of the last window: finish that window for all others, and step back
            for node in self.all().less(anew).iter() {
                if self.clock(node) < self.windows.end {
                    self.hit(node, self.windows.end, caches, context);
                }
            }
            self.windows.end = end;
        }
        self.windows.before = self.windows.end;
        self.windows.end = self.windows.end.max(end);
        let acting = self.stops_at.before(end);
        (alone < event || !acting.is_empty()).then_some((end, acting))
    }

    /// Looks ahead, and updates `hits_until`, `stops_at` and `open` for a processor.
    fn find_stop(&mut self, node: usize, event: Cycle, caches: &mut Caches) {
        let until = self.look_ahead(node, event, caches);
        self.hits_until.set(node, until);
        let stops = if until < Cycle::MAX { self.stop(node) } else { Some(Cycle::MAX) };
        self.stops_at.set(node, stops.unwrap_or(Cycle::MAX));
        self.open = if stops.is_none() { self.open.with(node) } else { self.open.without(node) };
    }

    /// Performs a processor's pending hits, up to the end of the last window in which it has had its turn.
    fn settle(&mut self, node: usize, caches: &mut Caches, context: &mut Context) {
        let Windows { end, before, turn } = self.windows;
        let end = if turn.is_some_and(|turn| turn < node) { before } else { end };
        if self.clock(node) < end {
            self.hit(node, end, caches, context);
        }
        self.touch(node);
    }
}

impl Machine {
    /// Runs all processors through the next window; returns whether there was one before `event`.
    pub(super) fn run_window(&mut self, event: Cycle) -> Result<bool, MachineError> {
        if self.in_order() {
            return self.run_in_order(event);
        }
        let (caches, context) = (&mut self.coherence.caches, &mut self.context);
        let reach = self.config.bus.issue + self.config.bus.arbitration;
        let Some((end, acting)) = self.processors.open_window(event, reach, caches, context) else { return Ok(false) };
        for node in acting.iter() {
            self.processors.windows.turn = Some(node);
            self.run_one(node, end)?;
        }
        self.processors.windows.turn = None;
        Ok(true)
    }

    /// Whether every access must be performed within its window, because it is checked or counted continuously.
    fn in_order(&self) -> bool {
        self.context.checker.is_some() || self.config.machine.warm_up > 0 && self.context.region.open()
    }

    /// `run_window` without lazy hits.
    fn run_in_order(&mut self, event: Cycle) -> Result<bool, MachineError> {
        if self.processors.first_clock() >= event {
            return Ok(false);
        }
        let nodes = self.config.machine.processors;
        let alone = (0..nodes).map(|node| self.processors.look_ahead(node, event, &mut self.coherence.caches)).min();
        let reach = self.config.bus.issue + self.config.bus.arbitration;
        let end = event.min(alone.unwrap_or(event).saturating_add(reach));
        for node in 0..nodes {
            if self.processors.clock(node) < end {
                self.run_one(node, end)?;
            }
        }
        self.processors.windows = Windows::default();
        self.processors.touched = self.processors.all();
        self.processors.reached = end.min(self.processors.first_clock());
        Ok(true)
    }

    pub(super) fn run_one(&mut self, node: usize, end: Cycle) -> Result<(), MachineError> {
        match self.processors.run(node, end, &mut self.coherence.caches, &mut self.context)? {
            Stop::None => Ok(()),
            Stop::Finished => self.finish(node),
            Stop::Access => self.access(node),
        }
    }

    /// Brings a node on a bus up to date, before its state is examined or changed.
    pub(super) fn settle(&mut self, node: usize) {
        self.processors.settle(node, &mut self.coherence.caches, &mut self.context);
    }
}
