//! The data plane: frames of many sessions over TCP connections and datagrams, one thread for each shard.
//!
//! A [`worker`] is a thread that ties three parts together: [`io`] owns the sockets, [`backpressure`] decides which
//! connections wait for which, and [`forwarder`] owns the sessions and moves frames, with [`slots`] for the binding,
//! owner and class of each session. Workers exchange messages through their [`inbox`]. Frames for other nodes leave
//! through [`remote_nodes`].

mod count;
mod relay;
mod settings;

mod accept;
mod admission;
mod backpressure;
mod binding;
mod connection;
mod context;
mod denials;
mod forwarder;
mod idle;
mod inbox;
mod io;
mod parse;
mod plaintext;
mod remote;
mod remote_nodes;
mod shares;
mod slots;
mod udp;
mod worker;

/// The most connections of a worker.
pub(crate) const WORKER_CONNECTIONS: usize = connection::Handle::SLOTS;

pub use count::{Count, Counts};
#[cfg(feature = "nats")]
pub(crate) use for_mesh::*;
pub use relay::{AdmitError, ListenError, Relay, StoppedError};
pub use settings::Settings;

/// What only the mesh uses of the data plane.
#[cfg(feature = "nats")]
mod for_mesh {
    #[cfg(any(test, feature = "fuzz"))]
    pub(crate) use super::remote::push_frame;
    pub(crate) use super::{
        plaintext::Plaintext,
        remote::{Frames, MAX_BATCH},
        remote_nodes::RemoteNodes,
        settings::INBOX_BYTES,
    };
}
