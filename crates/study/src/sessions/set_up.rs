//! The time to admit a client, in which a scheme derives, expands and precomputes its keys before the first packet.

use std::{io, time::Duration};

use sealwright::Isa;
use sealwright_measure::{Candidate, Clock, FEWEST, Interval, Meter, clock::ThreadCpu};
use sealwright_session::{Material, Plan, SchemeKind, Sessions, Spec, table};

use super::{crowd::material, families::SIZES};
use crate::progress::Progress;

/// Number of clients that are admitted in turn to empty places, all in one cluster.
pub(super) const CLIENTS: u32 = 64;

/// The time to admit a client with one scheme.
#[derive(Clone, Copy, Debug)]
pub(super) struct Admitted {
    pub(super) spec: Spec,
    /// The time in nanoseconds.
    pub(super) time: Interval,
    /// Its ratio to the time of GSCM with the same table, from the same rounds.
    pub(super) over: Option<(Spec, Interval)>,
}

/// A candidate that admits clients in turn to empty places of a table: a client that takes another's place would pay
/// for wiping the other's keys too.
struct Admit {
    name: String,
    table: Box<dyn Sessions>,
    materials: Vec<Material>,
}

impl Admit {
    fn new(spec: Spec) -> io::Result<Admit> {
        let table = table(Plan::new(spec, CLIENTS).isa(Isa::best()).cluster(CLIENTS));
        let table = table.map_err(io::Error::other)?;
        let mut admit = Admit { name: spec.to_string(), table, materials: (0..CLIENTS).map(material).collect() };
        // The first client also makes what the cluster shares
        admit.run(u64::from(CLIENTS))?;
        Ok(admit)
    }
}

impl Candidate for Admit {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&mut self, iterations: u64) -> io::Result<Duration> {
        let (mut left, mut took) = (iterations, Duration::ZERO);
        while left > 0 {
            (0..CLIENTS).for_each(|slot| self.table.remove(slot));
            let count = left.min(u64::from(CLIENTS));
            left -= count;
            let clock = ThreadCpu.now();
            for (slot, material) in (0..count as u32).zip(&self.materials) {
                self.table.admit(slot, slot, material).map_err(io::Error::other)?;
            }
            took += ThreadCpu.now() - clock;
        }
        Ok(took)
    }

    fn together(&self) -> u64 {
        u64::from(CLIENTS)
    }
}

/// Measures each of the paper's schemes with keys of 128 bits.
pub(super) fn measure(quick: bool, progress: &mut Progress<'_>) -> io::Result<Vec<Admitted>> {
    let meter = if quick { Meter::quick().rounds(FEWEST, 200) } else { Meter::full().rounds(15, 2000) };
    by(&meter.budget(Duration::from_millis(if quick { 400 } else { 4000 })), progress)
}

fn by(meter: &Meter, progress: &mut Progress<'_>) -> io::Result<Vec<Admitted>> {
    let names = ["gscm", "gcm-pre", "gcm-on"];
    let specs = names.iter().flat_map(|kind| SIZES.map(|x| format!("{kind}({})", x.name()).parse::<Spec>()));
    let specs: Vec<Spec> = specs.collect::<Result<_, _>>().map_err(io::Error::other)?;
    let mut all: Vec<Admit> = specs.iter().map(|&spec| Admit::new(spec)).collect::<io::Result<_>>()?;
    let mut candidates: Vec<&mut dyn Candidate> = all.iter_mut().map(|one| one as &mut dyn Candidate).collect();
    let found = progress.compare(meter, &mut candidates)?;
    let admitted = |spec: &Spec| {
        let time = found.trial(&spec.to_string())?.interval.scale(1e9);
        let gscm = match spec.kind {
            SchemeKind::GcmPre(x) | SchemeKind::GcmOn(x) => Some(Spec { kind: SchemeKind::Gscm(x), ..*spec }),
            _ => None,
        };
        let over = gscm.and_then(|gscm| Some((gscm, found.ratio(&spec.to_string(), &gscm.to_string())?)));
        Some(Admitted { spec: *spec, time, over })
    };
    Ok(specs.iter().filter_map(admitted).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Admitting a client in place of another wipes the keys of that one too.
    #[test]
    fn clients_are_admitted_to_empty_places() {
        let mut admit = Admit::new("gcm-pre(4k)".parse().unwrap()).unwrap();
        for (iterations, live) in [(1, 1), (64, 64), (65, 1), (3, 3)] {
            admit.run(iterations).unwrap();
            assert_eq!(admit.table.live(), live, "after {iterations}");
        }
    }

    #[test]
    fn every_scheme_is_timed() {
        let meter = Meter::quick().rounds(1, 1).sample(Duration::from_micros(20)).budget(Duration::from_millis(1));
        let found = by(&meter, &mut Progress::new("s", &mut |_| {})).unwrap();
        assert_eq!(found.len(), 15);
        assert!(found.iter().all(|one| one.time.median > 0.0));
        assert_eq!(found.iter().filter(|one| one.over.is_some()).count(), 10, "each but GSCM beside GSCM");
    }
}
