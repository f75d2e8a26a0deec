//! Secure sessions for servers with millions of clients, without sockets: what is kept for each client, and how its
//! packets are sealed and opened.
//!
//! * [`table`] makes a table of [`Sessions`], each in a slot, by the scheme that a [`Spec`] names.
//! * [`Client`] is the other end of one session.
//! * [`frame`] defines what travels between them.
//!
//! A record is one cache line where the scheme allows: it takes longer to fetch a key schedule from memory than to compute
//! it again. Many packets go through the cipher side by side, each under its own key ([`Sessions::open_all`],
//! [`Sessions::seal_all`]).
//!
//! | scheme | bytes for each client, 128-bit keys | |
//! |---|---|---|
//! | `clear` | 32 | no encryption and no tag: the others are compared with it |
//! | `gcm-pre(x)` | 448 + tables | the paper's: round keys and GHASH tables are kept |
//! | `gcm-on(x)` | 128 + tables | the paper's: round keys are computed for each packet |
//! | `gscm(x)` | 128 | the paper's: **research only, broken against members of the cluster** |
//! | `gscm-h` | 128 | hardened GSCM; members of a cluster can still attack each other better than outsiders can |
//! | `gcm-on64` | 64 | GCM; only keys and counters are kept: **the one to choose** |
//! | `gcm-derived` | 32 | GCM; keys are derived from the server's secret |
//!
//! The feature `research` (off by default) adds `gscm(x)` and every GHASH strategy x but `clmul`.

#![cfg_attr(docsrs, feature(doc_cfg))]

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
