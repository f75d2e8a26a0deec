//! Processors on a bus: all run in windows of time in which none affects another.
//!
//! A processor looks ahead to its first access that may not hit. Until the earliest of these, and as many cycles longer as anything takes
//! over the bus, each hits its own first level alone. What it hits is done when somebody looks: when a command reaches its node, when
//! its own next access does not hit, or when something is counted.

use super::{
    Machine,
    caches::Caches,
    context::Context,
    outcome::MachineError,
    processor::{Processors, Stop},
    set::Set,
    times::Windows,
};
use crate::engine::Cycle;

impl Processors {
    /// The end of the next window, which none has before `event`, and the processors that do in it what is no hit. Nothing reaches a
    /// processor sooner than `reach` cycles after another one's access.
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
                // What was looked at lately is at hand
                self.hit(node, self.windows.end, caches, context);
                behind |= self.clock(node) < self.windows.end;
            }
            self.find_stop(node, event, caches);
        }
        let alone = self.hits_until.first();
        let end = event.min(alone.saturating_add(reach));
        if behind && end < self.windows.end {
            // A processor goes on before where others are already
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

    /// Looks ahead, and keeps until when a processor hits and when it stops to do so.
    fn find_stop(&mut self, node: usize, event: Cycle, caches: &mut Caches) {
        let until = self.look_ahead(node, event, caches);
        self.hits_until.set(node, until);
        let stops = if until < Cycle::MAX { self.stop(node) } else { Some(Cycle::MAX) };
        self.stops_at.set(node, stops.unwrap_or(Cycle::MAX));
        self.open = if stops.is_none() { self.open.with(node) } else { self.open.without(node) };
    }

    /// Does what a processor has hit in windows until now, which others have not looked at.
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
    /// Runs each processor as far as nothing can reach it; whether any could run.
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

    /// Whether accesses are counted or checked all the time, so that each has to be done in its window.
    fn in_order(&self) -> bool {
        self.context.checker.is_some() || self.config.machine.warm_up > 0 && self.context.region.open()
    }

    /// The same, where nothing is put off.
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

    /// Somebody looks at a node of a bus.
    pub(super) fn settle(&mut self, node: usize) {
        self.processors.settle(node, &mut self.coherence.caches, &mut self.context);
    }
}
