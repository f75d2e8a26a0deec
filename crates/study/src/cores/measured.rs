//! The data of this study: stored results of synthesis and simulation, and measurements of software.

use sealwright_measure::Interval;

use super::{design::Design, kept::Kept, software};

/// All data of the study.
pub(super) struct Measured {
    pub(super) kept: Kept,
    pub(super) software: Vec<software::Rate>,
}

impl Measured {
    /// The rate of software on one processor core, in Gbit/s.
    pub(super) fn software_rate(&self, design: Design, bytes: usize) -> Option<Interval> {
        self.software.iter().find(|rate| (rate.design, rate.bytes) == (design, bytes)).map(|rate| rate.gbps)
    }

    /// The ratio of the rates of two designs in software, measured in the same rounds.
    pub(super) fn software_ratio(&self, design: Design, other: Design, bytes: usize) -> Option<Interval> {
        let rate = self.software.iter().find(|rate| (rate.design, rate.bytes) == (design, bytes))?;
        rate.over.iter().find(|(over, _)| *over == other).map(|(_, ratio)| *ratio)
    }

    /// The rate of our four lanes in Gbit/s: simulated bits per cycle times the clock rate after routing.
    pub(super) fn core_rate(&self, design: Design, bytes: usize) -> Option<Interval> {
        let bits = self.kept.pace(design)?.bits(bytes)?;
        Some(self.kept.clock(design)?.map(|mhz| bits * mhz / 1e3))
    }
}
