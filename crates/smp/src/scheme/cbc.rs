//! SENSS as the thesis reads it, which it calls CBC: a chain of masks a sender, a MAC on every line before its use.

use super::{
    unit::Platform,
    chain::{Chain, Mac, Rules, Scope},
    registration::{MOST, parameters, register},
};

use crate::engine::Units;

/// Cycles of AES for a line, as the thesis has it.
const LATENCY: u64 = 320;

parameters!(Parameters {
    /// Masks to send and as many to receive; 0 stands for what `engines.units` gives: 1 in thesis, else 2.
    masks: usize = 0, in 0..=MOST as usize;
    /// Lines to a MAC.
    authenticate: u64 = 1, in 1..=MOST;
    /// When the MAC is checked: critical (before a line is used) or background.
    mac: Mac = Mac::Critical;
    /// Who shares a chain: group, node or pair.
    scope: Scope = Scope::Node;
    /// Processes whose masks are stored at once; counts for storage only.
    processes: usize = 100, in 1..=MOST as usize;
});

register!("cbc", "SENSS as the thesis reads it: masks a node, a MAC on each line before its use", Parameters, build);

fn build(platform: &Platform, parameters: Parameters) -> Chain {
    let Parameters { masks, authenticate, mac, scope, processes } = parameters;
    let masks = match (masks, platform.engines.units) {
        (0, Units::Thesis) => 1,
        (0, _) => 2,
        (masks, _) => masks,
    };
    Chain::new(platform, Rules { latency: LATENCY, masks, authenticate, mac, scope, processes })
}
