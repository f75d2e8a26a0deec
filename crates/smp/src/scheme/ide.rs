//! Links sealed one by one: CXL.cachemem IDE and PCIe IDE, every node being a link to a hub, memory at the hub.
//!
//! A line from node to node crosses two links. Everything on a link is covered, also lines from memory and commands.
//! Counter mode on an ordered link never waits for AES; what costs is the wait for the MAC (containment), or nothing
//! (skid). Published parameters: a MAC every 5 or 128 flits of 68 bytes, 2 or 32 of 256; 96-bit MACs; AES-256.

use std::fmt;

use sealwright::{
    Aead, Isa, Suite,
    raw::{self, Raw},
};

use super::{BusScheme, Flits, Name, SchemeCounts, Shu, commands::Commands, exchange::derive};
use crate::{
    engine::Cycle,
    message::{How, LONGEST_TAG, Message},
};

/// Bytes of a MAC.
const MAC: usize = 12;
/// Bytes of a slot of a flit.
const SLOT: u64 = 16;

/// Links between nodes and a hub.
pub(super) struct Ide {
    shu: Shu,
    line: u64,
    units: usize,
    /// Bytes a cycle.
    width: u64,
    /// Slots sent so far in the epoch of each node's link towards the hub and from it.
    up: Vec<u64>,
    down: Vec<u64>,
    sealing: Option<Sealing>,
    counts: SchemeCounts,
}

struct Sealing {
    cipher: Box<dyn Raw>,
    mac: Box<dyn Aead>,
    /// The hub's and the node's end of each link from the hub.
    hub: Vec<End>,
    node: Vec<End>,
    commands: Commands,
}

/// One end of a link.
#[derive(Clone, Default)]
struct End {
    lines: u64,
    epochs: u64,
    /// Lines of the epoch, and their ciphertext.
    pending: u64,
    text: Vec<u8>,
    /// Commands that passed.
    commands: u64,
}

impl fmt::Debug for Ide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ide").field("units", &self.units).field("shu", &self.shu).finish_non_exhaustive()
    }
}

impl Ide {
    pub(super) fn new(shu: &Shu, units: usize, line: usize, width: u64, seed: u64) -> Ide {
        let sealing = shu.functional.then(|| {
            let keys = [derive::<32>(seed, "link key", 0), derive::<32>(seed, "link MAC key", 0)];
            Sealing {
                cipher: raw::aes(Isa::best(), keys[0].as_ref()).expect("32 bytes are a key of AES"),
                mac: Suite::Aes256Gcm.aead(keys[1].as_ref()).expect("32 bytes are the suite's key length"),
                hub: vec![End::default(); units],
                node: vec![End::default(); units],
                commands: Commands::new(units),
            }
        });
        let counts = SchemeCounts::default();
        Ide {
            shu: shu.clone(),
            line: line as u64,
            units,
            width,
            up: vec![0; units],
            down: vec![0; units],
            sealing,
            counts,
        }
    }

    fn pcie(&self) -> bool {
        self.shu.scheme == Name::PcieIde
    }

    /// Slots that a line takes: its header and its bytes.
    fn slots(&self) -> u64 {
        1 + self.line / SLOT
    }

    /// Slots of an epoch.
    fn epoch(&self) -> u64 {
        let a_flit = if self.shu.flit == 256 { 15 } else { 4 };
        self.shu.flits() * a_flit
    }

    /// Lines that share a MAC.
    fn lines_to_a_mac(&self) -> u64 {
        match (self.pcie(), self.shu.release) {
            (true, _) => self.shu.aggregation,
            (_, Flits::Containment) if self.shu.early => 1,
            _ => (self.epoch() / self.slots()).max(1),
        }
    }

    /// Cycles until a line that crossed a link may go on: the rest of its epoch, the MAC, its check.
    fn check(&mut self, unit: usize, up: bool) -> u64 {
        let (slots, epoch, mac) = (self.slots(), self.epoch(), (MAC as u64).div_ceil(self.width));
        let fill = if up { &mut self.up[unit] } else { &mut self.down[unit] };
        *fill = (*fill + slots) % epoch;
        let rest = epoch - *fill;
        if self.shu.release == Flits::Skid && self.shu.scheme == Name::CxlIde {
            return 0;
        }
        let wait = match (self.shu.scheme, self.shu.early) {
            (_, true) => 0,
            // An idle link sends empty flits, which fill the epoch
            (Name::CxlIde, false) => {
                (rest * self.shu.flit).div_ceil(self.width * if self.shu.flit == 256 { 15 } else { 4 })
            }
            (_, false) => (self.shu.aggregation - 1) * (self.line + 8).div_ceil(self.width),
        };
        wait + mac + self.shu.ghash
    }
}

