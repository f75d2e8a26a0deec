//! Links with integrity and data encryption: every node is a link to a hub, and memory is at the hub.
//!
//! A line from node to node crosses two links. Everything on a link is covered, also lines from memory and commands.
//! Counter mode on an ordered link never waits for AES. Lines that share a MAC form an epoch; a line waits until its epoch is
//! complete and the MAC has been checked (containment), or for nothing (skid). An epoch is complete when it is full, or
//! when the link, idle or not, has run for the epoch's length.

use std::{collections::VecDeque, fmt};

use sealwright::{
    Aead, Isa, Suite,
    raw::{self, Raw},
};

use super::{
    commands::Commands,
    exchange::derive,
    unit::{Platform, Scheme, SchemeCounters},
};
use crate::{
    engine::{Cycle, Engine, Pool, Units},
    message::{BusCommand, CommandTag, Detector, Message},
};

/// Cycles of AES for a line where links have the thesis's engines, and lines of keystream that they make ahead.
const LATENCY: u64 = 320;
const AHEAD: usize = 5;

/// Bytes of a MAC.
pub(super) const MAC: u64 = 12;

/// What tells one kind of link from another.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    /// Slots or packets of a line, and those of an epoch.
    pub(super) line_parts: u64,
    pub(super) epoch_parts: u64,
    /// Cycles that a line, and an epoch, take on the link.
    pub(super) line_cycles: u64,
    pub(super) epoch_cycles: u64,
    /// Cycles from the end of an epoch until its MAC is checked.
    pub(super) check_cycles: u64,
    /// Whether lines wait for their MAC.
    pub(super) contained: bool,
    /// Whether a sender ends the epoch after each line.
    pub(super) early: bool,
    /// Bytes that a MAC takes on the link, with what announces it.
    pub(super) mac_bytes: u64,
    /// Bits that a receiver holds back.
    pub(super) held_bits: u64,
}

/// Links between nodes and a hub.
pub(super) struct Ide {
    units: usize,
    xor: u64,
    rules: Rules,
    /// Each node's link towards the hub, and from it.
    up: Vec<Link>,
    down: Vec<Link>,
    /// Bytes of MACs that each link has yet to carry, in parts of an epoch.
    owed: Vec<u64>,
    /// The engines at both ends of each link and the keystream that they have made ahead, where they are not as fast as
    /// the link.
    keystream: Option<Keystream>,
    ciphers: Option<Ciphers>,
    counters: SchemeCounters,
}

/// One direction of a link.
#[derive(Clone, Debug, Default)]
struct Link {
    epoch: u64,
    parts: u64,
    closes: Cycle,
}

struct Ciphers {
    cipher: Box<dyn Raw>,
    mac: Box<dyn Aead>,
    /// Both ends of each link from the hub.
    hub: Vec<End>,
    node: Vec<End>,
    /// Epochs that were not verified yet: when each is checked, its link, its number.
    unverified: VecDeque<(Cycle, usize, u64)>,
    commands: Commands,
}

/// One end of a link.
#[derive(Clone, Default)]
struct End {
    lines: u64,
    /// What crossed in each epoch that was not verified yet.
    epochs: VecDeque<(u64, Vec<u8>)>,
}

impl fmt::Debug for Ide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ide").field("units", &self.units).field("rules", &self.rules).finish_non_exhaustive()
    }
}

/// Keystream made ahead at the four places where a line passes: its sender, the hub's end of the sender's link, the hub's
/// end of the receiver's link, the receiver.
struct Keystream {
    nodes: Vec<Engine>,
    hub: Vec<Engine>,
    pools: [Vec<Pool>; 4],
    blocks: u64,
}

impl Keystream {
    fn new(platform: &Platform) -> Keystream {
        let pools = [0; 4].map(|_| vec![Pool::new(AHEAD); platform.units]);
        Keystream { nodes: platform.aes(LATENCY), hub: platform.aes(LATENCY), pools, blocks: platform.blocks() }
    }

    fn take(&mut self, place: usize, unit: usize, now: Cycle) -> Cycle {
        let engine = if matches!(place, 0 | 3) { &mut self.nodes[unit] } else { &mut self.hub[unit] };
        self.pools[place][unit].take(now, engine, self.blocks)
    }
}

