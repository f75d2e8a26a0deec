//! Links with integrity and data encryption. On a bus, every node has a link to a hub, where memory is as well, so a
//! line between two nodes crosses two links. On a ring or mesh, the links between neighbours are protected, and every
//! node on the way decrypts a message and encrypts it again.
//!
//! On a ring or mesh, everything that crosses a link is protected, with the cost in engines, bytes and checks: lines
//! from caches and from memory, write-backs and commands. On a bus, this applies to all lines that nodes receive.
//! Commands have a tag that is checked but takes no bytes, engine or time, and write-backs are not protected.
//!
//! Counter mode on an ordered link never waits for AES. Lines that share a MAC form an epoch. In containment mode, a
//! line waits until its epoch is complete and the MAC has been checked; in skid mode, it does not wait. An epoch is
//! complete when it is full, or when the link, idle or not, has run for the length of an epoch. A contained line is
//! forwarded as a whole: on a bus, a line between two nodes takes the second link when the hub has checked the MAC of
//! the first.

use std::fmt;

use super::{
    commands::Commands,
    stream::{Ciphers, Rules, Size, Stream},
    unit::{Crossing, Hub, Occupied, PerLink, Platform, Scheme, SchemeCounters, THESIS_LATENCY, occupied},
};
use crate::{
    config::Bus,
    engine::{Busy, Cycle, Engine, Pool, Units},
    message::{BusCommand, CommandTag, Detector, Message},
};

/// With the thesis's engines in links: the lines of keystream precomputed.
const AHEAD: usize = 5;

/// The places on a line's route that need keystream: its sender, the hub's end of the sender's link, the hub's end of
/// the receiver's link, and the receiver. A link between neighbours uses the last two for its ends.
const PLACES: usize = 4;
const SENDING_END: usize = 2;
const RECEIVING_END: usize = 3;

/// Links with integrity and data encryption.
pub(super) struct Ide {
    units: usize,
    xor: u64,
    rules: Rules,
    /// Bytes of a line, and its blocks.
    line: usize,
    blocks: u64,
    /// The bus, which both links of a line resemble: on each it takes as long as on the bus.
    bus: Bus,
    /// On a bus, each node's link towards the hub.
    up: Vec<Stream>,
    /// On a bus, each node's link from the hub; otherwise the links between neighbours.
    down: Vec<Stream>,
    /// In containment mode, the occupancy of the links from the hub, which forwards lines only after their MAC.
    taken: Vec<Busy>,
    /// For each of the `down` links, the fraction of a MAC byte that `owe` carries over: its numerator.
    owed: Vec<u64>,
    /// The MAC bytes of the line that has been granted the bus.
    mac_bytes: u64,
    /// The engines at both ends of each link and their precomputed keystream; `None` if engines are as fast as the
    /// link.
    keystream: Option<Keystream>,
    ciphers: Option<Ciphers>,
    commands: Option<Commands>,
    /// Links from a node to its neighbours, at most; 0 on a bus.
    ports: u64,
    counters: SchemeCounters,
}

impl fmt::Debug for Ide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ide").field("units", &self.units).field("rules", &self.rules).finish_non_exhaustive()
    }
}

/// AES engines with precomputed keystream.
struct Keystream {
    nodes: Vec<Engine>,
    hub: Vec<Engine>,
    pools: [Vec<Pool>; PLACES],
}

impl Keystream {
    fn new(platform: &Platform, links: usize) -> Keystream {
        let engines = || vec![platform.engines.aes(THESIS_LATENCY, platform.blocks()).timed(&platform.clock); links];
        let pools = [0; PLACES].map(|_| vec![Pool::new(AHEAD); links]);
        Keystream { nodes: engines(), hub: engines(), pools }
    }

    fn take(&mut self, place: usize, link: usize, now: Cycle, blocks: u64) -> Cycle {
        let engine = if matches!(place, 0 | RECEIVING_END) { &mut self.nodes[link] } else { &mut self.hub[link] };
        self.pools[place][link].take(now, engine, blocks)
    }
}

