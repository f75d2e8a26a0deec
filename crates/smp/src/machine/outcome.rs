//! How a run ends.

use serde::Serialize;

use super::checker::InvariantError;
use crate::{
    access::SourceError, attack::Attack, engine::Cycle, memory::PAGE, message::Detector, mosi::TransitionError,
};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Every processor has finished.
    Completed,
    /// Tampering was detected.
    Detected(Detection),
    /// These nodes wait for something that will never come.
    Deadlock(Vec<usize>),
}

/// Tampering that was detected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Detection {
    /// What detected it.
    pub detector: Detector,
    /// The node that detected it.
    pub node: usize,
    /// The cycle.
    pub cycle: Cycle,
    /// Transfers on the bus until then.
    pub transfer: u64,
    /// Commands on the bus until then.
    pub command: u64,
}

/// What came of one attacker's strike. What is counted before it and after it is what the attack strikes ([`Attack::target`]):
/// transfers, commands, or answers of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StrikeReport {
    /// The attack.
    pub attack: Attack,
    /// The number from which on it was to strike.
    pub at: u64,
    /// The number that it struck; `None` if it never came, because there was no chance or because the run had ended.
    pub struck: Option<u64>,
    /// The cycle in which it struck.
    pub cycle: Option<Cycle>,
    /// What raised the first alarm after it. A unit does not know what was tampered with, only that something was: the alarm that
    /// ends a run counts for every strike before it.
    pub detector: Option<Detector>,
    /// How many more passed until that alarm.
    pub later: Option<u64>,
    /// Loads that gave a wrong value after it, until the alarm or the end, whichever strike did it; `None` unless values were
    /// checked.
    pub wrong_reads: Option<u64>,
}

/// Why a run could not go on: a fault of the simulator or of a trace, not of the simulated machine.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// The protocol's table has no such transition.
    #[error(transparent)]
    Transition(#[from] TransitionError),
    /// An invariant does not hold.
    #[error(transparent)]
    Invariant(#[from] InvariantError),
    /// A source of accesses failed.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// What was written takes more memory than a run may; how many pages.
    #[error("the program wrote to more places than are kept, {0} pages of {PAGE} bytes")]
    Pages(usize),
}
