//! The figures: mean losses by processors beside the thesis's bars.

use sealwright_measure::Interval;
use sealwright_smp::engine::Units;

use super::{
    grid::{Grid, POOL, RECORDED_WITH, over_seeds},
    printed::PAPER,
    programs::{PROCESSORS, Suite},
    schemes::{Scheme, VARIANTS},
    tables::rows,
};
use crate::figure::{Axis, Figure, PlotKind, Series, X, colour};

pub(super) fn figures(grid: &Grid) -> Vec<Figure> {
    vec![
        losses(grid, "figure-5-1", "Figure 5.1 repeated: mean loss, 64-byte lines", 64, 1, Some("figure 5.1")),
        losses(grid, "figure-5-2", "Figure 5.2 repeated: mean loss, 128-byte lines", 128, 1, None),
        losses(grid, "figure-5-3", "Figure 5.3 repeated: mean loss, CBC with a MAC in ten lines", 64, 10, None),
        recorded(grid),
        pool(grid),
    ]
}

/// Kernels and recorded programs side by side.
fn recorded(grid: &Grid) -> Figure {
    let mut series = Vec::new();
    for variant in RECORDED_WITH {
        for (name, scheme, colour) in
            [("GCM", Scheme::gcm(variant, 320), colour::GCM), ("CBC", Scheme::cbc(variant, 320, 1), colour::CBC)]
        {
            for (suite, of) in [(Suite::Kernels, "kernels"), (Suite::Recorded, "recorded")] {
                let points = PROCESSORS.into_iter().filter_map(|processors| {
                    let losses = grid.means(suite, processors, 64, scheme)?;
                    Some((X::Word(format!("{processors} processors")), over_seeds(&losses)?))
                });
                let name = format!("{name}, AES {}, {of}", variant.model.name());
                series.push(Series::here(name, colour, points));
            }
        }
    }
    Figure {
        id: "recorded".to_owned(),
        title: "Kernels and recorded programs: mean loss, 64-byte lines, 320 cycles".to_owned(),
        alt: "Per cent of the time without a scheme, by processors, for kernels and for recorded programs.".to_owned(),
        kind: PlotKind::Bars,
        x: Axis::new("machine", None),
        y: Axis::new("loss", Some("%")),
        repeats: false,
        level: None,
        series,
    }
}

fn losses(grid: &Grid, id: &str, title: &str, line: usize, interval: u64, printed: Option<&str>) -> Figure {
    let word = |processors: usize| X::Word(format!("{processors} processors"));
    let mut series = Vec::new();
    if let Some(table) = printed.and_then(|id| PAPER.table(id)) {
        for (column, name) in table.columns.iter().enumerate() {
            let points = PROCESSORS.into_iter().filter_map(|processors| {
                Some((word(processors), Interval::exact(table.value(&processors.to_string(), column)?)))
            });
            let colour = if column < 2 { colour::GCM } else { colour::CBC };
            series.push(Series::paper(format!("thesis, {name}"), colour, points));
        }
    }
    for (name, scheme, _) in rows(&[Units::Thesis], interval) {
        let points = PROCESSORS.into_iter().filter_map(|processors| {
            Some((word(processors), over_seeds(&grid.means(Suite::Kernels, processors, line, scheme)?)?))
        });
        let colour = if matches!(scheme, Scheme::Gcm(..)) { colour::GCM } else { colour::CBC };
        series.push(Series::here(name, colour, points));
    }
    let beside =
        if printed.is_some() { "" } else { " The thesis's own figure is an image without values in its text." };
    Figure {
        id: id.to_owned(),
        title: title.to_owned(),
        alt: format!("Per cent of the time without a scheme, by processors and AES unit; the engine decides.{beside}"),
        kind: PlotKind::Bars,
        x: Axis::new("machine", None),
        y: Axis::new("loss", Some("%")),
        repeats: printed.is_some(),
        level: None,
        series,
    }
}

fn pool(grid: &Grid) -> Figure {
    let line = |name: &str, colour, variant: usize| {
        let points = POOL.into_iter().filter_map(|pads| {
            let losses = grid.means(Suite::Kernels, 8, 64, Scheme::pads(VARIANTS[variant], 320, pads))?;
            Some((X::Number(pads as f64), over_seeds(&losses)?))
        });
        Series::here(name, colour, points)
    };
    Figure {
        id: "pool".to_owned(),
        title: "Precomputed pads: mean loss of GCM, 8 processors, 320 cycles per line".to_owned(),
        alt: "Loss by number of pads per pair, for a pipelined and an iterative AES unit.".to_owned(),
        kind: PlotKind::Lines,
        x: Axis::new("pads per pair", None),
        y: Axis::new("loss", Some("%")),
        repeats: false,
        level: None,
        series: vec![line("pipelined", colour::GCM, 1), line("iterative", colour::GCM, 2)],
    }
}
