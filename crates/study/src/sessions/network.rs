//! Figure 1 anew: a packet over 50 connections, each scheme beside none. As the paper had it: one packet under way a computer,
//! mean times, a line of 100 Mbit/s. And with a busy relay over loopback: time of its processor.

use std::io;

use sealwright_load as load;
use sealwright_measure::Interval;
use sealwright_session::{SchemeKind, Spec, Strategy};

use super::speed::LENGTHS;
use crate::progress::Progress;

/// Numbers of clients: the ends and the middle of the paper's grid.
const CLIENTS: [u32; 3] = [10_000, 50_000, 100_000];

/// Machines that the paper's clients were on.
pub(super) const CONNECTIONS: usize = 50;

/// Packets under way on a connection, where the relay is to be busy.
pub(super) const WINDOW: usize = 32;

/// Megabits a second of the paper's network, and bytes around a frame on it: Ethernet with preamble and gap, IP, TCP.
pub(super) const MEGABITS: u32 = 100;
const AROUND: usize = 38 + 20 + 20;

/// What the packets went over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Line {
    /// The loopback interface, with nothing in the way.
    Loopback,
    /// A link of the paper's speed, between two network namespaces. The mean wall time of a packet, and the same over the
    /// same without encryption.
    Shaped(Interval, Interval),
}

/// One scheme at one length and number of clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) spec: Spec,
    pub(super) clients: u32,
    pub(super) bytes: usize,
    /// Packets under way on a connection.
    pub(super) window: usize,
    /// Nanoseconds of the relay's processor for a packet.
    pub(super) ns: Interval,
    /// The same over the same without encryption.
    pub(super) ratio: Interval,
    /// Where it was measured.
    pub(super) line: Line,
    /// Packets that never came.
    pub(super) lost: u64,
    /// Forged and replayed frames that were put in, and those that came through.
    pub(super) bad: u64,
    pub(super) accepted: u64,
}

/// What was measured.
#[derive(Default)]
pub(super) struct NetworkPoints {
    pub(super) points: Vec<Point>,
    /// Why there was no shaped link.
    pub(super) unshaped: Option<String>,
}

impl NetworkPoints {
    pub(super) fn at(&self, spec: Spec, clients: u32, bytes: usize) -> Option<Point> {
        self.under_way(spec, clients, bytes, WINDOW)
    }

    /// The same with so many packets under way on a connection.
    pub(super) fn under_way(&self, spec: Spec, clients: u32, bytes: usize, window: usize) -> Option<Point> {
        let this =
            |point: &&Point| (point.spec, point.clients, point.bytes, point.window) == (spec, clients, bytes, window);
        self.points.iter().find(|point| this(point) && point.line == Line::Loopback).copied()
    }

    /// A point of figure 1 itself: over the paper's line, one packet under way a computer. The mean time of a packet, and the
    /// same over the same without encryption.
    pub(super) fn shaped(&self, spec: Spec, clients: u32, bytes: usize) -> Option<(Interval, Interval)> {
        let this = |point: &&Point| (point.spec, point.clients, point.bytes) == (spec, clients, bytes);
        self.points.iter().filter(this).find_map(|point| match point.line {
            Line::Shaped(time, ratio) => Some((time, ratio)),
            Line::Loopback => None,
        })
    }

    /// The numbers of clients that were measured, ascending.
    pub(super) fn clients(&self) -> Vec<u32> {
        CLIENTS.into_iter().filter(|&clients| self.points.iter().any(|point| point.clients == clients)).collect()
    }
}

/// The paper's fastest of each kind and its competitor with keys of 256 bits; then, without tables, the same and ours.
pub(super) fn specs(quick: bool) -> Vec<Spec> {
    let short = |kind| Spec { kind, long: false };
    let mut specs = vec![
        short(SchemeKind::Gscm(Strategy::T64k)),
        short(SchemeKind::GcmPre(Strategy::T4k)),
        short(SchemeKind::GcmOn(Strategy::T4k)),
        short(SchemeKind::GscmH),
        short(SchemeKind::GcmOn64),
    ];
    specs.extend(
        [SchemeKind::Gscm(Strategy::T64k), SchemeKind::GcmOn(Strategy::T4k)].map(|kind| Spec { kind, long: true }),
    );
    if !quick {
        let untabled = [
            SchemeKind::Gscm(Strategy::Clmul),
            SchemeKind::GcmPre(Strategy::Clmul),
            SchemeKind::GcmOn(Strategy::Clmul),
        ];
        specs.extend(untabled.map(short));
        specs.push(short(SchemeKind::GcmDerived));
    }
    specs
}

/// The schemes of the paper's figure 1, GSCM first.
pub(super) const PAPERS: [SchemeKind; 3] =
    [SchemeKind::Gscm(Strategy::T64k), SchemeKind::GcmPre(Strategy::T4k), SchemeKind::GcmOn(Strategy::T4k)];

