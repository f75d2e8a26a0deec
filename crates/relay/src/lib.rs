#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(target_os = "linux"))]
compile_error!("sealwright-relay runs on Linux only");

mod address;
pub mod client;
pub mod control;
mod data;
pub mod frame_stream;
mod layout;
mod listening;
mod log;
pub mod serve;

mod errors;
mod host_port;
#[cfg(feature = "nats")]
mod mesh;
mod patterns;
mod policy;
mod udp_socket;

pub use address::Address;
pub use data::{AdmitError, Count, Counts, ListenError, Relay, Settings, StoppedError};
pub use errors::{TomlError, os_error_text};
pub use layout::NodeLayout;
pub use log::Log;
#[cfg(feature = "nats")]
pub use mesh::{MeshError, ServersError};

/// Whether a message between nodes is unchanged after writing and reading it again; `None` if it is malformed. For
/// fuzzing only.
#[cfg(all(feature = "fuzz", feature = "nats"))]
#[doc(hidden)]
pub fn mesh_message_survives(text: &[u8]) -> Option<bool> {
    mesh::message_survives(text)
}

/// Fuzz target: messages that strangers carry between nodes with a common secret.
#[cfg(all(feature = "fuzz", feature = "nats"))]
#[doc(hidden)]
pub fn mesh_link_fuzz(steps: &[u8]) {
    mesh::link_fuzz(steps);
}

/// Fuzz target: messages of other nodes to a node, in any order and with any content.
#[cfg(all(feature = "fuzz", feature = "nats"))]
#[doc(hidden)]
pub fn mesh_node_fuzz(steps: &[u8]) {
    mesh::node_fuzz(steps);
}
