//! The paper's claims as predicates on intervals.

use sealwright_measure::{Interval, Verdict};

use super::{
    grid::{Grid, LARGEST_PRINTED, SIZES, SMALLEST_PRINTED, Size},
    measured::Measured,
};
use crate::{
    judgement::{Case, Judged, Judgement, every},
    paper::{Paper, Sentence},
};

/// Differences smaller than this share do not count as faster or slower.
const MATTERS: f64 = 0.02;
/// How far apart two figures may be and still count as about the same.
const ABOUT: f64 = 1.1;

/// Every claim of the paper with all its verdicts.
pub(super) fn judge(paper: &Paper, measured: &Measured) -> Vec<Judged> {
    paper.claims.iter().map(|sentence| judged(sentence, measured)).collect()
}

fn judged(sentence: &Sentence, measured: &Measured) -> Judged {
    let mut judged = Judged::new(sentence);
    let mut add = |scope: &str, found: Option<Judgement>| {
        if let Some(found) = found {
            judged.add(sentence, scope, found);
        }
    };
    let against: Option<fn(&Grid) -> Option<Judgement>> = match sentence.id.as_str() {
        "small" => Some(small),
        "even" => Some(even),
        "large" => Some(large),
        "crossing" => Some(crossing),
        _ => None,
    };
    if let Some(predicate) = against {
        for grid in measured.grids() {
            add(&grid.scope, predicate(grid));
        }
    }
    let best = measured.best().map_or("", |(_, grid)| &grid.scope);
    match sentence.id.as_str() {
        "prepared" => add(best, prepared(measured)),
        "parallel" => add(best, measured.lanes.and_then(parallel)),
        "memory" => add(best, memory(measured.prepared_bytes)),
        "decryption" => {
            for (isa, grid) in &measured.levels {
                let cases = measured.opening.iter().filter(|opening| opening.isa == *isa).flat_map(|opening| {
                    [("RKC", opening.rkc), ("GCM", opening.gcm)].map(|(mode, ratio)| {
                        let verdict = Verdict::between(ratio, 1.0 / ABOUT, ABOUT);
                        Case { name: format!("{mode}, {}", opening.size), figure: ratio, verdict }
                    })
                });
                add(&grid.scope, every("time of opening : sealing", &cases.collect::<Vec<_>>()));
            }
        }
        _ => {}
    }
    judged
}

/// A claim about RKC : GCM at every size from `first` to `last`.
fn throughout(grid: &Grid, first: Size, last: Size, verdict: impl Fn(Interval) -> Verdict) -> Option<Judgement> {
    let sizes = SIZES.into_iter().filter(|size| (first..=last).contains(size));
    let cases = sizes.filter_map(|size| {
        let figure = grid.ratio(size)?;
        Some(Case { name: size.to_string(), figure, verdict: verdict(figure) })
    });
    every("time of RKC : GCM", &cases.collect::<Vec<_>>())
}

fn small(grid: &Grid) -> Option<Judgement> {
    throughout(grid, SMALLEST_PRINTED, Size::kib(1), |ratio| Verdict::below(ratio, 1.0 - MATTERS))
}

fn even(grid: &Grid) -> Option<Judgement> {
    throughout(grid, Size::kib(2), Size::kib(2), |ratio| Verdict::between(ratio, 1.0 / ABOUT, ABOUT))
}

fn large(grid: &Grid) -> Option<Judgement> {
    throughout(grid, Size::kib(3), LARGEST_PRINTED, |ratio| Verdict::above(ratio, 1.0 + MATTERS))
}

fn crossing(grid: &Grid) -> Option<Judgement> {
    let (before, after) = (grid.ratio(Size::kib(1))?, grid.ratio(Size::kib(3))?);
    let case = |size: Size, figure, verdict| Case { name: size.to_string(), figure, verdict };
    every(
        "time of RKC : GCM",
        &[
            case(Size::kib(1), before, Verdict::below(before, 1.0)),
            case(Size::kib(3), after, Verdict::above(after, 1.0)),
        ],
    )
}

/// Both were measured against the same GCM in the same rounds; the quotient of the times is wider than need be.
fn prepared(measured: &Measured) -> Option<Judgement> {
    let (_, whole) = measured.best()?;
    let cases = SIZES.into_iter().filter(|size| size.printed()).filter_map(|size| {
        let figure = crate::judgement::quotient(whole.at(size)?.rkc, measured.prepared.at(size)?.rkc);
        Some(Case { name: size.to_string(), figure, verdict: Verdict::above(figure, 1.0 + MATTERS) })
    });
    every("time of RKC : RKC prepared", &cases.collect::<Vec<_>>())
}

fn parallel(lanes: Interval) -> Option<Judgement> {
    let verdict = Verdict::below(lanes, 2.0 / 3.0);
    every(
        "time of four keys in a register : one",
        &[Case { name: LARGEST_PRINTED.to_string(), figure: lanes, verdict }],
    )
}

fn memory((rkc, gcm): (usize, usize)) -> Option<Judgement> {
    let figure = Interval::exact(rkc as f64 / gcm as f64);
    let verdict = Verdict::below(figure, ABOUT);
    let name = format!("{rkc} bytes of offsets, {gcm} bytes of keystream");
    every("offsets : keystream", &[Case { name, figure, verdict }])
}

#[cfg(test)]
#[path = "claims_tests.rs"]
mod tests;