impl Ide {
    pub(super) fn new(platform: &Platform, rules: Rules) -> Ide {
        let Platform { units, seed, .. } = *platform;
        let links = platform.links.map_or(units, |links| links.numbers);
        let on_bus = if platform.links.is_some() { 0 } else { units };
        Ide {
            units,
            xor: platform.engines.xor,
            rules,
            line: platform.line,
            blocks: platform.blocks(),
            bus: platform.bus.clone(),
            up: vec![Stream::default(); on_bus],
            down: vec![Stream::default(); links],
            taken: vec![Busy::new(&platform.clock); on_bus],
            owed: vec![0; links],
            mac_bytes: 0,
            keystream: (platform.engines.units == Units::Equal).then(|| Keystream::new(platform, links)),
            ciphers: platform.functional.then(|| Ciphers::new(seed, links)),
            commands: platform.functional.then(|| Commands::new(units, seed)),
            ports: platform.links.map_or(0, |links| links.ports),
            counters: SchemeCounters { hub: (on_bus > 0).then(Hub::default), ..SchemeCounters::default() },
        }
    }

    /// A line needs keystream at the hub's end of `link` from `now` on; returns when it is ready.
    fn at_hub(&mut self, place: usize, link: usize, now: Cycle) -> Cycle {
        let Some(keystream) = &mut self.keystream else { return now };
        let ready = keystream.take(place, link, now, self.blocks);
        self.counters.hub.get_or_insert_default().keystream_cycles += ready - now;
        ready
    }

    /// The MAC bytes charged to a message of `parts` parts. The MAC of an epoch is spread evenly over its parts;
    /// fractions of a byte are carried over to the next message.
    fn owe(&mut self, link: usize, parts: u64) -> u64 {
        let Rules { epoch, mac_bytes, early, .. } = self.rules;
        // If each message ends its epoch, it has one MAC for each epoch that it fills, and one for the rest
        let (parts, epoch) = if early { (parts.div_ceil(epoch.parts), 1) } else { (parts, epoch.parts) };
        let owed = &mut self.owed[link];
        *owed += mac_bytes * parts;
        let bytes = *owed / epoch;
        *owed %= epoch;
        bytes
    }

    /// The size of a message on a link, and the blocks of keystream that it needs.
    fn size(&self, with_line: bool) -> (Size, u64) {
        if with_line { (self.rules.line, self.blocks) } else { (self.rules.command, 1) }
    }
}

impl Scheme for Ide {
    fn protects(&self, _message: &Message) -> bool {
        // On a ring or mesh, protection is per link and not from end to end
        self.ports == 0
    }

    fn send(&mut self, now: Cycle, message: &mut Message) -> Cycle {
        let ready = match (&mut self.keystream, message.from) {
            (Some(keystream), Some(from)) => keystream.take(0, from, now, self.blocks),
            _ => now,
        };
        self.counters.send.note(now, ready) + self.xor
    }

    fn authenticate(&mut self, message: &mut Message) -> u64 {
        message.authenticated = true;
        self.mac_bytes = self.owe(message.to, self.rules.line.parts);
        self.mac_bytes
    }

    fn transmit(&mut self, arrives: Cycle, message: &mut Message) -> Option<Cycle> {
        let Rules { check_cycles: check, contained, line: size, early, .. } = self.rules;
        let (to, mut checked) = (message.to, 0);
        let mut usable = arrives + self.xor;
        if let Some(from) = message.from {
            // Decrypted and encrypted again at the hub
            usable = self.at_hub(1, from, usable) + 2 * self.xor;
            checked = self.up[from].cross(arrives, size, &self.rules) + check;
            if contained {
                usable += checked - arrives;
                self.counters.authentication_cycles += checked - arrives;
            }
        }
        usable = self.at_hub(SENDING_END, to, usable);
        if contained {
            // The hub forwards a line from a node only once it is verified; a line from memory takes just this link
            let cycles = self.bus.data_cycles(self.line, self.mac_bytes);
            let leaves = if message.from.is_some() { usable } else { usable.saturating_sub(cycles) };
            let begins = self.taken[to].take(leaves, cycles);
            self.counters.hub.get_or_insert_default().link_cycles += begins - leaves;
            usable = begins + cycles;
        }
        let ready = match &mut self.keystream {
            Some(keystream) => keystream.take(RECEIVING_END, to, usable, self.blocks),
            None => usable,
        };
        usable = self.counters.receive.note(usable, ready);
        let link = &mut self.down[to];
        let complete = link.cross(usable, size, &self.rules);
        message.counter = link.epoch;
        message.checked = checked.max(complete + check);
        message.usable = if contained { complete + check } else { usable };
        self.counters.authentication_cycles += message.usable - usable;
        let ciphers = self.ciphers.as_mut()?;
        ciphers.seal(to, message.counter, message.line, message.text_mut());
        // A line that ends its own epoch is verified when it is observed
        if early { None } else { ciphers.watch(complete + check, to, message.counter) }
    }

