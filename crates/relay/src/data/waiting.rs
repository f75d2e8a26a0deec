//! Who waits for whom, how long, and who is sent away: what keeps one connection from holding up the others.

use crate::data::{
    connection::{Handle, Source},
    count::Count,
    mail::Letter,
    worker::Worker,
};

impl Worker {
    /// Those who wait too long: for the first authentic frame, or for a destination that does not read.
    pub(super) fn look_over(&mut self) {
        let settings = &self.shared.settings;
        let (now, mut close, mut release) = (self.now, Vec::new(), Vec::new());
        for connection in self.connections.iter() {
            let unproved = !connection.proved && now - connection.since > settings.prove;
            let stalled = connection.queued() > 0 && now - connection.moved > settings.stall;
            if unproved || stalled {
                close.push(connection.handle);
            } else if connection.full.is_some_and(|since| now - since > settings.patience) {
                release.push(connection.handle);
            }
        }
        for handle in close {
            self.expel(handle);
        }
        for handle in release {
            if let Some(connection) = self.connections.named(handle) {
                // It has had its chance: for a while nobody waits for it again
                connection.slow = Some(now + 100 * self.shared.settings.patience);
            }
            self.release(handle);
        }
    }

    pub(super) fn expel(&mut self, handle: Handle) {
        self.counts.one(Count::Expelled);
        self.close(handle);
    }

    /// Ends a connection; its sessions stay, without one.
    pub(super) fn close(&mut self, handle: Handle) {
        self.release(handle);
        if let Some(mut connection) = self.connections.take(handle) {
            let _ = self.poll.registry().deregister(connection.stream.source());
            self.leave(Count::Closed);
        }
    }

    /// Moves a connection to the worker of its first frame's session.
    pub(super) fn hand_over(&mut self, handle: Handle, to: usize, early: Vec<u8>) {
        self.release(handle);
        if let Some(mut connection) = self.connections.take(handle) {
            if self.poll.registry().deregister(connection.stream.source()).is_err() {
                self.leave(Count::Closed);
                return;
            }
            self.shared.mailboxes[to].post(Letter::Newcomer(connection.stream.into_inner(), early));
        }
    }

    pub(super) fn pause(&mut self, handle: Handle) {
        if let Some(connection) = self.connections.named(handle) {
            connection.paused += 1;
            self.counts.one(Count::Paused);
        }
    }

    pub(super) fn resume(&mut self, handle: Handle) {
        if let Some(connection) = self.connections.named(handle) {
            connection.paused = connection.paused.saturating_sub(1);
            self.mark_ready(handle);
        }
    }

    /// Lets those go on who wait for this connection's queue.
    pub(super) fn release(&mut self, handle: Handle) {
        let Some(connection) = self.connections.named(handle) else { return };
        connection.full = None;
        if connection.waiters.is_empty() {
            return;
        }
        for Source { worker, handle } in std::mem::take(&mut connection.waiters) {
            if worker == self.me {
                self.resume(handle);
            } else {
                self.shared.mailboxes[worker].post(Letter::Resume(handle));
            }
        }
    }
}
