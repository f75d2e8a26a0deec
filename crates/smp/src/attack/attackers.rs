//! Several attackers in one machine.

use super::{
    Target,
    attacker::{Attacker, Fate, Forged, Moment},
};
use crate::{
    memory::InMemory,
    message::{BusCommand, Message},
};

/// Attackers, in the order in which lines and commands pass them: each sees the result of those before it. A line,
/// command or answer is struck by at most one of them; the others strike at their next chance.
#[derive(Debug, Default)]
pub(crate) struct Attackers(Vec<Attacker>);

impl Attackers {
    pub(crate) fn add(&mut self, attacker: Attacker) {
        self.0.push(attacker);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Attacker> {
        self.0.iter()
    }

    /// A line passes: attackers may change it, and decide its fate. A line that is dropped or held back passes no
    /// further attacker; `plain` is its plaintext, for the sender to send again. Without a `moment`, attackers may only
    /// observe, here and below.
    pub(crate) fn message(&mut self, message: &mut Message, plain: &Message, mut moment: Option<Moment>) -> Fate {
        for attacker in &mut self.0 {
            let fate = attacker.message(message, moment);
            if fate != Fate::Pass {
                attacker.lost.push(plain.clone());
                attacker.held = (fate == Fate::Hold).then(|| message.clone());
                return fate;
            }
            moment = moment.filter(|_| !attacker.has_struck(Target::Transfer, message.number));
        }
        Fate::Pass
    }

    /// Lines held back that are to be released.
    pub(crate) fn release(&mut self) -> Vec<Message> {
        self.0.iter_mut().filter_map(Attacker::release).collect()
    }

    /// A command is ordered: the node that must not see it.
    pub(crate) fn command(
        &mut self,
        command: &BusCommand,
        mut moment: Option<Moment>,
        nodes: usize,
        shares: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        let mut blocked = None;
        for attacker in &mut self.0 {
            blocked = blocked.or(attacker.command(command, moment, nodes, shares));
            moment = moment.filter(|_| blocked.is_none());
        }
        blocked
    }

    /// Whether one of them would forge command `number`.
    pub(crate) fn would_forge(&self, number: u64) -> bool {
        self.0.iter().any(|attacker| attacker.would_forge(number))
    }

    /// The address lines are free for command `number`: returns a forged one, see [`Attacker::forge`].
    pub(crate) fn forge(
        &mut self,
        number: u64,
        moment: Moment,
        impersonated: &dyn Fn(u64, usize) -> Option<usize>,
    ) -> Option<Forged> {
        self.0.iter_mut().find_map(|attacker| attacker.forge(number, moment, impersonated))
    }

    /// Memory is about to answer with the line at `address` to a node that wants to read it.
    pub(crate) fn answer(&mut self, address: u64, memory: &mut dyn InMemory, mut moment: Option<Moment>) {
        for attacker in &mut self.0 {
            let number = attacker.answers;
            attacker.answer(address, memory, moment);
            moment = moment.filter(|_| !attacker.has_struck(Target::Answer, number));
        }
    }

    /// The dropped line that the sender sends again after a timeout of `node`'s request.
    pub(crate) fn resend(&mut self, node: usize, request: u64) -> Option<Message> {
        self.0.iter_mut().find_map(|attacker| attacker.resend(node, request))
    }
}
