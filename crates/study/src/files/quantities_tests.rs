#![allow(clippy::unwrap_used)]
use sealwright_measure::Verdict::{self, CannotBeTold, DoesNotHold, Holds};

use super::*;
use crate::{
    files::{grid::every, printed::PAPER},
    judgement::judge,
};

/// A grid of text and PNG with times from `time`, in milliseconds, and intervals of plus and minus `share`.
fn grid(share: f64, time: impl Fn(Point) -> f64) -> Grid {
    let mut grid = Grid::new("made up");
    for (kind, size, direction) in every(&[Content::Text, Content::Png]) {
        for mode in Mode::ALL {
            let point = Point { kind, size, mode, direction };
            let median = time(point);
            let interval = Interval::new(median, median * (1.0 - share), median * (1.0 + share));
            grid.set(point, interval);
        }
    }
    grid
}

/// A grid in which CBC and GCM take `cbc` and `gcm` nanoseconds per byte.
fn by_byte(share: f64, cbc: f64, gcm: f64) -> Grid {
    grid(share, |point| point.size.0 as f64 * 1e-6 * if point.mode == Mode::Cbc { cbc } else { gcm })
}

fn verdict(id: &str, grid: &Grid) -> Verdict {
    judge(&PAPER.claims, &printed(grid)).unwrap().iter().find(|one| one.id == id).unwrap().verdict("made up").unwrap()
}

#[test]
fn cbc_against_gcm_has_three_outcomes_each_way() {
    for id in ["encrypt", "decrypt"] {
        assert_eq!(verdict(id, &by_byte(0.01, 1.0, 2.0)), Holds);
        assert_eq!(verdict(id, &by_byte(0.01, 2.0, 1.0)), DoesNotHold);
        assert_eq!(verdict(id, &by_byte(0.2, 1.0, 1.1)), CannotBeTold);
    }
    // One direction does not imply anything about the other
    let slow_to_encrypt =
        grid(0.005, |point| if (point.mode, point.direction) == (Mode::Gcm, Direction::Encrypt) { 2.0 } else { 1.0 });
    assert_eq!(verdict("encrypt", &slow_to_encrypt), Holds);
    assert_eq!(verdict("decrypt", &slow_to_encrypt), CannotBeTold, "equal times");
}

#[test]
fn sizes_and_kinds_have_three_outcomes() {
    assert_eq!(verdict("constant-ratio", &by_byte(0.01, 1.0, 2.0)), Holds);
    let growing = grid(0.01, |point| if point.mode == Mode::Cbc { 1.0 } else { point.size.0 as f64 });
    assert_eq!(verdict("constant-ratio", &growing), DoesNotHold);
    assert_eq!(verdict("constant-ratio", &by_byte(0.3, 1.0, 2.0)), CannotBeTold);
    let images = |share, factor| grid(share, move |point| if point.kind == Content::Text { 1.0 } else { factor });
    assert_eq!(verdict("images", &images(0.01, 1.5)), Holds);
    assert_eq!(verdict("images", &images(0.01, 0.9)), DoesNotHold);
    assert_eq!(verdict("images", &images(0.1, 1.1)), CannotBeTold);
    assert_eq!(verdict("proportional", &by_byte(0.01, 1.0, 2.0)), Holds);
    let start = grid(0.01, |point| 1.0 + point.size.0 as f64 * 1e-6);
    assert_eq!(verdict("proportional", &start), DoesNotHold);
}
