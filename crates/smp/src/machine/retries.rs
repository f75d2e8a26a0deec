//! Accesses that are refused because their line is in a transaction, and tried again.

use super::{
    Machine,
    context::Context,
    outcome::Outcome,
    processor::{Activity, Processors},
    schedule::Event,
};
use crate::engine::Cycle;

impl Processors {
    /// A processor's access was refused: it tries again later.
    pub(super) fn retry_later(&mut self, node: usize, context: &mut Context) {
        let at = self.wait(node) + self.retry;
        self.refused += 1;
        self.cores[node].refused = true;
        context.counters.nodes[node].retries += 1;
        context.schedule.at(at.max(context.schedule.now()), Event::Retry(node));
    }

    /// It tries again now.
    pub(super) fn retry(&mut self, node: usize, now: Cycle) {
        self.touch(node);
        let core = &mut self.cores[node];
        core.activity = Activity::Running;
        core.time = now;
        core.look_anew();
    }
}

impl Machine {
    /// A processor tries again, unless it would be refused for ever. Only another event or a running processor can
    /// change that: if there is neither, and all retries have been refused since the last such event, it is a deadlock.
    pub(super) fn retry(&mut self, node: usize) {
        let others = self.context.schedule.only_retries().filter(|_| self.processors.first_clock() == Cycle::MAX);
        if others.is_some_and(|others| self.processors.refused > others) {
            self.context.outcome = Some(Outcome::Deadlock(self.processors.unfinished()));
            return;
        }
        let (core, now) = (&mut self.processors.cores[node], self.context.schedule.now());
        core.refused = false;
        self.context.counters.nodes[node].retried += self.context.region.within(core.time, now);
        self.processors.retry(node, now);
    }
}
