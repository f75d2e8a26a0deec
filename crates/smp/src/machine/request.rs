//! What nodes ask of the bus.

use crate::message::{BusCommand, Command, CommandTag};

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
    /// Its tag, once it is ordered.
    pub(super) tag: Option<CommandTag>,
    /// The node that an attacker keeps it from.
    pub(super) blocked: Option<usize>,
    /// Whether no node sent it.
    pub(super) forged: bool,
    /// A request to read of a line that no other node has, where the protocol has exclusive lines.
    pub(super) alone: bool,
    /// A write-back of a line that its node has not written: it carries no line.
    pub(super) clean: bool,
    /// Nodes that have yet to see it, where they see it at different times.
    pub(super) unseen: usize,
}

impl Request {
    /// A request that is not ordered yet.
    pub(super) fn new(node: usize, command: Command, line: u64, number: u64) -> Request {
        let (order, tag, blocked, forged, alone, clean, unseen) = (0, None, None, false, false, false, 0);
        Request { node, command, line, number, order, tag, blocked, forged, alone, clean, unseen }
    }

    /// The command as the address bus carries it.
    pub(super) fn on_bus(&self) -> BusCommand {
        let Request { order, node, command, line, tag, .. } = *self;
        BusCommand { number: order, node, command, line, tag }
    }
}
