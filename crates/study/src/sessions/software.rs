//! Figure 2 with table-based software as in 2009: the fastest schemes of the paper's three families compared with each
//! other.

use std::{io, time::Duration};

use sealwright::Block;
use sealwright_measure::{Candidate, Clock, FEWEST, Interval, Meter, clock::ThreadCpu, random::Random};

use super::{
    room::Room,
    speed::LENGTHS,
    tabled::{Cluster, Flow, Gscm, On, Pre},
};
use crate::progress::Progress;

/// The compared schemes, GSCM first.
pub(super) const SCHEMES: [&str; 3] = ["gscm(64k)", "gcm-pre(4k)", "gcm-on(4k)"];

/// Number of packets that are prepared before the clock runs. They are sealed with the clients' own keys and without
/// tables, so that none of the server's tables and records are loaded into a cache: caches contain what the previous
/// packets left there, and each scheme has the caches to itself for this number of packets.
const READY: usize = 256;

/// The results for one number of clients and packet length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) clients: usize,
    pub(super) bytes: usize,
    /// Nanoseconds to open and seal a packet, in the order of [`SCHEMES`].
    pub(super) ns: [Interval; 3],
    /// Time of GCM-Pre and of GCM-On divided by time of GSCM.
    pub(super) over: [Interval; 2],
    /// Time of GCM-On divided by time of GCM-Pre.
    pub(super) on_over_pre: Interval,
}

/// The points, and the numbers of clients that were left out because they would take more memory than there is room for,
/// with the reason.
#[derive(Debug, Default)]
pub(super) struct SoftwarePoints {
    pub(super) points: Vec<Point>,
    pub(super) left_out: Vec<(usize, &'static str)>,
}

/// The server's records of its clients, and the clients' keys.
struct Crowd<F> {
    name: &'static str,
    cluster: [Cluster; 2],
    clients: Vec<[F; 2]>,
    /// The clients' own keys for sending.
    keys: Vec<[Block; 2]>,
    random: Random,
    bytes: usize,
    sent: u64,
}

fn key(random: &mut Random) -> Block {
    (u128::from(random.bits()) << 64 | u128::from(random.bits())).to_ne_bytes()
}

impl<F: Flow> Crowd<F> {
    /// Memory of a client in bytes.
    const BYTES: usize = 2 * (size_of::<F>() + F::TABLE) + size_of::<[Block; 2]>();

    fn new(name: &'static str, clients: usize, bytes: usize) -> Crowd<F> {
        let mut random = Random::new(9);
        let mut pair = || [key(&mut random), key(&mut random)];
        let cluster = pair().map(|key| Cluster::new(&key));
        let keys: Vec<[Block; 2]> = (0..clients).map(|_| pair()).collect();
        let clients = keys.iter().map(|up| [F::new(up), F::new(&pair())]).collect();
        Crowd { name, cluster, clients, keys, random, bytes, sent: 0 }
    }

    fn nonce(&mut self) -> [u8; 12] {
        self.sent += 1;
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&self.sent.to_be_bytes());
        nonce
    }
}

impl<F: Flow> Candidate for Crowd<F> {
    fn name(&self) -> &str {
        self.name
    }

    fn run(&mut self, iterations: u64) -> io::Result<Duration> {
        let (mut left, mut took) = (iterations as usize, Duration::ZERO);
        while left > 0 {
            let count = left.min(READY);
            left -= count;
            let mut packets = Vec::with_capacity(count);
            for _ in 0..count {
                let (from, to) = (self.random.below(self.clients.len()), self.random.below(self.clients.len()));
                let (up, down, mut text) = (self.nonce(), self.nonce(), vec![0x5a; self.bytes]);
                let tag = F::sealed_elsewhere(&self.cluster[0], &self.keys[from], &up, &mut text);
                let tag = tag.map_err(io::Error::other)?;
                packets.push((from, to, up, down, text, tag));
            }
            let clock = ThreadCpu.now();
            for (from, to, up, down, text, tag) in &mut packets {
                if !self.clients[*from][0].open(&self.cluster[0], up, text, tag) {
                    return Err(io::Error::other("a genuine packet was refused"));
                }
                *tag = self.clients[*to][1].seal(&self.cluster[1], down, text);
            }
            took += ThreadCpu.now() - clock;
            std::hint::black_box(&packets);
        }
        Ok(took)
    }
}

