//! Everything that this study measures.

use std::collections::BTreeMap;

use sealwright::Isa;
use sealwright_measure::Interval;

use super::{
    grid::{Grid, Size},
    parts::{Opening, Parts},
};

/// The circumstance of the paper's own figures.
pub(super) const PRINTED: &str = "the paper's own table";

/// Everything measured.
pub(super) struct Measured {
    pub(super) printed: Grid,
    /// RKC against GCM by level, slowest first, the GCM key made beforehand.
    pub(super) levels: Vec<(Isa, Grid)>,
    /// At the lowest level, with GHASH bit by bit as the paper writes it down.
    pub(super) bitwise: Grid,
    /// At the best level, with a new GCM key for every message.
    pub(super) new_key: Grid,
    /// At the best level, with RKC's offsets made beforehand.
    pub(super) prepared: Grid,
    /// Time with what can be made beforehand over time without, of RKC and of GCM, at the best level.
    pub(super) ahead: BTreeMap<Size, [Interval; 2]>,
    /// Time of OCB over time of GCM at the largest size of the paper, by level.
    pub(super) ocb: Vec<(Isa, Interval)>,
    /// Time of GCM at the best level over its time at the level with registers of one block, at that size.
    pub(super) wider: Option<Interval>,
    /// Time of a plain composition of the crates `aes` and `sha2` over ours at the best level; and over ours with
    /// offsets made beforehand.
    pub(super) plain: BTreeMap<Size, [Interval; 2]>,
    pub(super) parts: Vec<Parts>,
    /// Time of four keys in a register over one, encrypting with offsets made beforehand.
    pub(super) lanes: Option<Interval>,
    pub(super) opening: Vec<Opening>,
    /// What RKC prepares over GCM's keystream, in bytes, for the largest message of the paper.
    pub(super) prepared_bytes: (usize, usize),
}

impl Measured {
    pub(super) fn best(&self) -> Option<&(Isa, Grid)> {
        self.levels.last()
    }

    /// The lowest level, where there is more than one: without any special instruction.
    pub(super) fn portable(&self) -> Option<&(Isa, Grid)> {
        self.levels.first().filter(|_| self.levels.len() > 1)
    }

    /// Every circumstance, the paper's first.
    pub(super) fn grids(&self) -> impl Iterator<Item = &Grid> {
        let levels = self.levels.iter().map(|(_, grid)| grid);
        [&self.printed].into_iter().chain(levels).chain([&self.bitwise, &self.new_key, &self.prepared])
    }
}
