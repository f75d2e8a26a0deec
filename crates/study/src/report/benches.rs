//! The report's chapter on `bench`, which compares Sealwright with other libraries, from `results/bench.json`.

use std::collections::BTreeSet;

use serde::Serialize;

use super::chapter::{Plot, Shown, busy, day, load, program, steal};
use crate::{
    amount,
    bench::{Direction, Limiting, Report, Row, Way},
    figure::{Axis, Figure, PlotKind, Series, X},
};

/// The data of the chapter's template.
#[derive(Serialize)]
pub(super) struct Bench {
    /// Names and versions: `ring 0.17.14` and so on.
    peers: Vec<String>,
    /// Why other libraries did not take part, one sentence each.
    absent: Vec<String>,
    quick: bool,
    seconds: String,
    date: String,
    machine: String,
    /// A description of the machine in more words.
    where_it_ran: String,
    load: String,
    busy: bool,
    steal: String,
    program: String,
    figures: Vec<Plot>,
    tables: Vec<Shown>,
}

impl Bench {
    pub(super) fn new(report: &Report) -> Bench {
        let mut suites: Vec<&str> = report.rows.iter().map(|row| row.suite.as_str()).collect();
        suites.dedup();
        let figures = suites.iter().flat_map(|suite| Direction::BOTH.map(|way| figure(report, suite, way)));
        let figures = figures.filter(|figure| !figure.series.is_empty());
        Bench {
            peers: report.peers.iter().map(|peer| format!("{} {}", peer.name, peer.version)).collect(),
            absent: report.absent.clone(),
            quick: report.quick,
            seconds: format!("{:.0}", report.seconds),
            date: day(&report.machine.date),
            machine: report.machine.cpu.clone(),
            where_it_ran: report.machine.identity(),
            load: load(&report.machine),
            busy: busy(&report.machine),
            steal: steal(&report.machine),
            program: program(&report.version, &report.provenance),
            figures: figures.map(|figure| Plot::new("bench", &figure)).collect(),
            tables: report.tables().iter().map(Shown::from).collect(),
        }
    }
}

pub(super) fn figure(report: &Report, suite: &str, direction: Direction) -> Figure {
    let one_key = report.rows.iter().filter(|row| row.way == Way::OneKey);
    let rows: Vec<&Row> = one_key.filter(|row| row.suite == suite && row.direction == direction).collect();
    let mut names: Vec<String> = Vec::new();
    for name in rows.iter().map(|row| row.who()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let sizes: BTreeSet<usize> = rows.iter().map(|row| row.bytes).collect();
    let series = names.iter().enumerate().map(|(number, name)| {
        let points = rows.iter().filter(|row| row.who() == *name);
        let ours = points.clone().all(|row| row.implementation == "sealwright");
        let points = points.map(|row| (X::Number(row.bytes as f64), row.speed()));
        if ours { Series::here(name, number + 1, points) } else { Series::beside(name, number + 1, points) }
    });
    let limits = [Limiting::AesRounds, Limiting::RoundsAndProducts, Limiting::MemoryCopy].into_iter().enumerate().map(
        |(at, what)| {
            let limits = report.limits.iter().filter(|limit| limit.suite == suite && limit.direction == direction);
            let points =
                limits.filter(|limit| limit.what == what).map(|limit| (X::Number(limit.bytes as f64), limit.gbps));
            // Limits have the first colour of the palette, or one that no implementation has
            Series::beside(format!("{what}, a limit"), if at < 2 { 0 } else { names.len() + 1 }, points)
        },
    );
    let limits = limits.filter(|series| !series.points.is_empty() && !rows.is_empty());
    let series: Vec<Series> = series.chain(limits).collect();
    let fastest = rows.iter().max_by(|a, b| a.gbps.total_cmp(&b.gbps));
    let fastest = fastest.map(|row| format!("The fastest is {} at {} B: {:.2} GB/s.", row.who(), row.bytes, row.gbps));
    Figure {
        id: format!("{suite}-{direction}"),
        title: format!("{suite}, {direction}: speed by size of the message"),
        alt: format!(
            "Speed by size, one line for each implementation, both axes logarithmic. {}",
            fastest.unwrap_or_default()
        ),
        kind: PlotKind::Lines,
        x: Axis::new("bytes in a message", None)
            .log()
            .ticks(sizes.iter().map(|&bytes| (bytes as f64, amount::exact(bytes)))),
        y: Axis::new("speed", Some("GB/s")).log().ticks(
            [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]
                .map(|speed| (speed, speed.to_string())),
        ),
        repeats: false,
        level: None,
        series,
    }
}
