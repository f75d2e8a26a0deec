#![allow(clippy::unwrap_used)]
use Verdict::{CannotBeTold, DoesNotHold, Holds};

use super::*;

/// RKC : GCM as `ratio` has it, with intervals of plus and minus `share`.
fn grid(share: f64, ratio: impl Fn(u64) -> f64) -> Grid {
    let mut grid = Grid::new("made up");
    for size in SIZES {
        let rkc = ratio(size.0);
        let rkc = Interval { median: rkc, low: rkc * (1.0 - share), high: rkc * (1.0 + share) };
        grid.set(size, rkc, Interval::exact(1.0));
    }
    grid
}

fn verdict(found: Option<Judgement>) -> Verdict {
    found.unwrap().verdict
}

#[test]
fn the_papers_table_bears_the_papers_sentences_out() {
    let printed = Grid::printed(&super::super::printed::PAPER, "paper");
    assert_eq!(verdict(small(&printed)), Holds);
    assert_eq!(verdict(even(&printed)), Holds);
    assert_eq!(verdict(large(&printed)), Holds);
    assert_eq!(verdict(crossing(&printed)), Holds);
}

#[test]
fn each_has_three_outcomes() {
    let like_the_paper = |share| grid(share, |bytes| bytes as f64 / 2048.0);
    for predicate in [small, even, large, crossing] {
        assert_eq!(verdict(predicate(&like_the_paper(0.01))), Holds);
    }
    let gcm_throughout = grid(0.01, |_| 40.0);
    assert_eq!(
        [small, even, large, crossing].map(|predicate| verdict(predicate(&gcm_throughout))),
        [DoesNotHold, DoesNotHold, Holds, DoesNotHold]
    );
    let rkc_throughout = grid(0.01, |_| 0.5);
    assert_eq!(
        [small, even, large, crossing].map(|predicate| verdict(predicate(&rkc_throughout))),
        [Holds, DoesNotHold, DoesNotHold, DoesNotHold]
    );
    let wide = grid(0.6, |_| 1.0);
    for predicate in [small, even, large, crossing] {
        assert_eq!(verdict(predicate(&wide)), CannotBeTold);
    }
    for predicate in [small, even, large, crossing] {
        assert!(predicate(&Grid::new("empty")).is_none());
    }
}

#[test]
fn one_size_against_decides() {
    let odd = grid(0.001, |bytes| if bytes == 512 { 1.5 } else { 0.5 });
    let found = small(&odd).unwrap();
    assert_eq!(found.verdict, DoesNotHold);
    assert!(found.evidence.contains("512 B") && found.evidence.contains("holds in 3"), "{}", found.evidence);
}

#[test]
fn memory_and_lanes() {
    assert_eq!(verdict(memory((20480, 10240))), DoesNotHold);
    assert_eq!(verdict(memory((10240, 10240))), Holds);
    assert_eq!(verdict(parallel(Interval::exact(0.4))), Holds);
    assert_eq!(verdict(parallel(Interval::exact(0.9))), DoesNotHold);
    assert_eq!(verdict(parallel(Interval { median: 0.6, low: 0.5, high: 0.8 })), CannotBeTold);
}