    fn observe(&mut self, unit: usize, message: &mut Message) -> Result<(), Detector> {
        let Some(ciphers) = &mut self.ciphers else { return Ok(()) };
        if unit == message.to {
            // No message tells its epoch: the receiver counts what arrives, whatever an attacker has put in its place
            let epoch = self.down[unit].epoch;
            ciphers.open(unit, epoch, message.line, message.text_mut());
            if self.rules.early && !ciphers.genuine(unit, epoch) {
                return Err(Detector::Mac);
            }
        }
        Ok(())
    }

    fn verify(&mut self, now: Cycle) -> Result<(), (usize, Detector)> {
        self.ciphers.as_mut().map_or(Ok(()), |ciphers| ciphers.verify(now))
    }

    fn receive(&mut self, now: Cycle, message: &mut Message) -> Cycle {
        let usable = message.usable.max(now);
        // In containment it is used after all checks
        self.counters.unauthenticated_cycles += message.checked.saturating_sub(usable);
        usable
    }

    fn seal(&self, command: &BusCommand) -> Option<CommandTag> {
        Some(self.commands.as_ref()?.seal(command))
    }

    fn command(&mut self, unit: usize, command: &BusCommand) -> Result<(), Detector> {
        self.commands.as_mut().map_or(Ok(()), |commands| commands.check(unit, command))
    }

    fn links(&mut self) -> Option<&mut dyn PerLink> {
        if self.ports == 0 { None } else { Some(self) }
    }

    /// For each link: a key schedule and the hash key, counters in both directions, and the receiver's buffer.
    fn storage_bits(&self) -> u64 {
        self.ports.max(1) * (15 * 128 + 128 + 4 * 64 + self.rules.held_bits)
    }

    fn counters(&self) -> SchemeCounters {
        let aes = self.keystream.as_ref().map_or(0, |keystream| occupied(&keystream.nodes) + occupied(&keystream.hub));
        SchemeCounters { occupied: Occupied { aes, ..Occupied::default() }, ..self.counters.clone() }
    }
}

impl PerLink for Ide {
    fn enter(&mut self, link: usize, with_line: bool, now: Cycle) -> (Cycle, u64) {
        let (size, blocks) = self.size(with_line);
        let ready = match &mut self.keystream {
            Some(keystream) => keystream.take(SENDING_END, link, now, blocks),
            None => now,
        };
        (self.counters.send.note(now, ready) + self.xor, self.owe(link, size.parts))
    }

    fn cross(&mut self, link: usize, with_line: bool, arrives: Cycle) -> Crossing {
        let (size, blocks) = self.size(with_line);
        let Rules { check_cycles, contained, .. } = self.rules;
        let ready = match &mut self.keystream {
            Some(keystream) => keystream.take(RECEIVING_END, link, arrives, blocks),
            None => arrives,
        };
        let plain = self.counters.receive.note(arrives, ready) + self.xor;
        let stream = &mut self.down[link];
        let checked = stream.cross(arrives, size, &self.rules) + check_cycles;
        let released = if contained { checked.max(plain) } else { plain };
        self.counters.authentication_cycles += released - plain;
        self.counters.unauthenticated_cycles += checked.saturating_sub(released);
        Crossing { link, epoch: stream.epoch, checked, released, contained }
    }

    fn seal(&mut self, crossing: &Crossing, number: u64, text: &mut [u8]) -> Option<Cycle> {
        let ciphers = self.ciphers.as_mut()?;
        let Crossing { link, epoch, checked, .. } = *crossing;
        ciphers.seal(link, epoch, number, text);
        // A message that ends its own epoch is verified when it is opened
        if self.rules.early { None } else { ciphers.watch(checked, link, epoch) }
    }

