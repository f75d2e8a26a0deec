//! The data of this study.

use std::io;

use sealwright::Isa;
use sealwright_measure::Interval;

use super::{capacity, families, memory, network, peers, set_up, software, speed};

/// All measurements.
pub(super) struct Measured {
    pub(super) best: Isa,
    pub(super) memory: Vec<memory::Held>,
    pub(super) peers: Vec<peers::Peer>,
    /// Comparison of table sizes.
    pub(super) families: Vec<families::Point>,
    /// The time to admit a client.
    pub(super) set_up: Vec<set_up::Admitted>,
    /// Nanoseconds to read a page, or why they could not be measured.
    pub(super) page: Result<Interval, io::Error>,
    pub(super) speed: speed::SpeedPoints,
    /// Figure 1, or why it could not be measured.
    pub(super) network: Result<network::NetworkPoints, io::Error>,
    /// Figure 2 with table-based software.
    pub(super) software: software::SoftwarePoints,
    /// Table 4, or why it could not be measured.
    pub(super) served: Result<Vec<capacity::Served>, io::Error>,
    /// The memory of the server for table 4, in bytes.
    pub(super) budget: u64,
}

impl Measured {
    /// The measured instruction-set levels, best level first.
    pub(super) fn levels(&self) -> Vec<Isa> {
        let there = |isa: &Isa| self.speed.points.iter().any(|point| point.isa == *isa);
        Isa::available().into_iter().rev().filter(there).collect()
    }
}
