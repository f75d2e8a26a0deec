//! Backpressure: which connections wait for which, and for how long, so that a slow receiver does not hold up the
//! others.
//!
//! When the queue of a connection is more than half full, the connections that send to it wait: they are not read. They
//! continue when the queue is short again, or when they have waited for too long. In the latter case nobody waits for
//! the slow connection for a while; frames for it are dropped while its queue is more than half full.

use std::time::Instant;

use crate::data::{
    connection::{ConnectionId, Handle},
    settings::{Settings, high_mark},
};

/// For how long nobody waits for a connection that was too slow, in units of [`Settings::sender_wait`].
const SLOW_FOR: u32 = 100;

/// The state of a worker's connections, by slot.
#[derive(Debug, Default)]
pub(crate) struct Backpressure(Vec<State>);

#[derive(Debug, Default)]
struct State {
    /// How many destinations this connection waits for.
    waits_for: u32,
    /// The connections that wait for this one.
    waiters: Vec<ConnectionId>,
    /// Since when the first of them has waited.
    waiting_since: Option<Instant>,
    /// Until then, nobody waits for this connection.
    slow_until: Option<Instant>,
}

impl Backpressure {
    /// Resets the state of a slot for a new connection.
    pub(crate) fn reset(&mut self, handle: Handle) {
        if self.0.len() <= handle.slot() {
            self.0.resize_with(handle.slot() + 1, State::default);
        }
        self.0[handle.slot()] = State::default();
    }

    fn state(&mut self, handle: Handle) -> &mut State {
        &mut self.0[handle.slot()]
    }

    /// Whether the connection must not be read at present.
    pub(crate) fn is_paused(&self, handle: Handle) -> bool {
        self.0[handle.slot()].waits_for > 0
    }

    /// The connection waits for one more destination.
    pub(crate) fn pause(&mut self, handle: Handle) {
        self.state(handle).waits_for += 1;
    }

    /// It waits for one destination less.
    pub(crate) fn resume(&mut self, handle: Handle) {
        let state = self.state(handle);
        state.waits_for = state.waits_for.saturating_sub(1);
    }

    /// Whether a frame may be queued that makes the queue `queued` bytes long, of at most `limit`.
    pub(crate) fn admits(&mut self, handle: Handle, queued: usize, limit: usize) -> bool {
        queued <= limit && (queued <= high_mark(limit) || self.state(handle).slow_until.is_none())
    }

    /// A frame of `sender` was queued, and the queue is `queued` bytes long. Returns whether the sender must wait from
    /// now on.
    pub(crate) fn must_wait(
        &mut self,
        handle: Handle,
        queued: usize,
        sender: ConnectionId,
        (limit, now): (usize, Instant),
    ) -> bool {
        let state = self.state(handle);
        if queued <= high_mark(limit) || state.waiters.contains(&sender) {
            return false;
        }
        state.waiting_since.get_or_insert(now);
        state.waiters.push(sender);
        true
    }

    /// The queue is short again: the connection counts as slow no longer, once that time has passed.
    pub(crate) fn drained(&mut self, handle: Handle, now: Instant) {
        let state = self.state(handle);
        state.slow_until = state.slow_until.filter(|until| *until > now);
    }

    /// Whether others have waited for this connection for too long.
    pub(crate) fn is_too_slow(&self, handle: Handle, settings: &Settings, now: Instant) -> bool {
        self.0[handle.slot()].waiting_since.is_some_and(|since| now - since > settings.sender_wait)
    }

    /// From now on, nobody waits for this connection for a while.
    pub(crate) fn mark_slow(&mut self, handle: Handle, settings: &Settings, now: Instant) {
        self.state(handle).slow_until = Some(now + SLOW_FOR * settings.sender_wait);
    }

    /// Takes the list of connections that wait for this one: they may continue.
    pub(crate) fn release(&mut self, handle: Handle) -> Vec<ConnectionId> {
        let state = self.state(handle);
        state.waiting_since = None;
        std::mem::take(&mut state.waiters)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_slow_connection_makes_senders_wait_once_and_then_loses_frames() {
        let settings = Settings { queue: 1000, sender_wait: Duration::from_millis(10), ..Settings::default() };
        let (slow, now) = (Handle::new(3, 1), Instant::now());
        let sender = ConnectionId { worker: 1, handle: Handle::new(7, 1) };
        let mut states = Backpressure::default();
        states.reset(slow);
        assert!(states.admits(slow, 1000, settings.queue) && !states.admits(slow, 1001, settings.queue));
        assert!(!states.must_wait(slow, 500, sender, (settings.queue, now)));
        assert!(states.must_wait(slow, 501, sender, (settings.queue, now)));
        assert!(!states.must_wait(slow, 600, sender, (settings.queue, now)), "it waits already");
        let later = now + Duration::from_millis(11);
        assert!(!states.is_too_slow(slow, &settings, now) && states.is_too_slow(slow, &settings, later));
        states.mark_slow(slow, &settings, later);
        assert_eq!((states.release(slow), states.release(slow)), (vec![sender], vec![]));
        assert!(states.admits(slow, 500, settings.queue) && !states.admits(slow, 501, settings.queue));
        states.drained(slow, later);
        assert!(!states.admits(slow, 501, settings.queue), "its time is not over");
        states.drained(slow, later + Duration::from_secs(2));
        assert!(states.admits(slow, 501, settings.queue));
    }

    #[test]
    fn a_connection_is_paused_as_long_as_it_waits_for_any_destination() {
        let handle = Handle::new(0, 1);
        let mut states = Backpressure::default();
        states.reset(handle);
        states.pause(handle);
        states.pause(handle);
        states.resume(handle);
        assert!(states.is_paused(handle));
        states.resume(handle);
        states.resume(handle);
        assert!(!states.is_paused(handle));
    }
}
