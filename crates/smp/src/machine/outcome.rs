//! How a run ends, and what was found out on the way.

use serde::Serialize;

use super::check::Broken;
use crate::{access::SourceError, engine::Cycle, message::How, mosi::Hole};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Every processor is done.
    Done,
    /// Tampering was seen.
    Alarm(Seen),
    /// These nodes wait for what will never come.
    Stuck(Vec<usize>),
}

/// Tampering that was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// By what.
    pub how: How,
    /// By whom.
    pub node: usize,
    /// When.
    pub cycle: Cycle,
    /// Transfers on the bus by then.
    pub transfer: u64,
    /// Commands on the bus by then.
    pub command: u64,
}

/// Why a run could not go on: a fault of this program or of a trace, not of the simulated machine.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The protocol's table has no such cell.
    #[error("{0}")]
    Hole(Hole),
    /// An invariant does not hold.
    #[error("{0}")]
    Broken(Broken),
    /// A source of steps failed.
    #[error("{0}")]
    Source(#[from] SourceError),
}
