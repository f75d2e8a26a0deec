//! Requests of the nodes, and the commands that they become.

use crate::message::{BusCommand, Command, CommandTag};

/// A request that waits for the bus or has been ordered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) node: usize,
    pub(super) command: Command,
    pub(super) line: u64,
    /// Its number among the node's own requests; 0 for a write-back or a forged command.
    pub(super) number: u64,
    /// Its number among all commands, once it is ordered.
    pub(super) order: u64,
    /// Its tag, once it is ordered.
    pub(super) tag: Option<CommandTag>,
    /// The node that an attacker hides it from.
    pub(super) blocked: Option<usize>,
    /// Whether an attacker forged it.
    pub(super) forged: bool,
    /// Whether it reads a line of which no other node has a copy, where the protocol has an exclusive state.
    pub(super) alone: bool,
    /// Whether it is a write-back of an unmodified line, which carries no data.
    pub(super) clean: bool,
    /// With snoop skew: how many nodes, and memory, have yet to see it.
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
