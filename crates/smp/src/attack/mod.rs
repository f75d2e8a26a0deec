//! Attackers. An attacker on the bus changes, drops, delays, replays or forges a line, suppresses a command for one
//! node, or forges a command. An attacker in memory changes a line, restores an earlier content, or moves another line
//! there.

mod attacker;
mod attackers;

use std::fmt;

pub use attacker::Attacker;
pub(crate) use attacker::{Fate, Forged, Moment};
pub(crate) use attackers::Attackers;
use serde::{Deserialize, Serialize};

use crate::engine::Cycle;

/// An attack on the bus or on memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attack {
    /// Changes one bit in every eight bytes of a line.
    Flip,
    /// Replaces a line by the attacker's own bytes.
    Spoof,
    /// Replaces a line by an earlier one of the same pair of nodes.
    Replay,
    /// Delays a line until the next one of the same pair has passed.
    ReorderPair,
    /// Delays a line until the next one of another pair has passed.
    ReorderOther,
    /// Drops a line.
    Drop,
    /// Suppresses a write request for one node that holds a copy.
    DropInvalidation,
    /// Puts a write request on the bus that no node sent: the line's owner gives it up, and no node takes it. Only on a
    /// bus.
    ForgeCommand,
    /// Changes one bit in every eight bytes of a line in memory before it is read.
    MemoryFlip,
    /// Replaces a line in memory by the content of another line.
    MemorySplice,
    /// Restores the content that a line in memory had before it was last written.
    MemoryReplay,
}

impl Attack {
    /// Every attack on the bus.
    pub const ALL: [Attack; 8] = [
        Attack::Flip,
        Attack::Spoof,
        Attack::Replay,
        Attack::ReorderPair,
        Attack::ReorderOther,
        Attack::Drop,
        Attack::DropInvalidation,
        Attack::ForgeCommand,
    ];

    /// Every attack on memory.
    pub const ON_MEMORY: [Attack; 3] = [Attack::MemoryFlip, Attack::MemorySplice, Attack::MemoryReplay];

    /// Every attack, those on the bus first.
    pub fn every() -> impl Iterator<Item = Attack> {
        Attack::ALL.into_iter().chain(Attack::ON_MEMORY)
    }

    /// The attack of this name.
    pub fn by_name(name: &str) -> Option<Attack> {
        Attack::every().find(|attack| attack.name() == name)
    }

    /// What it tampers with.
    pub fn target(self) -> Target {
        match self {
            Attack::DropInvalidation | Attack::ForgeCommand => Target::Command,
            Attack::MemoryFlip | Attack::MemorySplice | Attack::MemoryReplay => Target::Answer,
            _ => Target::Transfer,
        }
    }

    /// Its name on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Attack::Flip => "flip",
            Attack::Spoof => "spoof",
            Attack::Replay => "replay",
            Attack::ReorderPair => "reorder-pair",
            Attack::ReorderOther => "reorder-other",
            Attack::Drop => "drop",
            Attack::DropInvalidation => "drop-invalidation",
            Attack::ForgeCommand => "forge-command",
            Attack::MemoryFlip => "memory-flip",
            Attack::MemorySplice => "memory-splice",
            Attack::MemoryReplay => "memory-replay",
        }
    }
}

impl fmt::Display for Attack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What an attack tampers with. Strikes are numbered in these units, and so is the distance from a strike to its
/// detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A line from one cache to another.
    Transfer,
    /// A command on the address bus.
    Command,
    /// A line that memory sends in answer to a read request.
    Answer,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Target::Transfer => "transfer",
            Target::Command => "command",
            Target::Answer => "answer",
        })
    }
}

/// A line as it is visible on the bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedLine {
    /// The node that sent it; `None` is memory.
    pub from: Option<usize>,
    /// The node that requested it.
    pub to: usize,
    /// Number of the line.
    pub line: u64,
    /// When its sender answered the request.
    pub ready: Cycle,
    /// When it began to cross the bus.
    pub sent: Cycle,
    /// Its bytes on the bus: encrypted if the scheme protects it.
    pub text: Vec<u8>,
}
