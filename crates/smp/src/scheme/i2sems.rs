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
    priorities::{Ahead, Priorities, Ticket},
    registration::{MOST, parameters, register},
    tagged,
    unit::{Occupied, Platform, Scheme, SchemeCounters, THESIS_LATENCY, occupied},
};
use crate::{
    engine::{Cycle, Engine},
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
    /// Each unit's AES engine.
    engines: Vec<Priorities>,
    ghash: Vec<Engine>,
    /// Each unit's keystream for its own next counters.
    queues: Vec<VecDeque<Ticket>>,
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

/// A receiver's precomputed keystreams for a sender's counters from `from` on.
#[derive(Clone, Debug, Default)]
struct Guess {
    from: u64,
    made: VecDeque<Ticket>,
}

impl Guess {
    /// Takes the keystream of `counter`, if it was asked for, and withdraws those of the counters that are passed.
    fn take(&mut self, counter: u64, engine: &mut Priorities) -> Option<Ticket> {
        let passed = counter.checked_sub(self.from).and_then(|passed| usize::try_from(passed).ok());
        let found = passed.and_then(|passed| self.made.get(passed).copied());
        let through = passed.filter(|_| found.is_some()).map_or(self.made.len(), |passed| passed + 1);
        let passed = self.made.drain(..through).filter(|ticket| Some(*ticket) != found);
        passed.for_each(|ticket| engine.withdraw(ticket));
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
        // A keystream has one block more than its line, which masks the tag
        let engine = |engine| Priorities::new(engine, platform.blocks() + 1);
        let mut engines: Vec<Priorities> = platform.aes(THESIS_LATENCY).into_iter().map(engine).collect();
        let stocked = |engine: &mut Priorities| (0..parameters.pads).map(|_| engine.stocked()).collect();
        I2sems {
            units,
            line,
            xor: platform.engines.xor,
            queues: engines.iter_mut().map(stocked).collect(),
            engines,
            ghash: platform.ghash(),
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
        let (queue, engine) = (&mut self.queues[from], &mut self.engines[from]);
        let made = queue.pop_front();
        let ready = engine.take(made, now);
        if made.is_some() {
            // Precompute a replacement
            queue.push_back(engine.ask(Ahead::Certain, now));
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
        tagged::seal(aead.as_ref(), &iv, &ad, message);
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
        tagged::open(aead.as_ref(), &iv, &ad, message)?;
        *last = Some(message.counter);
        Ok(())
    }

    fn receive(&mut self, now: Cycle, message: &mut Message) -> Cycle {
        let Some(from) = message.from else { return now };
        let to = message.to;
        let (guess, engine) = (&mut self.guesses[to * self.units + from], &mut self.engines[to]);
        let made = guess.take(message.counter, engine);
        let ready = engine.take(made, now);
        // Advance the window: precompute a keystream for each counter that enters it
        while (guess.made.len() as u64) < self.parameters.window {
            guess.made.push_back(engine.ask(Ahead::Guessed, now));
        }
        let plain = self.counters.receive.note(now, ready) + self.xor;
        tagged::checked(&mut self.ghash[to], message, (now, plain), &mut self.counters)
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
        let aes = self.engines.iter().map(Priorities::occupied).sum();
        let occupied = Occupied { aes, mac: 0, ghash: occupied(&self.ghash) };
        SchemeCounters { nonces, occupied, ..self.counters.clone() }
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
        let (now, sends) = (10_000, scheme.parameters.pads + 1);
        let left: Vec<Cycle> = (0..sends).map(|_| scheme.send(now, &mut Message::empty(Some(0), 1)) - now).collect();
        // The last line needs keystream that has not begun, which is then made before that for the lines after it
        assert_eq!((&left[..5], left[5]), (&[1; 5][..], 341));
        assert_eq!(scheme.counters.send.waited, 1);
        // A replacement is made for each line, and nothing twice
        let next = (0..sends - 1).map(|_| scheme.send(now + 5000, &mut Message::empty(Some(0), 1)));
        assert!(next.into_iter().all(|left| left == now + 5001));
        assert_eq!(scheme.counters().occupied.aes, 6 * 100);
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
