//! The event queue: what happens at which cycle. Events of one cycle happen in the order in which they were scheduled.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::engine::{Clock, Cycle};

/// What happens at a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// The arbiter of the address bus decides.
    Arbitrate,
    /// A request leaves for its line's home.
    Depart(usize),
    /// A message about a line reaches its home: the line, and the request if it is one.
    Reach(u64, Option<usize>),
    /// A command is ordered: its request.
    Order(usize),
    /// An attacker may put a command of its own on the bus.
    Forge,
    /// With snoop skew, a node sees a command: the node and the request.
    Snoop(usize, usize),
    /// A line over links is ready at its sender: its message.
    Ready(usize),
    /// A line asks for the data bus: its message.
    Transmit(usize),
    /// A line has crossed the bus: its message.
    Arrive(usize),
    /// The scheme verifies lines that were authenticated together.
    Verify,
    /// A check has failed: the number of its alarm.
    Alarm(usize),
    /// A line may be used: its message.
    Release(usize),
    /// All invalidations of a node's non-blocking request are acknowledged.
    Acknowledged(usize),
    /// A processor tries a refused access again.
    Retry(usize),
    /// A processor's synchronisation takes effect.
    Synchronise(usize),
    /// A time slice ends: the processor, and the number of the process switch that began the slice.
    Switch(usize, u64),
    /// A request's timeout expires: the node and the request's number.
    Timeout(usize, u64),
}

/// The time, and everything that is due.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    now: Cycle,
    /// A copy of `now`, shared with reservations, which discard what lies before it.
    clock: Clock,
    queue: BinaryHeap<Reverse<(Cycle, u64, Event)>>,
    scheduled: u64,
    /// Refused accesses that will be tried again.
    retries: usize,
}

impl Schedule {
    /// An empty schedule that keeps `clock` at its current cycle.
    pub(super) fn new(clock: Clock) -> Schedule {
        Schedule { clock, ..Schedule::default() }
    }

    /// The cycle of the event that happens now.
    pub(super) fn now(&self) -> Cycle {
        self.now
    }

    /// The cycle of the next event; `Cycle::MAX` if there is none.
    pub(super) fn next_cycle(&self) -> Cycle {
        self.queue.peek().map_or(Cycle::MAX, |Reverse((at, ..))| *at)
    }

    /// Schedules an event for cycle `at`.
    pub(super) fn at(&mut self, at: Cycle, event: Event) {
        self.scheduled += 1;
        self.retries += usize::from(matches!(event, Event::Retry(_)));
        self.queue.push(Reverse((at, self.scheduled, event)));
    }

    /// Schedules an event `delay` cycles from now.
    pub(super) fn after(&mut self, delay: u64, event: Event) {
        self.at(self.now + delay, event);
    }

    /// Takes the next event and moves the time to it.
    pub(super) fn take(&mut self) -> Option<Event> {
        let Reverse((at, _, event)) = self.queue.pop()?;
        debug_assert!(at >= self.now, "time never runs backwards");
        self.now = at;
        self.clock.set(at);
        self.retries -= usize::from(matches!(event, Event::Retry(_)));
        Some(event)
    }

    /// How many retries are due, if nothing else is.
    pub(super) fn only_retries(&self) -> Option<usize> {
        (self.queue.len() == self.retries).then_some(self.retries)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_order_of_time_and_of_scheduling() {
        let mut schedule = Schedule::default();
        schedule.at(7, Event::Retry(1));
        schedule.at(5, Event::Timeout(2, 3));
        schedule.at(5, Event::Arbitrate);
        assert_eq!((schedule.next_cycle(), schedule.take()), (5, Some(Event::Timeout(2, 3))));
        assert_eq!(schedule.only_retries(), None);
        schedule.after(2, Event::Arbitrate);
        assert_eq!((schedule.take(), schedule.now()), (Some(Event::Arbitrate), 5));
        assert_eq!(
            (schedule.take(), schedule.take(), schedule.now()),
            (Some(Event::Retry(1)), Some(Event::Arbitrate), 7)
        );
        assert_eq!((schedule.take(), schedule.next_cycle()), (None, Cycle::MAX));
        schedule.at(9, Event::Retry(1));
        assert_eq!(schedule.only_retries(), Some(1));
    }
}
