#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
// The ends of the data plane that the mesh alone uses
#![cfg_attr(not(feature = "nats"), allow(dead_code, unused_imports))]

mod address;
pub mod client;
pub mod control;
mod data;
pub mod frame_stream;
mod layout;
mod log;
pub mod serve;

mod errors;
mod host_port;
#[cfg(feature = "nats")]
mod mesh;
mod patterns;
mod policy;

pub use address::Address;
pub use data::{AdmitError, Count, Counts, ListenError, Relay, Settings, StoppedError};
pub use errors::{TomlError, os_error_text};
pub use layout::NodeLayout;
pub use log::Log;
#[cfg(feature = "nats")]
pub use mesh::{MeshError, ServersError};

/// Whether a message between nodes says the same after it was written and read again; none if it makes no sense. Only fuzzing
/// calls this.
#[cfg(all(feature = "fuzz", feature = "nats"))]
#[doc(hidden)]
pub fn mesh_message_survives(text: &[u8]) -> Option<bool> {
    mesh::message_survives(text)
}

/// What strangers carry between nodes that share a secret. Only fuzzing calls this.
#[cfg(all(feature = "fuzz", feature = "nats"))]
#[doc(hidden)]
pub fn mesh_link_fuzz(steps: &[u8]) {
    mesh::link_fuzz(steps);
}

/// What other nodes tell a node, in any order and with any content. Only fuzzing calls this.
#[cfg(all(feature = "fuzz", feature = "nats"))]
#[doc(hidden)]
pub fn mesh_node_fuzz(steps: &[u8]) {
    mesh::node_fuzz(steps);
}
