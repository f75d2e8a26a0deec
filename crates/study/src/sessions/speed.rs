//! Figure 2 repeated: time per packet by number of clients, without a network; each scheme is compared with no
//! encryption.

use std::{cell::RefCell, io, rc::Rc, time::Duration};

use sealwright::Isa;
use sealwright_measure::{Candidate, FEWEST, Interval, Meter};
use sealwright_session::{SchemeKind, Spec, Strategy};

use super::crowd::{self, Crowd, Packets, Work};
use crate::progress::Progress;

/// The paper's packet lengths in bytes.
pub(super) const LENGTHS: [usize; 2] = [40, 1500];

/// Numbers of clients: the ends of the paper's grid, and larger ones.
const CLIENTS: [u32; 4] = [10_000, 100_000, 1_000_000, 10_000_000];

/// The results of one scheme with one packet length and number of clients, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) spec: Spec,
    pub(super) isa: Isa,
    pub(super) clients: u32,
    pub(super) bytes: usize,
    /// Opening and sealing a packet.
    pub(super) forward: Interval,
    /// Its ratio to the time without encryption.
    pub(super) ratio: Interval,
    /// Sealing a packet.
    pub(super) seal: Interval,
}

/// The fastest schemes of the paper's families, then all schemes that need no table.
pub(super) fn specs() -> Vec<Spec> {
    let kinds = [
        SchemeKind::Clear,
        SchemeKind::Gscm(Strategy::T64k),
        SchemeKind::GcmPre(Strategy::T4k),
        SchemeKind::GcmOn(Strategy::T4k),
        SchemeKind::Gscm(Strategy::Clmul),
        SchemeKind::GcmPre(Strategy::Clmul),
        SchemeKind::GcmOn(Strategy::Clmul),
        SchemeKind::GscmH,
        SchemeKind::GcmOn64,
        SchemeKind::GcmDerived,
    ];
    kinds.map(|kind| Spec { kind, long: false }).to_vec()
}

/// Memory in bytes that is available without paging.
pub(super) fn available() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    // If the system does not report it, a gigabyte is assumed
    kib.map_or(1 << 30, |kib| kib * 1024)
}

/// The points, and what was left out for lack of memory.
#[derive(Default)]
pub(super) struct SpeedPoints {
    pub(super) points: Vec<Point>,
    pub(super) left_out: Vec<(Spec, u32)>,
}

impl SpeedPoints {
    pub(super) fn at(&self, isa: Isa, spec: Spec, clients: u32, bytes: usize) -> Option<Point> {
        let this = |point: &&Point| (point.isa, point.spec, point.clients, point.bytes) == (isa, spec, clients, bytes);
        self.points.iter().find(this).copied()
    }

    /// The measured numbers of clients, ascending.
    pub(super) fn clients(&self) -> Vec<u32> {
        CLIENTS.into_iter().filter(|&clients| self.points.iter().any(|point| point.clients == clients)).collect()
    }
}

/// The numbers of clients to measure, and the maximum memory for a crowd in bytes.
fn grid(quick: bool) -> (&'static [u32], u64) {
    if quick { (&CLIENTS[..3], 400 << 20) } else { (&CLIENTS, available() / 3 * 2) }
}

/// The number of steps of [`measure`].
pub(super) fn steps(quick: bool) -> usize {
    (grid(quick).0.len() + usize::from(lowest().is_some())) * (specs().len() - 1)
}

/// The level without special instructions, unless it is the best one.
fn lowest() -> Option<Isa> {
    Isa::available().first().copied().filter(|&lowest| lowest != Isa::best())
}

pub(super) fn measure(quick: bool, progress: &mut Progress<'_>) -> io::Result<SpeedPoints> {
    let (numbers, most) = grid(quick);
    let meter = if quick { Meter::quick().rounds(FEWEST, 400) } else { Meter::full().rounds(9, 2000) };
    let meter = meter.sample(Duration::from_millis(1)).budget(Duration::from_millis(if quick { 120 } else { 3000 }));
    let mut found = SpeedPoints::default();
    for &clients in numbers {
        pass(&mut found, Isa::best(), clients, &specs(), most, &meter, progress)?;
    }
    if let Some(lowest) = lowest() {
        pass(&mut found, lowest, numbers[0], &specs(), most, &meter, progress)?;
    }
    Ok(found)
}

/// Measures every scheme with one number of clients.
fn pass(
    found: &mut SpeedPoints,
    isa: Isa,
    clients: u32,
    specs: &[Spec],
    most: u64,
    meter: &Meter,
    progress: &mut Progress<'_>,
) -> io::Result<()> {
    let [clear, others @ ..] = specs else { return Ok(()) };
    let none = Rc::new(RefCell::new(Crowd::new(*clear, isa, clients)?));
    for &spec in others {
        progress.step(&format!("{spec}, {clients} clients, {isa}"));
        if crowd::bytes(spec, clients)? > most {
            found.left_out.push((spec, clients));
            continue;
        }
        let crowd = Rc::new(RefCell::new(Crowd::new(spec, isa, clients)?));
        for bytes in LENGTHS {
            let forward = |name: &str, crowd| -> io::Result<Packets> {
                let mut packets = Packets::new(name, crowd, Work::Forward, bytes);
                packets.check()?;
                Ok(packets)
            };
            let mut base = forward("clear", &none)?;
            let mut ours = forward("forward", &crowd)?;
            let mut seal = Packets::new("seal", &crowd, Work::Seal, bytes);
            let mut candidates: [&mut dyn Candidate; 3] = [&mut base, &mut ours, &mut seal];
            let compared = progress.compare(meter, &mut candidates)?;
            let ns = |name: &str| compared.trial(name).map(|trial| trial.interval.scale(1e9));
            let all = (ns("clear"), ns("forward"), ns("seal"), compared.ratio("forward", "clear"));
            let (Some(base), Some(forward), Some(seal), Some(ratio)) = all else { continue };
            found.points.push(Point { spec, isa, clients, bytes, forward, ratio, seal });
            if found.at(isa, *clear, clients, bytes).is_none() {
                let (spec, ratio) = (*clear, Interval::exact(1.0));
                found.points.push(Point { spec, isa, clients, bytes, forward: base, ratio, seal: base });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_has_room_is_measured_and_what_has_none_is_named() {
        let meter = Meter::quick().rounds(1, 1).sample(Duration::from_micros(20)).budget(Duration::from_millis(1));
        let (mut found, mut told) = (SpeedPoints::default(), 0);
        let specs: Vec<Spec> = ["clear", "gcm-on64", "gcm-pre(64k)"].iter().map(|name| name.parse().unwrap()).collect();
        pass(&mut found, Isa::best(), 200, &specs, 1 << 20, &meter, &mut Progress::new("s", &mut |_| told += 1))
            .unwrap();
        assert_eq!((told, found.left_out), (2, vec![(specs[2], 200)]));
        assert_eq!(found.points.len(), 4);
        for point in found.points {
            assert!(point.forward.median > 0.0 && point.ratio.median > 0.0, "{point:?}");
        }
    }
}
