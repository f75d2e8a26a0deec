//! I2SEMS (Lee, Ahn, Kim, PACT 2007): a global controller assigns ranges of counters to senders, so there are no
//! counters per pair. Keystream is precomputed for the counters that are expected next.
//!
//! Only the abstract of the paper was available, so the sizes here are settings and not its figures. All receivers
//! share a sender's counters, so a receiver sees gaps; its prediction is right as long as the gap is within its window.

use std::{collections::VecDeque, fmt};

use sealwright::{Aead, Suite};

use super::{
    exchange::derive,
    nonce::NonceAudit,
    registration::{MOST, parameters, register},
    unit::{Platform, Scheme, SchemeCounters, THESIS_LATENCY},
};
use crate::{
    engine::{Cycle, Engine, Pool},
    message::{Detector, LONGEST_TAG, Message},
};

parameters!(Parameters {
    /// Counters in a range that a sender is assigned.
    range: u64 = 64, in 1..=MOST;
    /// Keystreams that a sender precomputes.
    pads: usize = 5, in 0..=MOST as usize;
    /// Keystreams that a receiver precomputes for each sender.
    window: u64 = 8, in 0..=MOST;
    /// Boot number of the machine; part of the IV, so that counters can start again.
    epoch: u16 = 1;
});

register!("i2sems", "I2SEMS: ranges of counters for senders, keystream precomputed", Parameters, I2sems::new);

/// Units whose counters a global controller assigns.
struct I2sems {
    units: usize,
    line: usize,
    xor: u64,
    parameters: Parameters,
    /// Blocks of a keystream: those of a line, and the one that masks the tag.
    pad: u64,
    /// Each unit's engine as seen by three priorities of work. Highest is keystream that a line waits for (`urgent`),
    /// then keystream for the unit's own next counters (`certain`), then keystream for predicted counters (`engines`).
    /// Work is booked at its own priority and at all lower ones, so it delays only those.
    urgent: Vec<Engine>,
    certain: Vec<Engine>,
    engines: Vec<Engine>,
    ghash: Vec<Engine>,
    queues: Vec<Pool>,
    senders: Vec<Sender>,
    /// The next range that is not assigned to a sender.
    next_range: u64,
    /// At `receiver * units + sender`: the keystream precomputed for the sender's next counters.
    guesses: Vec<Guess>,
    aead: Option<Box<dyn Aead>>,
    /// At `from * units + to`: the counter of the last genuine line.
    last: Vec<Option<u64>>,
    nonces: NonceAudit,
    counters: SchemeCounters,
}

/// The counters left in a sender's range.
#[derive(Clone, Copy, Debug, Default)]
struct Sender {
    next: u64,
    end: u64,
}

impl Sender {
    /// The next counter, from a new range if the current one is used up.
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

/// A receiver's precomputed keystreams for a sender's counters from `from` on: when each is ready.
#[derive(Clone, Debug, Default)]
struct Guess {
    from: u64,
    ready: VecDeque<Cycle>,
}

impl Guess {
    /// Takes the keystream of `counter`, if it was precomputed, and discards those of earlier counters.
    fn take(&mut self, counter: u64) -> Option<Cycle> {
        let passed = counter.checked_sub(self.from).and_then(|passed| usize::try_from(passed).ok());
        let found = passed.and_then(|passed| self.ready.get(passed).copied());
        match (found, passed) {
            (Some(_), Some(passed)) => drop(self.ready.drain(..=passed)),
            _ => self.ready.clear(),
        }
        self.from = counter + 1;
        found
    }
}

impl fmt::Debug for I2sems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("I2sems")
            .field("units", &self.units)
            .field("parameters", &self.parameters)
            .finish_non_exhaustive()
    }
}

impl I2sems {
    fn new(platform: &Platform, parameters: Parameters) -> I2sems {
        let Platform { units, line, seed, .. } = *platform;
        let aead = platform.functional.then(|| {
            let key = derive::<16>(seed, "group key", 0);
            Suite::Aes128Gcm.aead(key.as_ref()).expect("16 bytes are the suite's key length")
        });
        I2sems {
            units,
            line,
            xor: platform.engines.xor,
            pad: platform.blocks() + 1,
            urgent: platform.aes(THESIS_LATENCY),
            certain: platform.aes(THESIS_LATENCY),
            engines: platform.aes(THESIS_LATENCY),
            ghash: platform.ghash(),
            queues: vec![Pool::new(parameters.pads); units],
            senders: vec![Sender::default(); units],
            next_range: 0,
            guesses: vec![Guess::default(); units * units],
            aead,
            last: vec![None; units * units],
            nonces: NonceAudit::default(),
            counters: SchemeCounters::default(),
            parameters,
        }
    }

    /// When a unit has the keystream that a line waits for at `now`: the precomputed one, which is ready at `begun`, or
    /// one computed on demand if that is sooner.
    fn soonest(&mut self, unit: usize, begun: Option<Cycle>, now: Cycle) -> Cycle {
        if begun.is_some_and(|ready| ready <= now) {
            return now;
        }
        // The precomputed keystream is used, so no engine is occupied again
        let made = self.urgent[unit].would_be_done(now, self.pad);
        if let Some(begun) = begun.filter(|ready| *ready <= made) {
            return begun;
        }
        self.engines[unit].work(now, self.pad);
        self.certain[unit].work(now, self.pad);
        self.urgent[unit].work(now, self.pad)
    }