impl Sealing {
    /// The MAC that ends an epoch.
    fn mac(&self, end: &End, unit: usize) -> [u8; LONGEST_TAG] {
        let mut iv = [0; 12];
        iv[0] = 0x80;
        iv[3] = unit as u8;
        iv[4..].copy_from_slice(&end.epochs.to_be_bytes());
        let mut ad = end.text.clone();
        ad.extend_from_slice(&end.commands.to_be_bytes());
        let tag = self.mac.seal_in_place(&iv, &ad, &mut []).expect("an epoch is a short text");
        let mut bytes = [0; LONGEST_TAG];
        bytes[..MAC].copy_from_slice(&tag.as_ref()[..MAC]);
        bytes
    }

    fn keystream(&self, end: &End, unit: usize, text: &mut [u8]) {
        let mut counter = [0; 16];
        counter[0] = unit as u8;
        // A line has fewer than 2^16 blocks
        counter[4..12].copy_from_slice(&end.lines.to_be_bytes());
        self.cipher.ctr(&counter, text);
    }
}

impl BusScheme for Ide {
    fn concerns(&self, _message: &Message) -> bool {
        true
    }

    fn send(&mut self, now: Cycle, _from: Option<usize>, _to: usize) -> Cycle {
        now + self.shu.xor
    }

    fn receive(&mut self, now: Cycle, from: Option<usize>, to: usize) -> Cycle {
        let mut wait = self.shu.xor;
        if let Some(from) = from {
            // Opened and sealed again at the hub
            wait += 2 * self.shu.xor;
            let check = self.check(from, true);
            self.counts.authentication_cycles += check;
            wait += check;
        }
        let check = self.check(to, false);
        self.counts.authentication_cycles += check;
        now + wait + check
    }

    fn extra_bytes(&self) -> f64 {
        MAC as f64 / self.lines_to_a_mac() as f64
    }

    fn seal(&mut self, message: &mut Message) {
        let lines = self.lines_to_a_mac();
        let Some(sealing) = &mut self.sealing else { return };
        let mut end = std::mem::take(&mut sealing.hub[message.to]);
        sealing.keystream(&end, message.to, message.text_mut());
        end.take_in(message);
        message.tag = (end.pending == lines).then(|| sealing.mac(&end, message.to));
        end.close(lines);
        sealing.hub[message.to] = end;
    }

    fn hear(&mut self, unit: usize, message: &mut Message) -> Result<(), How> {
        let lines = self.lines_to_a_mac();
        let Some(sealing) = &mut self.sealing else { return Ok(()) };
        if unit != message.to {
            return Ok(());
        }
        let mut end = std::mem::take(&mut sealing.node[unit]);
        let counting = End { lines: end.lines, ..End::default() };
        end.take_in(message);
        let genuine = end.pending < lines || message.tag == Some(sealing.mac(&end, unit));
        sealing.keystream(&counting, unit, message.text_mut());
        end.close(lines);
        sealing.node[unit] = end;
        if genuine { Ok(()) } else { Err(How::Mac) }
    }

    fn command(&mut self, unit: usize, seen: bool) -> Result<(), How> {
        let Some(sealing) = &mut self.sealing else { return Ok(()) };
        sealing.hub[unit].commands += 1;
        sealing.node[unit].commands += u64::from(seen);
        sealing.commands.told(unit, seen)
    }

    /// Two key schedules and the hash key, counters both ways, an epoch's flits held back in containment.
    fn storage_bits(&self) -> u64 {
        let held = match (self.pcie(), self.shu.release) {
            (false, Flits::Containment) => self.shu.flits() * self.shu.flit * 8,
            (true, _) => self.shu.aggregation * (self.line + 8) * 8,
            _ => 0,
        };
        15 * 128 + 128 + 4 * 64 + held
    }

    fn counts(&self) -> SchemeCounts {
        self.counts.clone()
    }
}

impl End {
    fn take_in(&mut self, message: &Message) {
        self.text.extend_from_slice(&message.line.to_be_bytes());
        self.text.extend_from_slice(message.text());
        self.lines += 1;
        self.pending += 1;
    }

    fn close(&mut self, lines: u64) {
        if self.pending >= lines {
            self.pending = 0;
            self.epochs += 1;
            self.text.clear();
        }
    }
}
