//! The thesis's unit: AES-GCM with a counter for each ordered pair and pads made ahead.

use std::fmt;

use sealwright::{Aead, Suite};

use super::{BusScheme, Exchange, Iv, NonceAudit, SchemeCounts, Shu, commands::Commands};
use crate::{
    engine::{Cycle, Engine, Pool},
    message::{How, LONGEST_TAG, Message},
};

/// Units that seal lines with AES-GCM.
pub(super) struct Gcm {
    units: usize,
    line: usize,
    shu: Shu,
    engines: Vec<Engine>,
    /// `at * units + peer`: pads for sending to, and for receiving from, a peer.
    sending: Vec<Pool>,
    receiving: Vec<Pool>,
    /// What seals, and what each unit knows of counters; without it only time passes.
    sealing: Option<Sealing>,
    nonces: NonceAudit,
    counts: SchemeCounts,
}

struct Sealing {
    aead: Box<dyn Aead>,
    /// `from * units + to`: the counter as the sender has it, and as the receiver has it.
    sent: Vec<u64>,
    received: Vec<u64>,
    /// Lines that each unit has seen on the bus.
    order: Vec<u64>,
    commands: Commands,
}

impl fmt::Debug for Gcm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gcm").field("units", &self.units).field("shu", &self.shu).finish_non_exhaustive()
    }
}

impl Gcm {
    pub(super) fn new(shu: &Shu, units: usize, line: usize, seed: u64) -> Gcm {
        let mut counts = SchemeCounts::default();
        let sealing = shu.functional.then(|| {
            let exchange = Exchange::run(units, seed, shu.iv != Iv::Pair);
            counts.exchange_bytes = exchange.bytes;
            let aead = Suite::Aes128Gcm.aead(&exchange.key[..16]).expect("16 bytes are the suite's key length");
            let (sent, received) = (exchange.counters.clone(), exchange.counters);
            Sealing { aead, sent, received, order: vec![0; units], commands: Commands::new(units) }
        });
        Gcm {
            units,
            line,
            shu: shu.clone(),
            engines: vec![Engine::new(shu.engine, shu.latency(), shu.interval); units],
            sending: vec![Pool::new(shu.pads); units * units],
            receiving: vec![Pool::new(shu.pads); units * units],
            sealing,
            nonces: NonceAudit::default(),
            counts,
        }
    }
}

/// The IV of the counter'th line of a pair.
fn iv(layout: Iv, epoch: u16, from: usize, to: usize, counter: u64) -> [u8; 12] {
    let mut iv = [0; 12];
    match layout {
        Iv::Pair => {
            iv[0] = from as u8;
            iv[1] = to as u8;
            iv[2..4].copy_from_slice(&epoch.to_be_bytes());
        }
        Iv::FaithfulSender => iv[3] = from as u8,
        Iv::FaithfulReceiver => iv[3] = to as u8,
    }
    iv[4..].copy_from_slice(&counter.to_be_bytes());
    iv
}

/// Associated data: the process as in the thesis; beside it, where the layout is ours, the line's address, and its place
/// in the bus's order where that is asked for.
fn associated(shu: &Shu, message: &Message, order: u64) -> ([u8; 17], usize) {
    let mut ad = [0; 17];
    ad[0] = message.process;
    ad[1..9].copy_from_slice(&message.line.to_be_bytes());
    ad[9..].copy_from_slice(&order.to_be_bytes());
    let len = match (shu.iv, shu.commands) {
        (Iv::Pair, true) => 17,
        (Iv::Pair, false) => 9,
        _ => 1,
    };
    (ad, len)
}

impl BusScheme for Gcm {
    fn send(&mut self, now: Cycle, from: Option<usize>, to: usize) -> Cycle {
        let Some(from) = from else { return now };
        let ready = self.sending[from * self.units + to].take(now, &mut self.engines[from]);
        self.counts.send.note(now, ready) + self.shu.xor
    }

    fn receive(&mut self, now: Cycle, from: Option<usize>, to: usize) -> Cycle {
        let Some(from) = from else { return now };
        let ready = self.receiving[to * self.units + from].take(now, &mut self.engines[to]);
        self.counts.authentication_cycles += self.shu.ghash;
        self.counts.receive.note(now, ready) + self.shu.xor + self.shu.ghash
    }

    fn extra_bytes(&self) -> f64 {
        LONGEST_TAG as f64
    }

    fn seal(&mut self, message: &mut Message) {
        let (Some(sealing), Some(from)) = (&mut self.sealing, message.from) else { return };
        let counter = &mut sealing.sent[from * self.units + message.to];
        let iv = iv(self.shu.iv, self.shu.epoch, from, message.to, *counter);
        *counter += 1;
        self.nonces.note(&iv, (from, message.to));
        let (ad, len) = associated(&self.shu, message, sealing.order[from]);
        let tag = sealing.aead.seal_in_place(&iv, &ad[..len], message.text_mut()).expect("a line is a short text");
        let mut bytes = [0; LONGEST_TAG];
        bytes.copy_from_slice(tag.as_ref());
        message.tag = Some(bytes);
    }

    fn hear(&mut self, unit: usize, message: &mut Message) -> Result<(), How> {
        let (Some(sealing), Some(from)) = (&mut self.sealing, message.from) else { return Ok(()) };
        let order = sealing.order[unit];
        sealing.order[unit] += 1;
        if unit != message.to {
            return Ok(());
        }
        let counter = sealing.received[from * self.units + unit];
        let iv = iv(self.shu.iv, self.shu.epoch, from, unit, counter);
        let (ad, len) = associated(&self.shu, message, order);
        let tag = message.tag.unwrap_or_default();
        sealing.aead.open_in_place(&iv, &ad[..len], message.text_mut(), &tag).map_err(|_| How::Tag)?;
        // A line that is not genuine moves no counter: who forges one cannot put the pair out of step
        sealing.received[from * self.units + unit] += 1;
        Ok(())
    }

    fn command(&mut self, unit: usize, seen: bool) -> Result<(), How> {
        match &mut self.sealing {
            Some(sealing) if self.shu.commands => sealing.commands.told(unit, seen),
            _ => Ok(()),
        }
    }

    /// Key schedule and GHASH key; counters and epoch both ways; pads with the block that masks the tag.
    fn storage_bits(&self) -> u64 {
        let peers = self.units as u64 - 1;
        let pad = self.line as u64 * 8 + 128;
        11 * 128 + 128 + peers * 2 * 64 + 16 + peers * 2 * self.shu.pads as u64 * pad + peers * 256 + 256
    }

    fn counts(&self) -> SchemeCounts {
        let nonces = self.sealing.is_some().then(|| self.nonces.clone());
        SchemeCounts { nonces, ..self.counts.clone() }
    }
}