impl Link {
    /// A line whose last byte crosses at `now`: when its epoch is complete.
    fn cross(&mut self, now: Cycle, rules: &Rules) -> Cycle {
        let begins = now.saturating_sub(rules.line_cycles);
        if rules.early || begins >= self.closes {
            self.epoch += 1;
            self.parts = 0;
            self.closes = if rules.early { now } else { begins + rules.epoch_cycles };
        }
        self.parts += rules.line_parts;
        if !rules.early && (self.parts > rules.epoch_parts || now > self.closes) {
            // Its last parts are in the next epoch, whose MAC it waits for
            self.epoch += 1;
            self.parts = self.parts.saturating_sub(rules.epoch_parts).clamp(1, rules.line_parts);
            self.closes = self.closes.min(now) + rules.epoch_cycles;
        }
        if self.parts == rules.epoch_parts {
            self.closes = self.closes.min(now);
        }
        self.closes
    }
}

impl Ide {
    pub(super) fn new(platform: &Platform, rules: Rules) -> Ide {
        let Platform { units, seed, .. } = *platform;
        let ciphers = platform.functional.then(|| {
            let keys = [derive::<32>(seed, "link key", 0), derive::<32>(seed, "link MAC key", 0)];
            Ciphers {
                cipher: raw::aes(Isa::best(), keys[0].as_ref()).expect("32 bytes are a key of AES"),
                mac: Suite::Aes256Gcm.aead(keys[1].as_ref()).expect("32 bytes are the suite's key length"),
                hub: vec![End::default(); units],
                node: vec![End::default(); units],
                unverified: VecDeque::new(),
                commands: Commands::new(units, seed),
            }
        });
        Ide {
            units,
            xor: platform.engines.xor,
            rules,
            up: vec![Link::default(); units],
            down: vec![Link::default(); units],
            owed: vec![0; units],
            keystream: (platform.engines.units == Units::Equal).then(|| Keystream::new(platform)),
            ciphers,
            counters: SchemeCounters::default(),
        }
    }
}

impl Ciphers {
    /// The MAC that ends an epoch, as one end computes it.
    fn mac(&self, end: &End, unit: usize, epoch: u64) -> Vec<u8> {
        let mut iv = [0; 12];
        iv[0] = 0x80;
        iv[3] = unit as u8;
        iv[4..].copy_from_slice(&epoch.to_be_bytes());
        let text = end.epochs.iter().find(|(number, _)| *number == epoch).map(|(_, text)| text.as_slice());
        let tag = self.mac.seal_in_place(&iv, text.unwrap_or_default(), &mut []).expect("an epoch is a short text");
        tag.as_ref()[..MAC as usize].to_vec()
    }

    /// Whether both ends of a link saw the same in an epoch, which then is done.
    fn genuine(&mut self, unit: usize, epoch: u64) -> bool {
        let genuine = self.mac(&self.hub[unit], unit, epoch) == self.mac(&self.node[unit], unit, epoch);
        for end in [&mut self.hub[unit], &mut self.node[unit]] {
            end.epochs.retain(|(number, _)| *number != epoch);
        }
        genuine
    }

    fn keystream(&self, lines: u64, unit: usize, text: &mut [u8]) {
        let mut counter = [0; 16];
        counter[0] = unit as u8;
        // A line has fewer than 2^16 blocks
        counter[4..12].copy_from_slice(&lines.to_be_bytes());
        self.cipher.ctr(&counter, text);
    }
}

impl End {
    fn take_in(&mut self, message: &Message) {
        if self.epochs.back().is_none_or(|(epoch, _)| *epoch != message.counter) {
            self.epochs.push_back((message.counter, Vec::new()));
        }
        if let Some((_, text)) = self.epochs.back_mut() {
            // Each end counts for itself: after a lost line they no longer agree
            text.extend_from_slice(&self.lines.to_be_bytes());
            text.extend_from_slice(&message.line.to_be_bytes());
            text.extend_from_slice(message.text());
        }
        self.lines += 1;
    }
}

impl Scheme for Ide {
    fn protects(&self, _message: &Message) -> bool {
        true
    }

