//! How a run ends.

use serde::Serialize;

use super::checker::InvariantError;
use crate::{access::SourceError, engine::Cycle, message::Detector, mosi::TransitionError};

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
}
