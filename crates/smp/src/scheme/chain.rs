//! Chained masks as in SENSS and the thesis: masks derived from earlier ciphertext, and a MAC over a chain of lines.
//!
//! A line is sent as `plaintext ^ mask`, and the next mask is the encrypted ciphertext. This is CFB (the thesis calls
//! it CBC): malleable bit by bit until the MAC is due. A chain belongs to the group, a sender, or a pair ([`Scope`]).

use std::{collections::VecDeque, fmt};

use sealwright::{
    Block, Isa,
    raw::{self, Raw},
};
use serde::{Deserialize, Serialize};

use super::{
    exchange::derive,
    unit::{Platform, Scheme, SchemeCounters},
};
use crate::{
    engine::{Cycle, Engine, Units},
    message::{Detector, LONGEST_LINE, LONGEST_TAG, Message},
};

/// Bytes of the truncated MAC that are transmitted.
const MAC: usize = 8;

/// Who shares a chain of masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Scope {
    /// All units share one: every transfer moves it.
    Group,
    /// Each sender has one, which all units follow; a receiver has one ring of masks for all senders.
    Node,
    /// Each ordered pair has one.
    Pair,
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
            /// Processes whose masks are stored at a time; affects only the computed storage.
            processes: usize = 100, in 1..=MOST as usize;
        });

        register!($name, $summary, Parameters, build, $columns);

        fn build(
            platform: &$crate::scheme::unit::Platform,
            parameters: Parameters,
        ) -> $crate::scheme::chain::Chain {
            let Parameters { masks, authenticate, mac, charge, scope, processes } = parameters;
            let latency = $latency;
            let rules = $crate::scheme::chain::Rules { latency, masks, authenticate, mac, charge, scope, processes };
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
    /// When each mask is ready, oldest first: for each chain, and for each ring of masks of a receiver.
    sending: Vec<VecDeque<Cycle>>,
    receiving: Vec<VecDeque<Cycle>>,
    /// Lines sent over each chain: every `authenticate`-th carries a MAC.
    sent: Vec<u64>,
    /// Each unit's engine for masks, and its engine for MACs. In a group all units do the same work at the same time,
    /// so that of unit 0 stands for all.
    engines: Vec<Engine>,
    macs: Vec<Engine>,
    ciphers: Option<Ciphers>,
    counters: SchemeCounters,
}

struct Ciphers {
    masks: Box<dyn Raw>,
    mac: Box<dyn Raw>,
    /// Each unit's state of each chain, at `unit * chains + chain`.
    states: Vec<Follower>,
    first: [u8; LONGEST_LINE],
}

