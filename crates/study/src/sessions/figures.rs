//! The figures: time per packet by number of clients, and bytes per client.

use sealwright_measure::Interval;
use sealwright_session::SchemeKind;

use super::{
    measured::Measured,
    network::{self, WINDOW},
    speed::LENGTHS,
    tables::printed,
};
use crate::figure::{Axis, Figure, PlotKind, Series, X, colour};

pub(super) fn figures(measured: &Measured) -> Vec<Figure> {
    let mut figures: Vec<Figure> = LENGTHS.into_iter().map(|bytes| times(measured, bytes)).collect();
    figures.extend(shaped(measured));
    figures.extend(relay(measured));
    figures.push(memory(measured));
    figures.retain(|figure| figure.series.iter().any(|series| !series.points.is_empty()));
    figures
}

fn times(measured: &Measured, bytes: usize) -> Figure {
    let numbers = measured.speed.clients();
    let series = super::speed::specs().into_iter().map(|spec| {
        let points = numbers.iter().filter_map(|&clients| {
            let point = measured.speed.at(measured.best, spec, clients, bytes)?;
            Some((X::Number(f64::from(clients)), point.forward))
        });
        Series::here(spec.to_string(), of_scheme(spec.kind), points)
    });
    let series: Vec<Series> = series.filter(|series| !series.points.is_empty()).collect();
    let named = |clients: u32| match clients {
        10_000_000 => "10 M".to_owned(),
        1_000_000 => "1 M".to_owned(),
        other => format!("{} k", other / 1000),
    };
    Figure {
        id: format!("packet-{bytes}"),
        title: format!(
            "Time to forward a packet of {bytes} bytes by number of clients, 128-bit keys: the paper's figure 2 repeated"
        ),
        alt: format!(
            "Nanoseconds by number of clients, both axes logarithmic, one line per scheme. The lowest line is the same work \
             without encryption. {}",
            series.iter().map(ends).collect::<Vec<_>>().join("; ")
        ),
        kind: PlotKind::Lines,
        x: Axis::new("clients", None).log().ticks(numbers.iter().map(|&clients| (f64::from(clients), named(clients)))),
        y: Axis::new("time", Some("ns"))
            .log()
            .ticks([10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1e3, 2e3, 5e3, 1e4, 2e4].map(|ns| (ns, ns.to_string()))),
        repeats: true,
        level: None,
        series,
    }
}

fn of_scheme(kind: SchemeKind) -> usize {
    match kind {
        SchemeKind::GcmPre(_) => colour::GCM,
        SchemeKind::Gscm(_) | SchemeKind::GscmH => colour::GSCM,
        SchemeKind::GcmOn(_) | SchemeKind::GcmOn64 | SchemeKind::GcmDerived => colour::GCM_ON,
        _ => colour::NONE,
    }
}

/// The first and last point of a series as text.
fn ends(series: &Series) -> String {
    match (series.points.first(), series.points.last()) {
        (Some(first), Some(last)) => format!("{} from {:.0} to {:.0} ns", series.name, first.y.median, last.y.median),
        _ => series.name.clone(),
    }
}

/// Figure 1 of the paper: wall time for each short packet over the paper's line, by number of clients.
fn shaped(measured: &Measured) -> Option<Figure> {
    let found = measured.network.as_ref().ok()?;
    let series = network::specs(false).into_iter().filter(|spec| network::PAPERS.contains(&spec.kind));
    let series = series.map(|spec| {
        let points = found.clients().into_iter().filter_map(|clients| {
            let (time, _) = found.shaped(spec, clients, LENGTHS[0])?;
            Some((X::Number(f64::from(clients)), time.scale(1e-3)))
        });
        Series::here(spec.to_string(), of_scheme(spec.kind), points)
    });
    let series: Vec<Series> = series.filter(|series| !series.points.is_empty()).collect();
    let last = |series: &Series| series.points.last().map(|point| format!("{}: {:.2} µs", series.name, point.y.median));
    Some(Figure {
        id: "line".to_owned(),
        title: "Wall time for each packet of 40 bytes over a line of 100 Mbit/s: the paper's figure 1 repeated"
            .to_owned(),
        alt: format!(
            "Wall time divided by the number of packets, one packet under way for each of 50 computers, by number of clients. {}",
            series.iter().filter_map(last).collect::<Vec<_>>().join("; ")
        ),
        kind: PlotKind::Lines,
        x: Axis::new("clients", None),
        y: Axis::new("time for each packet", Some("µs")),
        repeats: true,
        level: None,
        series,
    })
}

/// These and other schemes with a busy relay over loopback. With only one number of clients it is a dot plot.
fn relay(measured: &Measured) -> Option<Figure> {
    let found = measured.network.as_ref().ok()?;
    let first = *found.clients().first()?;
    let specs = || {
        found.points.iter().filter(|point| (point.clients, point.bytes, point.window) == (first, LENGTHS[0], WINDOW))
    };
    let series =
        found.clients().into_iter().enumerate().flat_map(|(i, clients)| {
            LENGTHS.into_iter().enumerate().map(move |(j, bytes)| (2 * i + j, clients, bytes))
        });
    let series: Vec<Series> = series
        .map(|(number, clients, bytes)| {
            let points = specs().filter_map(|point| {
                Some((X::Word(point.spec.to_string()), found.at(point.spec, clients, bytes)?.ratio))
            });
            Series::here(
                format!("{bytes} bytes, {} k clients", clients / 1000),
                colour::CIRCUMSTANCES[number % 4],
                points,
            )
        })
        .collect();
    // The text describes the smallest number of clients; the others are in the table
    let words = series.iter().take(LENGTHS.len()).flat_map(|series| {
        series.points.iter().map(|point| match &point.x {
            X::Word(name) => format!("{name}, {}: {:.2}", series.name, point.y.median),
            X::Number(_) => series.name.clone(),
        })
    });
    Some(Figure {
        id: "relay".to_owned(),
        title: "Time of a busy relay's processor for a packet over 50 connections, over that without encryption"
            .to_owned(),
        alt: format!("Ratio by scheme, logarithmic. {}", words.collect::<Vec<_>>().join("; ")),
        kind: PlotKind::Dots,
        x: Axis::new("scheme", None),
        y: Axis::new("time over clear", None)
            .log()
            .ticks([1.0, 1.5, 2.0, 5.0, 10.0, 20.0].map(|at| (at, at.to_string()))),
        repeats: false,
        level: Some(1.0),
        series,
    })
}

fn memory(measured: &Measured) -> Figure {
    let short = || measured.memory.iter().filter(|held| !held.spec.long);
    let word = |held: &super::memory::Held| X::Word(held.spec.to_string());
    let paper = short().filter_map(|held| Some((word(held), Interval::exact(printed(held.spec)?))));
    let ours = short().map(|held| (word(held), Interval::exact(held.accounted)));
    Figure {
        id: "bytes".to_owned(),
        title: "Bytes per client, 128-bit keys".to_owned(),
        alt: "Bytes per client by scheme, logarithmic: the paper's beside ours. Tables of GHASH make the steps; below them lie \
              records of one to seven cache lines."
            .to_owned(),
        kind: PlotKind::Dots,
        x: Axis::new("scheme", None),
        y: Axis::new("memory", Some("bytes"))
            .log()
            .ticks([32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 8192.0, 65536.0, 131072.0].map(|at| (at, at.to_string()))),
        repeats: false,
        level: None,
        series: vec![Series::paper("paper", 0, paper), Series::here("here", 7, ours)],
    }
}
