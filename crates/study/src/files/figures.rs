//! The figures: the paper's two figures repeated, the ratio of GCM to CBC, instruction-set levels, tools.

use sealwright_measure::Interval;

use super::{
    grid::{Direction, Grid, Mode, Point, SIZES},
    measured::{Measured, TOOLS},
    tables::speed,
};
use crate::{
    corpus::Content,
    figure::{Axis, Figure, Origin, PlotKind, Series, X, colour},
};

pub(super) fn figures(measured: &Measured<'_>) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Direction::ALL.map(|direction| ratio(measured, direction)).into();
    figures.extend(Direction::ALL.map(|direction| times(measured, direction)));
    figures.extend([levels(measured), tools(measured)]);
    for figure in &mut figures {
        figure.series.retain(|series| !series.points.is_empty());
    }
    figures.retain(|figure| figure.series.iter().any(|series| series.origin != Origin::Printed));
    figures
}

fn sizes() -> Axis {
    Axis::new("size of the file", None).log().ticks(SIZES.map(|size| (size.0 as f64, size.to_string())))
}

/// The values for text by size.
fn by_size(figure: impl Fn(Point) -> Option<Interval>, mode: Mode, direction: Direction) -> Vec<(X, Interval)> {
    let point = |size| Point { kind: Content::Text, size, mode, direction };
    SIZES.iter().filter_map(|&size| Some((X::Number(size.0 as f64), figure(point(size))?))).collect()
}

/// The paper's points without the error bounds that we assign to them.
fn plain(points: Vec<(X, Interval)>) -> Vec<(X, Interval)> {
    points.into_iter().map(|(x, y)| (x, Interval::exact(y.median))).collect()
}

fn ratio(measured: &Measured<'_>, direction: Direction) -> Figure {
    let of = |grid: &Grid| by_size(|point| grid.gcm_to_cbc(point), Mode::Cbc, direction);
    let mut series = vec![Series::paper("paper, 2019", 0, plain(of(&measured.printed)))];
    let stand_in = &measured.no_instructions;
    series.push(Series::beside(&stand_in.scope, 0, of(stand_in)));
    let grids = [Some(&measured.enc), Some(&measured.seal), measured.best(), measured.portable()];
    for (number, grid) in grids.into_iter().enumerate() {
        series.extend(grid.map(|grid| Series::here(&grid.scope, colour::CIRCUMSTANCES[number], of(grid))));
    }
    let verb = if direction == Direction::Encrypt { "Encrypting" } else { "Decrypting" };
    Figure {
        id: format!("ratio-{direction}"),
        title: format!("{verb} text: time of GCM over time of CBC"),
        alt: format!(
            "Ratio of GCM's time to CBC's by file size, one line for each circumstance. Above the line at 1, CBC is \
             faster, as in the paper; below it, GCM. {}",
            ends(&series)
        ),
        kind: PlotKind::Lines,
        x: sizes(),
        y: Axis::new("GCM : CBC", None).log().ticks(
            [0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]
                .map(|ratio| (ratio, if ratio == 1.0 { "equal 1".to_owned() } else { ratio.to_string() })),
        ),
        repeats: false,
        level: Some(1.0),
        series,
    }
}

fn of_mode(mode: Mode) -> usize {
    if mode == Mode::Cbc { colour::CBC } else { colour::GCM }
}

/// The last point of each series as text.
fn ends(series: &[Series]) -> String {
    let end = |series: &Series| series.points.last().map(|point| format!("{} {:.2}", series.name, point.y.median));
    format!("At the right end: {}.", series.iter().filter_map(end).collect::<Vec<_>>().join("; "))
}

fn times(measured: &Measured<'_>, direction: Direction) -> Figure {
    let of = |grid: &Grid, mode| by_size(|point| grid.time(point), mode, direction);
    let mut series = Vec::new();
    for mode in Mode::ALL {
        let colour = of_mode(mode);
        series.push(Series::paper(format!("paper, {mode}"), colour, plain(of(&measured.printed, mode))));
        let name = format!("openssl, {mode}, no AES instructions");
        series.push(Series::beside(name, colour, of(&measured.no_instructions, mode)));
        series.push(Series::here(format!("sealwright enc, {mode}"), colour, of(&measured.enc, mode)));
    }
    series.push(Series::here("sealwright seal, GCM", colour::GCM, of(&measured.seal, Mode::Gcm)));
    let (title, figure) = match direction {
        Direction::Encrypt => ("Encryption", 3),
        Direction::Decrypt => ("Decryption", 4),
    };
    Figure {
        id: format!("time-{direction}"),
        title: format!("{title} of text by whole processes: the paper's figure {figure} anew"),
        alt: format!(
            "CPU time of a whole process by file size, both axes logarithmic, so that time proportional to size would \
             rise at 45 degrees. In milliseconds. {}",
            ends(&series)
        ),
        kind: PlotKind::Lines,
        x: sizes(),
        y: Axis::new("CPU time", Some("ms"))
            .log()
            .ticks([1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0].map(|ms| (ms, ms.to_string()))),
        repeats: true,
        level: None,
        series,
    }
}

fn levels(measured: &Measured<'_>) -> Figure {
    let size = SIZES[1];
    let mut series = Vec::new();
    for mode in Mode::ALL {
        for direction in Direction::ALL {
            let point = Point { kind: Content::Text, size, mode, direction };
            let points = measured.library.iter();
            let points = points.filter_map(|(isa, grid)| Some((X::Word(isa.name().to_owned()), speed(grid, point)?)));
            series.push(Series::here(format!("{mode} {direction}"), of_mode(mode), points));
        }
    }
    Figure {
        id: "levels".to_owned(),
        title: format!("The library at each instruction-set level, {size} in memory"),
        alt: format!(
            "Speed by instruction-set level, logarithmic, one mark for each mode and direction. In GB/s. {}",
            ends(&series)
        ),
        kind: PlotKind::Dots,
        x: Axis::new("level", None),
        y: Axis::new("speed", Some("GB/s")).log().ticks(
            [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0].map(|x| (x, x.to_string())),
        ),
        repeats: false,
        level: None,
        series,
    }
}

fn tools(measured: &Measured<'_>) -> Figure {
    let size = SIZES[2];
    let series = Direction::ALL.map(|direction| {
        let used = TOOLS.iter().filter_map(|&program| {
            let used = measured.trials.used.get(&(program, Content::Text, size, direction))?;
            Some((X::Word(program.name()), used.cpu))
        });
        Series::here(direction.to_string(), colour::CIRCUMSTANCES[direction.column()], used)
    });
    Figure {
        id: "tools".to_owned(),
        title: format!("Sealing {size} of text: CPU time of whole processes"),
        alt: "Two bars a program: CPU time to encrypt and to decrypt. Shorter is better.".to_owned(),
        kind: PlotKind::Bars,
        x: Axis::new("program", None),
        y: Axis::new("CPU time", Some("ms")),
        repeats: false,
        level: None,
        series: series.into(),
    }
}
