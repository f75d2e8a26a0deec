//! Several processes: the threads that wait for a processor.

use std::{collections::VecDeque, fmt};

use crate::{
    access::{Access, Operation, Source},
    config::PROCESS_BIT,
    engine::Cycle,
};

/// Which process a processor runs, and its threads of others.
#[derive(Debug, Default)]
pub(super) struct Threads {
    pub(super) process: usize,
    /// In the order in which they will run.
    pub(super) parked: VecDeque<Parked>,
    /// Whether the time slice is over: the processor switches when its current access is done.
    pub(super) due: bool,
    /// Whether the process waits for other processors.
    pub(super) blocked: bool,
    /// Since when the processor has nothing to execute, because all its processes wait for other processors.
    pub(super) idle: Option<Cycle>,
    /// Number of process switches so far, which tells whether an `Event::Switch` is out of date.
    pub(super) changes: u64,
}

/// A thread that does not run.
pub(super) struct Parked {
    pub(super) process: usize,
    pub(super) source: Box<dyn Source>,
    pub(super) accesses: Vec<Access>,
    pub(super) at: usize,
    /// From when on it can run; `None` while it waits for other processors.
    pub(super) ready: Option<Cycle>,
    /// Whether the instructions before its next access are still to be executed, because it was woken while parked.
    pub(super) woken: bool,
    pub(super) fresh: bool,
}

impl fmt::Debug for Parked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parked").field("process", &self.process).field("ready", &self.ready).finish_non_exhaustive()
    }
}

impl Parked {
    /// A thread that has not begun.
    pub(super) fn fresh(process: usize, source: Box<dyn Source>) -> Parked {
        Parked { process, source, accesses: Vec::new(), at: 0, ready: Some(0), woken: false, fresh: true }
    }
}

impl Threads {
    pub(super) fn park(&mut self, thread: Parked) {
        self.parked.push_back(thread);
    }

    /// Whether no other thread is left.
    pub(super) fn all_ended(&self) -> bool {
        self.parked.is_empty()
    }

    /// Puts accesses into the address space of the process.
    pub(super) fn own_space(&self, accesses: &mut [Access]) {
        let space = (self.process as u64) << PROCESS_BIT;
        for access in accesses
            .iter_mut()
            .filter(|access| matches!(access.kind, Operation::Load | Operation::Store | Operation::Fetch))
        {
            access.address = access.address & ((1 << PROCESS_BIT) - 1) | space;
        }
    }
}
