//! The data plane: frames of many sessions over TCP connections and datagrams, one thread for each shard.
//!
//! A [`worker`] is a thread that ties three parts together: [`io`] owns the sockets, [`backpressure`] decides which
//! connections wait for which, and [`forwarder`] owns the sessions and moves frames, with [`slots`] for the binding,
//! owner and class of each session. Workers exchange messages through their [`inbox`]. Frames for other nodes leave
//! through [`RemoteNodes`].

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
pub(crate) use plaintext::Plaintext;
pub use relay::{AdmitError, ListenError, Relay, StoppedError};
#[cfg(any(test, feature = "fuzz"))]
pub(crate) use remote::push_frame;
pub(crate) use remote::{Frames, MAX_BATCH};
pub(crate) use remote_nodes::RemoteNodes;
pub(crate) use settings::INBOX_BYTES;
pub use settings::Settings;
