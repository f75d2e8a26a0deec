//! The thesis's unit: AES-GCM with a counter for each ordered pair of nodes and precomputed pads.

use std::fmt;

use sealwright::{Aead, Suite};
use serde::{Deserialize, Serialize};

use super::{
    commands::Commands,
    exchange::{Exchange, derive},
    nonce::NonceAudit,
    registration::{MOST, parameters, register},
    tagged,
    unit::{Occupied, Platform, Scheme, SchemeCounters, THESIS_LATENCY, occupied},
};
use crate::{
    config::MOST_PROCESSES,
    engine::{Cycle, Engine, Pool},
    message::{BusCommand, CommandTag, Detector, LONGEST_TAG, Message},
};

parameters!(Parameters {
    /// Pads that each end precomputes for each ordered pair of nodes.
    pads: usize = 5, in 0..=MOST as usize;
    /// Layout of the IV: pair, faithful-sender or faithful-receiver.
    iv: Iv = Iv::Pair;
    /// Boot number of the machine; part of the IV, so that counters can start again.
    epoch: u16 = 1;
    /// Whether commands on the address bus are authenticated, and lines are bound to their position in the order of the
    /// bus.
    commands: bool = false;
    /// Keys: one (a key for all processes, as in the thesis) or each (a key for each process).
    keys: Keys = Keys::One;
    /// If each process has a key: number of processes whose pads a unit stores at a time.
    stored: usize = 1, in 1..=MOST_PROCESSES;
});

register!(
    "gcm",
    "the thesis: AES-GCM, a counter and precomputed pads for each ordered pair of nodes",
    Parameters,
    Gcm::new,
    ["gcm": ["scheme.gcm.commands=false"], "gcm, commands": ["scheme.gcm.commands=true"]]
);

/// How the IV of GCM is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Iv {
    /// Source (8 bits), destination (8), epoch (16), counter (64): never repeats.
    #[default]
    Pair,
    /// As in the thesis, with the sender's number and the counter: repeats between receivers.
    FaithfulSender,
    /// As in the thesis, with the receiver's number and the counter: repeats between senders with equal counters.
    FaithfulReceiver,
}

/// Which processes share a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Keys {
    /// All processes.
    #[default]
    One,
    /// None: each process has its own key, counters and pads.
    Each,
}

/// A unit's pads under one key: for sending to each peer, and for receiving from it.
#[derive(Clone, Debug)]
struct Pads {
    key: usize,
    sending: Vec<Pool>,
    receiving: Vec<Pool>,
}

/// Units that encrypt lines with AES-GCM.
struct Gcm {
    units: usize,
    line: usize,
    xor: u64,
    parameters: Parameters,
    /// Blocks of a pad: those of a line, and E(K, Y0), which masks the tag.
    pad: u64,
    engines: Vec<Engine>,
    ghash: Vec<Engine>,
    /// Number of keys: one per process, or 1 for all.
    keys: usize,
    /// The process of key 0.
    first: u8,
    /// The pads that each unit stores, in LRU order of processes: the one that it ran last is at the end.
    pads: Vec<Vec<Pads>>,
    /// `(key * units + from) * units + to`: the counter of the sender's next line.
    sent: Vec<u64>,
    /// Indexed like `sent`: when the pair's last line may enter the bus. The next one follows it, since the receiver
    /// counts for itself: after a process switch, its pad may be ready sooner.
    leaves: Vec<Cycle>,
    cipher: Option<Cipher>,
    nonces: NonceAudit,
    counters: SchemeCounters,
}

/// The ciphers, and the state that each unit keeps for them.
struct Cipher {
    /// By key.
    aeads: Vec<Box<dyn Aead>>,
    /// Indexed like `sent`: the counter that the receiver expects next.
    received: Vec<u64>,
    /// Lines that each unit has observed on the bus.
    order: Vec<u64>,
    /// Where commands are authenticated.
    commands: Option<Commands>,
}

impl fmt::Debug for Gcm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gcm").field("units", &self.units).field("parameters", &self.parameters).finish_non_exhaustive()
    }
}

