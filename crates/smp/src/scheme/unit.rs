//! The interface of a scheme (the security units of all nodes), and the machine that it is built for.

use std::fmt;

use serde::Serialize;

use super::nonce::NonceAudit;
use crate::{
    config::Bus,
    engine::{Clock, Cycle, Engine, Engines, Waits},
    message::{BusCommand, CommandTag, Detector, Message},
};

/// AES latency of a line in cycles, of the thesis's unit. Schemes and memories whose papers give none have it, too.
pub const THESIS_LATENCY: Cycle = 320;

/// The security units of all nodes (or chips) of one scheme, seen from outside.
pub trait Scheme: fmt::Debug + Send {
    /// Whether the scheme protects this transfer. Most schemes do not protect transfers from memory.
    fn protects(&self, message: &Message) -> bool {
        message.from.is_some()
    }

    /// The sender has the line at `now` and takes a pad, mask or counter for it. Returns when the line may enter the
    /// bus.
    fn send(&mut self, now: Cycle, message: &mut Message) -> Cycle;

    /// The line has been granted the data bus: decides whether it carries a tag or MAC, and returns the bytes that this
    /// adds to the line.
    fn authenticate(&mut self, _message: &mut Message) -> u64 {
        0
    }

    /// The line crosses the data bus, in the bus's order, and arrives at `arrives`: occupies the engine that
    /// authenticates it and, where lines are really encrypted, encrypts it. Returns the cycle at which
    /// [`verify`](Self::verify) is due, where lines are verified together.
    fn transmit(&mut self, _arrives: Cycle, _message: &mut Message) -> Option<Cycle> {
        None
    }

    /// `unit` observes a line on the bus, in the bus's order, and updates its state; the receiver decrypts the line in
    /// place. Called only where lines are really encrypted.
    ///
    /// # Errors
    /// How tampering with the line was detected.
    fn observe(&mut self, _unit: usize, _message: &mut Message) -> Result<(), Detector> {
        Ok(())
    }

    /// Verifies groups of lines that were authenticated together and are complete at `now`.
    ///
    /// # Errors
    /// The stream on which tampering was detected, and how. On a bus, streams are numbered by unit; otherwise by link.
    fn verify(&mut self, _now: Cycle) -> Result<(), (usize, Detector)> {
        Ok(())
    }

    /// When a line that has crossed the bus at `now` may be used by its receiver. If it is used before its tag or MAC
    /// is checked, sets [`Message::checked`].
    fn receive(&mut self, now: Cycle, message: &mut Message) -> Cycle;

    /// A processor of `unit` begins to run `process` at `now`.
    fn switch(&mut self, _unit: usize, _process: usize, _now: Cycle) {}

    /// The tag of a command on the address bus, computed by the unit of the node that sends it; `None` where commands
    /// carry no tag. Called only where lines are really encrypted.
    fn seal(&self, _command: &BusCommand) -> Option<CommandTag> {
        None
    }

    /// `unit` sees a command of the address bus. Called only where lines are really encrypted.
    ///
    /// # Errors
    /// The command is forged, or an earlier one was hidden from this unit.
    fn command(&mut self, _unit: usize, _command: &BusCommand) -> Result<(), Detector> {
        Ok(())
    }

    /// The protection of the links of a ring or mesh, if the scheme protects each link and not messages from end to
    /// end.
    fn links(&mut self) -> Option<&mut dyn PerLink> {
        None
    }

    /// Why the scheme works only on a bus, if that is so.
    fn needs_bus(&self) -> Option<&'static str> {
        None
    }

    /// Bits of storage in one unit.
    fn storage_bits(&self) -> u64;

    /// What was counted.
    fn counters(&self) -> SchemeCounters;
}

/// Protection of each link of a ring or mesh: each direction of a link has a stream of its own, and every node on the
/// route decrypts a message and encrypts it again.
pub trait PerLink: fmt::Debug {
    /// A message, with or without a line, is at the sending end of `link` at `now`. Returns when it may enter the link,
    /// and the bytes that are added to it.
    fn enter(&mut self, link: usize, with_line: bool, now: Cycle) -> (Cycle, u64);

    /// Its last byte arrives at the receiving end at `arrives`.
    fn cross(&mut self, link: usize, with_line: bool, arrives: Cycle) -> Crossing;

    /// The sending end encrypts `text`, which belongs to line `number`. Returns the cycle at which [`Scheme::verify`]
    /// is due, if it is. Like [`open`](Self::open), does nothing where lines are not really encrypted.
    fn seal(&mut self, crossing: &Crossing, number: u64, text: &mut [u8]) -> Option<Cycle>;