/// Memory in bytes of a client with all three schemes, which are in memory at the same time.
const BYTES: usize = Crowd::<Gscm>::BYTES + Crowd::<Pre>::BYTES + Crowd::<On>::BYTES;

/// The paper's smallest and largest number of clients; the largest takes 1.8 GB of memory.
fn grid(quick: bool) -> &'static [usize] {
    if quick { &[10_000] } else { &[10_000, 100_000] }
}

pub(super) fn measure(quick: bool, progress: &mut Progress<'_>) -> io::Result<SoftwarePoints> {
    let meter = if quick { Meter::quick().rounds(FEWEST, 200) } else { Meter::full().rounds(9, 1000) };
    let meter = meter.sample(Duration::from_millis(1)).budget(Duration::from_millis(if quick { 300 } else { 3000 }));
    by(grid(quick), Room::now(quick), |clients, bytes| point(&meter, clients, bytes, progress))
}

/// Measures every number of clients for which there is room.
fn by(
    grid: &[usize],
    room: Room,
    mut point: impl FnMut(usize, usize) -> io::Result<Option<Point>>,
) -> io::Result<SoftwarePoints> {
    let mut found = SoftwarePoints::default();
    for &clients in grid {
        if let Err(why) = room.fits((BYTES * clients) as u64) {
            found.left_out.push((clients, why));
            continue;
        }
        for bytes in LENGTHS {
            found.points.extend(point(clients, bytes)?);
        }
    }
    Ok(found)
}

fn point(meter: &Meter, clients: usize, bytes: usize, progress: &mut Progress<'_>) -> io::Result<Option<Point>> {
    let mut gscm = Crowd::<Gscm>::new(SCHEMES[0], clients, bytes);
    let mut pre = Crowd::<Pre>::new(SCHEMES[1], clients, bytes);
    let mut on = Crowd::<On>::new(SCHEMES[2], clients, bytes);
    let mut candidates: [&mut dyn Candidate; 3] = [&mut gscm, &mut pre, &mut on];
    let compared = progress.compare(meter, &mut candidates)?;
    let ns = SCHEMES.map(|name| compared.trial(name).map(|trial| trial.interval.scale(1e9)));
    let over = [(1, 0), (2, 0), (2, 1)].map(|(a, b): (usize, usize)| compared.ratio(SCHEMES[a], SCHEMES[b]));
    Ok(match (ns, over) {
        ([Some(gscm), Some(pre), Some(on)], [Some(over_pre), Some(over_on), Some(on_over_pre)]) => {
            Some(Point { clients, bytes, ns: [gscm, pre, on], over: [over_pre, over_on], on_over_pre })
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_scheme_is_timed() {
        let meter = Meter::quick().rounds(1, 1).sample(Duration::from_micros(20)).budget(Duration::from_millis(1));
        let point = point(&meter, 20, 40, &mut Progress::new("s", &mut |_| {})).unwrap().unwrap();
        assert!(point.ns.iter().chain(&point.over).all(|figure| figure.median > 0.0), "{point:?}");
    }

    #[test]
    fn clients_that_have_no_room_are_named() {
        let figure = Interval::exact(1.0);
        let point = |clients, bytes| {
            Ok(Some(Point { clients, bytes, ns: [figure; 3], over: [figure; 2], on_over_pre: figure }))
        };
        // 100,000 clients of the tables of GCM-Pre and GCM-On take 2 times 2 times 0.4 GB
        assert!((16_700..18_000).contains(&BYTES), "{BYTES}");
        let found = by(grid(false), Room::of(false, 768 << 20), point).unwrap();
        assert_eq!(found.left_out, [(100_000, "no room")]);
        assert_eq!(found.points.iter().map(|point| point.clients).collect::<Vec<_>>(), [10_000; 2]);
        assert!(by(grid(true), Room::of(true, u64::MAX), point).unwrap().left_out.is_empty());
    }
}
