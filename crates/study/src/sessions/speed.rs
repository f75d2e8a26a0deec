//! Figure 2 repeated: time per packet by number of clients, without a network; each scheme is compared with no
//! encryption.

use std::{cell::RefCell, io, rc::Rc, time::Duration};

use sealwright::Isa;
use sealwright_measure::{Candidate, FEWEST, Interval, Meter};
use sealwright_session::{SchemeKind, Spec, Strategy};

use super::{
    crowd::{Crowd, Packets, Work},
    room::Room,
};
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

/// The points, and what was left out because it would take more memory than there is room for, with the reason.
#[derive(Default)]
pub(super) struct SpeedPoints {
    pub(super) points: Vec<Point>,
    pub(super) left_out: Vec<(Spec, u32, &'static str)>,
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

    /// The numbers of clients that were measured or left out, ascending.
    pub(super) fn asked(&self) -> Vec<u32> {
        let (measured, left) =
            (self.clients(), |clients| self.left_out.iter().any(|(_, number, _)| *number == clients));
        CLIENTS.into_iter().filter(|&clients| measured.contains(&clients) || left(clients)).collect()
    }

    /// Why there is no point of this scheme with so many clients.
    pub(super) fn why_not(&self, spec: Spec, clients: u32) -> &'static str {
        let this = |(left, number, _): &&(Spec, u32, &str)| (*left, *number) == (spec, clients);
        self.left_out.iter().find(this).map_or("not measured", |(.., why)| *why)
    }
}

/// The numbers of clients to measure.
fn grid(quick: bool) -> &'static [u32] {
    if quick { &CLIENTS[..3] } else { &CLIENTS }
}

/// The number of steps of [`measure`].
pub(super) fn steps(quick: bool) -> usize {
    (grid(quick).len() + usize::from(lowest().is_some())) * (specs().len() - 1)
}

/// The level without special instructions, unless it is the best one.
fn lowest() -> Option<Isa> {
    Isa::available().first().copied().filter(|&lowest| lowest != Isa::best())
}

pub(super) fn measure(quick: bool, progress: &mut Progress<'_>) -> io::Result<SpeedPoints> {
    let (numbers, room) = (grid(quick), Room::now(quick));
    let meter = if quick { Meter::quick().rounds(FEWEST, 400) } else { Meter::full().rounds(9, 2000) };
    let meter = meter.sample(Duration::from_millis(1)).budget(Duration::from_millis(if quick { 120 } else { 3000 }));
    let mut found = SpeedPoints::default();
    for &clients in numbers {
        pass(&mut found, Isa::best(), clients, &specs(), room, &meter, progress)?;
    }
    if let Some(lowest) = lowest() {
        pass(&mut found, lowest, numbers[0], &specs(), room, &meter, progress)?;
    }
    Ok(found)
}