impl Point {
    /// Nanoseconds of a packet over the paper's network, where the kernel cannot shape a link: the relay's processor, and the
    /// time of a frame on the wire, which is computed and not measured. A line carries one packet's frame to the relay while
    /// it carries another's from there, so that each packet takes one frame's time, as over the shaped link.
    pub(super) fn over_the_wire(&self) -> Interval {
        let frame = self.bytes + sealwright_session::frame::HEADER + sealwright_session::frame::TAG + AROUND;
        let wire = frame as f64 * 8.0 / f64::from(MEGABITS) * 1e3;
        self.ns.map(|ns| ns + wire)
    }
}

/// The numbers of clients to measure.
fn grid(quick: bool) -> &'static [u32] {
    if quick { &CLIENTS[..1] } else { &CLIENTS }
}

/// Steps that [`measure`] takes.
pub(super) fn steps(quick: bool) -> usize {
    grid(quick).len() * specs(quick).len() + 1
}

pub(super) fn measure(quick: bool, progress: &mut Progress<'_>) -> io::Result<NetworkPoints> {
    let seconds = if quick { 0.5 } else { 3.0 };
    let mut found = NetworkPoints::default();
    for &clients in grid(quick) {
        for spec in specs(quick) {
            progress.step(&format!("{spec} over connections, {clients} clients"));
            let windows = if PAPERS.contains(&spec.kind) { &[WINDOW, 1][..] } else { &[WINDOW] };
            for (bytes, &window) in
                lengths(quick, spec).iter().flat_map(|bytes| windows.iter().map(move |window| (*bytes, window)))
            {
                let outcome = load::point(spec, clients, bytes, CONNECTIONS, window, seconds).map_err(failed)?;
                found.points.extend(of(&outcome, spec, clients, bytes, window, Line::Loopback));
            }
        }
    }
    progress.step("the same over a shaped link");
    match load::over_link(MEGABITS, |link| shaped(link, quick, seconds)) {
        Ok(points) => found.points.extend(points?),
        Err(why) => found.unshaped = Some(why.to_string().lines().next().unwrap_or_default().to_owned()),
    }
    Ok(found)
}

/// The text compares keys of 256 bits with short packets alone.
fn lengths(quick: bool, spec: Spec) -> &'static [usize] {
    if quick && spec.long { &LENGTHS[..1] } else { &LENGTHS }
}

fn failed(error: load::LoadError) -> io::Error {
    io::Error::other(error.to_string())
}

/// Figure 1 itself: the paper's schemes over its line, one packet under way a computer.
fn shaped(link: &load::Link, quick: bool, seconds: f64) -> io::Result<Vec<Point>> {
    let mut points = Vec::new();
    for &clients in grid(quick) {
        for spec in specs(quick).into_iter().filter(|spec| PAPERS.contains(&spec.kind)) {
            for &bytes in lengths(quick, spec) {
                let outcome = load::point_over(link, spec, clients, bytes, CONNECTIONS, 1, 2.0 * seconds);
                let outcome = outcome.map_err(failed)?;
                let Some(ratio) = outcome.wall_ratio_to_clear else { continue };
                let line = Line::Shaped(outcome.wall_ns_per_frame, ratio);
                points.extend(of(&outcome, spec, clients, bytes, 1, line));
            }
        }
    }
    Ok(points)
}

fn of(outcome: &load::Outcome, spec: Spec, clients: u32, bytes: usize, window: usize, line: Line) -> Option<Point> {
    let (ns, lost, bad, accepted) = (outcome.ns_per_frame, outcome.lost, outcome.bad, outcome.forged_accepted);
    Some(Point { spec, clients, bytes, window, ns, ratio: outcome.ratio_to_clear?, line, lost, bad, accepted })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// What is computed is what a line of so many megabits each way lets through, which the shaped link measures.
    #[test]
    fn a_packet_takes_the_line_for_one_frame() {
        let (ns, ratio) = (Interval::exact(1000.0), Interval::exact(1.0));
        let spec = "gscm(64k)".parse().unwrap();
        let point = Point {
            spec,
            clients: 10_000,
            bytes: 1500,
            window: 1,
            ns,
            ratio,
            line: Line::Loopback,
            lost: 0,
            bad: 0,
            accepted: 0,
        };
        let frame = 1500 + sealwright_session::frame::HEADER + sealwright_session::frame::TAG + AROUND;
        let packets_a_second = 1e9 / (point.over_the_wire().median - 1000.0);
        let megabits = packets_a_second * frame as f64 * 8.0 / 1e6;
        assert!((megabits - f64::from(MEGABITS)).abs() < 1e-6, "{megabits} Mbit/s each way");
    }
}
