//! A client of a relay: opens its session over TLS, then exchanges a stream with another client, over as many
//! connections as it takes.

mod channel;
mod control_client;
mod identity;
mod opening;
mod pipe;
mod reliable;
mod transport;

pub use identity::{ClientError, Identity, Session};
pub use pipe::{Pipe, Transferred};
