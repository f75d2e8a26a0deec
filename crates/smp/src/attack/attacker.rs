//! One attacker, which strikes once: what it records before the strike, and what the strike does.

use std::collections::{BTreeMap, VecDeque};

use super::{Attack, Target};
use crate::{
    engine::Cycle,
    memory::{InMemory, Stored},
    message::{BusCommand, Command, CommandTag, Message},
};

/// What an attacker does with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Pass,
    Drop,
    Hold,
}

/// A forged command: a GetX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forged {
    /// The node in whose name it is, and which does not see it.
    pub(crate) node: usize,
    pub(crate) line: u64,
    pub(crate) tag: Option<CommandTag>,
}

/// The state of a run when an attacker strikes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) cycle: Cycle,
    /// Loads that returned a wrong value before it; 0 unless values are checked.
    pub(crate) wrong_reads: u64,
}

/// A strike that has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Struck {
    /// The transfer, command or answer that was tampered with.
    number: u64,
    moment: Moment,
}

/// The number of recent GetX commands that a forger remembers.
const REMEMBERED: usize = 64;

/// An attack under way.
#[derive(Clone, Debug)]
pub struct Attacker {
    attack: Attack,
    /// The number of the transfer, command or answer from which on it strikes at the first chance.
    at: u64,
    struck: Option<Struck>,
    /// Lines as they were on the bus, recorded for a replay.
    seen: Vec<Message>,
    pub(super) held: Option<Message>,
    due: bool,
    /// Plaintext copies of dropped lines, for the sender to send again.
    pub(super) lost: Vec<Message>,
    /// Read requests that memory has answered.
    pub(super) answers: u64,
    /// The stored form of each line when it was first read.
    first: BTreeMap<u64, Stored>,
    /// Recent GetX commands, latest last: line and node.
    written: VecDeque<(u64, usize)>,
    /// The tag of the last command.
    tag: Option<CommandTag>,
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
            written: VecDeque::new(),
            tag: None,
        }
    }

    /// What it does.
    pub fn attack(&self) -> Attack {
        self.attack
    }

    /// The number from which on it strikes.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// The number of the transfer, command or answer that was tampered with.
    pub fn struck(&self) -> Option<u64> {
        self.struck.map(|struck| struck.number)
    }

    /// The state of the run at the strike.
    pub(crate) fn moment(&self) -> Option<Moment> {
        self.struck.map(|struck| struck.moment)
    }

    /// The number of memory's last answer.
    pub(crate) fn answered(&self) -> u64 {
        self.answers.saturating_sub(1)
    }

    /// Whether it attacks this kind of target and has not struck yet.
    fn waits(&self, target: Target) -> bool {
        self.struck.is_none() && self.attack.target() == target
    }

    /// Whether it struck this one.
    pub(super) fn has_struck(&self, target: Target, number: u64) -> bool {
        self.attack.target() == target && self.struck.is_some_and(|struck| struck.number == number)
    }

    fn strike(&mut self, number: u64, moment: Moment) {
        self.struck = Some(Struck { number, moment });
    }

    /// A line passes: may change it, and decides its fate. Without a `moment`, it may only observe, here and below.
    pub(super) fn message(&mut self, message: &mut Message, moment: Option<Moment>) -> Fate {
        let number = message.number;
        if let Some(held) = &self.held {
            let same = (held.from, held.to) == (message.from, message.to);
            self.due = match self.attack {
                Attack::ReorderPair => same,
                _ => !same && message.to != held.to,
            };
            return Fate::Pass;
        }
        if !self.waits(Target::Transfer) {
            return Fate::Pass;
        }
        let Some(moment) = moment.filter(|_| number >= self.at) else {
            if self.attack == Attack::Replay {
                self.seen.push(message.clone());
            }
            return Fate::Pass;
        };
        let fate = match self.attack {
            Attack::Flip => {
                flip(message.text_mut());
                Fate::Pass
            }
            Attack::Spoof => {
                message.text_mut().iter_mut().enumerate().for_each(|(i, byte)| *byte = i as u8 ^ 0xa5);
                message.tag = message.tag.map(|_| [0x5a; 16]);
                Fate::Pass
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
                Fate::Pass
            }
            Attack::Drop => Fate::Drop,
            Attack::ReorderPair | Attack::ReorderOther => Fate::Hold,
            _ => return Fate::Pass,
        };
        self.strike(number, moment);
        fate
    }

    /// The line held back, once it is to be released.
    pub(super) fn release(&mut self) -> Option<Message> {
        if std::mem::take(&mut self.due) { self.held.take() } else { None }
    }

    /// A command is ordered: the node that must not see it.
    pub(super) fn command(
        &mut self,
        command: &BusCommand,
        moment: Option<Moment>,
        nodes: usize,
        shares: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        if !self.waits(Target::Command) {
            return None;
        }
        if self.attack == Attack::ForgeCommand {
            self.remember(command);
            return None;
        }
        let moment = moment.filter(|_| command.command == Command::GetX && command.number >= self.at)?;
        let node = (0..nodes).find(|node| *node != command.node && shares(*node))?;
        self.strike(command.number, moment);
        Some(node)
    }

    /// A forger records from a command the line's new owner, and a genuine tag.
    fn remember(&mut self, command: &BusCommand) {
        self.tag = command.tag;
        match command.command {
            Command::GetS => {}
            Command::GetX => {
                self.written.retain(|(line, _)| *line != command.line);
                if self.written.len() == REMEMBERED {
                    self.written.pop_front();
                }
                self.written.push_back((command.line, command.node));
            }
            Command::PutX => self.written.retain(|(line, _)| *line != command.line),
        }
    }

    /// Whether it would forge command `number`.
    pub(super) fn would_forge(&self, number: u64) -> bool {
        self.attack == Attack::ForgeCommand && self.struck.is_none() && number >= self.at
    }

    /// The address lines are free for command `number`: returns a forged one. For a line and its owner, `impersonated`
    /// returns the node in whose name to request it; `None` if the owner has not modified it, or no other node could.
    pub(super) fn forge(
        &mut self,
        number: u64,
        moment: Moment,
        impersonated: &dyn Fn(u64, usize) -> Option<usize>,
    ) -> Option<Forged> {
        if !self.would_forge(number) {
            return None;
        }
        let forged = self.written.iter().rev().find_map(|&(line, owner)| {
            let node = impersonated(line, owner)?;
            // The attacker cannot compute a tag: reuse the last genuine one
            Some(Forged { node, line, tag: self.tag })
        })?;
        self.strike(number, moment);
        Some(forged)
    }

    /// Memory is about to answer with the line at `address` to a node that wants to read it.
    pub(super) fn answer(&mut self, address: u64, memory: &mut dyn InMemory, moment: Option<Moment>) {
        if self.attack.target() != Target::Answer {
            return;
        }
        let number = self.answers;
        self.answers += 1;
        if self.struck.is_some() {
            return;
        }
        let Some(here) = memory.stored(address) else { return };
        let due = moment.filter(|_| number >= self.at);
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
        match forged.zip(due) {
            Some((forged, moment)) => {
                memory.put(address, forged);
                self.strike(number, moment);
            }
            None => drop(self.first.entry(address).or_insert(here)),
        }
    }

    /// The dropped line that the sender sends again after a timeout of `node`'s request.
    pub(super) fn resend(&mut self, node: usize, request: u64) -> Option<Message> {
        let place = self.lost.iter().position(|lost| lost.node == node && lost.request == request)?;
        Some(self.lost.swap_remove(place))
    }
}

/// Changes one bit in every eight bytes.
fn flip(text: &mut [u8]) {
    text.iter_mut().skip(3).step_by(8).for_each(|byte| *byte ^= 0x20);
}