impl Gcm {
    fn new(platform: &Platform, parameters: Parameters) -> Gcm {
        let Platform { units, line, seed, processes, .. } = *platform;
        let mut counters = SchemeCounters::default();
        let keys = if parameters.keys == Keys::Each { processes } else { 1 };
        let mut sent = vec![0; keys * units * units];
        let cipher = platform.functional.then(|| {
            let exchange = Exchange::run(units, seed, parameters.iv != Iv::Pair);
            counters.exchange_bytes = exchange.bytes;
            sent = exchange.counters.repeat(keys);
            // The exchanged group key is that of the first process; the others are derived from the seed
            let aead = |key: &[u8]| Suite::Aes128Gcm.aead(&key[..16]).expect("16 bytes are the suite's key length");
            let others = (1..keys).map(|process| aead(derive::<32>(seed, "key of a process", process).as_ref()));
            let aeads = std::iter::once(aead(exchange.key.as_ref())).chain(others).collect();
            let commands = parameters.commands.then(|| Commands::new(units, seed));
            Cipher { aeads, received: sent.clone(), order: vec![0; units], commands }
        });
        let pads = Pads {
            key: 0,
            sending: vec![Pool::new(parameters.pads); units],
            receiving: vec![Pool::new(parameters.pads); units],
        };
        Gcm {
            units,
            line,
            xor: platform.engines.xor,
            pad: platform.blocks() + 1,
            engines: platform.aes(THESIS_LATENCY),
            ghash: platform.ghash(),
            keys,
            first: platform.process,
            pads: vec![vec![pads]; units],
            leaves: vec![0; sent.len()],
            sent,
            cipher,
            nonces: NonceAudit::default(),
            counters,
            parameters,
        }
    }

    /// The key of a line's process.
    fn key(&self, message: &Message) -> usize {
        usize::from(message.process.wrapping_sub(self.first)).min(self.keys - 1)
    }

    /// Takes a pad of `unit` at `now`, to send to `peer` or to receive from it; returns when it is ready.
    fn pad(&mut self, unit: usize, key: usize, peer: usize, sends: bool, now: Cycle) -> Cycle {
        let engine = &mut self.engines[unit];
        match self.pads[unit].iter_mut().find(|pads| pads.key == key) {
            Some(pads) => {
                let pools = if sends { &mut pads.sending } else { &mut pads.receiving };
                pools[peer].take(now, engine, self.pad)
            }
            // The unit stores no pads of this process: the pad is computed on demand
            None => engine.work(now, self.pad),
        }
    }

    /// The IV of the line with this counter of a pair.
    fn iv(&self, key: usize, from: usize, to: usize, counter: u64) -> [u8; 12] {
        let mut iv = [0; 12];
        match self.parameters.iv {
            Iv::Pair => {
                iv[0] = from as u8;
                iv[1] = to as u8;
                // The nonce audit sees IVs only, not keys: make the IVs of different keys differ too
                let epoch = self.parameters.epoch.wrapping_add((key as u16) << 8);
                iv[2..4].copy_from_slice(&epoch.to_be_bytes());
            }
            Iv::FaithfulSender => iv[3] = from as u8,
            Iv::FaithfulReceiver => iv[3] = to as u8,
        }
        iv[4..].copy_from_slice(&counter.to_be_bytes());
        iv
    }

    /// Associated data: the process, as in the thesis; with the IV layout `pair` also the line's number and, if
    /// commands are authenticated, its position in the bus's order.
    fn associated(&self, message: &Message, order: u64) -> ([u8; 17], usize) {
        let mut ad = [0; 17];
        ad[0] = message.process;
        ad[1..9].copy_from_slice(&message.line.to_be_bytes());
        ad[9..].copy_from_slice(&order.to_be_bytes());
        let len = match (self.parameters.iv, self.parameters.commands) {
            (Iv::Pair, true) => 17,
            (Iv::Pair, false) => 9,
            _ => 1,
        };
        (ad, len)
    }
}

impl Scheme for Gcm {
    fn send(&mut self, now: Cycle, message: &mut Message) -> Cycle {
        let Some(from) = message.from else { return now };
        let key = self.key(message);
        let pair = (key * self.units + from) * self.units + message.to;
        message.counter = self.sent[pair];
        self.sent[pair] += 1;
        let ready = self.pad(from, key, message.to, true, now).max(self.leaves[pair]);
        self.leaves[pair] = self.counters.send.note(now, ready);
        self.leaves[pair] + self.xor
    }

    fn authenticate(&mut self, message: &mut Message) -> u64 {
        message.authenticated = true;
        LONGEST_TAG as u64
    }

    fn transmit(&mut self, _arrives: Cycle, message: &mut Message) -> Option<Cycle> {
        let from = message.from?;
        message.tag_ready = self.ghash[from].line(message.sent);
        let key = self.key(message);
        let cipher = self.cipher.as_ref()?;
        let iv = self.iv(key, from, message.to, message.counter);
        self.nonces.note(&iv, (from, message.to));
        let (ad, len) = self.associated(message, cipher.order[from]);
        tagged::seal(cipher.aeads[key].as_ref(), &iv, &ad[..len], message);
        None
    }

