//! Counters of the mesh.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use async_nats::Event;

/// The shortest time between two log lines about lost messages.
const LOSS_LOG_INTERVAL: Duration = Duration::from_secs(10);

/// The counters of one node.
#[derive(Debug, Default)]
pub(crate) struct MeshStats {
    /// Messages sealed and sent.
    pub(crate) sent: AtomicU64,
    /// Messages that opened.
    pub(crate) received: AtomicU64,
    /// Messages and hellos that were forged, replayed or malformed.
    pub(crate) refused: AtomicU64,
    /// Messages for nodes that are not present, or that NATS did not accept.
    pub(crate) undelivered: AtomicU64,
    /// Messages and hellos lost because too many were waiting. A lower bound: the NATS client may not report all of
    /// them.
    pub(crate) lost: AtomicU64,
    /// Frames in messages that were sent.
    pub(crate) frames_sent: AtomicU64,
    /// Frames that this node could not send.
    pub(crate) frames_undelivered: AtomicU64,
    /// Frames in messages that opened.
    pub(crate) frames_received: AtomicU64,
    /// Frames in messages that were for no session here, or found a worker too busy.
    pub(crate) frames_refused: AtomicU64,
    /// Other nodes that are present.
    pub(crate) nodes: AtomicU64,
}

impl MeshStats {
    /// Counts an event of the NATS client, if it reports a lost message.
    pub(crate) fn note(&self, event: &Event) {
        if matches!(event, Event::SlowConsumer(_)) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Decides when lost messages are logged.
#[derive(Debug, Default)]
pub(crate) struct LossReport {
    said: u64,
    at: Option<Instant>,
}

impl LossReport {
    /// The number of lost messages that were not logged yet, if a log line is due.
    pub(crate) fn due(&mut self, lost: u64, now: Instant) -> Option<u64> {
        let more = lost.saturating_sub(self.said);
        if more == 0 || self.at.is_some_and(|at| now.duration_since(at) < LOSS_LOG_INTERVAL) {
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