    fn iv(&self, counter: u64) -> [u8; 12] {
        let mut iv = [0; 12];
        iv[2..4].copy_from_slice(&self.parameters.epoch.to_be_bytes());
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

impl Scheme for I2sems {
    fn send(&mut self, now: Cycle, message: &mut Message) -> Cycle {
        let Some(from) = message.from else { return now };
        message.counter = self.senders[from].counter(self.parameters.range, &mut self.next_range);
        let begun = self.queues[from].pop();
        let ready = self.soonest(from, begun, now);
        if begun.is_some() {
            // Precompute a replacement
            self.engines[from].work(now, self.pad);
            self.queues[from].fill(now, &mut self.certain[from], self.pad);
        }
        self.counters.send.note(now, ready) + self.xor
    }

    fn authenticate(&mut self, message: &mut Message) -> u64 {
        message.authenticated = true;
        // The counter is transmitted too
        LONGEST_TAG as u64 + 8
    }

    fn transmit(&mut self, _arrives: Cycle, message: &mut Message) -> Option<Cycle> {
        let from = message.from?;
        message.tag_ready = self.ghash[from].line(message.sent);
        let iv = self.iv(message.counter);
        let aead = self.aead.as_ref()?;
        self.nonces.note(&iv, (from, message.to));
        let ad = associated(message);
        let tag = aead.seal_in_place(&iv, &ad, message.text_mut()).expect("a line is a short text");
        let mut bytes = [0; LONGEST_TAG];
        bytes.copy_from_slice(tag.as_ref());
        message.tag = Some(bytes);
        None
    }

    fn observe(&mut self, unit: usize, message: &mut Message) -> Result<(), Detector> {
        let iv = self.iv(message.counter);
        let (Some(aead), Some(from)) = (&self.aead, message.from) else { return Ok(()) };
        if unit != message.to {
            return Ok(());
        }
        let last = &mut self.last[from * self.units + unit];
        if last.is_some_and(|last| message.counter <= last) {
            return Err(Detector::Counter);
        }
        let ad = associated(message);
        let tag = message.tag.unwrap_or_default();
        aead.open_in_place(&iv, &ad, message.text_mut(), &tag).map_err(|_| Detector::Tag)?;
        *last = Some(message.counter);
        Ok(())
    }

    fn receive(&mut self, now: Cycle, message: &mut Message) -> Cycle {
        let Some(from) = message.from else { return now };
        let to = message.to;
        let begun = self.guesses[to * self.units + from].take(message.counter);
        let ready = self.soonest(to, begun, now);
        // Advance the window: precompute a keystream for each counter that enters it
        let (guess, engine) = (&mut self.guesses[to * self.units + from], &mut self.engines[to]);
        while (guess.ready.len() as u64) < self.parameters.window {
            guess.ready.push_back(engine.work(now, self.pad));
        }
        let plain = self.counters.receive.note(now, ready) + self.xor;
        // As in the thesis's unit, GHASH does not wait for the keystream
        let checked = self.ghash[to].line(now).max(plain).max(message.tag_arrives(now));
        self.counters.authentication_cycles += checked - plain;
        checked
    }

    /// Key schedule, GHASH key, the range, and the last counter of each peer; keystream for sending, and for each peer.
    fn storage_bits(&self) -> u64 {
        let peers = self.units as u64 - 1;
        let pad = self.line as u64 * 8 + 128;
        let Parameters { pads, window, .. } = self.parameters;
        11 * 128 + 128 + 128 + peers * 64 + (pads as u64 + peers * window) * pad
    }

    fn counters(&self) -> SchemeCounters {
        let nonces = self.aead.is_some().then(|| self.nonces.clone());
        SchemeCounters { nonces, ..self.counters.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn scheme() -> I2sems {
        let mut config = Config::default();
        config.scheme.functional = false;
        I2sems::new(&config.platform(), Parameters::default())
    }

    #[test]
    fn a_burst_takes_the_engines_for_what_it_uses() {
        let mut scheme = scheme();
        let (now, sends, pad) = (10_000, scheme.parameters.pads + 1, scheme.pad);
        let mut alone = scheme.urgent[0].clone();
        for _ in 0..sends {
            scheme.send(now, &mut Message::empty(Some(0), 1));
        }
        // The last line waits for keystream under way, which is ready no later than one on demand: none is computed
        assert_eq!(scheme.counters.send.waited, 1);
        assert_eq!(scheme.urgent[0].work(now, pad), alone.work(now, pad));
        // A replacement was precomputed for each
        let after = (0..sends).map(|_| alone.work(now, pad)).last();
        for engine in [&mut scheme.certain[0], &mut scheme.engines[0]] {
            assert_eq!(Some(engine.work(now, pad)), after);
        }
    }

    #[test]
    fn keystream_that_is_made_ahead_keeps_no_line_waiting() {
        let waits = |sends: usize, received: usize| {
            let mut scheme = scheme();
            for _ in 0..sends {
                let left = scheme.send(10_000, &mut Message::empty(Some(0), 1));
                assert_eq!(left, 10_000 + scheme.xor, "a keystream was ready");
            }
            let mut line = Message::empty(Some(1), 0);
            // Not a predicted counter, so nothing was precomputed for it
            line.counter = 1000;
            let waited = (0..received).map(|_| {
                line.counter += 1000;
                scheme.receive(10_000, &mut line) - 10_000
            });
            waited.collect::<Vec<_>>()
        };
        for received in [1, 3] {
            assert_eq!(waits(5, received), waits(0, received));
        }
    }
}
