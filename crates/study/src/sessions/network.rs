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

/// Packets under way on a connection.
pub(super) const WINDOW: usize = 32;

/// One scheme at one length and number of clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) spec: Spec,
    pub(super) clients: u32,
    pub(super) bytes: usize,
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
        self.0.iter().find(|point| (point.spec, point.clients, point.bytes) == (spec, clients, bytes)).copied()
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
            for &bytes in lengths {
                let outcome = load::point(spec, clients, bytes, CONNECTIONS, WINDOW, seconds);
                let outcome = outcome.map_err(|error| io::Error::other(error.to_string()))?;
                let (ns, lost, bad, accepted) =
                    (outcome.ns_per_frame, outcome.lost, outcome.bad, outcome.forged_accepted);
                let Some(ratio) = outcome.ratio_to_clear else { continue };
                found.0.push(Point { spec, clients, bytes, ns, ratio, lost, bad, accepted });
            }
        }
    }
    Ok(found)
}
