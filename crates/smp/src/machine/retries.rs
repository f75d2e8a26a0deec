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
    /// A processor tries again; not if it would be refused for ever. What refuses it changes by other events alone: none is due,
    /// no processor is at work, and all that try again were refused since the last one.
    pub(super) fn retry(&mut self, node: usize) {
        let others = self.context.schedule.only_retries().filter(|_| self.processors.first_clock() == Cycle::MAX);
        if others.is_some_and(|others| self.processors.refused > others) {
            self.context.outcome = Some(Outcome::Deadlock(self.processors.unfinished()));
            return;
        }
        self.processors.retry(node, self.context.schedule.now());
    }
}
