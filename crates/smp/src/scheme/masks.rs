//! The state that units keep to encrypt lines with chained masks: the masks themselves, and the MAC of each chain.

use std::collections::VecDeque;

use sealwright::{
    Block, Isa,
    raw::{self, Raw},
};

use super::exchange::derive;
use crate::message::{Detector, LONGEST_LINE, LONGEST_TAG, Message};

/// Bytes of the truncated MAC that are transmitted.
pub(super) const MAC: usize = 8;

/// The ciphers of all units, and what each keeps of every chain.
pub(super) struct Ciphers {
    masks: Box<dyn Raw>,
    mac: Box<dyn Raw>,
    chains: usize,
    /// Each unit's state of each chain, at `unit * chains + chain`.
    states: Vec<Follower>,
    first: [u8; LONGEST_LINE],
    /// Masks of a chain.
    ring: usize,
    /// Lines per MAC.
    authenticate: u64,
}

/// A unit's state of a chain.
#[derive(Clone, Default)]
struct Follower {
    /// The next masks; empty until the first line.
    masks: VecDeque<[u8; LONGEST_LINE]>,
    mac: Block,
    lines: u64,
}

impl Ciphers {
    /// The states of `units` units, each of which may follow all of `chains` chains of `ring` masks, with keys from
    /// `seed`. Every `authenticate`-th line of a chain carries a MAC.
    pub(super) fn new(seed: u64, units: usize, chains: usize, ring: usize, authenticate: u64) -> Ciphers {
        let cipher = |what| {
            let key = derive::<16>(seed, what, 0);
            raw::aes(Isa::best(), key.as_ref()).expect("16 bytes are a key of AES")
        };
        Ciphers {
            masks: cipher("mask key"),
            mac: cipher("MAC key"),
            chains,
            states: vec![Follower::default(); units * chains],
            first: *derive(seed, "first masks", 0),
            ring,
            authenticate,
        }
    }

    /// The initial masks of a chain: encryptions of a shared random value XORed with the mask's and block's numbers.
    fn begin(&self, chain: usize) -> VecDeque<[u8; LONGEST_LINE]> {
        (0..self.ring)
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

    /// The sender encrypts its line, and computes the MAC if the line carries one.
    pub(super) fn seal(&mut self, from: usize, chain: usize, message: &mut Message) {
        let at = from * self.chains + chain;
        if self.states[at].masks.is_empty() {
            self.states[at].masks = self.begin(chain);
        }
        let state = &self.states[at];
        if let Some(mask) = state.masks.front() {
            xor(message.text_mut(), mask);
        }
        message.tag = message.authenticated.then(|| self.tag(&self.extend(&state.mac, message)));
    }

    /// `unit` sees a line of a chain and follows it; the receiver decrypts the line.
    pub(super) fn follow(&mut self, unit: usize, chain: usize, message: &mut Message) -> Result<(), Detector> {
        let at = unit * self.chains + chain;
        let mut state = std::mem::take(&mut self.states[at]);
        if state.masks.is_empty() {
            state.masks = self.begin(chain);
        }
        let mut next = [0; LONGEST_LINE];
        next[..message.len].copy_from_slice(message.text());
        self.masks.ecb_encrypt(&mut next[..message.len]);
        state.mac = self.extend(&state.mac, message);
        state.lines += 1;
        let due = state.lines.is_multiple_of(self.authenticate);
        let genuine = !due || message.tag == Some(self.tag(&state.mac));
        if let Some(mask) = state.masks.pop_front()
            && unit == message.to
        {
            xor(message.text_mut(), &mask);
        }
        state.masks.push_back(next);
        self.states[at] = state;
        if genuine { Ok(()) } else { Err(Detector::Mac) }
    }
}

fn xor(text: &mut [u8], mask: &[u8]) {
    text.iter_mut().zip(mask).for_each(|(text, mask)| *text ^= mask);
}
