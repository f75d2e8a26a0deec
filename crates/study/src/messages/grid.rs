//! Times of RKC and GCM in one circumstance, by message size.

use std::{collections::BTreeMap, fmt};

use sealwright_measure::{Comparison, Interval};

use crate::{amount, paper::Paper};

/// The length of a message in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Size(pub(super) u64);

const KIB: u64 = 1024;

/// The paper's sizes, with its KB taken as 1024 bytes, and further sizes.
pub(super) const SIZES: [Size; 20] = [
    Size(16),
    Size(32),
    Size(64),
    Size(128),
    Size(256),
    Size(512),
    Size(KIB),
    Size(2 * KIB),
    Size(3 * KIB),
    Size(4 * KIB),
    Size(5 * KIB),
    Size(6 * KIB),
    Size(7 * KIB),
    Size(8 * KIB),
    Size(9 * KIB),
    LARGEST_PRINTED,
    Size(16 * KIB),
    Size(64 * KIB),
    Size(256 * KIB),
    Size(KIB * KIB),
];

/// The smallest and the largest size in the paper's table.
pub(super) const SMALLEST_PRINTED: Size = Size(128);
pub(super) const LARGEST_PRINTED: Size = Size(10 * KIB);

impl Size {
    /// A number of KiB.
    pub(super) const fn kib(n: u64) -> Size {
        Size(n * KIB)
    }

    /// Whether it is within the range of the paper's table.
    pub(super) fn printed(self) -> bool {
        (SMALLEST_PRINTED..=LARGEST_PRINTED).contains(&self)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&amount::exact(self.0 as usize))
    }
}

/// The times of both modes at one size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Against {
    /// Time of RKC in microseconds.
    pub(super) rkc: Interval,
    /// Time of GCM in microseconds.
    pub(super) gcm: Interval,
    /// Time of RKC divided by time of GCM.
    pub(super) ratio: Interval,
}

/// The times of one circumstance.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    pub(super) scope: String,
    points: BTreeMap<Size, Against>,
}

/// The possible error of a printed mean in milliseconds. Most means are means of three to five whole numbers of
/// milliseconds.
const PRINTED_TO_MS: f64 = 1.0;

impl Grid {
    pub(super) fn new(scope: impl Into<String>) -> Grid {
        Grid { scope: scope.into(), points: BTreeMap::new() }
    }

    /// The paper's table 1.
    pub(super) fn printed(paper: &Paper, scope: &str) -> Grid {
        let mut grid = Grid::new(scope);
        for size in SIZES {
            let value = |column| paper.table("times").and_then(|table| table.value(&size.to_string(), column));
            if let (Some(rkc), Some(gcm)) = (value(0), value(1)) {
                let near = |ms: f64| Interval::bounds(ms, ms - PRINTED_TO_MS, ms + PRINTED_TO_MS).scale(1e3);
                grid.set(size, near(rkc), near(gcm));
            }
        }
        grid
    }

    /// Sets times that were measured separately.
    pub(super) fn set(&mut self, size: Size, rkc: Interval, gcm: Interval) {
        if let Some(ratio) = rkc.over(gcm) {
            self.points.insert(size, Against { rkc, gcm, ratio });
        }
    }

    /// Adds the results of a comparison, if it contains both candidates.
    pub(super) fn add(&mut self, size: Size, found: &Comparison, rkc: &str, gcm: &str) {
        let us = |name| found.trial(name).map(|trial| trial.interval.scale(1e6));
        if let (Some(ratio), Some(rkc), Some(gcm)) = (found.ratio(rkc, gcm), us(rkc), us(gcm)) {
            self.points.insert(size, Against { rkc, gcm, ratio });
        }
    }

    pub(super) fn points(&self) -> impl Iterator<Item = (Size, Against)> {
        self.points.iter().map(|(&size, &against)| (size, against))
    }

    pub(super) fn at(&self, size: Size) -> Option<Against> {
        self.points.get(&size).copied()
    }

    /// Time of RKC divided by time of GCM.
    pub(super) fn ratio(&self, size: Size) -> Option<Interval> {
        self.at(size).map(|against| against.ratio)
    }
}
