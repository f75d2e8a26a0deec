//! The chapter of `sealwright bench`: rows that somebody kept as `results/bench.jsonl`.

use super::chapter::{Plot, Shown};
use crate::{
    bench::{Direction, Report, Row},
    figure::{Axis, Figure, Kind, Series, X},
    study::Failure,
};
use sealwright_measure::Machine;
use serde::Serialize;
use std::{collections::BTreeSet, fs, io, path::Path};

/// Everything that the chapter shows.
#[derive(Serialize)]
pub(super) struct Bench {
    figures: Vec<Plot>,
    tables: Vec<Shown>,
}

/// The rows in `folder`, as `sealwright bench --json` prints them; none if there is no such file.
pub(super) fn rows(folder: &Path) -> Result<Vec<Row>, Failure> {
    let path = folder.join("bench.jsonl");
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text.map_err(Failure::io(path.display().to_string()))?,
    };
    let mut rows: Vec<Row> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let row: Row = serde_json::from_str(line).map_err(|e| Failure::Results(path.clone(), e.to_string()))?;
        // a bench run again adds to the file: the last word counts
        rows.retain(|old| {
            (&old.suite, old.bytes, old.direction, old.who()) != (&row.suite, row.bytes, row.direction, row.who())
        });
        rows.push(row);
    }
    Ok(rows)
}

/// The chapter, if there are rows.
pub(super) fn chapter(rows: &[Row]) -> Option<Bench> {
    if rows.is_empty() {
        return None;
    }
    let machine = Machine::here(Vec::<String>::new());
    // only its tables are shown, and those know of no machine
    let report = Report { machine, peers: Vec::new(), rows: rows.to_vec(), copying: Vec::new(), seconds: 0.0 };
    let suites: BTreeSet<&str> = rows.iter().map(|row| row.suite.as_str()).collect();
    let figures = suites.iter().flat_map(|suite| Direction::BOTH.map(|direction| figure(rows, suite, direction)));
    let figures: Vec<Figure> = figures.filter(|figure| !figure.series.is_empty()).collect();
    Some(Bench {
        figures: figures.iter().map(|figure| Plot::new("bench", figure)).collect(),
        tables: report.tables().iter().map(Shown::from).collect(),
    })
}

fn figure(rows: &[Row], suite: &str, direction: Direction) -> Figure {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.suite == suite && row.direction == direction).collect();
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
    let series: Vec<Series> = series.collect();
    let fastest = rows.iter().max_by(|a, b| a.gbps.total_cmp(&b.gbps));
    let fastest = fastest.map(|row| format!("The fastest is {} at {} B: {:.2} GB/s.", row.who(), row.bytes, row.gbps));
    Figure {
        id: format!("{suite}-{direction}"),
        title: format!("{suite}, {direction}: speed by size of the message"),
        alt: format!(
            "Speed by size, one line an implementation, both axes logarithmic. {}",
            fastest.unwrap_or_default()
        ),
        kind: Kind::Lines,
        x: Axis::new("bytes in a message", None).log().ticks(sizes.iter().map(|&bytes| (bytes as f64, amount(bytes)))),
        y: Axis::new("speed", Some("GB/s")).log().ticks(
            [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0].map(|speed| (speed, speed.to_string())),
        ),
        level: None,
        series,
    }
}

/// Bytes with the largest unit that divides them.
fn amount(bytes: usize) -> String {
    match bytes {
        _ if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes >= 1 << 10 && bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}
