//! Bus events as JSON Lines: commands, transfers with their bytes as they are on the wires, uses of lines, and
//! detections.

use std::{
    fmt,
    io::{self, Write},
};

use serde_json::{Value, json};

use super::{outcome::Detection, request::Request};
use crate::{
    attack::Fate,
    engine::Cycle,
    hex::hex,
    message::{Command, Message},
};

/// A writer of bus events.
pub(super) struct Dump {
    out: Box<dyn Write + Send>,
    failed: Option<io::Error>,
}

impl fmt::Debug for Dump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dump").field("failed", &self.failed).finish_non_exhaustive()
    }
}

impl Dump {
    pub(super) fn new(out: Box<dyn Write + Send>) -> Dump {
        Dump { out, failed: None }
    }

    fn line(&mut self, event: &Value) {
        if self.failed.is_none() {
            self.failed = writeln!(self.out, "{event}").err();
        }
    }

    /// A command is ordered; a write-back may carry its line.
    pub(super) fn command(&mut self, cycle: Cycle, request: Request, carried: Option<&[u8]>) {
        let command = match request.command {
            Command::GetS => "read",
            Command::GetX => "write",
            Command::PutX => "write-back",
        };
        let Request { order, node, line, blocked, .. } = request;
        self.line(&json!({
            "cycle": cycle, "event": "command", "number": order, "node": node, "command": command, "line": line,
            "kept_from": blocked, "text": carried.map(hex),
        }));
    }

    /// A line crosses the bus, as an attacker leaves it; or stays within a chip.
    pub(super) fn transfer(&mut self, message: &Message, fate: Fate, within: bool) {
        let fate = match fate {
            Fate::Pass => "passes",
            Fate::Drop => "dropped",
            Fate::Hold => "held back",
        };
        let Message { number, sender, node, line, process, counter, sent, .. } = message;
        // Lines of memory have no number among transfers
        let event = if sender.is_some() { "transfer" } else { "fill" };
        self.line(&json!({
            "cycle": sent, "event": event, "number": number, "from": sender, "to": node, "line": line,
            "process": process, "counter": counter, "text": hex(message.text()), "tag": message.tag.map(|tag| hex(&tag)),
            "fate": fate, "within": within,
        }));
    }

    /// A line is used by the node that asked for it.
    pub(super) fn used(&mut self, cycle: Cycle, message: &Message) {
        let Message { node, line, .. } = message;
        self.line(&json!({ "cycle": cycle, "event": "use", "node": node, "line": line }));
    }

    /// Tampering is detected.
    pub(super) fn detected(&mut self, detection: &Detection) {
        let Detection { detector, node, cycle, .. } = detection;
        self.line(&json!({ "cycle": cycle, "event": "detection", "node": node, "by": detector.to_string() }));
    }

    /// The end of the file.
    pub(super) fn finish(mut self) -> io::Result<()> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }
}
