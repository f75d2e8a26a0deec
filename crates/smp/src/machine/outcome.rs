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
    /// Deadlock: these nodes wait for something that will never come.
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
    /// Number of transfers on the bus up to the line whose check fails. It is checked when it has arrived, and others
    /// may have entered the bus by then.
    pub transfer: u64,
    /// Number of commands on the bus at the same time.
    pub command: u64,
}

/// The outcome of one attacker's strike. Numbers count what the attack tampers with ([`Attack::target`]): transfers,
/// commands, or answers of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StrikeReport {
    /// The attack.
    pub attack: Attack,
    /// The number from which on the attacker was to strike.
    pub at: u64,
    /// The number that was struck; `None` if there was no opportunity before the run ended.
    pub struck: Option<u64>,
    /// The cycle in which it struck.
    pub cycle: Option<Cycle>,
    /// What raised the first alarm after the strike. A unit only notices that something was tampered with, not what:
    /// the alarm that ends a run counts for every strike before it.
    pub detector: Option<Detector>,
    /// The number from the strike until that alarm.
    pub later: Option<u64>,
    /// Number of loads that returned a wrong value from the strike until the alarm or the end of the run, whichever
    /// strike caused it; `None` unless values were checked.
    pub wrong_reads: Option<u64>,
}

/// Why a run could not continue: an error of the simulator or of a trace, not of the simulated machine.
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
    /// The program wrote to more pages than a run may use: the maximum.
    #[error("the program wrote to more places than are kept, {0} pages of {PAGE} bytes")]
    Pages(usize),
}
