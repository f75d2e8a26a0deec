//! The result of the last check of the certificates of open sessions.

use std::collections::HashMap;

use rustls::pki_types::UnixTime;

use crate::control::{certificates::Chain, tls::ServerTls};

/// The chains that the last check found valid, by address in memory, and the TLS setup that it used.
#[derive(Default)]
pub(super) struct Verified {
    pub(super) tls: Option<ServerTls>,
    pub(super) chains: HashMap<usize, ValidChain>,
}

/// A chain that is valid in this period. Holding it keeps its address from being reused.
#[derive(Clone)]
pub(super) struct ValidChain {
    pub(super) _chain: Chain,
    pub(super) from: UnixTime,
    pub(super) until: UnixTime,
}
