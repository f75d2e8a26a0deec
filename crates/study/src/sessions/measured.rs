//! Everything that this study measures.

use std::io;

use sealwright::Isa;
use sealwright_measure::Interval;

use super::{capacity, families, memory, network, peers, set_up, software, speed};

/// Everything measured.
pub(super) struct Measured {
    pub(super) best: Isa,
    pub(super) memory: Vec<memory::Held>,
    pub(super) peers: Vec<peers::Peer>,
    /// Tables of every size.
    pub(super) families: Vec<families::Point>,
    /// What it takes to admit a client.
    pub(super) set_up: Vec<set_up::Admitted>,
    /// Nanoseconds to read a page; or why they are not known.
    pub(super) page: Result<Interval, io::Error>,
    pub(super) speed: speed::SpeedPoints,
    /// Figure 1; or why there is none.
    pub(super) network: Result<network::NetworkPoints, io::Error>,
    /// Figure 2 on software of tables.
    pub(super) software: Vec<software::Point>,
    /// Table 4; or why there is none.
    pub(super) served: Result<Vec<capacity::Served>, io::Error>,
    /// The memory that its server had.
    pub(super) budget: u64,
}

impl Measured {
    /// The levels that were measured, the best first.
    pub(super) fn levels(&self) -> Vec<Isa> {
        let there = |isa: &Isa| self.speed.points.iter().any(|point| point.isa == *isa);
        Isa::available().into_iter().rev().filter(there).collect()
    }
}
