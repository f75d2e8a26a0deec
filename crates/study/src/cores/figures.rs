//! The figures: rates of the paper's cores and of ours, and rates by packet length.

use sealwright_measure::Interval;

use super::{
    design::{Column, DESIGNS, Design, Mode},
    measured::Measured,
    software::{ETHERNET, LENGTHS},
};
use crate::figure::{Axis, Figure, Origin, PlotKind, Series, X, colour, shown};

pub(super) fn figures(measured: &Measured) -> Vec<Figure> {
    let mut figures = vec![rates(measured), packets(measured)];
    for figure in &mut figures {
        figure.series.retain(|series| !series.points.is_empty());
    }
    figures.retain(|figure| figure.series.iter().any(|series| series.origin != Origin::Printed));
    figures
}

fn brief(figure: f64) -> String {
    shown(Interval::exact(figure))
}

/// Rates of each core.
fn rates(measured: &Measured) -> Figure {
    let points = |of: &dyn Fn(Design) -> Option<Interval>| {
        let point = |design: Design| Some((X::Word(design.to_string()), of(design)?));
        DESIGNS.into_iter().filter_map(point).collect::<Vec<_>>()
    };
    let printed = points(&|design| design.printed(Column::Gbps).map(Interval::exact));
    let ours = points(&|design| measured.kept.rate(design));
    let routed = |(gbps, ends): (f64, Option<Interval>)| ends.unwrap_or_else(|| Interval::exact(gbps));
    let together = points(&|design| measured.kept.four_lanes(design).map(routed));
    let software = points(&|design| measured.software_rate(design, ETHERNET));
    let say = |series: &[(X, Interval)]| {
        let one = |(x, y): &(X, Interval)| match x {
            X::Word(word) => format!("{word} {}", brief(y.median)),
            X::Number(number) => number.to_string(),
        };
        series.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    Figure {
        id: "rates".to_owned(),
        title: "Rates of the cores, and of one processor core".to_owned(),
        alt: format!(
            "Gbit/s by core, logarithmic, with a line at 100. The paper: {}. Ours, by one lane: {}. Ours, four lanes: {}. \
             Software: {}.",
            say(&printed),
            say(&ours),
            say(&together),
            say(&software)
        ),
        kind: PlotKind::Dots,
        x: Axis::new("core", None),
        y: ticked("rate"),
        repeats: false,
        level: Some(100.0),
        series: vec![
            Series::paper("paper, four lanes", 0, printed),
            Series::here("ours, four times one lane as routed", 7, ours),
            Series::here("ours, four lanes as routed", 9, together),
            Series::beside(format!("software, one core, {ETHERNET} B"), 8, software),
        ],
    }
}

fn ticked(name: &str) -> Axis {
    let ticks = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0].map(|gbps| (gbps, brief(gbps)));
    Axis::new(name, Some("Gbit/s")).log().ticks(ticks)
}

/// Rates by packet length.
fn packets(measured: &Measured) -> Figure {
    let mut series = Vec::new();
    for design in DESIGNS.into_iter().filter(|design| design.seals()) {
        let colour = if design.1 == Mode::Ocb { colour::OCB } else { colour::GCM };
        let by = |of: &dyn Fn(usize) -> Option<Interval>| {
            let point = |bytes: usize| Some((X::Number(bytes as f64), of(bytes)?));
            LENGTHS.into_iter().filter_map(point).collect::<Vec<_>>()
        };
        let ours = by(&|bytes| measured.core_rate(design, bytes));
        series.push(Series::here(format!("{design}, four lanes at the clock of one"), colour, ours));
        let software = by(&|bytes| measured.software_rate(design, bytes));
        series.push(Series::beside(format!("{design}, software"), colour, software));
    }
    let ends = series.iter().filter_map(|series: &Series| {
        let (first, last) = (series.points.first()?, series.points.last()?);
        Some(format!("{} from {} to {}", series.name, brief(first.y.median), brief(last.y.median)))
    });
    let alt = format!(
        "Gbit/s of text by length of the packets, both axes logarithmic. From the left end to the right: {}.",
        ends.collect::<Vec<_>>().join("; ")
    );
    Figure {
        id: "packets".to_owned(),
        title: "Rate with packets of each length".to_owned(),
        alt,
        kind: PlotKind::Lines,
        x: Axis::new("text of a packet", Some("bytes"))
            .log()
            .ticks(LENGTHS.map(|bytes| (bytes as f64, bytes.to_string()))),
        y: ticked("rate"),
        repeats: false,
        level: Some(100.0),
        series,
    }
}
