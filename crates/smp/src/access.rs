//! What a processor does, one access or synchronisation at a time, and where that comes from.

/// An access or a synchronisation of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Address, or the object of a synchronisation.
    pub address: u64,
    /// What a store writes: its low bytes, repeated beyond eight. For a barrier, how many processors it waits for; 0 is
    /// all that still run.
    pub value: u64,
    /// Instructions since the one before that refer to nothing.
    pub gap: u32,
    /// What it is.
    pub kind: Operation,
    /// Bytes, within one line.
    pub size: u8,
}

/// What an access or synchronisation is.
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
    /// Gives it back.
    Unlock,
    /// Raises a semaphore.
    Post,
    /// Lowers it, once it is above zero.
    Wait,
    /// The region of interest begins here.
    RegionBegin,
    /// The region of interest ends here.
    RegionEnd,
}

impl Access {
    /// Instructions that it stands for, with those of its gap. Only loads and stores are instructions of their own: those of a call that
    /// synchronises are in gaps, and a fetch belongs to the instruction that it reads.
    pub(crate) fn instructions(&self) -> u64 {
        u64::from(self.gap) + u64::from(matches!(self.kind, Operation::Load | Operation::Store))
    }
}

impl Operation {
    /// Whether it refers to memory.
    pub fn refers(self) -> bool {
        matches!(self, Operation::Load | Operation::Store | Operation::Fetch)
    }

    /// Whether processors synchronise by it.
    pub fn synchronises(self) -> bool {
        !self.refers() && !matches!(self, Operation::RegionBegin | Operation::RegionEnd)
    }
}

/// A part of a program that was recorded by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Window {
    /// Its number.
    pub window: u64,
    /// Loads, stores and fetches; those that cross a line count twice.
    pub references: u64,
    /// Instructions.
    pub instructions: u64,
}

/// Why a source cannot say what comes next: the file, the place, and what is wrong.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SourceError(pub String);

/// Where one processor's accesses come from: a kernel that runs along, or a trace.
pub trait Source {
    /// Replaces `steps` with the next accesses; leaves it empty at the end. Called only once all accesses before the
    /// last synchronisation are done, so a kernel may look at what others wrote before that.
    ///
    /// # Errors
    /// When a trace cannot be read.
    fn fill(&mut self, steps: &mut Vec<Access>) -> Result<(), SourceError>;

    /// The windows that were read so far, in the order of their numbers, where a trace is divided into some.
    fn windows(&self) -> Vec<Window> {
        Vec::new()
    }

    /// Calls that synchronise threads and were passed over so far, since they cannot be played.
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
