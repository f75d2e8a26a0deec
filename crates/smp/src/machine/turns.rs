//! What follows when a processor's access is done: it continues, synchronises with others, switches processes, or ends.

use super::{Machine, coherence::Completion, mshrs::Stall, outcome::MachineError, sync::Effect};

impl Machine {
    /// A processor's access is done, and it continues.
    pub(super) fn complete(&mut self, completion: Completion) -> Result<(), MachineError> {
        let node = completion.node;
        if self.processors.advance(completion, &mut self.context)? {
            return self.finish(node);
        }
        if self.processors.due(node) { self.change(node) } else { Ok(()) }
    }

    /// A processor's process has ended: the next one follows.
    pub(super) fn finish(&mut self, node: usize) -> Result<(), MachineError> {
        if self.misses(node) {
            self.processors.stall(node, Stall::Ends);
            return Ok(());
        }
        let process = self.processors.process(node);
        let effect = self.syncs[process].leave();
        self.wake(process, effect)?;
        if self.processors.idle(node) { self.change(node) } else { Ok(()) }
    }

    /// A processor switches to its next process that can run.
    pub(super) fn change(&mut self, node: usize) -> Result<(), MachineError> {
        let Some(change) = self.processors.change(node, &mut self.context) else { return Ok(()) };
        self.transfers.scheme.switch(self.config.unit(node), change.process, change.at);
        if change.fresh && self.processors.refill(node, &mut self.context)? {
            return self.finish(node);
        }
        Ok(())
    }

    /// A processor's synchronisation takes effect.
    pub(super) fn synchronise(&mut self, node: usize) -> Result<(), MachineError> {
        let (access, now) = (self.processors.access(node), self.context.schedule.now());
        let process = self.processors.process(node);
        let effect = self.syncs[process].apply(node, &access);
        if effect.passes {
            self.wake(process, effect)?;
            return self.complete(Completion { node, at: now });
        }
        self.processors.block(node, now);
        self.wake(process, effect)?;
        if self.processors.idle(node) { self.change(node) } else { Ok(()) }
    }

    fn wake(&mut self, process: usize, effect: Effect) -> Result<(), MachineError> {
        let now = self.context.schedule.now();
        self.context.counters.barriers += u64::from(effect.barrier);
        for node in effect.woken {
            let at = now + self.config.machine.sync;
            if self.processors.wake(node, process, at, &mut self.context) {
                self.complete(Completion { node, at })?;
            } else if self.processors.idle(node) {
                self.change(node)?;
            }
        }
        Ok(())
    }
}
