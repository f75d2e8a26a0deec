//! An attacker on the bus: changes, drops, delays, replays or forges a line, or keeps a command from a node. And one in memory:
//! changes what lies there, or puts there what lay there before, or elsewhere.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use crate::{
    engine::Cycle,
    memory::{InMemory, Stored},
    message::Message,
};

/// What is done to the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attack {
    /// Changes one bit in every eight bytes of a line.
    Flip,
    /// Sends bytes of one's own in place of a line.
    Spoof,
    /// Sends an earlier line of the same pair again in place of a new one.
    Replay,
    /// Lets a line pass only after the pair's next one.
    ReorderPair,
    /// Lets a line pass only after the next one of another pair.
    ReorderOther,
    /// Keeps a line from its receiver.
    Drop,
    /// Keeps a request to write from one node that holds a copy.
    DropInvalidation,
    /// Changes one bit in every eight bytes of a line in memory before it is read.
    MemoryFlip,
    /// Puts what lies in memory for another line in its place.
    MemorySplice,
    /// Puts back what lay in memory for the line before it was written anew.
    MemoryReplay,
}

impl Attack {
    /// Every attack on the bus.
    pub const ALL: [Attack; 7] = [
        Attack::Flip,
        Attack::Spoof,
        Attack::Replay,
        Attack::ReorderPair,
        Attack::ReorderOther,
        Attack::Drop,
        Attack::DropInvalidation,
    ];

    /// Every attack on memory.
    pub const ON_MEMORY: [Attack; 3] = [Attack::MemoryFlip, Attack::MemorySplice, Attack::MemoryReplay];

    /// The attack of this name.
    pub fn by_name(name: &str) -> Option<Attack> {
        Attack::ALL.into_iter().chain(Attack::ON_MEMORY).find(|attack| attack.name() == name)
    }

    /// Its name on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Attack::Flip => "flip",
            Attack::Spoof => "spoof",
            Attack::Replay => "replay",
            Attack::ReorderPair => "reorder-pair",
            Attack::ReorderOther => "reorder-other",
            Attack::Drop => "drop",
            Attack::DropInvalidation => "drop-invalidation",
            Attack::MemoryFlip => "memory-flip",
            Attack::MemorySplice => "memory-splice",
            Attack::MemoryReplay => "memory-replay",
        }
    }
}

impl fmt::Display for Attack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A line as everybody on the bus sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The node that sent it; `None` is memory.
    pub from: Option<usize>,
    /// The node that asked for it.
    pub to: usize,
    /// Number of the line.
    pub line: u64,
    /// When its sender answered the request.
    pub ready: Cycle,
    /// When it began to cross the bus.
    pub sent: Cycle,
    /// Its bytes on the bus: encrypted, where the scheme protects it.
    pub text: Vec<u8>,
}

/// What becomes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Pass,
    Drop,
    Hold,
}

/// An attack under way.
#[derive(Clone, Debug)]
pub struct Attacker {
    attack: Attack,
    /// The transfer (or the command, or memory's answer) from which on it strikes, once.
    at: u64,
    /// When it struck: the transfer, command or answer.
    struck: Option<u64>,
    /// Lines seen, encrypted as they were, until one can be replayed.
    seen: Vec<Message>,
    pub(crate) held: Option<Message>,
    due: bool,
    /// Plain copies of what the sender would send again.
    pub(crate) lost: Vec<Message>,
    /// Lines that memory was asked for to read.
    answers: u64,
    /// What lay in memory when a line was first read.
    first: BTreeMap<u64, Stored>,
}

impl Attacker {
    /// An attacker who strikes once, at the first chance from number `at` on.
    pub fn new(attack: Attack, at: u64) -> Attacker {
        Attacker {
            attack,
            at,
            struck: None,
            seen: Vec::new(),
            held: None,
            due: false,
            lost: Vec::new(),
            answers: 0,
            first: BTreeMap::new(),
        }
    }

    /// The number of the transfer, command or answer that was tampered with.
    pub fn struck(&self) -> Option<u64> {
        self.struck
    }