    fn open(&mut self, crossing: &Crossing, number: u64, text: &mut [u8]) -> Option<Cycle> {
        let ciphers = self.ciphers.as_mut()?;
        let Crossing { link, epoch, checked, .. } = *crossing;
        ciphers.open(link, epoch, number, text);
        let differs = self.rules.early && !ciphers.genuine(link, epoch);
        differs.then(|| ciphers.fail(checked, link))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::config::Config;

    /// PCIe IDE with a MAC of 16 bytes for each packet, checked after 6 cycles, and one cycle for each encryption. The
    /// bus carries 8 bytes a cycle, so a line with its header takes 9, and 11 with a MAC that takes bytes.
    fn ide(contained: bool, change: impl Fn(&mut Config)) -> Ide {
        let mut config = Config::default();
        config.scheme.functional = false;
        config.bus.width = 8;
        change(&mut config);
        let (line, command) = (Size { parts: 1, cycles: 9 }, Size { parts: 1, cycles: 3 });
        let epoch = if contained { line } else { Size { parts: 10, cycles: 90 } };
        let rules =
            Rules { line, command, epoch, check_cycles: 6, contained, early: contained, mac_bytes: 16, held_bits: 0 };
        Ide::new(&config.platform(), rules)
    }

    /// How long after its arrival at the hub, or from memory, a line is used.
    fn usable(ide: &mut Ide, mut line: Message) -> Cycle {
        ide.authenticate(&mut line);
        ide.transmit(1000, &mut line);
        ide.receive(1000, &mut line) - 1000
    }

    fn line(from: usize, to: usize) -> Message {
        Message::empty(Some(from), to)
    }

    #[test]
    fn a_line_from_node_to_node_takes_both_links_and_both_checks() {
        let mut held = ide(true, |_| {});
        assert_eq!(usable(&mut held, line(0, 1)), 3 + 6 + 9 + 6);
        assert_eq!(held.counters.authentication_cycles, 6 + 6);
        // The next one for the same node finds the link taken, one for another node does not
        assert_eq!(usable(&mut held, line(2, 1)), 3 + 6 + 9 + 9 + 6);
        assert_eq!(usable(&mut held, line(2, 3)), 3 + 6 + 9 + 6);
        // Waits for the link are not waits for a MAC
        let hub = held.counters().hub.unwrap();
        assert_eq!((held.counters.authentication_cycles, hub.link_cycles), (3 * (6 + 6), 9));
        assert_eq!((held.counters.receive.uses, held.counters.receive.waited), (3, 0));
        // Memory is at the hub
        assert_eq!(usable(&mut ide(true, |_| {}), Message::empty(None, 1)), 1 + 6);
        assert_eq!(usable(&mut ide(false, |_| {}), line(0, 1)), 3, "goes on as it comes");
    }

    /// With `bus.tags`, a MAC has its bytes on the second link too, where the hub sends the line again.
    #[test]
    fn a_mac_takes_its_bytes_on_the_second_link_too() {
        let mut held = ide(true, |config| config.bus.tags = true);
        assert_eq!(usable(&mut held, line(0, 1)), 3 + 6 + 11 + 6);
        assert_eq!(usable(&mut held, Message::empty(None, 2)), 1 + 6, "memory is at the hub");
    }

    /// Engines that are slower than the link keep lines waiting for keystream at the hub; that is no wait for a MAC.
    #[test]
    fn waits_for_keystream_are_not_waits_for_a_mac() {
        let slow = |config: &mut Config| {
            config.engines = crate::engine::Engines { units: Units::Equal, latency: Some(320), ..Default::default() }
        };
        let (mut held, mut skids) = (ide(true, slow), ide(false, slow));
        for _ in 0..8 {
            usable(&mut held, line(0, 1));
            usable(&mut skids, line(0, 1));
        }
        assert_eq!((held.counters.authentication_cycles, skids.counters.authentication_cycles), (8 * 12, 0));
        for ide in [&held, &skids] {
            let SchemeCounters { hub, receive, occupied, .. } = ide.counters();
            assert!(hub.unwrap().keystream_cycles > 0 && receive.uses == 8, "{hub:?} {receive:?}");
            // Three of the four places that need keystream: the sender's own was not taken here
            assert_eq!(occupied.aes, 3 * 8 * 80);
        }
    }

    /// In skid mode the MACs of both links come later: the first line of ten, in use after 3 cycles, is checked when
    /// its epochs of 90 cycles have passed.
    #[test]
    fn skid_counts_how_long_lines_are_used_unchecked() {
        let mut skids = ide(false, |_| {});
        assert_eq!(usable(&mut skids, line(0, 1)), 3);
        // The epoch of the second link began 9 cycles before the line's end, at 1003
        assert_eq!(skids.counters.unauthenticated_cycles, 90 - 9 + 6);
        let mut link = ide(false, |config| config.interconnect.kind = crate::topology::TopologyKind::Mesh);
        let crossing = link.cross(0, true, 1000);
        assert_eq!(crossing.checked - crossing.released, 90 - 9 + 6 - 1);
        assert_eq!(link.counters.unauthenticated_cycles, crossing.checked - crossing.released);
        assert_eq!((link.counters.authentication_cycles, link.counters().hub), (0, None));
    }
}
