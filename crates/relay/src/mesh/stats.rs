//! What is counted between nodes.

use std::sync::atomic::AtomicU64;

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
