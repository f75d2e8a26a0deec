//! Which size of GHASH table is the fastest in each family of schemes: the paper's five sizes of a family are compared
//! with each other.

use std::{cell::RefCell, io, rc::Rc, time::Duration};

use sealwright::Isa;
use sealwright_measure::{Candidate, FEWEST, Interval, Meter};
use sealwright_session::{SchemeKind, Spec, Strategy};

use super::{
    crowd::{Crowd, Packets, Work},
    room::Room,
    speed::LENGTHS,
};
use crate::progress::Progress;

/// The paper's table sizes.
pub(super) const SIZES: [Strategy; 5] = [Strategy::Zero, Strategy::T256, Strategy::T4k, Strategy::T8k, Strategy::T64k];

/// A scheme compared with the one that the paper calls the fastest in its family.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) spec: Spec,
    pub(super) fastest: Spec,
    /// Number of clients in the table, all in one cluster.
    pub(super) clients: u32,
    pub(super) bytes: usize,
    /// Its time per packet divided by that of the fastest, from the same rounds.
    pub(super) ratio: Interval,
}

/// A family of schemes, which differ in the size of the table.
type Kind = fn(Strategy) -> SchemeKind;

/// The paper's families, with the size that it calls the fastest.
const KINDS: [(Kind, Strategy); 3] =
    [(SchemeKind::Gscm, Strategy::T64k), (SchemeKind::GcmPre, Strategy::T4k), (SchemeKind::GcmOn, Strategy::T4k)];

pub(super) fn measure(quick: bool, progress: &mut Progress<'_>) -> io::Result<Vec<Point>> {
    let meter = if quick { Meter::quick().rounds(FEWEST, 400) } else { Meter::full().rounds(15, 2000) };
    let meter = meter.budget(Duration::from_millis(if quick { 200 } else { 3000 }));
    by(&meter, clients(quick, Room::now(quick))?, progress)
}

/// The number of clients: the smallest number in the paper, if there is room for the five sizes of a family at the same
/// time, else a tenth, which take 170 MB. With tables of 64 KB for both directions, a client takes 128 KiB.
fn clients(quick: bool, room: Room) -> io::Result<u32> {
    const PAPERS: u32 = 10_000;
    if quick {
        return Ok(300);
    }
    for (kind, _) in KINDS {
        let family = SIZES.map(|x| Spec { kind: kind(x), long: false });
        if room.takes(&family, PAPERS)?.is_err() {
            return Ok(PAPERS / 10);
        }
    }
    Ok(PAPERS)
}

fn by(meter: &Meter, clients: u32, progress: &mut Progress<'_>) -> io::Result<Vec<Point>> {
    let mut points = Vec::new();
    for (kind, fastest) in KINDS {
        let spec = |size| Spec { kind: kind(size), long: false };
        let crowd = |size| Ok(Rc::new(RefCell::new(Crowd::new(spec(size), Isa::best(), clients)?)));
        let crowds: Vec<_> = SIZES.into_iter().map(crowd).collect::<io::Result<_>>()?;
        for bytes in LENGTHS {
            let packets = |(size, crowd): (Strategy, &Rc<RefCell<Crowd>>)| {
                Packets::new(spec(size).to_string(), crowd, Work::Forward, bytes)
            };
            let mut all: Vec<Packets> = SIZES.into_iter().zip(&crowds).map(packets).collect();
            all.iter_mut().try_for_each(Packets::check)?;
            let mut candidates: Vec<&mut dyn Candidate> = all.iter_mut().map(|one| one as &mut dyn Candidate).collect();
            let found = progress.compare(meter, &mut candidates)?;
            let fastest = spec(fastest);
            let others = SIZES.into_iter().map(spec).filter(|spec| *spec != fastest);
            points.extend(others.filter_map(|spec| {
                let ratio = found.ratio(&spec.to_string(), &fastest.to_string())?;
                Some(Point { spec, fastest, clients, bytes, ratio })
            }));
        }
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn each_kind_has_four_beside_its_fastest() {
        let meter = Meter::quick().rounds(1, 1).sample(Duration::from_micros(20)).budget(Duration::from_millis(1));
        let points = by(&meter, 120, &mut Progress::new("s", &mut |_| {})).unwrap();
        assert_eq!(points.len(), 3 * 4 * LENGTHS.len());
        assert!(points.iter().all(|point| point.ratio.median > 0.0 && point.spec != point.fastest));
        assert!(points.iter().all(|point| point.clients == 120));
    }

    #[test]
    fn the_papers_number_of_clients_is_taken_where_it_has_room() {
        assert_eq!(clients(false, Room::of(false, u64::MAX)).unwrap(), 10_000);
        assert_eq!(clients(false, Room::of(false, 3 << 29)).unwrap(), 1000);
        assert_eq!(clients(true, Room::of(true, u64::MAX)).unwrap(), 300);
    }
}
