//! The message size from which RKC is no longer faster than GCM.

use sealwright_measure::Interval;

use super::grid::{Grid, Size};
use crate::figure::shown;

/// The result for one circumstance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Crossing {
    /// GCM is faster at every size. The minimum and maximum of the ratio RKC : GCM.
    GcmThroughout(f64, f64),
    /// RKC is faster at every size. The minimum and maximum of the ratio.
    RkcThroughout(f64, f64),
    /// RKC is faster up to the first size, and GCM from the second size on. The number of bytes is interpolated
    /// between them.
    Between(Size, Size, f64),
    /// There are several crossings, or GCM is faster at small sizes.
    Other,
    /// Nothing was measured.
    Unknown,
}

pub(super) fn of(grid: &Grid) -> Crossing {
    let ratios: Vec<(Size, f64)> = grid.points().map(|(size, against)| (size, against.ratio.median)).collect();
    let all = ratios.iter().map(|(_, ratio)| *ratio);
    let (least, most) = (all.clone().fold(f64::INFINITY, f64::min), all.fold(0.0, f64::max));
    let changes: Vec<_> = ratios.windows(2).filter(|pair| (pair[0].1 < 1.0) != (pair[1].1 < 1.0)).collect();
    match (&ratios[..], &changes[..]) {
        ([], _) => Crossing::Unknown,
        ([(_, first), ..], []) if *first < 1.0 => Crossing::RkcThroughout(least, most),
        (_, []) => Crossing::GcmThroughout(least, most),
        (_, &[&[(before, below), (after, above)]]) if below < 1.0 => {
            // Linear interpolation of the logarithm of the ratio over the logarithm of the size
            let (from, to) = ((before.0 as f64).ln(), (after.0 as f64).ln());
            let share = -below.ln() / (above.ln() - below.ln());
            Crossing::Between(before, after, (from + share * (to - from)).exp())
        }
        _ => Crossing::Other,
    }
}

/// The result as text that begins with a lower-case letter.
pub(super) fn words(crossing: Crossing) -> String {
    let brief = |figure: f64| shown(Interval::exact(figure));
    match crossing {
        Crossing::GcmThroughout(least, most) => {
            format!("none: GCM is faster at every size, {} to {} times", brief(least), brief(most))
        }
        Crossing::RkcThroughout(least, most) => {
            format!("none: RKC is faster at every size, {} to {} times", brief(1.0 / most), brief(1.0 / least))
        }
        Crossing::Between(before, after, bytes) => {
            format!("between {before} and {after}, near {bytes:.0} bytes: RKC is faster before, GCM after")
        }
        Crossing::Other => {
            "not one: which is faster changes more than once, or GCM is faster for short messages".into()
        }
        Crossing::Unknown => "not measured".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(ratios: &[f64]) -> Grid {
        let mut grid = Grid::new("made up");
        for (i, &ratio) in ratios.iter().enumerate() {
            grid.set(Size(16 << i), Interval::exact(ratio), Interval::exact(1.0));
        }
        grid
    }

    #[test]
    fn every_course_is_told_apart() {
        assert_eq!(of(&grid(&[2.0, 3.0, 5.0])), Crossing::GcmThroughout(2.0, 5.0));
        assert_eq!(of(&grid(&[0.5, 0.25])), Crossing::RkcThroughout(0.25, 0.5));
        assert_eq!(of(&grid(&[0.5, 2.0, 0.5])), Crossing::Other);
        assert_eq!(of(&grid(&[2.0, 0.5])), Crossing::Other);
        assert_eq!(of(&grid(&[])), Crossing::Unknown);
        let Crossing::Between(before, after, bytes) = of(&grid(&[0.1, 0.5, 2.0, 3.0])) else { panic!() };
        assert_eq!((before, after), (Size(32), Size(64)));
        assert!((bytes - 32.0 * 2f64.sqrt()).abs() < 1e-9, "{bytes}");
    }

    #[test]
    fn the_papers_lies_at_2_kib() {
        let printed = Grid::printed(&super::super::printed::PAPER, "paper");
        let Crossing::Between(before, after, bytes) = of(&printed) else { panic!() };
        assert_eq!((before, after), (Size::kib(1), Size::kib(2)));
        assert!((1800.0..2048.0).contains(&bytes), "{bytes}");
    }
}
