//! Who waits for whom, and for how long: what keeps a slow connection from holding up the others.
//!
//! A connection whose queue is half full makes those who send to it wait. When its queue is short again, or when it has
//! kept them waiting for too long, they continue; in the second case nobody waits for it again for a while, and frames
//! that find its queue half full are dropped.

use std::time::Instant;

use crate::data::{
    connection::{ConnectionId, Handle},
    settings::{Settings, high_mark},
};

/// How long nobody waits for a connection that was too slow, in units of [`Settings::sender_wait`].
const SLOW_FOR: u32 = 100;

/// The state of each connection of a worker, by slot.
#[derive(Debug, Default)]
pub(crate) struct Backpressure(Vec<State>);

#[derive(Debug, Default)]
struct State {
    /// Destinations that this connection waits for.
    waits_for: u32,
    /// Connections that wait for this one.
    waiters: Vec<ConnectionId>,
    /// Since when they wait.
    waiting_since: Option<Instant>,
    /// Nobody waits for this one until then.
    slow_until: Option<Instant>,
}

impl Backpressure {
    /// A new connection takes this slot.
    pub(crate) fn reset(&mut self, handle: Handle) {
        if self.0.len() <= handle.slot() {
            self.0.resize_with(handle.slot() + 1, State::default);
        }
        self.0[handle.slot()] = State::default();
    }

    fn state(&mut self, handle: Handle) -> &mut State {
        &mut self.0[handle.slot()]
    }

    /// Whether the connection must not be read now.
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

    /// Whether a frame may be queued, after which `queued` bytes wait of at most `limit`.
    pub(crate) fn admits(&mut self, handle: Handle, queued: usize, limit: usize) -> bool {
        queued <= limit && (queued <= high_mark(limit) || self.state(handle).slow_until.is_none())
    }

    /// A frame of `sender` was queued, and now `queued` bytes wait. Whether the sender has to wait from now on.
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

    /// The queue is short again: a slow connection gets another chance when its time is over.
    pub(crate) fn drained(&mut self, handle: Handle, now: Instant) {
        let state = self.state(handle);
        state.slow_until = state.slow_until.filter(|until| *until > now);
    }

    /// Whether others have waited for this connection for too long.
    pub(crate) fn is_too_slow(&self, handle: Handle, settings: &Settings, now: Instant) -> bool {
        self.0[handle.slot()].waiting_since.is_some_and(|since| now - since > settings.sender_wait)
    }

    /// Nobody waits for this connection for a while.
    pub(crate) fn mark_slow(&mut self, handle: Handle, settings: &Settings, now: Instant) {
        self.state(handle).slow_until = Some(now + SLOW_FOR * settings.sender_wait);
    }

    /// Those who waited for this connection and may continue.
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
