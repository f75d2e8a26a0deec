//! Figure 1 anew: time of a relay's processor for a packet over 50 loopback connections, each scheme beside none.

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

/// Bits a second of the paper's network, and bytes around a frame on it: Ethernet with preamble and gap, IP, TCP.
const BITS: f64 = 100e6;
const AROUND: usize = 38 + 20 + 20;

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
    /// Packets that never came.
    pub(super) lost: u64,
    /// Forged and replayed frames that were put in, and those that came through.
    pub(super) bad: u64,
    pub(super) accepted: u64,
}

/// What was measured.
#[derive(Default)]
pub(super) struct NetworkPoints(pub(super) Vec<Point>);

impl NetworkPoints {
    pub(super) fn at(&self, spec: Spec, clients: u32, bytes: usize) -> Option<Point> {
        self.under_way(spec, clients, bytes, WINDOW)
    }

    /// The same with so many packets under way on a connection.
    pub(super) fn under_way(&self, spec: Spec, clients: u32, bytes: usize, window: usize) -> Option<Point> {
        let this =
            |point: &&Point| (point.spec, point.clients, point.bytes, point.window) == (spec, clients, bytes, window);
        self.0.iter().find(this).copied()
    }

    /// The numbers of clients that were measured, ascending.
    pub(super) fn clients(&self) -> Vec<u32> {
        CLIENTS.into_iter().filter(|&clients| self.0.iter().any(|point| point.clients == clients)).collect()
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
    /// Nanoseconds of a packet over the paper's network: the relay's processor, and the frame twice over the wire. The kernel of
    /// most test machines cannot shape a link, so the wire's part is computed and not measured.
    pub(super) fn over_the_wire(&self) -> Interval {
        let frame = self.bytes + sealwright_session::frame::HEADER + sealwright_session::frame::TAG + AROUND;
        let wire = 2.0 * frame as f64 * 8.0 / BITS * 1e9;
        self.ns.map(|ns| ns + wire)
    }
}

/// The numbers of clients to measure.
fn grid(quick: bool) -> &'static [u32] {
    if quick { &CLIENTS[..1] } else { &CLIENTS }
}

/// Steps that [`measure`] takes.
pub(super) fn steps(quick: bool) -> usize {
    grid(quick).len() * specs(quick).len()
}

pub(super) fn measure(quick: bool, progress: &mut Progress<'_>) -> io::Result<NetworkPoints> {
    let seconds = if quick { 0.5 } else { 3.0 };
    let mut found = NetworkPoints::default();
    for &clients in grid(quick) {
        for spec in specs(quick) {
            progress.step(&format!("{spec} over connections, {clients} clients"));
            // The text compares keys of 256 bits with short packets alone.
            let lengths = if quick && spec.long { &LENGTHS[..1] } else { &LENGTHS };
            let windows = if PAPERS.contains(&spec.kind) { &[WINDOW, 1][..] } else { &[WINDOW] };
            for (&bytes, &window) in lengths.iter().flat_map(|bytes| windows.iter().map(move |window| (bytes, window)))
            {
                let outcome = load::point(spec, clients, bytes, CONNECTIONS, window, seconds);
                let outcome = outcome.map_err(|error| io::Error::other(error.to_string()))?;
                let (ns, lost, bad, accepted) =
                    (outcome.ns_per_frame, outcome.lost, outcome.bad, outcome.forged_accepted);
                let Some(ratio) = outcome.ratio_to_clear else { continue };
                found.0.push(Point { spec, clients, bytes, window, ns, ratio, lost, bad, accepted });
            }
        }
    }
    Ok(found)
}