    /// A line passes: changes it, and says what becomes of it.
    pub(crate) fn message(&mut self, message: &mut Message) -> Fate {
        let number = message.number;
        if let Some(held) = &self.held {
            let same = (held.from, held.to) == (message.from, message.to);
            self.due = match self.attack {
                Attack::ReorderPair => same,
                _ => !same && message.to != held.to,
            };
            return Fate::Pass;
        }
        if self.struck.is_some() || number < self.at {
            if self.attack == Attack::Replay && self.struck.is_none() {
                self.seen.push(message.clone());
            }
            return Fate::Pass;
        }
        match self.attack {
            Attack::Flip => {
                flip(message.text_mut());
            }
            Attack::Spoof => {
                message.text_mut().iter_mut().enumerate().for_each(|(i, byte)| *byte = i as u8 ^ 0xa5);
                message.tag = message.tag.map(|_| [0x5a; 16]);
            }
            Attack::Replay => {
                let pair = (message.from, message.to);
                let Some(old) =
                    self.seen.iter().rev().find(|old| (old.from, old.to) == pair && old.text() != message.text())
                else {
                    self.seen.push(message.clone());
                    return Fate::Pass;
                };
                message.text = old.text;
                message.tag = old.tag;
                message.counter = old.counter;
            }
            Attack::Drop => {
                self.struck = Some(number);
                return Fate::Drop;
            }
            Attack::ReorderPair | Attack::ReorderOther => {
                self.struck = Some(number);
                return Fate::Hold;
            }
            Attack::DropInvalidation | Attack::MemoryFlip | Attack::MemorySplice | Attack::MemoryReplay => {
                return Fate::Pass;
            }
        }
        self.struck = Some(number);
        Fate::Pass
    }

    /// The line held back, once its turn has come.
    pub(crate) fn release(&mut self) -> Option<Message> {
        if std::mem::take(&mut self.due) { self.held.take() } else { None }
    }

    /// A command is ordered: the node that must not see it.
    pub(crate) fn command(
        &mut self,
        number: u64,
        writes: bool,
        from: usize,
        nodes: usize,
        shares: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        if self.attack != Attack::DropInvalidation || self.struck.is_some() || !writes || number < self.at {
            return None;
        }
        let node = (0..nodes).find(|node| *node != from && shares(*node))?;
        self.struck = Some(number);
        Some(node)
    }

    /// Memory is about to answer with the line at `address` to a node that wants to read it.
    pub(crate) fn answer(&mut self, address: u64, memory: &mut dyn InMemory) {
        if self.struck.is_some() || !Attack::ON_MEMORY.contains(&self.attack) {
            return;
        }
        let number = self.answers;
        self.answers += 1;
        let Some(here) = memory.stored(address) else { return };
        let due = number >= self.at;
        let forged = match self.attack {
            Attack::MemoryFlip => {
                let mut changed = here.clone();
                flip(&mut changed.text);
                Some(changed)
            }
            Attack::MemorySplice => {
                let other = self.first.iter().find(|(other, stored)| **other != address && stored.text != here.text);
                other.map(|(_, stored)| stored.clone().without_counters())
            }
            _ => self.first.get(&address).filter(|old| old.text != here.text).cloned(),
        };
        match forged.filter(|_| due) {
            Some(forged) => {
                memory.put(address, forged);
                self.struck = Some(number);
            }
            None => drop(self.first.entry(address).or_insert(here)),
        }
    }

    /// What the peer of a request that waited too long sends again: the line lost on the way to `node`.
    pub(crate) fn resend(&mut self, node: usize, request: u64) -> Option<Message> {
        let place = self.lost.iter().position(|lost| lost.node == node && lost.request == request)?;
        Some(self.lost.swap_remove(place))
    }
}

/// Changes one bit in every eight bytes.
fn flip(text: &mut [u8]) {
    text.iter_mut().skip(3).step_by(8).for_each(|byte| *byte ^= 0x20);
}
