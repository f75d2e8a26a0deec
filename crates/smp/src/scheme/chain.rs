//! Chained masks as in SENSS and the thesis: masks derived from earlier ciphertext, and a MAC over a chain of lines.
//!
//! A line is sent as `plaintext ^ mask`, and the next mask is the encrypted ciphertext. This is CFB (the thesis calls
//! it CBC): malleable bit by bit until the MAC is due. A chain belongs to the group, a sender, or a pair ([`Scope`]).

use std::{collections::VecDeque, fmt};

use serde::{Deserialize, Serialize};

use super::{
    masks::{Ciphers, MAC},
    unit::{Occupied, Platform, Scheme, SchemeCounters, occupied},
};
use crate::{
    engine::{Cycle, Engine, Units},
    message::{Detector, Message},
};

/// Who shares a chain of masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Scope {
    /// All units share one: every transfer moves it.
    Group,
    /// Each sender has one, which all units follow.
    Node,
    /// Each ordered pair has one.
    Pair,
}

/// The masks that a receiver keeps where each sender has a chain of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Receive {
    /// Those of each sender. The next one follows from the sender's previous line, whoever received that.
    Each,
    /// As the thesis counts them: one ring for all senders, whose next mask follows from the line received last. With
    /// more than two units no chain works like that, so lines are encrypted as with `Each`.
    One,
}

/// When a MAC is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Mac {
    /// Before the line is used.
    Critical,
    /// In the background, by a separate engine, while the line is already in use.
    Background,
}

/// The AES blocks of a line that the MAC engine takes time for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Charge {
    /// The blocks of the line: a MAC takes the cycles of a line, as published.
    Line,
    /// All that are encrypted: also those of the header, and for each MAC the one that hides the chain's state.
    All,
}

/// The parameters in which schemes of chained masks differ.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    /// Cycles of AES for a line, as published.
    pub(super) latency: u64,
    /// Masks of a chain, or of each direction if sending and receiving have separate masks; 0 follows `engines.units`.
    pub(super) masks: usize,
    /// Lines per MAC.
    pub(super) authenticate: u64,
    pub(super) mac: Mac,
    pub(super) charge: Charge,
    pub(super) scope: Scope,
    pub(super) receive: Receive,
    /// Processes whose masks a unit stores; affects only [`Scheme::storage_bits`].
    pub(super) processes: usize,
}

/// A scheme of chained masks: its name, summary and latency, its parameters' defaults, and its columns in the matrix of
/// attacks.
macro_rules! chained {
    ($name:literal, $summary:literal, latency: $latency:expr, masks: $masks:literal, authenticate: $authenticate:literal,
     mac: $mac:expr, scope: $scope:expr, columns: $columns:tt) => {
        parameters!(Parameters {
            /// Masks per chain (and direction, unless the scope is group); 0 is 1 with `engines.units=thesis`, else 2.
            masks: usize = $masks, in 0..=MOST as usize;
            /// Lines per MAC.
            authenticate: u64 = $authenticate, in 1..=MOST;
            /// When the MAC is checked: critical (before the line is used) or background (in parallel with its use).
            mac: Mac = $mac;
            /// AES blocks per line that the MAC takes: line (the line's own, as published) or all (header and tag too).
            charge: Charge = Charge::Line;
            /// Who shares a chain: group (all units), node (one chain per sender) or pair (one per ordered pair).
            scope: Scope = $scope;
            /// Masks to receive with the scope node: each (those of each sender) or one (one ring for all senders).
            receive: Receive = Receive::Each;
            /// Processes whose masks are stored at a time; affects only the computed storage.
            processes: usize = 100, in 1..=MOST as usize;
        });

        register!($name, $summary, Parameters, build, $columns);

        fn build(
            platform: &$crate::scheme::unit::Platform,
            parameters: Parameters,
        ) -> $crate::scheme::chain::Chain {
            let Parameters { masks, authenticate, mac, charge, scope, receive, processes } = parameters;
            let rules = $crate::scheme::chain::Rules {
                latency: $latency,
                masks,
                authenticate,
                mac,
                charge,
                scope,
                receive,
                processes,
            };
            $crate::scheme::chain::Chain::new(platform, rules)
        }
    };
}

pub(super) use chained;

