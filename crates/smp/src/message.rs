//! A line on its way over the bus.

use crate::engine::Cycle;

/// The longest line, in bytes.
pub const LONGEST_LINE: usize = 128;

/// The longest tag, in bytes.
pub const LONGEST_TAG: usize = 16;

/// A line on its way from an owner, or from memory, to a requestor.
#[derive(Clone, Debug)]
pub struct Message {
    /// Number among the transfers of the run, from 1, in order of the bus; 0 before the bus.
    pub number: u64,
    /// Sealing unit of the sender; `None` is memory.
    pub from: Option<usize>,
    /// Sealing unit of the receiver.
    pub to: usize,
    /// Node that asked.
    pub node: usize,
    /// Node that answers; `None` is memory.
    pub sender: Option<usize>,
    /// Number of the line.
    pub line: u64,
    /// Process whose line it is.
    pub process: u8,
    /// The request that it answers, by the requestor's count.
    pub request: u64,
    /// When its data was ready at the sender.
    pub ready: Cycle,
    /// Its bytes: plain before sealing and after opening.
    pub text: [u8; LONGEST_LINE],
    /// How many of them count.
    pub len: usize,
    /// Tag or MAC that travels with it.
    pub tag: Option<[u8; LONGEST_TAG]>,
    /// A counter that travels with it, where a scheme sends one.
    pub counter: u64,
    /// Whether it was sent again after a timeout.
    pub again: bool,
}

impl Message {
    /// The bytes that count.
    pub fn text(&self) -> &[u8] {
        &self.text[..self.len]
    }

    /// The bytes that count.
    pub fn text_mut(&mut self) -> &mut [u8] {
        &mut self.text[..self.len]
    }
}

/// How tampering came to light.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// The line's own tag did not hold.
    Tag,
    /// A MAC over several lines did not hold.
    Mac,
    /// A counter that was there before.
    Replayed,
    /// A command is missing or not genuine.
    Command,
    /// No answer came in time.
    Timeout,
}

impl std::fmt::Display for How {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            How::Tag => "tag",
            How::Mac => "MAC",
            How::Replayed => "counter",
            How::Command => "command",
            How::Timeout => "timeout",
        })
    }
}
