//! What a scheme is: the security units of all nodes, and the machine that they are built for.

use std::fmt;

use serde::Serialize;

use super::nonce::NonceAudit;
use crate::{
    engine::{Cycle, Engine, Engines, Waits},
    message::{BusCommand, CommandTag, Detector, Message},
};

/// The security units of all nodes (or chips) of one scheme, seen from outside.
pub trait Scheme: fmt::Debug + Send {
    /// Whether the scheme protects this transfer. Most leave memory's transfers alone.
    fn protects(&self, message: &Message) -> bool {
        message.from.is_some()
    }

    /// The owner has the line at `now` and takes what protects it: a pad, a mask, a counter. When the line may enter the
    /// bus.
    fn send(&mut self, now: Cycle, message: &mut Message) -> Cycle;

    /// The line has its turn on the data bus: decides what authenticates it. The bytes that this adds to the line.
    fn authenticate(&mut self, _message: &mut Message) -> u64 {
        0
    }

    /// The line crosses the data bus, in the bus's order, and arrives at `arrives`: takes the engine that authenticates it
    /// and, where lines are really encrypted, encrypts it. The cycle at which [`verify`](Self::verify) is due, where lines are
    /// verified together.
    fn transmit(&mut self, _arrives: Cycle, _message: &mut Message) -> Option<Cycle> {
        None
    }

    /// What `unit` makes of a line on the bus, in the bus's order; the receiver decrypts it in place. Called only where
    /// lines are really encrypted.
    ///
    /// # Errors
    /// What detected that this is not the line that was sent.
    fn observe(&mut self, _unit: usize, _message: &mut Message) -> Result<(), Detector> {
        Ok(())
    }

    /// Verifies what was authenticated together and is complete at `now`.
    ///
    /// # Errors
    /// The unit that detected that it is not what was sent, and how.
    fn verify(&mut self, _now: Cycle) -> Result<(), (usize, Detector)> {
        Ok(())
    }

    /// When a line that has crossed the bus at `now` may be used by its receiver.
    fn receive(&mut self, now: Cycle, message: &Message) -> Cycle;

    /// A processor of `unit` begins to run `process` at `now`.
    fn switch(&mut self, _unit: usize, _process: usize, _now: Cycle) {}

    /// What authenticates a command of the address bus, computed by the unit of the node that sends it; `None` where commands
    /// carry no tag. Called only where lines are really encrypted.
    fn seal(&self, _command: &BusCommand) -> Option<CommandTag> {
        None
    }

    /// `unit` sees a command of the address bus. Called only where lines are really encrypted.
    ///
    /// # Errors
    /// What detected that no unit sent it, or that an earlier command was kept from this one.
    fn command(&mut self, _unit: usize, _command: &BusCommand) -> Result<(), Detector> {
        Ok(())
    }

    /// Bits of storage in one unit.
    fn storage_bits(&self) -> u64;

    /// What was counted.
    fn counters(&self) -> SchemeCounters;
}

/// What a scheme counted in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SchemeCounters {
    /// Waits of senders for a pad or mask.
    pub send: Waits,
    /// Waits of receivers for a pad or mask.
    pub receive: Waits,
    /// Cycles that lines waited for authentication before use.
    pub authentication_cycles: u64,
    /// Cycles for which lines were used before their MAC was checked.
    pub unauthenticated_cycles: u64,
    /// Nonces used, and whether any was used twice; absent where the scheme has none or nothing is encrypted.
    pub nonces: Option<NonceAudit>,
    /// Bytes of the key exchange before the run; 0 where nothing is encrypted.
    pub exchange_bytes: u64,
}

impl SchemeCounters {
    /// What was counted since `before`. Nonces and the key exchange are those of the whole run.
    pub(crate) fn since(self, before: &SchemeCounters) -> SchemeCounters {
        SchemeCounters {
            send: self.send.since(&before.send),
            receive: self.receive.since(&before.receive),
            authentication_cycles: self.authentication_cycles - before.authentication_cycles,
            unauthenticated_cycles: self.unauthenticated_cycles - before.unauthenticated_cycles,
            ..self
        }
    }
}

/// The machine that a scheme is built for.
#[derive(Clone, Debug)]
pub(crate) struct Platform {
    /// Security units: one a chip.
    pub(crate) units: usize,
    /// Bytes of a line.
    pub(crate) line: usize,
    /// The number of the first process.
    pub(crate) process: u8,
    /// Processes that share the machine.
    pub(crate) processes: usize,
    /// Bytes that the bus carries a cycle.
    pub(crate) width: u64,
    pub(crate) seed: u64,
    /// Whether lines are really encrypted, beside their timing.
    pub(crate) functional: bool,
    pub(crate) engines: Engines,
}

impl Platform {
    /// Blocks of a line.
    pub(super) fn blocks(&self) -> u64 {
        self.line as u64 / 16
    }

    /// An AES engine for pads or masks in each unit, where the scheme's publication says `published` cycles a line.
    pub(super) fn aes(&self, published: u64) -> Vec<Engine> {
        vec![self.engines.aes(published, self.blocks()); self.units]
    }

    /// An AES engine for MACs in each unit.
    pub(super) fn macs(&self, published: u64) -> Vec<Engine> {
        vec![self.engines.mac(published, self.blocks()); self.units]
    }

    /// A GHASH engine in each unit.
    pub(super) fn ghash(&self) -> Vec<Engine> {
        vec![self.engines.ghash(self.blocks()); self.units]
    }
}