/// A unit's state of a chain.
#[derive(Clone, Default)]
struct Follower {
    /// The next masks; empty until the first line.
    masks: VecDeque<[u8; LONGEST_LINE]>,
    mac: Block,
    lines: u64,
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
        let ciphers = platform.functional.then(|| {
            let cipher = |what| {
                let key = derive::<16>(seed, what, 0);
                raw::aes(Isa::best(), key.as_ref()).expect("16 bytes are a key of AES")
            };
            let states = vec![Follower::default(); units * chains];
            Ciphers {
                masks: cipher("mask key"),
                mac: cipher("MAC key"),
                states,
                first: *derive(seed, "first masks", 0),
            }
        });
        Chain {
            units,
            line,
            xor: platform.engines.xor,
            sending: vec![ring.clone(); chains],
            receiving: match rules.scope {
                // All units of the group share the sender's masks
                Scope::Group => Vec::new(),
                Scope::Node => vec![ring; units],
                Scope::Pair => vec![ring; chains],
            },
            sent: vec![0; chains],
            engines: platform.aes(rules.latency),
            macs: platform.macs(rules.latency),
            ciphers,
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

impl Ciphers {
    /// The initial masks of a chain: encryptions of a shared random value XORed with the mask's and block's numbers.
    fn begin(&self, masks: usize, chain: usize) -> VecDeque<[u8; LONGEST_LINE]> {
        (0..masks)
            .map(|mask| {
                let mut text = self.first;
                for (i, block) in text.chunks_exact_mut(16).enumerate() {
                    block[0] ^= mask as u8;
                    block[1] ^= i as u8;
                    block[2..4].copy_from_slice(&(chain as u16).to_be_bytes());
                }
                self.masks.ecb_encrypt(&mut text);
                text
            })
            .collect()
    }

    /// The chain's MAC after one more line of ciphertext.
    fn extend(&self, mac: &Block, message: &Message) -> Block {
        let mut text = [0; 16 + LONGEST_LINE];
        text[0] = message.from.unwrap_or_default() as u8;
        text[1] = message.to as u8;
        text[2] = message.process;
        text[8..16].copy_from_slice(&message.line.to_be_bytes());
        let text = &mut text[..16 + message.len];
        text[16..].copy_from_slice(message.text());
        self.mac.cbc_encrypt(mac, text);
        let mut last = [0; 16];
        last.copy_from_slice(&text[message.len..]);
        last
    }

    /// The MAC as transmitted: encrypted once more, so that it does not reveal the chain's state.
    fn tag(&self, mac: &Block) -> [u8; LONGEST_TAG] {
        let mut block = *mac;
        block[0] ^= 0x80;
        self.mac.ecb_encrypt(&mut block);
        block[MAC..].fill(0);
        block
    }
}

fn xor(text: &mut [u8], mask: &[u8]) {
    text.iter_mut().zip(mask).for_each(|(text, mask)| *text ^= mask);
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

    fn transmit(&mut self, _arrives: Cycle, message: &mut Message) -> Option<Cycle> {
        let from = message.from?;
        let (chain, chains) = (self.chain(from, message.to), self.sending.len());
        // Every line is included in the MAC, whether it carries one or not
        let unit = self.unit(from);
        let blocks = self.mac_blocks(message);
        message.tag_ready = self.macs[unit].work(message.sent, blocks);
        let ciphers = self.ciphers.as_mut()?;
        let at = from * chains + chain;
        if ciphers.states[at].masks.is_empty() {
            ciphers.states[at].masks = ciphers.begin(self.rules.masks, chain);
        }
        let state = &ciphers.states[at];
        if let Some(mask) = state.masks.front() {
            xor(message.text_mut(), mask);
        }
        message.tag = message.authenticated.then(|| ciphers.tag(&ciphers.extend(&state.mac, message)));
        None
    }

    fn observe(&mut self, unit: usize, message: &mut Message) -> Result<(), Detector> {
        let Some(from) = message.from else { return Ok(()) };
        if self.rules.scope == Scope::Pair && unit != from && unit != message.to {
            return Ok(());
        }
        let (chain, chains) = (self.chain(from, message.to), self.sending.len());
        let Some(ciphers) = &mut self.ciphers else { return Ok(()) };
        let at = unit * chains + chain;
        let mut state = std::mem::take(&mut ciphers.states[at]);
        if state.masks.is_empty() {
            state.masks = ciphers.begin(self.rules.masks, chain);
        }
        let mut next = [0; LONGEST_LINE];
        next[..message.len].copy_from_slice(message.text());
        ciphers.masks.ecb_encrypt(&mut next[..message.len]);
        state.mac = ciphers.extend(&state.mac, message);
        state.lines += 1;
        let due = state.lines.is_multiple_of(self.rules.authenticate);
        let genuine = !due || message.tag == Some(ciphers.tag(&state.mac));
        if let Some(mask) = state.masks.pop_front()
            && unit == message.to
        {
            xor(message.text_mut(), &mask);
        }
        state.masks.push_back(next);
        ciphers.states[at] = state;
        if genuine { Ok(()) } else { Err(Detector::Mac) }
    }

    fn receive(&mut self, now: Cycle, message: &mut Message) -> Cycle {
        let Some(from) = message.from else { return now };
        let unit = self.unit(message.to);
        let place = if self.rules.scope == Scope::Pair { self.chain(from, message.to) } else { message.to };
        let ready = match self.receiving.get_mut(place) {
            Some(ring) => open(ring, now, &mut self.engines[unit]),
            None => now,
        };
        let plain = self.counters.receive.note(now, ready) + self.xor;
        // In a group, the sender's MAC engine stands for the receiver's
        let (blocks, group) = (self.mac_blocks(message), self.rules.scope == Scope::Group);
        let made = if group { message.tag_ready } else { self.macs[unit].work(now, blocks) };
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
        let Rules { processes, masks, scope, .. } = self.rules;
        let directions = match scope {
            Scope::Group => 1,
            Scope::Node => 2,
            Scope::Pair => 2 * (self.units - 1),
        };
        let masks = (processes * directions * masks * self.line * 8) as u64;
        2 * masks + 2 * 11 * 128
    }

    fn counters(&self) -> SchemeCounters {
        self.counters.clone()
    }
}

#[cfg(test)]
#[path = "chain_tests.rs"]
mod tests;
