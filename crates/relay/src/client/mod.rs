//! A client of a relay: opens its session over TLS, then exchanges a stream with another client, over as many
//! connections as it takes.

mod arrived;
mod backoff;
mod channel;
mod control_client;
#[cfg(feature = "fuzz")]
#[doc(hidden)]
pub mod control_fuzz;
mod datagrams;
#[cfg(feature = "fuzz")]
#[doc(hidden)]
pub mod datagrams_fuzz;
#[cfg(feature = "end-to-end")]
mod end_to_end;
mod identity;
mod local_io;
mod lookups;
mod opening;
mod pipe;
mod recovery;
mod refusal;
mod reliable;
#[cfg(feature = "fuzz")]
#[doc(hidden)]
pub mod transfer_fuzz;
mod transport;
mod unreachable;

#[cfg(test)]
pub(crate) use control_client::ControlClient;
#[cfg(all(feature = "end-to-end", feature = "fuzz"))]
#[doc(hidden)]
pub use end_to_end::fuzz as end_to_end_fuzz;
#[cfg(feature = "end-to-end")]
pub use end_to_end::{EndToEnd, EndToEndError, Opening, Sealing};
pub use identity::{ClientError, Identity, LastRelay, Session};
pub use pipe::{Pipe, Transferred};
pub use refusal::Refusal;

/// Whether this can be the name of a client in a certificate. Case does not matter; a wildcard is not a client's name.
pub fn is_name(name: &str) -> bool {
    crate::control::tls::is_name(name)
}
