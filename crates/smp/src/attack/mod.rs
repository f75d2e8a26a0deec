//! An attacker on the bus: changes, drops, delays, replays or forges a line, keeps a command from a node, or forges one. And one
//! in memory: changes what lies there, or puts there what lay there before, or elsewhere.

mod attacker;
mod attackers;

use std::fmt;

pub use attacker::Attacker;
pub(crate) use attacker::{Fate, Forged, Moment};
pub(crate) use attackers::Attackers;
use serde::{Deserialize, Serialize};

use crate::engine::Cycle;

/// What is done to the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attack {
    /// Changes one bit in every eight bytes of a line.
    Flip,
    /// Sends bytes of one's own in place of a line.
    Spoof,
    /// Sends an earlier line of the same pair again in place of a new one.
    Replay,
    /// Lets a line pass only after the pair's next one.
    ReorderPair,
    /// Lets a line pass only after the next one of another pair.
    ReorderOther,
    /// Keeps a line from its receiver.
    Drop,
    /// Keeps a request to write from one node that holds a copy.
    DropInvalidation,
    /// Puts a request to write on the bus that no node sent: the line's owner gives it up, and nobody takes it. On a bus alone.
    ForgeCommand,
    /// Changes one bit in every eight bytes of a line in memory before it is read.
    MemoryFlip,
    /// Puts what lies in memory for another line in its place.
    MemorySplice,
    /// Puts back what lay in memory for the line before it was written anew.
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

    /// What it strikes.
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

/// What an attack strikes. Strikes are numbered by it, and what comes between a strike and its detection is counted in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A line from one cache to another.
    Transfer,
    /// A command on the address bus.
    Command,
    /// A line that memory is asked for to read.
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

/// A line as everybody on the bus sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedLine {
    /// The node that sent it; `None` is memory.
    pub from: Option<usize>,
    /// The node that asked for it.
    pub to: usize,
    /// Number of the line.
    pub line: u64,
    /// When its sender answered the request.
    pub ready: Cycle,
    /// When it began to cross the bus.
    pub sent: Cycle,
    /// Its bytes on the bus: encrypted, where the scheme protects it.
    pub text: Vec<u8>,
}