/// Units that encrypt lines with chained masks.
pub(super) struct Chain {
    units: usize,
    line: usize,
    xor: u64,
    rules: Rules,
    chains: usize,
    /// When each mask is ready, oldest first: for each chain, and for each ring of masks of a receiver.
    sending: Vec<VecDeque<Cycle>>,
    receiving: Vec<VecDeque<Cycle>>,
    /// Lines sent over each chain: every `authenticate`-th carries a MAC.
    sent: Vec<u64>,
    /// Each unit's engine for masks, and its engine for MACs. In a group all units do the same work at the same time,
    /// so that of unit 0 stands for all.
    engines: Vec<Engine>,
    macs: Vec<Engine>,
    /// At `unit * chains + chain`: when the unit has the chain's MAC after the latest line. The next line's MAC starts
    /// from it.
    chained: Vec<Cycle>,
    ciphers: Option<Ciphers>,
    counters: SchemeCounters,
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain").field("units", &self.units).field("rules", &self.rules).finish_non_exhaustive()
    }
}

impl Chain {
    pub(super) fn new(platform: &Platform, mut rules: Rules) -> Chain {
        let Platform { units, line, seed, .. } = *platform;
        if rules.masks == 0 {
            rules.masks = if platform.engines.units == Units::Thesis { 1 } else { 2 };
        }
        let chains = match rules.scope {
            Scope::Group => 1,
            Scope::Node => units,
            Scope::Pair => units * units,
        };
        let ring: VecDeque<Cycle> = vec![0; rules.masks].into();
        let ciphers = || Ciphers::new(seed, units, chains, rules.masks, rules.authenticate);
        Chain {
            units,
            line,
            xor: platform.engines.xor,
            chains,
            sending: vec![ring.clone(); chains],
            receiving: match (rules.scope, rules.receive) {
                // All units of the group share the sender's masks
                (Scope::Group, _) => Vec::new(),
                (Scope::Node, Receive::One) => vec![ring; units],
                (Scope::Node, Receive::Each) => vec![ring; units * chains],
                (Scope::Pair, _) => vec![ring; chains],
            },
            sent: vec![0; chains],
            engines: platform.aes(rules.latency),
            macs: platform.macs(rules.latency),
            chained: vec![0; units * chains],
            ciphers: platform.functional.then(ciphers),
            counters: SchemeCounters::default(),
            rules,
        }
    }

    /// The unit whose engines account for a unit's work.
    fn unit(&self, unit: usize) -> usize {
        if self.rules.scope == Scope::Group { 0 } else { unit }
    }

    /// AES blocks of a line that the MAC engine takes time for. [`Ciphers`] computes all of them in any case.
    fn mac_blocks(&self, message: &Message) -> u64 {
        let all = (self.rules.charge == Charge::All).then(|| 1 + u64::from(message.authenticated));
        self.line as u64 / 16 + all.unwrap_or(0)
    }

    fn chain(&self, from: usize, to: usize) -> usize {
        match self.rules.scope {
            Scope::Group => 0,
            Scope::Node => from,
            Scope::Pair => from * self.units + to,
        }
    }

    /// A unit's engine computes the MAC of a line that it has at `now`, from the chain's MAC before that line; returns
    /// when it is done.
    fn extend(&mut self, unit: usize, chain: usize, now: Cycle, blocks: u64) -> Cycle {
        let before = &mut self.chained[unit * self.chains + chain];
        *before = self.macs[unit].work(now.max(*before), blocks);
        *before
    }

    /// All units but the sender see its line at `arrives`, and have from it the next mask and MAC of its chain. Only
    /// the receiver's engines are occupied; it finds in the message when its mask is ready and its MAC done.
    fn follow(&mut self, from: usize, arrives: Cycle, blocks: u64, message: &mut Message) {
        let line = self.line as u64 / 16;
        for unit in (0..self.units).filter(|unit| *unit != from) {
            let receives = unit == message.to;
            let at = unit * self.chains + from;
            if self.rules.receive == Receive::Each {
                let (ring, engine) = (&mut self.receiving[at], &mut self.engines[unit]);
                let next = if receives { engine.line(arrives) } else { arrives + engine.latency(line) };
                ring.push_back(next);
                let ready = ring.pop_front().unwrap_or(next);
                if receives {
                    message.usable = ready;
                }
            }
            if receives {
                message.checked = self.extend(unit, from, arrives, blocks);
            } else {
                self.chained[at] = self.chained[at].max(arrives) + self.macs[unit].latency(blocks);
            }
        }
    }
}

/// A sender takes its ring's oldest mask at `now`; returns when it is ready, and only then can the next mask be made.
fn seal(ring: &mut VecDeque<Cycle>, now: Cycle, engine: &mut Engine) -> Cycle {
    let ready = ring.pop_front().unwrap_or(now).max(now);
    ring.push_back(engine.line(ready));
    ready
}

/// A receiver takes its ring's oldest mask at `now`; returns when it is ready. The engine starts on the next mask at
/// once, since the ciphertext that it is made from has arrived.
fn open(ring: &mut VecDeque<Cycle>, now: Cycle, engine: &mut Engine) -> Cycle {
    ring.push_back(engine.line(now));
    ring.pop_front().unwrap_or(now).max(now)
}

