#![allow(clippy::unwrap_used)]
use sealwright_measure::{
    Interval,
    Verdict::{self, CannotBeTold, DoesNotHold, Holds},
};

use super::*;
use crate::{judgement::judge, messages::printed::PAPER};

/// A grid in which RKC : GCM is `ratio`, with intervals of plus and minus `share`.
fn grid(share: f64, ratio: impl Fn(u64) -> f64) -> Grid {
    let mut grid = Grid::new("made up");
    for size in SIZES {
        let rkc = ratio(size.0);
        let rkc = Interval::new(rkc, rkc * (1.0 - share), rkc * (1.0 + share));
        grid.set(size, rkc, Interval::exact(1.0));
    }
    grid
}

fn verdicts(grid: &Grid) -> [Verdict; 4] {
    let mut all = Vec::new();
    ratios(grid, &mut Quantities::new(&mut all, &grid.scope, QuantityKind::Measured));
    let judged = judge(&PAPER.claims, &all).unwrap();
    ["small", "even", "large", "crossing"]
        .map(|id| judged.iter().find(|one| one.id == id).unwrap().verdict("made up").unwrap())
}

#[test]
fn each_has_three_outcomes() {
    assert_eq!(verdicts(&grid(0.01, |bytes| bytes as f64 / 2048.0)), [Holds; 4]);
    assert_eq!(verdicts(&grid(0.01, |_| 40.0)), [DoesNotHold, DoesNotHold, Holds, DoesNotHold]);
    assert_eq!(verdicts(&grid(0.01, |_| 0.5)), [Holds, DoesNotHold, DoesNotHold, DoesNotHold]);
    assert_eq!(verdicts(&grid(0.6, |_| 1.0)), [CannotBeTold; 4]);
    let odd = grid(0.001, |bytes| if bytes == 512 { 1.5 } else { 0.5 });
    assert_eq!(verdicts(&odd)[0], DoesNotHold, "one size against decides");
}

#[test]
fn what_one_message_shows_is_tried() {
    let mut all = Vec::new();
    tried(&mut Quantities::new(&mut all, TRIED, QuantityKind::Measured));
    assert_eq!(all.len(), 2 * (1 + 13), "both modes: the flipped bit, and every size of table 1");
    assert!(all.iter().all(|quantity| quantity.figure == Interval::exact(0.0)), "{all:?}");
}
