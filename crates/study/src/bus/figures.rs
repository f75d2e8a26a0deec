//! The figures: mean losses by number of processors, with the thesis's bars.

use std::collections::BTreeMap;

use sealwright_measure::Interval;
use sealwright_smp::{attack::Attack, engine::Units, topology::TopologyKind};

use super::{
    grid::{Grid, POOL, RECORDED_WITH},
    interconnects,
    printed::PAPER,
    programs::{PROCESSORS, Suite},
    schemes::{Scheme, VARIANTS},
    seeds::over_seeds,
    tables::rows,
};
use crate::figure::{Axis, Figure, PlotKind, Point, Series, X, colour};

pub(super) fn figures(grid: &Grid) -> Vec<Figure> {
    vec![
        losses(grid, "figure-5-1", "Figure 5.1 repeated: mean loss, 64-byte lines", 64, 1, Some("figure 5.1")),
        losses(grid, "figure-5-2", "Figure 5.2 repeated: mean loss, 128-byte lines", 128, 1, None),
        losses(grid, "figure-5-3", "Figure 5.3 repeated: mean loss, CBC with a MAC in ten lines", 64, 10, None),
        recorded(grid),
        pool(grid),
        soon(grid),
        memory(grid),
    ]
    .into_iter()
    .chain(interconnects::machines(&grid.connected).into_iter().map(|processors| connected(grid, processors)))
    .collect()
}

/// How soon each scheme detects a changed line, over all strikes.
fn soon(grid: &Grid) -> Figure {
    let flips = grid.matrix.iter().filter(|cell| cell.attack == Attack::Flip);
    let seen = flips.filter(|cell| cell.strikes.iter().any(|strike| strike.later.is_some()));
    let series = seen.enumerate().map(|(number, cell)| {
        let mut later: Vec<u64> = cell.strikes.iter().filter_map(|strike| strike.later).collect();
        later.sort_unstable();
        let struck = cell.strikes.iter().filter(|strike| strike.struck.is_some()).count().max(1) as f64;
        let steps = later.iter().enumerate().map(|(before, at)| (*at, (before + 1) as f64 / struck * 100.0));
        // If several strikes were detected after the same number of transfers, the last point includes them all
        let points: BTreeMap<u64, f64> = steps.collect();
        let points = points.into_iter().map(|(at, share)| (X::Number(at as f64), Interval::exact(share)));
        let colour = match cell.scheme.split(',').next() {
            Some("gcm") => colour::GCM,
            Some("cbc") => colour::CBC,
            _ => colour::CIRCUMSTANCES[number % colour::CIRCUMSTANCES.len()],
        };
        Series::here(&cell.scheme, colour, points)
    });
    Figure {
        id: "detection".to_owned(),
        title: "How soon a changed line is detected".to_owned(),
        alt: "Per cent of the strikes that were detected within this many transfers, by scheme. Without encryption, \
            none is detected."
            .to_owned(),
        kind: PlotKind::Lines,
        x: Axis::new("transfers after the strike", None),
        y: Axis::new("strikes detected", Some("%")),
        repeats: false,
        level: None,
        series: series.collect(),
    }
}

/// What each protection of memory detects.
fn memory(grid: &Grid) -> Figure {
    let mut series: Vec<Series> = Vec::new();
    for cell in &grid.attacked {
        let struck: Vec<_> = cell.strikes.iter().filter(|strike| strike.struck.is_some()).collect();
        let seen = struck.iter().filter(|strike| strike.detector.is_some()).count();
        let share = Interval::exact(seen as f64 / struck.len().max(1) as f64 * 100.0);
        let point = Point { x: X::Word(cell.attack.name().to_owned()), y: share };
        match series.iter_mut().find(|one| one.name == cell.scheme) {
            Some(one) => one.points.push(point),
            None => {
                let colours = [colour::NONE, 7, 8, 9, colour::GCM];
                let colour = colours[series.len() % colours.len()];
                series.push(Series::here(&cell.scheme, colour, [(point.x, point.y)]));
            }
        }
    }
    Figure {
        id: "memory".to_owned(),
        title: "Attacks on memory: strikes detected, by what protects it".to_owned(),
        alt: "Per cent of the strikes on two programs that were detected, by attack and protection.".to_owned(),
        kind: PlotKind::Bars,
        x: Axis::new("attack", None),
        y: Axis::new("strikes detected", Some("%")),
        repeats: false,
        level: None,
        series,
    }
}

/// Bus, ring and mesh: the mean loss over the kernels on this number of processors.
fn connected(grid: &Grid, processors: usize) -> Figure {
    let name = |scheme: usize| interconnects::SCHEMES[scheme].0;
    let colours = [colour::NONE, colour::GCM, colour::CBC, colour::RKC, colour::GSCM, 7, 8, 9];
    let series = (1..interconnects::SCHEMES.len()).map(|scheme| {
        let points = TopologyKind::ALL.into_iter().filter_map(|kind| {
            let mean = interconnects::mean(&grid.connected, processors, kind, scheme)?;
            Some((X::Word(kind.name().to_owned()), mean))
        });
        Series::here(name(scheme), colours[scheme], points)
    });
    Figure {
        id: format!("interconnects-{processors}"),
        title: format!(
            "Bus, ring and mesh with {processors} processors: mean loss of {}",
            interconnects::programs(&grid.connected, processors)
        ),
        alt: "Per cent of the time without a scheme on the same interconnect, by interconnect and scheme.".to_owned(),
        kind: PlotKind::Bars,
        x: Axis::new("interconnect", None),
        y: Axis::new("loss", Some("%")),
        repeats: false,
        level: None,
        series: series.collect(),
    }
}

/// Losses of kernels and of recorded programs.
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
