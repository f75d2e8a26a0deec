//! What crosses the bus: lines and commands.

use crate::engine::Cycle;

/// The longest line, in bytes.
pub const LONGEST_LINE: usize = 128;

/// The longest tag, in bytes.
pub const LONGEST_TAG: usize = 16;

/// The requests of nodes on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Read a line.
    GetS,
    /// Read a line in order to write it.
    GetX,
    /// Write a line back.
    PutX,
}

/// The tag of a command.
pub type CommandTag = [u8; LONGEST_TAG];

/// A command as the address bus carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusCommand {
    /// Its number among all commands, from 1.
    pub number: u64,
    /// The node that it claims to be from.
    pub node: usize,
    /// The request.
    pub command: Command,
    /// Number of the line.
    pub line: u64,
    /// Its tag, if the scheme authenticates commands.
    pub tag: Option<CommandTag>,
}

/// A line in transit from an owner, or from memory, to a requester.
#[derive(Clone, Debug)]
pub struct Message {
    /// Number among the transfers of the run, from 1, in the order of the bus; 0 before it has entered the bus.
    pub number: u64,
    /// Security unit of the sender; `None` is memory.
    pub from: Option<usize>,
    /// Security unit of the receiver.
    pub to: usize,
    /// The node that requested it.
    pub node: usize,
    /// Node that answers; `None` is memory.
    pub sender: Option<usize>,
    /// Number of the line.
    pub line: u64,
    /// The process to which the line belongs.
    pub process: u8,
    /// The request that it answers, numbered by the requester.
    pub request: u64,
    /// The time when its data was ready at the sender.
    pub ready: Cycle,
    /// Its bytes: plain before encryption and after decryption.
    pub text: [u8; LONGEST_LINE],
    /// Size of the line in bytes.
    pub len: usize,
    /// Tag or MAC that travels with it.
    pub tag: Option<[u8; LONGEST_TAG]>,
    /// The number that its sender assigned: a counter, or the epoch in which it is authenticated.
    pub counter: u64,
    /// Whether it carries a tag or MAC.
    pub authenticated: bool,
    /// The time when it enters the bus.
    pub sent: Cycle,
    /// The time when its sender has its tag or MAC.
    pub tag_ready: Cycle,
    /// The time when it may be used, if the scheme knows that when it is sent.
    pub usable: Cycle,
    /// The time when its receiver has checked its tag or MAC, if that is later than its use.
    pub checked: Cycle,
    /// The number of the alarm that its receiver raises, if that check fails.
    pub alarm: Option<usize>,
    /// Whether it is a retransmission after a timeout.
    pub resent: bool,
}

#[cfg(test)]
impl Message {
    /// A line of zeros from a node, or from memory, to a node.
    pub(crate) fn empty(from: Option<usize>, to: usize) -> Message {
        Message {
            number: 0,
            from,
            to,
            node: to,
            sender: from,
            line: 0,
            process: 0,
            request: 0,
            ready: 0,
            text: [0; LONGEST_LINE],
            len: 64,
            tag: None,
            counter: 0,
            authenticated: false,
            sent: 0,
            tag_ready: 0,
            usable: 0,
            checked: 0,
            alarm: None,
            resent: false,
        }
    }
}

impl Message {
    /// When its tag or MAC, which follows it over the bus, has arrived; the line itself has at `now`.
    pub(crate) fn tag_arrives(&self, now: Cycle) -> Cycle {
        self.tag_ready + (now - self.sent.min(now))
    }

    /// The bytes of the line.
    pub fn text(&self) -> &[u8] {
        &self.text[..self.len]
    }

    /// The bytes of the line.
    pub fn text_mut(&mut self) -> &mut [u8] {
        &mut self.text[..self.len]
    }
}

/// What detected tampering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Detector {
    /// A line's own tag does not verify.
    Tag,
    /// A MAC over several lines, or over counters in memory, does not verify.
    Mac,
    /// A counter was used before.
    Counter,
    /// A command is missing, or its tag does not verify.
    Command,
    /// No answer arrived in time.
    Timeout,
}

impl std::fmt::Display for Detector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Detector::Tag => "tag",
            Detector::Mac => "MAC",
            Detector::Counter => "counter",
            Detector::Command => "command",
            Detector::Timeout => "timeout",
        })
    }
}
