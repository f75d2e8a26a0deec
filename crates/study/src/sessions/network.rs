//! Figure 1 repeated: packets over 50 connections, each scheme compared with no encryption. As in the paper, each
//! computer has one packet in flight over a line of 100 Mbit/s. The paper's mean times are of 50 packets that are under
//! way at the same time; here, the time for each packet is given, the wall time divided by the number of packets, which
//! is a fiftieth. In addition, the CPU time of a busy relay over loopback.

use std::io;

use sealwright_load as load;
use sealwright_measure::Interval;
use sealwright_session::{SchemeKind, Spec, Strategy};

use super::{room::Room, speed::LENGTHS};
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
    /// A link with the paper's speed between two network namespaces. The values are the wall time divided by the number
    /// of packets, and its ratio to that without encryption.
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
    /// The same without encryption, in slices between these.
    pub(super) clear_ns: Interval,
    /// The ratio of the two, from pairs of slices.
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
#[derive(Debug, Default)]
pub(super) struct NetworkPoints {
    pub(super) points: Vec<Point>,
    /// What was left out because it would take more memory than there is room for, with the reason.
    pub(super) left_out: Vec<(Spec, u32, &'static str)>,
    /// What could not be measured, with the reason.
    pub(super) failed: Vec<String>,
    /// Why the figures of the line, or some of them, were not measured over a shaped link, if so.
    pub(super) unshaped: Option<String>,
}

/// What one point is of.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    spec: Spec,
    clients: u32,
    bytes: usize,
    window: usize,
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

    /// A point of figure 1: over the paper's line, with one packet in flight per computer. The wall time for each packet,
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