impl Scheme for Chain {
    fn send(&mut self, now: Cycle, message: &mut Message) -> Cycle {
        let Some(from) = message.from else { return now };
        let chain = self.chain(from, message.to);
        let unit = self.unit(from);
        let ready = seal(&mut self.sending[chain], now, &mut self.engines[unit]);
        self.counters.send.note(now, ready) + self.xor
    }

    fn authenticate(&mut self, message: &mut Message) -> u64 {
        let Some(from) = message.from else { return 0 };
        let chain = self.chain(from, message.to);
        self.sent[chain] += 1;
        message.authenticated = self.sent[chain].is_multiple_of(self.rules.authenticate);
        // A critical MAC is sent with its line; a background MAC is a message with a header of its own
        let header = if self.rules.mac == Mac::Background { 8 } else { 0 };
        if message.authenticated { MAC as u64 + header } else { 0 }
    }

    fn transmit(&mut self, arrives: Cycle, message: &mut Message) -> Option<Cycle> {
        let from = message.from?;
        let chain = self.chain(from, message.to);
        // Every line is included in the MAC, whether it carries one or not
        let blocks = self.mac_blocks(message);
        message.tag_ready = self.extend(self.unit(from), chain, message.sent, blocks);
        if self.rules.scope == Scope::Node {
            self.follow(from, arrives, blocks, message);
        }
        self.ciphers.as_mut()?.seal(from, chain, message);
        None
    }

    fn observe(&mut self, unit: usize, message: &mut Message) -> Result<(), Detector> {
        let Some(from) = message.from else { return Ok(()) };
        if self.rules.scope == Scope::Pair && unit != from && unit != message.to {
            return Ok(());
        }
        let chain = self.chain(from, message.to);
        self.ciphers.as_mut().map_or(Ok(()), |ciphers| ciphers.follow(unit, chain, message))
    }

    fn receive(&mut self, now: Cycle, message: &mut Message) -> Cycle {
        let Some(from) = message.from else { return now };
        let (to, chain) = (message.to, self.chain(from, message.to));
        let blocks = self.mac_blocks(message);
        let ready = match (self.rules.scope, self.rules.receive) {
            (Scope::Group, _) => now,
            (Scope::Node, Receive::Each) => message.usable.max(now),
            (Scope::Node, Receive::One) => open(&mut self.receiving[to], now, &mut self.engines[to]),
            (Scope::Pair, _) => open(&mut self.receiving[chain], now, &mut self.engines[to]),
        };
        let plain = self.counters.receive.note(now, ready) + self.xor;
        let made = match self.rules.scope {
            // In a group, the sender's MAC engine stands for the receiver's
            Scope::Group => message.tag_ready,
            // Later than planned if an attacker held the line back
            Scope::Node => message.checked.max(now + self.macs[to].latency(blocks)),
            Scope::Pair => self.extend(to, chain, now, blocks),
        };
        let checked = made.max(message.tag_arrives(now)).max(plain);
        message.checked = checked;
        // Without a MAC where its unit expects one, the line's check fails, and until then it waits as with one
        if !message.authenticated && message.alarm.is_none() {
            return plain;
        }
        match self.rules.mac {
            Mac::Critical => {
                self.counters.authentication_cycles += checked - plain;
                checked
            }
            // The line does not wait; the MAC is checked later
            Mac::Background => {
                self.counters.unauthenticated_cycles += checked - plain;
                plain
            }
        }
    }

    fn needs_bus(&self) -> Option<&'static str> {
        (self.rules.scope != Scope::Pair)
            .then_some("all units follow each chain of masks (only the scope pair needs no others)")
    }

    /// For every process, masks to send and to receive (shared in a group), and as many for the MAC; two key schedules.
    fn storage_bits(&self) -> u64 {
        let Rules { processes, masks, scope, receive, .. } = self.rules;
        let rings = match (scope, receive) {
            (Scope::Group, _) => 1,
            (Scope::Node, Receive::One) => 2,
            // Its own chain, and those of all other senders
            (Scope::Node, Receive::Each) => self.units,
            (Scope::Pair, _) => 2 * (self.units - 1),
        };
        let masks = (processes * rings * masks * self.line * 8) as u64;
        2 * masks + 2 * 11 * 128
    }

    fn counters(&self) -> SchemeCounters {
        // In a group, all units do what unit 0 does
        let units = if self.rules.scope == Scope::Group { self.units as u64 } else { 1 };
        let (aes, mac) = (units * occupied(&self.engines), units * occupied(&self.macs));
        SchemeCounters { occupied: Occupied { aes, mac, ghash: 0 }, ..self.counters.clone() }
    }
}

#[cfg(test)]
#[path = "chain_tests.rs"]
mod tests;
