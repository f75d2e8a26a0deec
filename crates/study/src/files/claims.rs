//! The paper's claims as predicates on intervals.

use sealwright_measure::{Interval, Verdict};

use super::grid::{Direction, Grid, Mode, Point, SIZES, every};
use crate::{
    corpus::Content,
    judgement::{Case, Judged, Judgement, every as all, quotient},
    paper::Paper,
};

/// Differences smaller than this share do not count as faster or slower.
const MATTERS: f64 = 0.02;

/// How far apart two figures may be and still count as about the same.
const ABOUT: f64 = 1.25;

/// Where a claim is tried.
pub(super) struct Circumstances<'a> {
    /// Those that the paper's general claims are tried in.
    pub(super) usual: Vec<&'a Grid>,
    /// The library at the machine's best level.
    pub(super) best: Option<&'a Grid>,
    /// Those without AES instructions.
    pub(super) basic: Vec<&'a Grid>,
}

/// Every claim of the paper with all its verdicts.
pub(super) fn judge(paper: &Paper, at: &Circumstances<'_>) -> Vec<Judged> {
    let predicate = |id: &str, grid: &Grid| match id {
        "encrypt" => gcm_slower(grid, Direction::Encrypt),
        "decrypt" => gcm_slower(grid, Direction::Decrypt),
        "constant-ratio" => constant_ratio(grid),
        "images" => images_slower(grid),
        "proportional" => proportional(grid),
        "parallel-decrypt" => cbc_decrypts_no_slower(grid),
        "optimal" => gcm_encrypts_faster(grid),
        "basic-hardware" => cbc_faster(grid),
        _ => None,
    };
    let judged = |sentence| {
        let mut judged = Judged::new(sentence);
        let grids: Vec<&Grid> = match sentence.id.as_str() {
            "optimal" => at.best.into_iter().collect(),
            "basic-hardware" => at.basic.clone(),
            _ => at.usual.clone(),
        };
        for grid in grids {
            if let Some(found) = predicate(&sentence.id, grid) {
                judged.add(sentence, &grid.scope, found);
            }
        }
        judged
    };
    paper.claims.iter().map(judged).collect()
}

fn case(name: String, figure: Option<Interval>, verdict: impl Fn(Interval) -> Verdict) -> Option<Case> {
    figure.map(|figure| Case { name, figure, verdict: verdict(figure) })
}

/// Points of the grid in one mode: what a claim about both modes at once goes through.
fn files(grid: &Grid) -> Vec<Point> {
    grid.points().filter(|point| point.mode == Mode::Cbc).collect()
}

fn gcm_slower(grid: &Grid, direction: Direction) -> Option<Judgement> {
    let cases = files(grid).into_iter().filter(|point| point.direction == direction).filter_map(|point| {
        let name = format!("{} {}", point.size, grid.name(point.kind));
        case(name, grid.gcm_to_cbc(point), |ratio| Verdict::above(ratio, 1.0 + MATTERS))
    });
    all("time of GCM : CBC", &cases.collect::<Vec<_>>())
}

fn constant_ratio(grid: &Grid) -> Option<Judgement> {
    let cases = every(&Content::ALL).filter(|(_, size, _)| *size == SIZES[0]).filter_map(|(kind, size, direction)| {
        let point = Point { kind, size, mode: Mode::Cbc, direction };
        let ratios: Vec<Interval> = SIZES.iter().filter_map(|&size| grid.gcm_to_cbc(point.size(size))).collect();
        let name = format!("{}, {direction}", grid.name(kind));
        case(name, spread(&ratios), |spread| Verdict::above(spread, ABOUT).opposite())
    });
    all("largest ratio : smallest", &cases.collect::<Vec<_>>())
}

/// The largest of `figures` over the smallest; `None` of fewer than two.
fn spread(figures: &[Interval]) -> Option<Interval> {
    let pairs = figures.iter().enumerate().flat_map(|(i, &a)| {
        figures.iter().enumerate().filter(move |(j, _)| *j != i).map(move |(_, &b)| quotient(a, b))
    });
    pairs.reduce(|all, one| Interval {
        median: all.median.max(one.median),
        low: all.low.max(one.low).max(1.0),
        high: all.high.max(one.high),
    })
}

fn images_slower(grid: &Grid) -> Option<Judgement> {
    let cases = grid.points().filter(|point| point.kind != Content::Text).filter_map(|point| {
        let Point { kind, size, mode, direction } = point;
        let ratio = grid.time(point.kind(Content::Text)).and_then(|_| grid.ratio(point, point.kind(Content::Text)));
        case(format!("{size} {}, {direction} {mode}", grid.name(kind)), ratio, |ratio| {
            Verdict::above(ratio, 1.0 + MATTERS)
        })
    });
    all("time of image : text", &cases.collect::<Vec<_>>())
}

fn proportional(grid: &Grid) -> Option<Judgement> {
    let cases = grid.points().flat_map(|point| {
        SIZES.windows(2).filter(move |pair| pair[0] == point.size).filter_map(move |pair| {
            let Point { kind, mode, direction, .. } = point;
            let grown = grid.ratio(point.size(pair[1]), point);
            let times = pair[1].0 as f64 / pair[0].0 as f64;
            case(format!("{}, {direction} {mode}, {} to {}", grid.name(kind), pair[0], pair[1]), grown, |grown| {
                Verdict::between(grown, times / ABOUT, times * ABOUT)
            })
        })
    });
    all("growth of the time", &cases.collect::<Vec<_>>())
}

/// The largest files of one direction.
fn largest(grid: &Grid, direction: Direction) -> Vec<Point> {
    files(grid).into_iter().filter(|point| point.size == SIZES[2] && point.direction == direction).collect()
}

fn cbc_decrypts_no_slower(grid: &Grid) -> Option<Judgement> {
    let cases = largest(grid, Direction::Decrypt).into_iter().filter_map(|point| {
        let name = format!("{} {}", point.size, grid.name(point.kind));
        case(name, grid.gcm_to_cbc(point), |ratio| Verdict::above(ratio, 1.0 - MATTERS))
    });
    all("time of GCM : CBC", &cases.collect::<Vec<_>>())
}

fn gcm_encrypts_faster(grid: &Grid) -> Option<Judgement> {
    let cases = largest(grid, Direction::Encrypt).into_iter().filter_map(|point| {
        let ratio = grid.ratio(point, point.mode(Mode::Gcm));
        case(format!("{} {}", point.size, grid.name(point.kind)), ratio, |ratio| Verdict::above(ratio, 1.0 + MATTERS))
    });
    all("time of CBC : GCM", &cases.collect::<Vec<_>>())
}

fn cbc_faster(grid: &Grid) -> Option<Judgement> {
    let points = Direction::ALL.into_iter().flat_map(|direction| largest(grid, direction));
    let cases = points.filter_map(|point| {
        let name = format!("{} {}, {}", point.size, grid.name(point.kind), point.direction);
        case(name, grid.gcm_to_cbc(point), |ratio| Verdict::above(ratio, 1.0 + MATTERS))
    });
    all("time of GCM : CBC", &cases.collect::<Vec<_>>())
}

#[cfg(test)]
#[path = "claims_tests.rs"]
mod tests;
