//! The data of this study.

use std::collections::BTreeMap;

use sealwright::Isa;
use sealwright_measure::Interval;

use super::{
    grid::{Grid, Size},
    parts::{Opening, Parts},
};

/// The circumstance of the paper's own figures.
pub(super) const PRINTED: &str = "the paper's own table";

/// All measurements.
pub(super) struct Measured {
    pub(super) printed: Grid,
    /// RKC and GCM by level, slowest level first. The GCM key is set up beforehand.
    pub(super) levels: Vec<(Isa, Grid)>,
    /// By level, with bit-by-bit GHASH as the paper specifies it, at the paper's sizes.
    pub(super) bitwise: Vec<(Isa, Grid)>,
    /// By level, with all keys of RKC drawn by one request, at the paper's sizes.
    pub(super) draw_all: Vec<(Isa, Grid)>,
    /// At the best level, with a new GCM key for each message.
    pub(super) new_key: Grid,
    /// At the best level, with RKC's offsets computed beforehand.
    pub(super) prepared: Grid,
    /// Time with precomputation divided by time without, for RKC and GCM at the best level.
    pub(super) ahead: BTreeMap<Size, [Interval; 2]>,
    /// Time of OCB divided by time of GCM at the largest size of the paper, by level.
    pub(super) ocb: Vec<(Isa, Interval)>,
    /// Time of GCM at the best level divided by its time at the level with one block per register, at that size.
    pub(super) wider: Option<Interval>,
    /// Time of the plain composition of the crates `aes` and `sha2` divided by ours at the best level, without and
    /// with precomputed offsets.
    pub(super) plain: BTreeMap<Size, [Interval; 2]>,
    pub(super) parts: Vec<Parts>,
    /// Time of encryption with four keys in a register divided by time with one, with precomputed offsets.
    pub(super) lanes: Option<Interval>,
    pub(super) opening: Vec<Opening>,
    /// Memory in bytes for RKC's precomputed offsets and for GCM's keystream, for the largest message of the paper.
    pub(super) prepared_bytes: (usize, usize),
}

impl Measured {
    pub(super) fn best(&self) -> Option<&(Isa, Grid)> {
        self.levels.last()
    }

    /// The level without special instructions, if there are other levels.
    pub(super) fn portable(&self) -> Option<&(Isa, Grid)> {
        self.levels.first().filter(|_| self.levels.len() > 1)
    }

    /// All circumstances, the paper's first.
    pub(super) fn grids(&self) -> impl Iterator<Item = &Grid> {
        let levels = [&self.levels, &self.bitwise, &self.draw_all].into_iter().flatten().map(|(_, grid)| grid);
        [&self.printed].into_iter().chain(levels).chain([&self.new_key, &self.prepared])
    }
}