    fn observe(&mut self, unit: usize, message: &mut Message) -> Result<(), Detector> {
        let key = self.key(message);
        let (Some(cipher), Some(from)) = (&mut self.cipher, message.from) else { return Ok(()) };
        let order = cipher.order[unit];
        cipher.order[unit] += 1;
        if unit != message.to {
            return Ok(());
        }
        // The counter is not transmitted: the receiver counts for itself
        let pair = (key * self.units + from) * self.units + unit;
        let counter = cipher.received[pair];
        let iv = self.iv(key, from, unit, counter);
        let (ad, len) = self.associated(message, order);
        let Some(cipher) = &mut self.cipher else { return Ok(()) };
        tagged::open(cipher.aeads[key].as_ref(), &iv, &ad[..len], message)?;
        // Only a genuine line advances the counter, so a forged one cannot desynchronise the pair
        cipher.received[pair] += 1;
        Ok(())
    }

    fn receive(&mut self, now: Cycle, message: &mut Message) -> Cycle {
        let Some(from) = message.from else { return now };
        let to = message.to;
        let ready = self.pad(to, self.key(message), from, false, now);
        let plain = self.counters.receive.note(now, ready) + self.xor;
        tagged::checked(&mut self.ghash[to], message, (now, plain), &mut self.counters)
    }

    fn switch(&mut self, unit: usize, process: usize, now: Cycle) {
        let stored = &mut self.pads[unit];
        if self.keys == 1 {
            return;
        }
        if let Some(place) = stored.iter().position(|pads| pads.key == process) {
            stored[place..].rotate_left(1);
            return;
        }
        if stored.len() >= self.parameters.stored {
            stored.remove(0);
        }
        // Recompute all pads of the process: first one for each peer and direction, then the second of each, and so on
        let mut pads =
            Pads { key: process, sending: vec![Pool::new(0); self.units], receiving: vec![Pool::new(0); self.units] };
        for _ in 0..self.parameters.pads {
            for peer in (0..self.units).filter(|peer| *peer != unit) {
                for pool in [&mut pads.sending[peer], &mut pads.receiving[peer]] {
                    pool.fill(now, &mut self.engines[unit], self.pad);
                }
            }
        }
        stored.push(pads);
    }

    fn seal(&self, command: &BusCommand) -> Option<CommandTag> {
        Some(self.cipher.as_ref()?.commands.as_ref()?.seal(command))
    }

    fn command(&mut self, unit: usize, command: &BusCommand) -> Result<(), Detector> {
        let commands = self.cipher.as_mut().and_then(|cipher| cipher.commands.as_mut());
        commands.map_or(Ok(()), |commands| commands.check(unit, command))
    }

    fn needs_bus(&self) -> Option<&'static str> {
        self.parameters.commands.then_some("all units count the commands and lines of one bus (scheme.gcm.commands)")
    }

    /// For each key: key schedule, GHASH key, and counters in both directions. Once: the epoch and the public keys. For
    /// each process stored at a time: the pads, including the block that masks the tag.
    fn storage_bits(&self) -> u64 {
        let peers = self.units as u64 - 1;
        let keys = self.keys as u64 * (11 * 128 + 128 + peers * 2 * 64);
        let pads = peers * 2 * self.parameters.pads as u64 * (self.line as u64 * 8 + 128);
        let stored = self.parameters.stored.min(self.keys) as u64;
        keys + 16 + stored * pads + peers * 256 + 256
    }

    fn counters(&self) -> SchemeCounters {
        let nonces = self.cipher.is_some().then(|| self.nonces.clone());
        let occupied = Occupied { aes: occupied(&self.engines), mac: 0, ghash: occupied(&self.ghash) };
        SchemeCounters { nonces, occupied, ..self.counters.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    /// GHASH, the pad and the tag do not wait for each other: the latest of them decides.
    #[test]
    fn ghash_does_not_wait_for_the_pad() {
        let mut config = Config::default();
        config.scheme.functional = false;
        // The tag is ready 4 cycles after its line, 0 where there is none to wait for. A pad takes 340 cycles.
        for (pads, tag, plain, checked) in
            [(5, 0, 1, 4), (5, 4, 1, 4), (5, 9, 1, 9), (0, 4, 341, 341), (0, 500, 341, 500)]
        {
            let mut gcm = Gcm::new(&config.platform(), Parameters { pads, ..Parameters::default() });
            let mut line = Message::empty(Some(0), 1);
            (line.sent, line.tag_ready) = (1000, 1000 + tag);
            assert_eq!(gcm.receive(1000, &mut line), 1000 + checked, "{pads} pads, the tag after {tag}");
            assert_eq!(gcm.counters.authentication_cycles, checked - plain, "{pads} pads, the tag after {tag}");
        }
    }
}
