//! Everything that this study knows: what was kept of synthesis and simulation, and what it measures in software.

use sealwright_measure::Interval;

use super::{design::Design, kept::Kept, software};

/// Everything known and measured.
pub(super) struct Measured {
    pub(super) kept: Kept,
    pub(super) software: Vec<software::Rate>,
}

impl Measured {
    /// Gbit/s of one processor core.
    pub(super) fn software_rate(&self, design: Design, bytes: usize) -> Option<Interval> {
        self.software.iter().find(|rate| (rate.design, rate.bytes) == (design, bytes)).map(|rate| rate.gbps)
    }

    /// That rate over another's, as the same rounds had them.
    pub(super) fn software_ratio(&self, design: Design, other: Design, bytes: usize) -> Option<Interval> {
        let rate = self.software.iter().find(|rate| (rate.design, rate.bytes) == (design, bytes))?;
        rate.over.iter().find(|(over, _)| *over == other).map(|(_, ratio)| *ratio)
    }

    /// Gbit/s of our four lanes: what simulation counted in a cycle, at the clock that routing found.
    pub(super) fn core_rate(&self, design: Design, bytes: usize) -> Option<f64> {
        Some(self.kept.pace(design)?.bits(bytes)? * self.kept.clock(design)? / 1e3)
    }
}
