//! What is counted between nodes.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use async_nats::Event;

/// How often it is logged that messages were lost, at most.
const AGAIN: Duration = Duration::from_secs(10);

/// Counts of one node.
#[derive(Debug, Default)]
pub(crate) struct MeshStats {
    /// Messages sealed and sent.
    pub(crate) sent: AtomicU64,
    /// Messages that opened.
    pub(crate) received: AtomicU64,
    /// Messages and hellos that were forged, repeated, or made no sense.
    pub(crate) refused: AtomicU64,
    /// Messages for nodes that are not present, or that NATS did not take.
    pub(crate) undelivered: AtomicU64,
    /// Messages and hellos that came while too many waited, at least: NATS' client may not tell of all of them.
    pub(crate) lost: AtomicU64,
    /// Frames in messages that were sent.
    pub(crate) frames_sent: AtomicU64,
    /// Frames that this node could not send.
    pub(crate) frames_undelivered: AtomicU64,
    /// Frames in messages that opened.
    pub(crate) frames_received: AtomicU64,
    /// Frames of those that are for no session here, or found a worker too busy.
    pub(crate) frames_refused: AtomicU64,
    /// Other nodes that are present.
    pub(crate) nodes: AtomicU64,
}

impl MeshStats {
    /// Counts what NATS' client says, if it lost a message.
    pub(crate) fn note(&self, event: &Event) {
        if matches!(event, Event::SlowConsumer(_)) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// What was logged of messages that were lost.
#[derive(Debug, Default)]
pub(crate) struct LossReport {
    said: u64,
    at: Option<Instant>,
}

impl LossReport {
    /// How many were lost of which nothing was said yet, if it is to be said now.
    pub(crate) fn due(&mut self, lost: u64, now: Instant) -> Option<u64> {
        let more = lost.saturating_sub(self.said);
        if more == 0 || self.at.is_some_and(|at| now.duration_since(at) < AGAIN) {
            return None;
        }
        (self.said, self.at) = (lost, Some(now));
        Some(more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_messages_are_counted_and_told_of_now_and_then() {
        let (stats, mut report, start) = (MeshStats::default(), LossReport::default(), Instant::now());
        let mut after = |seconds| report.due(stats.lost.load(Ordering::Relaxed), start + Duration::from_secs(seconds));
        stats.note(&Event::Connected);
        assert_eq!(after(0), None);
        let lose = |messages| (0..messages).for_each(|_| stats.note(&Event::SlowConsumer(1)));
        lose(3);
        assert_eq!([after(1), after(1)], [Some(3), None]);
        lose(2);
        assert_eq!([after(10), after(11), after(30)], [None, Some(2), None], "each once");
    }
}
