//! Secure sessions for servers with millions of clients, without sockets: what is kept for each client, and how its
//! packets are sealed and opened.
//!
//! * A [`table`] holds sessions in slots and does what [`Sessions`] says, by one of the schemes that [`Spec`] names.
//! * [`Client`] is the other end of one session.
//! * [`frame`] is what travels between them.
//!
//! A record is one cache line where the scheme allows: fetching a key schedule from memory costs more than making it
//! anew. Many packets at once go through the cipher side by side, each under its own key ([`Sessions::open_all`],
//! [`Sessions::seal_all`]).
//!
//! | scheme | bytes a client, 128-bit keys | |
//! |---|---|---|
//! | `clear` | 32 | nothing is secret: what the others are compared with |
//! | `gcm-pre(x)` | 448 + tables | the paper's: round keys and GHASH tables kept |
//! | `gcm-on(x)` | 128 + tables | the paper's: round keys made for each packet |
//! | `gscm(x)` | 128 | the paper's: **research only, broken against members of the cluster** |
//! | `gscm-h` | 128 | hardened; members of a cluster are still weaker enemies than strangers |
//! | `gcm-on64` | 64 | GCM, nothing kept but keys: **what to take** |
//! | `gcm-derived` | 32 | GCM, keys derived from the server's secret |

// From the bottom up: each module uses only those above it.
mod error;
mod spec;

#[cfg(feature = "research")]
mod account;
pub mod frame;
mod material;
mod replay;
mod slab;

mod ghash;
mod grant;
mod packet;
mod record;

mod scheme;
mod schemes;
mod sessions;

mod batch;
mod client;
mod factory;
mod service;
mod table;

#[cfg(feature = "research")]
pub use account::paper_bytes;
pub use client::Client;
pub use error::SessionError;
pub use factory::table;
pub use grant::Grant;
pub use material::{Material, Secret, Side};
pub use sessions::{FrameJob, Memory, Plan, Sessions};
pub use spec::{SchemeKind, Spec, Strategy, UnknownSchemeError};