    fn send(&mut self, now: Cycle, message: &mut Message) -> Cycle {
        let ready = match (&mut self.keystream, message.from) {
            (Some(keystream), Some(from)) => keystream.take(0, from, now),
            _ => now,
        };
        self.counters.send.note(now, ready) + self.xor
    }

    fn authenticate(&mut self, message: &mut Message) -> u64 {
        let Rules { line_parts, epoch_parts, mac_bytes, early, .. } = self.rules;
        message.authenticated = true;
        // An epoch's MAC is carried by its lines in turn: a byte is sent once it is owed whole
        let (parts, epoch) = if early { (1, 1) } else { (line_parts, epoch_parts) };
        let owed = &mut self.owed[message.to];
        *owed += mac_bytes * parts;
        let bytes = *owed / epoch;
        *owed %= epoch;
        bytes
    }

    fn transmit(&mut self, arrives: Cycle, message: &mut Message) -> Option<Cycle> {
        let Rules { check_cycles: check, contained, .. } = self.rules;
        let mut usable = arrives + self.xor;
        let to = message.to;
        if let Some(from) = message.from {
            // Decrypted and encrypted again at the hub
            if let Some(keystream) = &mut self.keystream {
                usable = keystream.take(1, from, usable);
            }
            usable += 2 * self.xor;
            let complete = self.up[from].cross(arrives, &self.rules);
            if contained {
                usable += complete - arrives + check;
            }
        }
        if let Some(keystream) = &mut self.keystream {
            usable = keystream.take(2, to, usable);
            let ready = keystream.take(3, to, usable);
            usable = self.counters.receive.note(usable, ready);
        }
        let link = &mut self.down[to];
        let complete = link.cross(usable, &self.rules);
        message.counter = link.epoch;
        message.usable = if contained { complete + check } else { usable };
        let ciphers = self.ciphers.as_mut()?;
        let lines = ciphers.hub[to].lines;
        ciphers.keystream(lines, to, message.text_mut());
        ciphers.hub[to].take_in(message);
        let due = complete + check;
        // A line alone in its epoch is checked as it is observed
        if self.rules.early || ciphers.unverified.iter().any(|(_, unit, epoch)| (*unit, *epoch) == (to, link.epoch)) {
            return None;
        }
        ciphers.unverified.push_back((due, to, link.epoch));
        Some(due)
    }

    fn observe(&mut self, unit: usize, message: &mut Message) -> Result<(), Detector> {
        let Some(ciphers) = &mut self.ciphers else { return Ok(()) };
        if unit == message.to {
            let lines = ciphers.node[unit].lines;
            ciphers.node[unit].take_in(message);
            ciphers.keystream(lines, unit, message.text_mut());
            if self.rules.early && !ciphers.genuine(unit, message.counter) {
                return Err(Detector::Mac);
            }
        }
        Ok(())
    }

    fn verify(&mut self, now: Cycle) -> Result<(), (usize, Detector)> {
        let Some(ciphers) = &mut self.ciphers else { return Ok(()) };
        while let Some(place) = ciphers.unverified.iter().position(|(due, ..)| *due <= now) {
            let Some((_, unit, epoch)) = ciphers.unverified.remove(place) else { break };
            if !ciphers.genuine(unit, epoch) {
                return Err((unit, Detector::Mac));
            }
        }
        Ok(())
    }

    fn receive(&mut self, now: Cycle, message: &Message) -> Cycle {
        let usable = message.usable.max(now);
        let crossings = if message.from.is_some() { 3 } else { 1 };
        self.counters.authentication_cycles += (usable - now).saturating_sub(crossings * self.xor);
        usable
    }

    fn seal(&self, command: &BusCommand) -> Option<CommandTag> {
        Some(self.ciphers.as_ref()?.commands.seal(command))
    }

    fn command(&mut self, unit: usize, command: &BusCommand) -> Result<(), Detector> {
        self.ciphers.as_mut().map_or(Ok(()), |ciphers| ciphers.commands.check(unit, command))
    }

    /// Two key schedules and the hash key, counters both ways, and what a receiver holds back.
    fn storage_bits(&self) -> u64 {
        15 * 128 + 128 + 4 * 64 + self.rules.held_bits
    }

    fn counters(&self) -> SchemeCounters {
        self.counters.clone()
    }
}