    /// The receiving end decrypts `text`. If it was tampered with, [`Scheme::verify`] reports that in the cycle
    /// returned here.
    fn open(&mut self, crossing: &Crossing, number: u64, text: &mut [u8]) -> Option<Cycle>;
}

/// A message's crossing of one link.
#[derive(Clone, Copy, Debug)]
pub struct Crossing {
    /// The link.
    pub link: usize,
    /// The epoch of the link's stream to which it belongs.
    pub epoch: u64,
    /// When the MAC of that epoch has been checked.
    pub checked: Cycle,
    /// When the receiving end releases the message.
    pub released: Cycle,
    /// Whether it is held for the MAC, and so forwarded as a whole.
    pub contained: bool,
}

/// The cycles for which engines could not start a line, summed over units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Occupied {
    /// AES engines for pads, masks or keystream.
    pub aes: u64,
    /// AES engines for MACs.
    pub mac: u64,
    /// GHASH engines.
    pub ghash: u64,
}

/// The cycles that lines waited at the hub of IDE on a bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Hub {
    /// For keystream.
    pub keystream_cycles: u64,
    /// For the link to their receiver.
    pub link_cycles: u64,
}

/// What a scheme counted in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SchemeCounters {
    /// How often and how long senders waited for a pad or mask.
    pub send: Waits,
    /// How often and how long receivers waited for a pad or mask.
    pub receive: Waits,
    /// Cycles that lines waited for authentication before use; of IDE on a ring or mesh, all messages at each link.
    pub authentication_cycles: u64,
    /// Cycles for which lines were used before their MAC was checked; of IDE on a ring or mesh, all messages at each
    /// link.
    pub unauthenticated_cycles: u64,
    /// How long the engines of all units were occupied.
    pub occupied: Occupied,
    /// What lines waited for at the hub, with IDE on a bus.
    pub hub: Option<Hub>,
    /// Nonces used, and whether any was used twice; `None` if the scheme has no nonces or lines are not really
    /// encrypted.
    pub nonces: Option<NonceAudit>,
    /// Bytes of the key exchange before the run; 0 if lines are not really encrypted.
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
            occupied: Occupied {
                aes: self.occupied.aes - before.occupied.aes,
                mac: self.occupied.mac - before.occupied.mac,
                ghash: self.occupied.ghash - before.occupied.ghash,
            },
            hub: self.hub.zip(before.hub).map(|(hub, before)| Hub {
                keystream_cycles: hub.keystream_cycles - before.keystream_cycles,
                link_cycles: hub.link_cycles - before.link_cycles,
            }),
            ..self
        }
    }
}

/// The cycles for which these engines were occupied.
pub(super) fn occupied(engines: &[Engine]) -> u64 {
    engines.iter().map(Engine::occupied).sum()
}

/// The links of a ring or mesh.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links {
    /// Size of the range of link numbers; each direction of a link has its own.
    pub(crate) numbers: usize,
    /// The most links that leave a node.
    pub(crate) ports: u64,
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
    /// The links, where nodes are not connected by a bus.
    pub(crate) links: Option<Links>,
    /// Bytes that the bus, or a link, carries a cycle.
    pub(crate) width: u64,
    /// The bus, where nodes are connected by one.
    pub(crate) bus: Bus,
    pub(crate) seed: u64,
    /// Whether lines are really encrypted, beside their timing.
    pub(crate) functional: bool,
    pub(crate) engines: Engines,
    /// The machine's current cycle.
    pub(crate) clock: Clock,
}

impl Platform {
    /// Blocks of a line.
    pub(super) fn blocks(&self) -> u64 {
        self.line as u64 / 16
    }

    /// An AES engine for pads or masks in each unit. `published` is the latency of a line in the scheme's publication.
    pub(super) fn aes(&self, published: u64) -> Vec<Engine> {
        vec![self.engines.aes(published, self.blocks()).timed(&self.clock); self.units]
    }

    /// An AES engine for MACs in each unit.
    pub(super) fn macs(&self, published: u64) -> Vec<Engine> {
        vec![self.engines.mac(published, self.blocks()).timed(&self.clock); self.units]
    }

    /// A GHASH engine in each unit.
    pub(super) fn ghash(&self) -> Vec<Engine> {
        vec![self.engines.ghash(self.blocks()).timed(&self.clock); self.units]
    }
}
