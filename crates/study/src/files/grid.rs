//! The paper's grid (kind, size, mode, direction), and the times that one circumstance has on it.

use std::{collections::BTreeMap, fmt};

use sealwright_measure::{Comparison, Interval};

use crate::{corpus::Content, paper::Paper};

/// The paper's sizes in bytes. Its kB and MB are taken as powers of ten.
pub(super) const SIZES: [Size; 3] = [Size(100_000), Size(1_000_000), Size(10_000_000)];

/// The length of a file in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Size(pub(super) u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text =
            if self.0 < 1_000_000 { format!("{} kB", self.0 / 1000) } else { format!("{} MB", self.0 / 1_000_000) };
        f.pad(&text)
    }
}

/// AES-256 in one of the two modes that the paper compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mode {
    Cbc,
    Gcm,
}

impl Mode {
    pub(super) const ALL: [Mode; 2] = [Mode::Cbc, Mode::Gcm];
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(if *self == Mode::Cbc { "CBC" } else { "GCM" })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Direction {
    Encrypt,
    Decrypt,
}

impl Direction {
    pub(super) const ALL: [Direction; 2] = [Direction::Encrypt, Direction::Decrypt];

    /// The column of the mode in the paper.
    pub(super) fn column(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(if *self == Direction::Encrypt { "encrypt" } else { "decrypt" })
    }
}

/// A point of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Point {
    pub(super) kind: Content,
    pub(super) size: Size,
    pub(super) mode: Mode,
    pub(super) direction: Direction,
}

impl Point {
    /// The same point with another mode, kind or size.
    pub(super) fn mode(self, mode: Mode) -> Point {
        Point { mode, ..self }
    }

    pub(super) fn kind(self, kind: Content) -> Point {
        Point { kind, ..self }
    }

    pub(super) fn size(self, size: Size) -> Point {
        Point { size, ..self }
    }

    /// The label of this file's row in the paper.
    pub(super) fn row(self) -> String {
        format!("{} {}", self.size, if self.kind == Content::Text { "text" } else { "image" })
    }
}

/// The times of one circumstance in milliseconds, at the points where it was measured.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    /// The circumstance.
    pub(super) scope: String,
    times: BTreeMap<Point, Interval>,
    /// Ratios of times from the same rounds, which are narrower than quotients of two intervals.
    ratios: BTreeMap<(Point, Point), Interval>,
}

impl Grid {
    pub(super) fn new(scope: impl Into<String>) -> Grid {
        Grid { scope: scope.into(), times: BTreeMap::new(), ratios: BTreeMap::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    pub(super) fn set(&mut self, point: Point, time: Interval) {
        self.times.insert(point, time);
    }

    /// Adds the results of a comparison; `points` maps names of candidates to points.
    pub(super) fn add(&mut self, found: &Comparison, points: &[(String, Point)]) {
        for (name, point) in points {
            if let Some(trial) = found.trial(name) {
                self.set(*point, trial.interval.scale(1e3));
            }
            for (other, there) in points.iter().filter(|(other, _)| other != name) {
                if let Some(ratio) = found.ratio(name, other) {
                    self.ratios.insert((*point, *there), ratio);
                }
            }
        }
    }

    /// The paper's two tables. Each reading is a whole number of ticks of 4 ms, so the mean of three is off by at most
    /// one tick.
    pub(super) fn printed(paper: &Paper, scope: &str) -> Grid {
        let mut grid = Grid::new(scope);
        for (mode, id) in [(Mode::Cbc, "cbc"), (Mode::Gcm, "gcm")] {
            for (kind, size, direction) in every(&[Content::Text, Content::Png]) {
                let point = Point { kind, size, mode, direction };
                if let Some(value) = paper.table(id).and_then(|table| table.value(&point.row(), direction.column())) {
                    let tick = super::ticks::TICK_MS;
                    grid.set(point, Interval::bounds(value, value - tick, value + tick));
                }
            }
        }
        grid
    }

    pub(super) fn points(&self) -> impl Iterator<Item = Point> {
        self.times.keys().copied()
    }

    /// The time in milliseconds.
    pub(super) fn time(&self, point: Point) -> Option<Interval> {
        self.times.get(&point).copied()
    }

    /// Time at `a` divided by time at `b`. If `b` is a printed time of at most one tick, the true time may be zero, so
    /// the ends are unknown.
    pub(super) fn ratio(&self, a: Point, b: Point) -> Option<Interval> {
        match self.ratios.get(&(a, b)) {
            Some(ratio) => Some(*ratio),
            None => self.time(a)?.over(self.time(b)?),
        }
    }

    /// Time of GCM divided by time of CBC, the main figure of this study.
    pub(super) fn gcm_to_cbc(&self, point: Point) -> Option<Interval> {
        self.ratio(point.mode(Mode::Gcm), point.mode(Mode::Cbc))
    }
}

/// Every file of the grid, in both directions.
pub(super) fn every(kinds: &[Content]) -> impl Iterator<Item = (Content, Size, Direction)> {
    kinds.iter().flat_map(|&kind| SIZES.iter().flat_map(move |&size| Direction::ALL.map(|way| (kind, size, way))))
}
