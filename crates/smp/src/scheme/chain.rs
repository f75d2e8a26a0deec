//! SENSS, as its authors and as the thesis have it: masks fed back from the ciphertext, and a MAC over a chain of lines.
//!
//! The thesis calls it CBC. A line is `plaintext ^ mask`, and the next mask is the ciphertext encrypted: that is CFB, and
//! malleable bit by bit until the MAC is due. A chain belongs to the group, to a sender, or to a pair ([`Scope`]).

use std::{collections::VecDeque, fmt};

use sealwright::{
    Block, Isa,
    raw::{self, Raw},
};

use super::{BusScheme, Mac, SchemeCounts, Scope, Shu, exchange::derive};
use crate::{
    engine::{Cycle, Engine, Model},
    message::{How, LONGEST_LINE, LONGEST_TAG, Message},
};

/// Bytes of the MAC that travel.
const MAC: usize = 8;

/// Units that encrypt lines with chained masks.
pub(super) struct Chain {
    units: usize,
    line: usize,
    shu: Shu,
    /// When each mask of a chain is ready, oldest first; and of each receiver, where it has a ring of its own.
    sending: Vec<VecDeque<Cycle>>,
    receiving: Vec<VecDeque<Cycle>>,
    /// Lines received over each chain, for the MAC's turn.
    turns: Vec<u64>,
    /// The unit that makes MACs in the background, one a node.
    macs: Vec<Engine>,
    ciphers: Option<Ciphers>,
    counts: SchemeCounts,
}

struct Ciphers {
    masks: Box<dyn Raw>,
    mac: Box<dyn Raw>,
    /// `unit * chains + chain`: what each unit makes of each chain.
    states: Vec<Follower>,
    first: [u8; LONGEST_LINE],
}

/// A unit's place in a chain.
#[derive(Clone, Default)]
struct Follower {
    /// The masks to come, empty until the first line.
    masks: VecDeque<[u8; LONGEST_LINE]>,
    mac: Block,
    lines: u64,
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain").field("units", &self.units).field("shu", &self.shu).finish_non_exhaustive()
    }
}

impl Chain {
    pub(super) fn new(shu: &Shu, units: usize, line: usize, seed: u64) -> Chain {
        let chains = match shu.scope() {
            Scope::Group => 1,
            Scope::Node => units,
            Scope::Pair => units * units,
        };
        let ring: VecDeque<Cycle> = vec![0; shu.masks()].into();
        let ciphers = shu.functional.then(|| {
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
            shu: shu.clone(),
            sending: vec![ring.clone(); chains],
            receiving: vec![ring; if shu.scope() == Scope::Node { units } else { 0 }],
            turns: vec![0; chains],
            macs: vec![Engine::new(Model::Iterative, shu.latency(), None); units],
            ciphers,
            counts: SchemeCounts::default(),
        }
    }

    fn chain(&self, from: usize, to: usize) -> usize {
        match self.shu.scope() {
            Scope::Group => 0,
            Scope::Node => from,
            Scope::Pair => from * self.units + to,
        }
    }
}

/// Takes a ring's oldest mask at `now`; the next is ready a latency after it served.
fn take(ring: &mut VecDeque<Cycle>, now: Cycle, latency: u64) -> Cycle {
    let ready = ring.pop_front().unwrap_or(now).max(now);
    ring.push_back(ready + latency);
    ready
}

impl Ciphers {
    /// The masks that a chain starts with: numbered encryptions of a value drawn with the keys.
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

    /// What travels of a MAC: encrypted once more, so that the chain's state stays inside.
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

impl BusScheme for Chain {
    fn send(&mut self, now: Cycle, from: Option<usize>, to: usize) -> Cycle {
        let Some(from) = from else { return now };
        let chain = self.chain(from, to);
        let ready = take(&mut self.sending[chain], now, self.shu.latency());
        self.counts.send.note(now, ready) + self.shu.xor
    }

    fn receive(&mut self, now: Cycle, from: Option<usize>, to: usize) -> Cycle {
        let Some(from) = from else { return now };
        let latency = self.shu.latency();
        let ready = match self.receiving.get_mut(to) {
            Some(ring) => take(ring, now, latency),
            None => now,
        };
        let usable = self.counts.receive.note(now, ready) + self.shu.xor;
        let chain = self.chain(from, to);
        self.turns[chain] += 1;
        let due = self.turns[chain].is_multiple_of(self.shu.authenticate());
        match self.shu.mac() {
            Mac::Critical if due => {
                self.counts.authentication_cycles += latency;
                usable + latency
            }
            Mac::Critical => usable,
            // The line does not wait; the unit is busy
            Mac::Background => {
                self.macs[to].line(usable);
                usable
            }
        }
    }

    fn extra_bytes(&self) -> f64 {
        // A critical MAC rides with its line; in the background it is a message with a header of its own
        let header = if self.shu.mac() == Mac::Background { 8 } else { 0 };
        (MAC + header) as f64 / self.shu.authenticate() as f64
    }

    fn seal(&mut self, message: &mut Message) {
        let Some(from) = message.from else { return };
        let (chain, chains) = (self.chain(from, message.to), self.sending.len());
        let Some(ciphers) = &mut self.ciphers else { return };
        let at = from * chains + chain;
        if ciphers.states[at].masks.is_empty() {
            ciphers.states[at].masks = ciphers.begin(self.shu.masks(), chain);
        }
        let state = &ciphers.states[at];
        if let Some(mask) = state.masks.front() {
            xor(message.text_mut(), mask);
        }
        let due = (state.lines + 1).is_multiple_of(self.shu.authenticate());
        message.tag = due.then(|| ciphers.tag(&ciphers.extend(&state.mac, message)));
    }

    fn hear(&mut self, unit: usize, message: &mut Message) -> Result<(), How> {
        let Some(from) = message.from else { return Ok(()) };
        if self.shu.scope() == Scope::Pair && unit != from && unit != message.to {
            return Ok(());
        }
        let (chain, chains) = (self.chain(from, message.to), self.sending.len());
        let Some(ciphers) = &mut self.ciphers else { return Ok(()) };
        let at = unit * chains + chain;
        let mut state = std::mem::take(&mut ciphers.states[at]);
        if state.masks.is_empty() {
            state.masks = ciphers.begin(self.shu.masks(), chain);
        }
        let mut next = [0; LONGEST_LINE];
        next[..message.len].copy_from_slice(message.text());
        ciphers.masks.ecb_encrypt(&mut next[..message.len]);
        state.mac = ciphers.extend(&state.mac, message);
        state.lines += 1;
        let due = state.lines.is_multiple_of(self.shu.authenticate());
        let genuine = !due || message.tag == Some(ciphers.tag(&state.mac));
        if let Some(mask) = state.masks.pop_front()
            && unit == message.to
        {
            xor(message.text_mut(), &mask);
        }
        state.masks.push_back(next);
        ciphers.states[at] = state;
        if genuine { Ok(()) } else { Err(How::Mac) }
    }

    /// Masks for encryption and as many for authentication, for every process; two key schedules.
    fn storage_bits(&self) -> u64 {
        let masks = (self.shu.processes * self.shu.masks() * self.line * 8) as u64;
        2 * masks + 2 * 11 * 128
    }

    fn counts(&self) -> SchemeCounts {
        self.counts.clone()
    }
}
