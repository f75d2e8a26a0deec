//! What the data plane asks of the connection between nodes.

use crate::data::plaintext::Plaintext;

/// What carries opened frames to other nodes. A batch has frames as the receiver's address (8 bytes), the sender's (8),
/// length (2) and data; numbers are big endian.
pub(crate) trait RemoteNodes: Send + Sync {
    /// Sends a batch to a node, without waiting. Returns whether there was room.
    fn send(&self, node: u32, batch: Plaintext) -> bool;
}