/// Measures every scheme with one number of clients.
fn pass(
    found: &mut SpeedPoints,
    isa: Isa,
    clients: u32,
    specs: &[Spec],
    room: Room,
    meter: &Meter,
    progress: &mut Progress<'_>,
) -> io::Result<()> {
    let [clear, others @ ..] = specs else { return Ok(()) };
    // The clients without encryption, from the first scheme on that has room beside them
    let mut none = None;
    for &spec in others {
        progress.step(&format!("{spec}, {clients} clients, {isa}"));
        if let Err(why) = room.takes(&[*clear, spec], clients)? {
            found.left_out.push((spec, clients, why));
            continue;
        }
        if none.is_none() {
            none = Some(Rc::new(RefCell::new(Crowd::new(*clear, isa, clients)?)));
        }
        let Some(none) = &none else { continue };
        let crowd = Rc::new(RefCell::new(Crowd::new(spec, isa, clients)?));
        for bytes in LENGTHS {
            let forward = |name: &str, crowd| -> io::Result<Packets> {
                let mut packets = Packets::new(name, crowd, Work::Forward, bytes);
                packets.check()?;
                Ok(packets)
            };
            let mut base = forward("clear", none)?;
            let mut ours = forward("forward", &crowd)?;
            let mut seal = Packets::new("seal", &crowd, Work::Seal, bytes);
            // Beside the first scheme, sealing without encryption is measured too
            let first = found.at(isa, *clear, clients, bytes).is_none();
            let mut clear_seal = first.then(|| Packets::new("clear, seal", none, Work::Seal, bytes));
            let mut candidates: Vec<&mut dyn Candidate> = vec![&mut base, &mut ours, &mut seal];
            candidates.extend(clear_seal.as_mut().map(|packets| packets as &mut dyn Candidate));
            let compared = progress.compare(meter, &mut candidates)?;
            let ns = |name: &str| compared.trial(name).map(|trial| trial.interval.scale(1e9));
            let all = (ns("clear"), ns("forward"), ns("seal"), compared.ratio("forward", "clear"));
            let (Some(base), Some(forward), Some(seal), Some(ratio)) = all else { continue };
            found.points.push(Point { spec, isa, clients, bytes, forward, ratio, seal });
            if let Some(seal) = ns("clear, seal") {
                let (spec, ratio) = (*clear, Interval::exact(1.0));
                found.points.push(Point { spec, isa, clients, bytes, forward: base, ratio, seal });
            }
        }
    }
    if let (None, Some(&(.., why))) = (none, found.left_out.last()) {
        found.left_out.push((*clear, clients, why));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::sessions::crowd;

    #[test]
    fn what_has_room_is_measured_and_what_has_none_is_named() {
        let meter = Meter::quick().rounds(1, 1).sample(Duration::from_micros(20)).budget(Duration::from_millis(1));
        let (mut found, mut told) = (SpeedPoints::default(), 0);
        let specs: Vec<Spec> = ["clear", "gcm-on64", "gcm-pre(64k)"].iter().map(|name| name.parse().unwrap()).collect();
        // Two thirds of 3 MiB, where gcm-pre(64k) takes 25
        let room = Room::of(false, 3 << 20);
        pass(&mut found, Isa::best(), 200, &specs, room, &meter, &mut Progress::new("s", &mut |_| told += 1)).unwrap();
        assert_eq!((told, &found.left_out[..]), (2, &[(specs[2], 200, "no room")][..]));
        assert_eq!(found.points.len(), 4);
        for point in found.points.iter().filter(|point| point.spec == specs[0]) {
            assert_ne!(point.seal, point.forward, "sealing alone is not opening and sealing");
        }
        for point in found.points {
            assert!(point.forward.median > 0.0 && point.ratio.median > 0.0, "{point:?}");
        }
    }

    /// The clients without encryption lie in memory beside those of each scheme.
    #[test]
    fn clients_without_encryption_take_room_too() {
        let specs: Vec<Spec> = ["clear", "gcm-on64"].iter().map(|name| name.parse().unwrap()).collect();
        let bytes = |spec| crowd::bytes(spec, 20_000).unwrap();
        let meter = Meter::quick().rounds(1, 1).sample(Duration::from_micros(20)).budget(Duration::from_millis(1));
        let left = [(specs[1], 20_000, "no room"), (specs[0], 20_000, "no room")];
        // Two thirds of it suffice for the scheme alone, or not even for the clients without encryption
        for available in [bytes(specs[1]) * 3 / 2, bytes(specs[0])] {
            let (mut found, room) = (SpeedPoints::default(), Room::of(false, available));
            pass(&mut found, Isa::best(), 20_000, &specs, room, &meter, &mut Progress::new("s", &mut |_| {})).unwrap();
            assert_eq!((found.points.len(), &found.left_out[..]), (0, &left[..]));
            assert_eq!(found.why_not(specs[1], 20_000), "no room");
            assert_eq!(found.asked(), [] as [u32; 0], "20,000 are not in the grid");
        }
    }
}
