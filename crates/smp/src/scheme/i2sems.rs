//! I2SEMS: a global controller hands out ranges of counters, so no pair keeps any; keystream is made ahead where the
//! next counters can be guessed.
//!
//! The abstract of its paper is all that could be read: the sizes here are settings, not its figures. A sender's
//! counters are shared by all its receivers, so a receiver sees gaps; its guess hits while the gap is within its window.

use std::{collections::VecDeque, fmt};

use sealwright::{Aead, Suite};

use super::{BusScheme, NonceAudit, SchemeCounts, Shu, exchange::derive};
use crate::{
    engine::{Cycle, Engine, Pool},
    message::{How, LONGEST_TAG, Message},
};

/// Units with counters from one place.
pub(super) struct I2sems {
    units: usize,
    line: usize,
    shu: Shu,
    engines: Vec<Engine>,
    queues: Vec<Pool>,
    senders: Vec<Sender>,
    /// The next range that nobody has.
    next_range: u64,
    /// `at * units + peer`: the keystream made ahead for a sender's next counters.
    guesses: Vec<Guess>,
    /// Counters of the lines on their way, per sender and receiver, in order.
    flying: Vec<VecDeque<u64>>,
    aead: Option<Box<dyn Aead>>,
    /// `from * units + to`: the last counter that was genuine.
    last: Vec<Option<u64>>,
    sealed: Vec<Sender>,
    sealed_ranges: u64,
    nonces: NonceAudit,
    counts: SchemeCounts,
}

/// Counters that a sender still has of its range.
#[derive(Clone, Copy, Debug, Default)]
struct Sender {
    next: u64,
    end: u64,
}

impl Sender {
    /// The next counter; from a new range where this one is used up.
    fn counter(&mut self, range: u64, ranges: &mut u64) -> u64 {
        if self.next == self.end {
            self.next = *ranges * range;
            self.end = self.next + range;
            *ranges += 1;
        }
        self.next += 1;
        self.next - 1
    }
}

/// A receiver's keystream for counters `from` to `from + window`, ready at `ready`.
#[derive(Clone, Copy, Debug, Default)]
struct Guess {
    from: u64,
    window: u64,
    ready: Cycle,
}

impl fmt::Debug for I2sems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("I2sems").field("units", &self.units).field("shu", &self.shu).finish_non_exhaustive()
    }
}

impl I2sems {
    pub(super) fn new(shu: &Shu, units: usize, line: usize, seed: u64) -> I2sems {
        let aead = shu.functional.then(|| {
            let key = derive::<16>(seed, "group key", 0);
            Suite::Aes128Gcm.aead(key.as_ref()).expect("16 bytes are the suite's key length")
        });
        I2sems {
            units,
            line,
            shu: shu.clone(),
            engines: vec![Engine::new(shu.engine, shu.latency(), shu.interval); units],
            queues: vec![Pool::new(shu.pads); units],
            senders: vec![Sender::default(); units],
            next_range: 0,
            guesses: vec![Guess::default(); units * units],
            flying: vec![VecDeque::new(); units * units],
            aead,
            last: vec![None; units * units],
            sealed: vec![Sender::default(); units],
            sealed_ranges: 0,
            nonces: NonceAudit::default(),
            counts: SchemeCounts::default(),
        }
    }

    fn iv(&self, counter: u64) -> [u8; 12] {
        let mut iv = [0; 12];
        iv[2..4].copy_from_slice(&self.shu.epoch.to_be_bytes());
        iv[4..].copy_from_slice(&counter.to_be_bytes());
        iv
    }
}

fn associated(message: &Message) -> [u8; 11] {
    let mut ad = [0; 11];
    ad[0] = message.process;
    ad[1] = message.from.unwrap_or_default() as u8;
    ad[2] = message.to as u8;
    ad[3..].copy_from_slice(&message.line.to_be_bytes());
    ad
}

impl BusScheme for I2sems {
    fn send(&mut self, now: Cycle, from: Option<usize>, to: usize) -> Cycle {
        let Some(from) = from else { return now };
        let counter = self.senders[from].counter(self.shu.range, &mut self.next_range);
        self.flying[from * self.units + to].push_back(counter);
        let ready = self.queues[from].take(now, &mut self.engines[from]);
        self.counts.send.note(now, ready) + self.shu.xor
    }

    fn receive(&mut self, now: Cycle, from: Option<usize>, to: usize) -> Cycle {
        let Some(from) = from else { return now };
        let counter = self.flying[from * self.units + to].pop_front().unwrap_or_default();
        let guess = &mut self.guesses[to * self.units + from];
        let engine = &mut self.engines[to];
        let guessed = counter >= guess.from && counter < guess.from + guess.window;
        let ready = if guessed { guess.ready.max(now) } else { engine.line(now) };
        // The keystream for the guesses that follow: as many lines as the window moved by
        let moved = if guessed { counter + 1 - guess.from } else { self.shu.window };
        let made = (0..moved).map(|_| engine.line(now)).max().unwrap_or(now);
        *guess = Guess { from: counter + 1, window: self.shu.window, ready: if guessed { guess.ready } else { made } };
        self.counts.authentication_cycles += self.shu.ghash;
        self.counts.receive.note(now, ready) + self.shu.xor + self.shu.ghash
    }

    fn extra_bytes(&self) -> f64 {
        (LONGEST_TAG + 8) as f64
    }

    fn seal(&mut self, message: &mut Message) {
        let Some(from) = message.from else { return };
        if self.aead.is_none() {
            return;
        }
        message.counter = self.sealed[from].counter(self.shu.range, &mut self.sealed_ranges);
        let iv = self.iv(message.counter);
        self.nonces.note(&iv, (from, message.to));
        let ad = associated(message);
        let Some(aead) = &self.aead else { return };
        let tag = aead.seal_in_place(&iv, &ad, message.text_mut()).expect("a line is a short text");
        let mut bytes = [0; LONGEST_TAG];
        bytes.copy_from_slice(tag.as_ref());
        message.tag = Some(bytes);
    }

    fn hear(&mut self, unit: usize, message: &mut Message) -> Result<(), How> {
        let (Some(aead), Some(from)) = (&self.aead, message.from) else { return Ok(()) };
        if unit != message.to {
            return Ok(());
        }
        let last = &mut self.last[from * self.units + unit];
        if last.is_some_and(|last| message.counter <= last) {
            return Err(How::Replayed);
        }
        let mut iv = [0; 12];
        iv[2..4].copy_from_slice(&self.shu.epoch.to_be_bytes());
        iv[4..].copy_from_slice(&message.counter.to_be_bytes());
        let ad = associated(message);
        let tag = message.tag.unwrap_or_default();
        aead.open_in_place(&iv, &ad, message.text_mut(), &tag).map_err(|_| How::Tag)?;
        *last = Some(message.counter);
        Ok(())
    }

    /// Key schedule and GHASH key, the range, the last counter of each peer; keystream to send, and for each peer.
    fn storage_bits(&self) -> u64 {
        let peers = self.units as u64 - 1;
        let pad = self.line as u64 * 8 + 128;
        11 * 128 + 128 + 128 + peers * 64 + (self.shu.pads as u64 + peers * self.shu.window) * pad
    }

    fn counts(&self) -> SchemeCounts {
        let nonces = self.aead.is_some().then(|| self.nonces.clone());
        SchemeCounts { nonces, ..self.counts.clone() }
    }
}
