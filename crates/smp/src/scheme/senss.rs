//! SENSS as its authors published it (Zhang et al., HPCA 2005): one chain of masks for the group, a MAC in the background.

use super::{
    unit::Platform,
    chain::{Chain, Mac, Rules, Scope},
    registration::{MOST, parameters, register},
};

/// Cycles of AES for a line, as published.
const LATENCY: u64 = 80;

parameters!(Parameters {
    /// Masks of a chain.
    masks: usize = 8, in 1..=MOST as usize;
    /// Lines to a MAC.
    authenticate: u64 = 100, in 1..=MOST;
    /// When the MAC is checked: critical (before a line is used) or background.
    mac: Mac = Mac::Background;
    /// Who shares a chain: group, node or pair.
    scope: Scope = Scope::Group;
    /// Processes whose masks are stored at once; counts for storage only.
    processes: usize = 100, in 1..=MOST as usize;
});

register!("senss", "SENSS as published: one chain for the group, a MAC in the background", Parameters, build);

fn build(platform: &Platform, parameters: Parameters) -> Chain {
    let Parameters { masks, authenticate, mac, scope, processes } = parameters;
    Chain::new(platform, Rules { latency: LATENCY, masks, authenticate, mac, scope, processes })
}
