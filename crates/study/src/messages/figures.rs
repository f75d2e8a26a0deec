//! The figures: the paper's figures repeated, the ratio by size, the cost of the parts of RKC.

use sealwright_measure::Interval;

use super::{
    grid::{Against, Grid, LARGEST_PRINTED, SIZES, Size},
    measured::Measured,
};
use crate::figure::{Axis, Figure, Origin, PlotKind, Series, X, colour, shown};

pub(super) fn figures(measured: &Measured) -> Vec<Figure> {
    let mut figures = vec![times(measured), ratio(measured), parts(measured)];
    for figure in &mut figures {
        figure.series.retain(|series| !series.points.is_empty());
    }
    figures.retain(|figure| figure.series.iter().any(|series| series.origin != Origin::Printed));
    figures
}

fn sizes() -> Axis {
    let marked = [16, 128, 1024, 2048, 4096, 10 * 1024, 64 * 1024, 1 << 20].map(Size);
    Axis::new("message", None).log().ticks(marked.map(|size| (size.0 as f64, size.to_string())))
}

fn by_size(grid: &Grid, figure: impl Fn(Against) -> Interval) -> Vec<(X, Interval)> {
    grid.points().map(|(size, against)| (X::Number(size.0 as f64), figure(against))).collect()
}

/// The paper's points without the error bounds that we assign to them.
fn plain(points: Vec<(X, Interval)>) -> Vec<(X, Interval)> {
    points.into_iter().map(|(x, y)| (x, Interval::exact(y.median))).collect()
}

/// The first and last point of each series as text.
fn ends(series: &[Series]) -> String {
    let end = |series: &Series| {
        let (first, last) = (series.points.first()?, series.points.last()?);
        let brief = |figure: Interval| shown(Interval::exact(figure.median));
        Some(format!("{} from {} to {}", series.name, brief(first.y), brief(last.y)))
    };
    format!("From the left end to the right: {}.", series.iter().filter_map(end).collect::<Vec<_>>().join("; "))
}

fn times(measured: &Measured) -> Figure {
    let mut series = Vec::new();
    let levels = measured.best().into_iter().chain(measured.portable());
    let grids: Vec<&Grid> = levels.map(|(_, grid)| grid).collect();
    for (colour, mode, of) in
        [(colour::RKC, "RKC", (|at| at.rkc) as fn(Against) -> Interval), (colour::GCM, "GCM", |at| at.gcm)]
    {
        let us = |grid: &Grid| by_size(grid, of);
        series.push(Series::paper(format!("paper, {mode}"), colour, plain(us(&measured.printed))));
        for grid in &grids {
            series.push(Series::here(format!("{mode}, {}", grid.scope), colour, us(grid)));
        }
    }
    Figure {
        id: "times".to_owned(),
        title: "Time to encrypt a message: the paper's figure 1 repeated".to_owned(),
        alt: format!(
            "Time by length of the message, both axes logarithmic, in microseconds; where two lines of one origin cross, the \
             faster mode changes. {}",
            ends(&series)
        ),
        kind: PlotKind::Lines,
        x: sizes(),
        y: Axis::new("time", Some("µs"))
            .log()
            .ticks([0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6].map(|us| (us, us.to_string()))),
        repeats: true,
        level: None,
        series,
    }
}

fn ratio(measured: &Measured) -> Figure {
    let of = |grid: &Grid| by_size(grid, |at| at.ratio);
    let mut series = vec![Series::paper("paper", 0, plain(of(&measured.printed)))];
    let others = measured.grids().skip(1).enumerate();
    series.extend(others.map(|(number, grid)| Series::here(&grid.scope, colour::CIRCUMSTANCES[number % 4], of(grid))));
    Figure {
        id: "ratio".to_owned(),
        title: "Time of RKC over time of GCM".to_owned(),
        alt: format!(
            "Ratio by length of the message, one line for each circumstance. Below the line at 1 RKC is faster, as in the \
             paper up to 1 KiB; above it GCM. {}",
            ends(&series)
        ),
        kind: PlotKind::Lines,
        x: sizes(),
        y: Axis::new("RKC : GCM", None).log().ticks(
            [0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0]
                .map(|ratio| (ratio, if ratio == 1.0 { "equal 1".to_owned() } else { ratio.to_string() })),
        ),
        repeats: false,
        level: Some(1.0),
        series,
    }
}

fn parts(measured: &Measured) -> Figure {
    type Part = fn(&super::parts::Parts) -> Interval;
    let parts: [(&str, Part); 5] = [
        ("DRBG", |parts| parts.drbg),
        ("tag", |parts| parts.tag),
        ("key schedule", |parts| parts.schedule),
        ("cipher", |parts| parts.cipher),
        ("all of GCM", |parts| parts.gcm),
    ];
    let here = || measured.parts.iter().filter(|parts| parts.size == LARGEST_PRINTED);
    let series = parts.into_iter().enumerate().map(|(number, (name, part))| {
        let points = here().map(|one| (X::Word(one.isa.name().to_owned()), part(one)));
        // A logarithmic axis cannot show parts that cost nothing
        let points = points.filter(|(_, cycles)| cycles.low > 0.0);
        match name {
            "all of GCM" => Series::beside(name, colour::GCM, points),
            _ => Series::here(name, [colour::RKC, 7, 8, 9][number % 4], points),
        }
    });
    Figure {
        id: "parts".to_owned(),
        title: format!("Cost of a byte of RKC at each level, messages of {LARGEST_PRINTED}"),
        alt: "Cycles per byte by level, logarithmic, one mark for each part of RKC and one for all of GCM.".to_owned(),
        kind: PlotKind::Dots,
        x: Axis::new("level", None),
        y: Axis::new("cost", Some("cycles/byte"))
            .log()
            .ticks([0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0].map(|x| (x, x.to_string()))),
        repeats: false,
        level: None,
        series: series.collect(),
    }
}

const _: () = assert!(SIZES[0].0 == 16, "the leftmost mark of the axis");
