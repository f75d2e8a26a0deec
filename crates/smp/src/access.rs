//! The accesses and synchronisations of processors, and their sources.

/// An access or a synchronisation of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Address, or the object of a synchronisation.
    pub address: u64,
    /// The value of a store: its low bytes are written, repeated if there are more than eight. For a barrier, the
    /// number of processors that it waits for; 0 means all that are still running.
    pub value: u64,
    /// Number of preceding instructions that access no memory.
    pub gap: u32,
    /// Its kind.
    pub kind: Operation,
    /// Size in bytes; an access lies within one line.
    pub size: u8,
}

/// The kind of an access or synchronisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Reads data.
    Load,
    /// Writes data.
    Store,
    /// Reads instructions.
    Fetch,
    /// Waits until all processors of the barrier have arrived.
    Barrier,
    /// Takes a lock.
    Lock,
    /// Releases a lock.
    Unlock,
    /// Increments a semaphore.
    Post,
    /// Decrements a semaphore, after waiting until it is above zero.
    Wait,
    /// The region of interest begins here.
    RegionBegin,
    /// The region of interest ends here.
    RegionEnd,
}

impl Access {
    /// Number of instructions that it represents, including those of its gap. Only loads and stores count as
    /// instructions of their own: those of a synchronisation call are in gaps, and a fetch belongs to the instruction
    /// that it reads.
    pub(crate) fn instructions(&self) -> u64 {
        u64::from(self.gap) + u64::from(matches!(self.kind, Operation::Load | Operation::Store))
    }
}

impl Operation {
    /// Whether it accesses memory.
    pub fn refers(self) -> bool {
        matches!(self, Operation::Load | Operation::Store | Operation::Fetch)
    }

    /// Whether it synchronises processors.
    pub fn synchronises(self) -> bool {
        !self.refers() && !matches!(self, Operation::RegionBegin | Operation::RegionEnd)
    }
}

/// A separately recorded part of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Window {
    /// Its number.
    pub window: u64,
    /// Number of loads, stores and fetches; those that cross a line count twice.
    pub references: u64,
    /// Number of instructions.
    pub instructions: u64,
}

/// Why a source cannot provide more accesses: the file, the position, and what is wrong.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SourceError(pub String);

/// A source of one processor's accesses: a kernel that runs alongside, or a trace.
pub trait Source {
    /// Replaces `steps` with the next accesses; leaves it empty at the end. Called only when all accesses before the
    /// last synchronisation are done, so a kernel may read what others wrote before it.
    ///
    /// # Errors
    /// When a trace cannot be read.
    fn fill(&mut self, steps: &mut Vec<Access>) -> Result<(), SourceError>;

    /// The windows read so far, in ascending order, if the trace is divided into windows.
    fn windows(&self) -> Vec<Window> {
        Vec::new()
    }

    /// Number of synchronisation calls that were skipped so far because they cannot be simulated.
    fn unplayed(&self) -> u64 {
        0
    }
}

/// Accesses from a list.
#[derive(Clone, Debug, Default)]
pub struct Steps(pub Vec<Access>);

impl Source for Steps {
    fn fill(&mut self, steps: &mut Vec<Access>) -> Result<(), SourceError> {
        steps.clear();
        std::mem::swap(steps, &mut self.0);
        Ok(())
    }
}
