//! A client of a relay: opens its session over TLS, then speaks with another client, over any number of connections.

mod desk;
mod flow;
mod identity;
mod line;
mod pipe;
mod wire;

pub use identity::{ClientError, Identity, Session};
pub use pipe::{Moved, Pipe};
