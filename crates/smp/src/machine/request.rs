//! What nodes ask of the bus.

use crate::engine::Cycle;

/// A command on the address bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Read a line.
    GetS,
    /// Read a line in order to write it.
    GetX,
    /// Write a line back.
    PutX,
}

/// A request that waits for the bus or has been ordered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) node: usize,
    pub(super) command: Command,
    pub(super) line: u64,
    /// Its number among the node's own requests; 0 for a write-back.
    pub(super) number: u64,
    /// Its number among all commands, once it is ordered.
    pub(super) order: u64,
    /// The node that an attacker keeps it from.
    pub(super) blocked: Option<usize>,
    /// A request to read of a line that no other node has, where the protocol has exclusive lines.
    pub(super) alone: bool,
    /// Nodes that have yet to see it, where they see it at different times.
    pub(super) unseen: usize,
    /// When it asked for the bus.
    pub(super) at: Cycle,
}
