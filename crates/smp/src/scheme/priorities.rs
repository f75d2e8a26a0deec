//! An AES engine that makes keystream ahead: what a line waits for goes first, and what has not begun is put off.

use std::collections::{HashMap, VecDeque};

use crate::engine::{Cycle, Engine};

/// How soon keystream that is made ahead is needed. A line that waits goes before either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ahead {
    /// For the unit's own next counters, which are certain to come.
    Certain,
    /// For counters that the unit expects from others.
    Guessed,
}

/// Keystream that is made ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ticket(u64);

/// A unit's engine, and the keystream that waits for it.
///
/// Work made ahead is given a time only when the engine reaches it, so that lines that need keystream meanwhile go
/// before it. Work that has begun is not interrupted.
#[derive(Clone, Debug)]
pub(super) struct Priorities {
    engine: Engine,
    /// Blocks of a keystream.
    blocks: u64,
    /// What has not begun, in the order of [`Ahead`]: when it was asked for.
    waiting: [VecDeque<(Cycle, Ticket)>; 2],
    /// When the keystream is ready that has begun and was not taken yet.
    begun: HashMap<Ticket, Cycle>,
    tickets: u64,
    /// Until when it is decided what begins.
    reached: Cycle,
}

impl Priorities {
    /// An engine for keystreams of `blocks` blocks, without work.
    pub(super) fn new(engine: Engine, blocks: u64) -> Priorities {
        let (waiting, begun) = (Default::default(), HashMap::new());
        Priorities { engine, blocks, waiting, begun, tickets: 0, reached: 0 }
    }

    /// Keystream that is ready from the start.
    pub(super) fn stocked(&mut self) -> Ticket {
        let ticket = self.ticket();
        self.begun.insert(ticket, 0);
        ticket
    }

    /// Asks at `now` for keystream ahead of its use.
    pub(super) fn ask(&mut self, ahead: Ahead, now: Cycle) -> Ticket {
        let ticket = self.ticket();
        self.waiting[ahead as usize].push_back((now, ticket));
        ticket
    }

    /// A line needs keystream at `now`: what was made ahead for it, if anything was. Returns when it is ready.
    pub(super) fn take(&mut self, made: Option<Ticket>, now: Cycle) -> Cycle {
        self.advance(now);
        if let Some(ready) = made.and_then(|ticket| self.begun.remove(&ticket)) {
            return ready.max(now);
        }
        // It has not begun, so it begins now, before all else that has not
        made.into_iter().for_each(|ticket| self.withdraw(ticket));
        self.engine.work(now, self.blocks)
    }

    /// Keystream is no longer wanted: if it has not begun, it is not made.
    pub(super) fn withdraw(&mut self, ticket: Ticket) {
        self.begun.remove(&ticket);
        self.waiting.iter_mut().for_each(|waiting| waiting.retain(|(_, other)| *other != ticket));
    }

    /// The cycles for which work has occupied the engine.
    pub(super) fn occupied(&self) -> u64 {
        self.engine.occupied()
    }

