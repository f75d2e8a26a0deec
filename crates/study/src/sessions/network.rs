//! Figure 1 repeated: packets over 50 connections, each scheme compared with no encryption. As in the paper, each
//! computer has one packet in flight over a line of 100 Mbit/s, and mean times are given. In addition, the CPU time of
//! a busy relay over loopback.

use std::io;

use sealwright_load as load;
use sealwright_measure::Interval;
use sealwright_session::{SchemeKind, Spec, Strategy};

use super::speed::LENGTHS;
use crate::progress::Progress;

/// Numbers of clients: the ends and the middle of the paper's grid.
const CLIENTS: [u32; 3] = [10_000, 50_000, 100_000];

/// Number of computers that the paper's clients ran on.
pub(super) const CONNECTIONS: usize = 50;

/// Number of packets in flight per connection if the relay is to be busy.
pub(super) const WINDOW: usize = 32;

/// Speed of the paper's network in Mbit/s.
pub(super) const MEGABITS: u32 = 100;
/// Bytes of the headers of IP, and of TCP with time stamps, as Linux sends them.
const HEADERS: usize = 20 + 32;
/// The most bytes of payload in a TCP segment: an Ethernet frame carries 1500 bytes.
const SEGMENT: usize = 1500 - HEADERS;
/// Bytes that each segment takes apart from its payload: Ethernet with preamble and gap, and the headers.
const AROUND: usize = 38 + HEADERS;

/// The network between clients and relay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Line {
    /// The loopback interface without any limit.
    Loopback,
    /// A link with the paper's speed between two network namespaces. The values are the mean wall time of a packet,
    /// and its ratio to that without encryption.
    Shaped(Interval, Interval),
}

/// The results of one scheme with one packet length and number of clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) spec: Spec,
    pub(super) clients: u32,
    pub(super) bytes: usize,
    /// Number of packets in flight per connection.
    pub(super) window: usize,
    /// CPU time of the relay per packet in nanoseconds.
    pub(super) ns: Interval,
    /// Its ratio to that without encryption.
    pub(super) ratio: Interval,
    /// The network that was used.
    pub(super) line: Line,
    /// Number of packets that did not arrive.
    pub(super) lost: u64,
    /// Number of forged and replayed frames that were sent, and of those that were accepted.
    pub(super) bad: u64,
    pub(super) accepted: u64,
}

/// All points.
#[derive(Default)]
pub(super) struct NetworkPoints {
    pub(super) points: Vec<Point>,
    /// Why there was no shaped link, if so.
    pub(super) unshaped: Option<String>,
}

impl NetworkPoints {
    pub(super) fn at(&self, spec: Spec, clients: u32, bytes: usize) -> Option<Point> {
        self.under_way(spec, clients, bytes, WINDOW)
    }

    /// The loopback point with this number of packets in flight per connection.
    pub(super) fn under_way(&self, spec: Spec, clients: u32, bytes: usize, window: usize) -> Option<Point> {
        let this =
            |point: &&Point| (point.spec, point.clients, point.bytes, point.window) == (spec, clients, bytes, window);
        self.points.iter().find(|point| this(point) && point.line == Line::Loopback).copied()
    }

    /// A point of figure 1: over the paper's line, with one packet in flight per computer. The mean time of a packet,
    /// and its ratio to that without encryption.
    pub(super) fn shaped(&self, spec: Spec, clients: u32, bytes: usize) -> Option<(Interval, Interval)> {
        let this = |point: &&Point| (point.spec, point.clients, point.bytes) == (spec, clients, bytes);
        self.points.iter().filter(this).find_map(|point| match point.line {
            Line::Shaped(time, ratio) => Some((time, ratio)),
            Line::Loopback => None,
        })
    }

    /// The measured numbers of clients, ascending.
    pub(super) fn clients(&self) -> Vec<u32> {
        CLIENTS.into_iter().filter(|&clients| self.points.iter().any(|point| point.clients == clients)).collect()
    }
}

/// The fastest schemes of the paper's families and ours; two of the former with keys of 256 bits; in the full study
/// also the families without tables, and derived keys.
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
    /// Nanoseconds per packet over the paper's network, for systems that cannot shape a link: the measured CPU time of
    /// the relay plus the computed time of its frame on the wire. While one packet's frame travels to the relay,
    /// another's travels from it, so each packet takes the time of one frame, as over the shaped link.
    pub(super) fn over_the_wire(&self) -> Interval {
        let wire = wire_bytes(self.bytes) as f64 * 8.0 / f64::from(MEGABITS) * 1e3;
        self.ns.map(|ns| ns + wire)
    }
}

/// Bytes on the wire for a packet of `bytes`: its sealed frame, in as many TCP segments as that takes.
fn wire_bytes(bytes: usize) -> usize {
    let frame = bytes + sealwright_session::frame::HEADER + sealwright_session::frame::TAG;
    frame + frame.div_ceil(SEGMENT) * AROUND
}

/// The numbers of clients to measure.
fn grid(quick: bool) -> &'static [u32] {
    if quick { &CLIENTS[..1] } else { &CLIENTS }
}

/// The number of steps of [`measure`].
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

/// For keys of 256 bits, the quick study measures short packets only, which are what the text compares.
fn lengths(quick: bool, spec: Spec) -> &'static [usize] {
    if quick && spec.long { &LENGTHS[..1] } else { &LENGTHS }
}

fn failed(error: load::LoadError) -> io::Error {
    io::Error::other(error.to_string())
}

/// Figure 1: the paper's schemes over a link with the paper's speed, one packet in flight per computer.
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

    /// The computed time must be that of a line with this speed in each direction, as the shaped link has. A packet of
    /// 1500 bytes is sealed into 1532, which take two Ethernet frames.
    #[test]
    fn a_packet_takes_the_line_for_its_segments() {
        for (bytes, on_the_wire) in [(40, 40 + 32 + 90), (1416, 1448 + 90), (1417, 1449 + 180), (1500, 1532 + 180)] {
            let (ns, ratio) = (Interval::exact(1000.0), Interval::exact(1.0));
            let point = Point {
                spec: "gscm(64k)".parse().unwrap(),
                clients: 10_000,
                bytes,
                window: 1,
                ns,
                ratio,
                line: Line::Loopback,
                lost: 0,
                bad: 0,
                accepted: 0,
            };
            let packets_a_second = 1e9 / (point.over_the_wire().median - 1000.0);
            let megabits = packets_a_second * f64::from(on_the_wire) * 8.0 / 1e6;
            assert!((megabits - f64::from(MEGABITS)).abs() < 1e-6, "{bytes}: {megabits} Mbit/s each way");
        }
    }
}