    /// Why there is no point of this scheme with so many clients.
    pub(super) fn why_not(&self, spec: Spec, clients: u32) -> &'static str {
        let this = |(left, number, _): &&(Spec, u32, &str)| (*left, *number) == (spec, clients);
        self.left_out.iter().find(this).map_or("not measured", |(.., why)| *why)
    }

    /// The time for each packet with the scheme of `slow` over that with the scheme of `fast`, on the paper's line, for
    /// systems that cannot shape a link: from the CPU time of the relay and the computed time of a frame on the wire.
    /// While one packet's frame travels to the relay, another's travels from it, so each packet takes the line for the
    /// time of one frame. How far the relay works during that time is not known, so the interval reaches from the
    /// quotient of the longer of the two times to the quotient of their sums.
    ///
    /// The schemes were measured one after the other, so their times without encryption differ by what else the machine
    /// did. Both ratios are therefore applied to the same such time, whatever it is of those that were found beside
    /// schemes with these packets.
    pub(super) fn over_the_wire(&self, slow: &Point, fast: &Point) -> Option<Interval> {
        let alike = |point: &&Point| {
            (point.line, point.clients, point.bytes, point.window)
                == (Line::Loopback, slow.clients, slow.bytes, slow.window)
        };
        let clears: Vec<Interval> = self.points.iter().filter(alike).map(|point| point.clear_ns).collect();
        let middle = Interval::of(&clears.iter().map(|clear| clear.median).collect::<Vec<_>>(), 1)?.median;
        let least = clears.iter().map(|clear| clear.low).fold(middle, f64::min);
        let most = clears.iter().map(|clear| clear.high).fold(middle, f64::max);
        let wire = wire_ns(slow.bytes);
        let overlapping = |clear: f64, [slow, fast]: [f64; 2]| (clear * slow).max(wire) / (clear * fast).max(wire);
        let added = |clear: f64, [slow, fast]: [f64; 2]| (clear * slow + wire) / (clear * fast + wire);
        let medians = [slow.ratio.median, fast.ratio.median];
        let middle = overlapping(middle, medians).midpoint(added(middle, medians));
        // Each grows with one ratio, shrinks with the other, and only grows or only shrinks with the time without
        // encryption, so the ends are at ends
        let ends = [least, most].into_iter().flat_map(|clear| {
            [[slow.ratio.low, fast.ratio.high], [slow.ratio.high, fast.ratio.low]]
                .into_iter()
                .flat_map(move |ratios| [overlapping(clear, ratios), added(clear, ratios)])
        });
        let (low, high) = ends.fold((middle, middle), |(low, high), end| (low.min(end), high.max(end)));
        // They are worth as much as those of the ratios
        let basis = slow.ratio.over(fast.ratio)?.basis;
        (low.is_finite() && high.is_finite()).then_some(Interval { median: middle, low, high, basis })
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

/// Nanoseconds for which a packet of `bytes` takes the paper's line in one direction.
fn wire_ns(bytes: usize) -> f64 {
    wire_bytes(bytes) as f64 * 8.0 / f64::from(MEGABITS) * 1e3
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

/// Measures what there is room for. What fails is named and costs nothing else.
///
/// # Errors
/// If nothing could be measured.
pub(super) fn measure(quick: bool, progress: &mut Progress<'_>) -> io::Result<NetworkPoints> {
    let (seconds, room) = (if quick { 0.5 } else { 3.0 }, Room::now(quick));
    let mut found = loopback(quick, room, progress, |Wanted { spec, clients, bytes, window }| {
        load::point(spec, clients, bytes, CONNECTIONS, window, seconds)
            .map(|outcome| of(&outcome, spec, clients, bytes, window, Line::Loopback))
    })?;
    progress.step("the same over a shaped link");
    let line = load::over_link(MEGABITS, |link| {
        shaped(quick, room, |Wanted { spec, clients, bytes, window }| {
            let outcome = load::point_over(link, spec, clients, bytes, CONNECTIONS, window, 2.0 * seconds)?;
            let line = outcome.wall_ratio_to_clear.map(|ratio| Line::Shaped(outcome.wall_ns_per_frame, ratio));
            Ok(line.and_then(|line| of(&outcome, spec, clients, bytes, window, line)))
        })
    });
    found.join(line.map_err(|why| why.to_string().lines().next().unwrap_or_default().to_owned()))?;
    found.or_nothing()
}

impl NetworkPoints {
    /// Adds one point, or names why there is none.
    fn add(
        &mut self,
        wanted: Wanted,
        room: Room,
        point: impl FnOnce(Wanted) -> Result<Option<Point>, load::LoadError>,
    ) -> io::Result<()> {
        let Wanted { spec, clients, bytes, window } = wanted;
        let clear = Spec { kind: SchemeKind::Clear, long: false };
        // Its relay takes turns with one without encryption
        if let Err(why) = room.takes(&[spec, clear], clients)? {
            if !self.left_out.contains(&(spec, clients, why)) {
                self.left_out.push((spec, clients, why));
            }
            return Ok(());
        }
        match point(wanted) {
            Ok(point) => self.points.extend(point),
            Err(why) => self.failed.push(format!(
                "{spec}, {clients} clients, {bytes} bytes, {window} under way for each of {CONNECTIONS} computers: {why}"
            )),
        }
        Ok(())
    }

    /// Adds what was measured over the line, or why there was no line.
    fn join(&mut self, line: Result<io::Result<NetworkPoints>, String>) -> io::Result<()> {
        match line {
            Ok(line) => {
                let NetworkPoints { points, failed, .. } = line?;
                self.unshaped = failed.first().map(|first| format!("Not every point was measured over it: {first}"));
                self.failed.extend(failed.into_iter().map(|one| format!("over a line of {MEGABITS} Mbit/s, {one}")));
                self.points.extend(points);
            }
            Err(why) => self.unshaped = Some(why),
        }
        Ok(())
    }

    /// Itself, unless everything failed.
    fn or_nothing(self) -> io::Result<NetworkPoints> {
        match (self.points.is_empty(), self.failed.first()) {
            (true, Some(first)) => Err(io::Error::other(first.clone())),
            _ => Ok(self),
        }
    }
}

/// Each scheme over loopback, by `point`.
fn loopback(
    quick: bool,
    room: Room,
    progress: &mut Progress<'_>,
    point: impl Fn(Wanted) -> Result<Option<Point>, load::LoadError>,
) -> io::Result<NetworkPoints> {
    let mut found = NetworkPoints::default();
    for &clients in grid(quick) {
        for spec in specs(quick) {
            progress.step(&format!("{spec} over connections, {clients} clients"));
            let windows = if PAPERS.contains(&spec.kind) { &[WINDOW, 1][..] } else { &[WINDOW] };
            for (bytes, &window) in
                lengths(quick, spec).iter().flat_map(|bytes| windows.iter().map(move |window| (*bytes, window)))
            {
                found.add(Wanted { spec, clients, bytes, window }, room, &point)?;
            }
        }
    }
    Ok(found)
}

/// Figure 1, by `point`: the paper's schemes over a link with the paper's speed, one packet in flight per computer.
fn shaped(
    quick: bool,
    room: Room,
    point: impl Fn(Wanted) -> Result<Option<Point>, load::LoadError>,
) -> io::Result<NetworkPoints> {
    let mut found = NetworkPoints::default();
    for &clients in grid(quick) {
        for spec in specs(quick).into_iter().filter(|spec| PAPERS.contains(&spec.kind)) {
            for &bytes in lengths(quick, spec) {
                found.add(Wanted { spec, clients, bytes, window: 1 }, room, &point)?;
            }
        }
    }
    Ok(found)
}

/// For keys of 256 bits, the quick study measures short packets only, which are what the text compares.
fn lengths(quick: bool, spec: Spec) -> &'static [usize] {
    if quick && spec.long { &LENGTHS[..1] } else { &LENGTHS }
}

fn of(outcome: &load::Outcome, spec: Spec, clients: u32, bytes: usize, window: usize, line: Line) -> Option<Point> {
    Some(Point {
        spec,
        clients,
        bytes,
        window,
        ns: outcome.ns_per_frame,
        clear_ns: outcome.clear_ns_per_frame?,
        ratio: outcome.ratio_to_clear?,
        line,
        lost: outcome.lost,
        bad: outcome.bad,
        accepted: outcome.forged_accepted,
    })
}

#[cfg(test)]
#[path = "network_tests.rs"]
pub(super) mod tests;
