//! Scheduling of processors over links, where a command reaches few nodes: each runs at its own pace. It is brought up
//! to a time only when something reaches its node then, or when it is the first to do anything but hit its first level.

use super::{Machine, caches::Caches, context::Context, outcome::MachineError, processor::Processors};
use crate::engine::Cycle;

impl Processors {
    /// The processor that is the first to do anything but hit its first level, if it does so before `event`.
    fn first_to_stop(&mut self, event: Cycle, caches: &mut Caches) -> Option<usize> {
        for node in std::mem::take(&mut self.touched).iter() {
            let until = self.look_ahead(node, event, caches);
            self.hits_until.set(node, until);
        }
        loop {
            let first = self.hits_until.first();
            if first >= event {
                return None;
            }
            let node = self.hits_until.who();
            let until = self.look_ahead(node, event, caches);
            if until == first && self.stops(node) {
                return Some(node);
            }
            self.hits_until.set(node, until);
        }
    }

    /// Brings a processor up to `now`, before which it only hits.
    fn catch_up(&mut self, node: usize, now: Cycle, caches: &mut Caches, context: &mut Context) {
        if self.clock(node) < now {
            self.hit(node, now, caches, context);
        }
        self.touch(node);
    }
}

impl Machine {
    /// Runs the processor that is the first to do anything but hit, if that is before `event`; whether there was one.
    pub(super) fn run_first(&mut self, event: Cycle) -> Result<bool, MachineError> {
        let Some(node) = self.processors.first_to_stop(event, &mut self.coherence.caches) else { return Ok(false) };
        self.processors.reached = self.processors.hits_until.first();
        self.run_one(node, event)?;
        Ok(true)
    }

    /// Something reaches a node at `now`.
    pub(super) fn catch_up(&mut self, node: usize, now: Cycle) {
        if self.network.is_none() {
            return self.settle(node);
        }
        self.processors.catch_up(node, now, &mut self.coherence.caches, &mut self.context);
    }

    /// Brings all processors up to `now`, before state that they share is read.
    pub(super) fn catch_up_all(&mut self, now: Cycle) {
        (0..self.config.machine.processors).for_each(|node| self.catch_up(node, now));
    }
}
