//! What the last sweep over the certificates of open sessions found.

use std::collections::HashMap;

use rustls::pki_types::UnixTime;

use crate::control::{certificates::Chain, tls::ServerTls};

/// Certificates of open sessions that the last sweep found valid, by their places in memory, and by what.
#[derive(Default)]
pub(super) struct Verified {
    pub(super) tls: Option<ServerTls>,
    pub(super) chains: HashMap<usize, ValidChain>,
}

/// One that is valid in this time. It is kept, so that nothing else comes to its place.
#[derive(Clone)]
pub(super) struct ValidChain {
    pub(super) _chain: Chain,
    pub(super) from: UnixTime,
    pub(super) until: UnixTime,
}
