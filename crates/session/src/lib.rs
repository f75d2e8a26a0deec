//! Secure sessions for servers with millions of clients, without sockets: what a server stores for each client, and how
//! packets are sealed and opened.
//!
//! * [`table`] makes a table of [`Sessions`], each in a slot, with the scheme that a [`Spec`] selects.
//! * [`Client`] is the client's end of one session.
//! * [`frame`] defines what is sent between them.
//!
//! A record fits in one cache line if the scheme allows it: fetching a key schedule from memory takes longer than
//! computing it again. Many packets are processed side by side, each under its own key ([`Sessions::open_all`],
//! [`Sessions::seal_all`]).
//!
//! | scheme | bytes for each client, 128-bit keys | |
//! |---|---|---|
//! | `clear` | 32 | neither encryption nor tags, for comparison |
//! | `gcm-pre(x)` | 448 + tables | as in the paper: round keys and GHASH tables are stored |
//! | `gcm-on(x)` | 128 + tables | as in the paper: round keys are computed for each packet |
//! | `gscm(x)` | 128 | as in the paper: **research only, broken against members of the cluster** |
//! | `gscm-h` | 128 | hardened GSCM; members of a cluster can still attack each other better than outsiders can |
//! | `gcm-on64` | 64 | GCM; only keys and counters are stored: **the recommended scheme** |
//! | `gcm-derived` | 32 | GCM; keys are derived from the server's secret |
//!
//! The feature `research` (off by default) adds `gscm(x)`, and every GHASH strategy x except `clmul`.

#![cfg_attr(docsrs, feature(doc_cfg))]

// In dependency order: each module uses only those above it.
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
pub use replay::ReplayWindow;
pub use sealwright::Isa;
pub use sessions::{FrameJob, Memory, Plan, Sessions};
pub use spec::{SchemeKind, Spec, Strategy, UnknownSchemeError};
pub use zeroize::Zeroizing;
