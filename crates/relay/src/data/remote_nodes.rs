//! The interface between the data plane and the mesh.

use crate::data::plaintext::Plaintext;

/// Sends opened frames to other nodes. A frame in a batch consists of the receiver's address (8 bytes), the sender's
/// (8), the length of the data (2) and the data; numbers are big endian.
pub(crate) trait RemoteNodes: Send + Sync {
    /// Sends a batch to a node, without waiting. Returns whether there was room.
    fn send(&self, node: u32, batch: Plaintext) -> bool;
}