    fn ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets)
    }

    /// Begins what the engine begins before `now`. Of two that could begin in the same cycle, the certain one does.
    fn advance(&mut self, now: Cycle) {
        loop {
            let begins = |waiting: &VecDeque<(Cycle, Ticket)>| {
                let (asked, _) = waiting.front()?;
                Some(self.engine.would_begin((*asked).max(self.reached), self.blocks))
            };
            let [certain, guessed] = self.waiting.each_ref().map(|waiting| begins(waiting).filter(|at| *at < now));
            let first = match (certain, guessed) {
                (Some(certain), Some(guessed)) if guessed < certain => Ahead::Guessed,
                (Some(_), _) => Ahead::Certain,
                (None, Some(_)) => Ahead::Guessed,
                (None, None) => break,
            };
            let Some((asked, ticket)) = self.waiting[first as usize].pop_front() else { break };
            let ready = self.engine.work(asked.max(self.reached), self.blocks);
            self.begun.insert(ticket, ready);
        }
        self.reached = self.reached.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Engines, Model};

    /// An engine that starts a keystream of five blocks every 100 cycles and takes 340.
    fn pipelined() -> Priorities {
        Priorities::new(Engines::default().aes(320, 4), 5)
    }

    /// However much was asked for ahead, the engine's rate is the same: of eight guesses and eight lines, all at cycle
    /// 0, no more than nine are done by cycle 1140.
    #[test]
    fn an_engine_makes_no_more_than_its_rate() {
        let mut engine = pipelined();
        let guesses = [(); 8].map(|()| engine.ask(Ahead::Guessed, 0));
        let mut done: Vec<Cycle> = (0..8).map(|_| engine.take(None, 0)).collect();
        assert_eq!(done, [340, 440, 540, 640, 740, 840, 940, 1040], "lines wait for lines alone");
        // All guesses begin by then, and are taken when they are ready
        done.extend(guesses.map(|guess| engine.take(Some(guess), 5000)));
        assert_eq!(engine.occupied(), 16 * 100);
        let mut engine = pipelined();
        let guesses = [(); 8].map(|()| engine.ask(Ahead::Guessed, 0));
        let lines = [(); 8].map(|()| engine.take(None, 0)).into_iter();
        engine.advance(10_000);
        let ready = guesses.map(|guess| engine.begun[&guess]).into_iter();
        assert_eq!(lines.chain(ready).filter(|ready| *ready <= 1140).count(), 9);
    }

    #[test]
    fn what_has_begun_is_not_interrupted_and_what_has_not_is_put_off() {
        let mut engine = pipelined();
        let guesses = [(); 3].map(|()| engine.ask(Ahead::Guessed, 0));
        // At 150 two have begun, at 0 and at 100; the line begins at 200, and the third guess at 300
        assert_eq!(engine.take(None, 150), 540);
        assert_eq!(guesses.map(|guess| engine.take(Some(guess), 350)), [350, 440, 640]);
        assert_eq!(engine.occupied(), 400);
    }

    #[test]
    fn own_counters_go_before_guesses_and_a_line_before_its_turn() {
        let mut engine = pipelined();
        let guess = engine.ask(Ahead::Guessed, 0);
        let own = [(); 2].map(|()| engine.ask(Ahead::Certain, 0));
        // The second keystream of its own is needed before it has begun: it is made at once, and only once
        assert_eq!(engine.take(Some(own[1]), 0), 340);
        assert_eq!(engine.take(Some(own[0]), 150), 440);
        assert_eq!(engine.take(Some(guess), 1000), 1000);
        assert_eq!(engine.occupied(), 300);
    }

    #[test]
    fn what_is_withdrawn_is_not_made_unless_it_has_begun() {
        let mut engine = pipelined();
        let [first, second] = [(); 2].map(|()| engine.ask(Ahead::Guessed, 0));
        engine.advance(50);
        [first, second].into_iter().for_each(|guess| engine.withdraw(guess));
        assert_eq!((engine.take(None, 50), engine.occupied()), (440, 200));
    }

    /// A queue that never empties must not find room before the cycle that was reached.
    #[test]
    fn guesses_that_starve_begin_no_earlier_than_now() {
        let engines = Engines { model: Model::Iterative, ..Engines::default() };
        let mut engine = Priorities::new(engines.aes(320, 4), 5);
        let guess = engine.ask(Ahead::Guessed, 0);
        let lines: Vec<Cycle> = (0..100).map(|line| engine.take(None, line * 400)).collect();
        assert!(lines.iter().enumerate().all(|(line, ready)| *ready == line as Cycle * 400 + 400), "{lines:?}");
        assert_eq!(engine.take(Some(guess), 100_000), 100_000);
        assert_eq!(engine.occupied(), 101 * 400);
    }
}
