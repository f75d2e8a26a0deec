//! The data of this study.

use std::collections::BTreeMap;

use sealwright::Isa;
use sealwright_measure::Interval;

use super::{
    grid::{Grid, Size},
    parts::{Opening, Parts},
    printed::PAPER,
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
    /// At the best level, with a new GCM key for each message, which is made and dropped.
    pub(super) new_key: Grid,
    /// The same, with the key in the memory of the one before.
    pub(super) rekeyed: Grid,
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

/// The name of a level in circumstances. RKC hashes for every block, and no level implies the instructions for that.
fn level(isa: Isa) -> String {
    if isa.has_sha() { format!("{isa} and SHA instructions") } else { format!("{isa}, no SHA instructions") }
}

impl Measured {
    /// Nothing yet, for a machine with these levels, slowest first. `prepared_bytes` is the field.
    pub(super) fn new(levels: &[Isa], best: Isa, prepared_bytes: (usize, usize)) -> Measured {
        let each = |what: &str| levels.iter().map(|&isa| (isa, Grid::new(level(isa) + what))).collect();
        let at_best = |what: &str| Grid::new(level(best) + what);
        Measured {
            printed: Grid::printed(&PAPER, PRINTED),
            levels: each(""),
            bitwise: each(", GHASH bit by bit"),
            draw_all: each(", RKC draws all keys at once"),
            new_key: at_best(", a new GCM key each message, made and dropped"),
            rekeyed: at_best(", a new GCM key each message, in place of the old one"),
            prepared: at_best(", RKC prepared"),
            ahead: BTreeMap::new(),
            ocb: Vec::new(),
            wider: None,
            plain: BTreeMap::new(),
            parts: Vec::new(),
            lanes: None,
            opening: Vec::new(),
            prepared_bytes,
        }
    }

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
        [&self.printed].into_iter().chain(levels).chain([&self.new_key, &self.rekeyed, &self.prepared])
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeSet;

    use super::*;

    /// Two machines whose levels have the same names may hash differently, which decides how fast RKC is.
    #[test]
    fn every_circumstance_names_how_rkc_hashes() {
        let measured = Measured::new(&Isa::available(), Isa::best(), (0, 0));
        let scopes: Vec<&str> = measured.grids().skip(1).map(|grid| &grid.scope[..]).collect();
        for scope in &scopes {
            assert!(scope.contains(" and SHA instructions") || scope.contains(", no SHA instructions"), "{scope}");
        }
        let portable = measured.levels.iter().find(|(isa, _)| isa.name() == "portable").unwrap();
        assert_eq!(portable.1.scope, "portable, no SHA instructions");
        assert_eq!(scopes.iter().collect::<BTreeSet<_>>().len(), 3 * Isa::available().len() + 3, "{scopes:?}");
    }
}
