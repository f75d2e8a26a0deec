//! What a processor does, one step a record, and where the records come from.

use std::fmt;

/// A step of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Address, or the object of a synchronisation.
    pub address: u64,
    /// What a store writes: its low bytes, repeated beyond eight. Of a barrier, how many it is for; 0 is everybody.
    pub value: u64,
    /// Instructions since the step before.
    pub gap: u32,
    /// What it is.
    pub kind: Kind,
    /// Bytes, within one line.
    pub size: u8,
}

/// What a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Reads data.
    Load,
    /// Writes data.
    Store,
    /// Reads instructions.
    Fetch,
    /// Waits until everybody has arrived.
    Barrier,
    /// Takes a lock.
    Lock,
    /// Gives it back.
    Unlock,
    /// Raises a semaphore.
    Post,
    /// Lowers it, once it is above zero.
    Wait,
}

impl Kind {
    /// Whether it is between processors.
    pub fn synchronises(self) -> bool {
        !matches!(self, Kind::Load | Kind::Store | Kind::Fetch)
    }
}

/// Why a source has no next step.
#[derive(Debug)]
pub struct SourceError(pub String);

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for SourceError {}

/// Where one processor's steps come from: a kernel that runs along, or a trace.
pub trait Source {
    /// Replaces `steps` with the next ones; leaves it empty at the end. Called only once all steps before are done, so a
    /// kernel may look at what others wrote before a synchronisation.
    ///
    /// # Errors
    /// When a trace cannot be read.
    fn fill(&mut self, steps: &mut Vec<Access>) -> Result<(), SourceError>;
}

/// Steps that are there already.
#[derive(Clone, Debug, Default)]
pub struct Steps(pub Vec<Access>);

impl Source for Steps {
    fn fill(&mut self, steps: &mut Vec<Access>) -> Result<(), SourceError> {
        steps.clear();
        std::mem::swap(steps, &mut self.0);
        Ok(())
    }
}
