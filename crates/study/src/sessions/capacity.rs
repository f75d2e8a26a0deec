//! Table 4 anew: the most clients that a server with little memory serves. Most of its memory is a pool for packets; what
//! the clients need beyond the rest is paged. Packets come over loopback connections, one at a time as in the paper.

use std::{
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    time::Duration,
};

use sealwright_measure::{Clock, clock::Wall, random::Random};
use sealwright_session::Spec;

use super::{
    crowd::{Crowd, Packets},
    memory::Held,
    pager::{PAGE, Pager},
    speed::LENGTHS,
};
use crate::progress::Progress;

/// Connections, as many as the paper's computers.
const CONNECTIONS: usize = 50;
/// Rule (a): how much longer than without encryption a packet may take.
const FACTOR: f64 = 2.0;
/// Windows, the fastest of which counts, and packets in one.
const WINDOWS: usize = 5;
const PACKETS: usize = 200;
/// After so long without a packet a connection is lost, rule (c).
const STALL: Duration = Duration::from_secs(5);
/// Clients whose keys are used; what is paged is as many records as there are clients.
const RESIDENT: u32 = 100;
/// Share of the memory that is the pool.
const POOL: f64 = 0.9;

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Rule (a), with pages read.
    Paging,
    /// Rule (a), by encryption alone: no page was read.
    Encryption,
    /// Rule (b): no more memory, nor paging file.
    Memory,
    /// Rule (c): a connection was lost.
    Connection,
}

impl Ended {
    pub(super) fn words(self) -> &'static str {
        match self {
            Ended::Paging => "(a) too slow: paging",
            Ended::Encryption => "(a) too slow: encryption",
            Ended::Memory => "(b) no memory",
            Ended::Connection => "(c) a connection lost",
        }
    }
}

/// What one scheme can serve.
#[derive(Clone, Copy, Debug)]
pub(super) struct Served {
    pub(super) spec: Spec,
    /// Bytes a client that were paged.
    pub(super) bytes: usize,
    /// Length of the packets.
    pub(super) payload: usize,
    /// The last number of clients that was reported, and the last that was stable.
    pub(super) reported: u64,
    pub(super) stable: u64,
    pub(super) step: u64,
    pub(super) ended: Ended,
}

/// The schemes and lengths of packets to search for, the paper's rows first.
pub(super) fn rows(quick: bool) -> Vec<(Spec, usize)> {
    let names = [
        "gcm-pre(0)",
        "gcm-on(0)",
        "gcm-pre(256)",
        "gcm-on(256)",
        "gcm-pre(4k)",
        "gcm-on(4k)",
        "gcm-pre(8k)",
        "gcm-on(8k)",
        "gcm-pre(64k)",
        "gcm-on(64k)",
        "gscm(64k)",
        "gcm-pre(clmul)",
        "gcm-on(clmul)",
        "gscm-h",
        "gcm-on64",
        "gcm-derived",
    ];
    let quickly = |name: &&&str| {
        !quick
            || [
                "gcm-pre(0)",
                "gcm-on(0)",
                "gcm-pre(256)",
                "gcm-on(256)",
                "gcm-pre(4k)",
                "gcm-on(4k)",
                "gscm(64k)",
                "gcm-on64",
            ]
            .contains(*name)
    };
    let specs = names.iter().filter(quickly).filter_map(|name| name.parse::<Spec>().ok());
    let lengths: &[bool] = if quick { &[false] } else { &[false, true] };
    let specs = specs.flat_map(|spec| lengths.iter().map(move |&long| Spec { long, ..spec }));
    let payloads: &[usize] = if quick { &LENGTHS[..1] } else { &LENGTHS };
    specs.flat_map(|spec| payloads.iter().map(move |&bytes| (spec, bytes))).collect()
}

/// Searches for all of them on a server with `budget` bytes.
pub(super) fn measure(
    quick: bool,
    budget: u64,
    memory: &[Held],
    progress: &mut Progress<'_>,
) -> io::Result<Vec<Served>> {
    let folder = std::env::temp_dir();
    let mut server = Server::new(budget)?;
    let mut served = Vec::new();
    for (spec, payload) in rows(quick) {
        progress.step(&format!("the most clients of {spec}, {payload} bytes"));
        if let Some(held) = memory.iter().find(|held| held.spec == spec) {
            served.push(server.served(held, payload, &folder)?);
        }
    }
    Ok(served)
}

/// Loopback connections, both ends here.
struct Network(Vec<(TcpStream, TcpStream)>);

impl Network {
    fn new() -> io::Result<Network> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let pair = || {
            let client = TcpStream::connect(listener.local_addr()?)?;
            let (server, _) = listener.accept()?;
            for end in [&client, &server] {
                end.set_nodelay(true)?;
                end.set_read_timeout(Some(STALL))?;
            }
            Ok((client, server))
        };
        (0..CONNECTIONS).map(|_| pair()).collect::<io::Result<_>>().map(Network)
    }
}

/// A server with its pool.
pub(super) struct Server {
    network: Network,
    pool: Vec<u8>,
    room: u64,
    budget: u64,
    random: Random,
}

impl Server {
    /// A server with `budget` bytes of memory and a paging file of as many, as the paper's.
    pub(super) fn new(budget: u64) -> io::Result<Server> {
        let pool = (budget as f64 * POOL) as usize;
        let (network, room) = (Network::new()?, budget - pool as u64);
        // Filled, so that all of it is there.
        Ok(Server { network, pool: vec![1; pool], room, budget, random: Random::new(4) })
    }

    /// A packet sent, handled and received.
    fn packet(
        &mut self,
        packets: &mut Packets,
        clients: Option<(&mut Pager, u64)>,
        frame: &mut [u8],
    ) -> io::Result<()> {
        let (from, to) = (self.random.below(CONNECTIONS), self.random.below(CONNECTIONS));
        self.network.0[from].0.write_all(frame)?;
        self.network.0[from].1.read_exact(frame)?;
        let place = self.random.below(self.pool.len() - frame.len());
        let place = place..place + frame.len();
        self.pool[place.clone()].copy_from_slice(frame);
        frame.copy_from_slice(&self.pool[place]);
        if let Some((pager, clients)) = clients {
            for _ in 0..2 {
                pager.touch(self.random.below(clients as usize) as u64)?;
            }
        }
        packets.forward_one(frame)?;
        self.network.0[to].1.write_all(frame)?;
        self.network.0[to].0.read_exact(frame)
    }

    /// Seconds for the packets of a window.
    fn window(&mut self, packets: &mut Packets, mut clients: Option<(&mut Pager, u64)>) -> io::Result<f64> {
        let mut took = Duration::ZERO;
        for _ in 0..PACKETS {
            let mut frame = packets.one()?;
            let clock = Wall::new();
            let paged = clients.as_mut().map(|(pager, clients)| (&mut **pager, *clients));
            self.packet(packets, paged, &mut frame)?;
            took += clock.now();
        }
        Ok(took.as_secs_f64())
    }

    /// Whether so many clients are served in time, and why not: what fails thrice.
    fn stable(&mut self, trial: &mut Trial<'_>, clients: u64) -> io::Result<Option<Ended>> {
        let mut ended = None;
        for _ in 0..3 {
            ended = self.tried(trial, clients)?;
            if matches!(ended, None | Some(Ended::Memory)) {
                break;
            }
        }
        Ok(ended)
    }

    /// One trial.
    fn tried(&mut self, trial: &mut Trial<'_>, clients: u64) -> io::Result<Option<Ended>> {
        if clients * trial.bytes as u64 > self.room + self.budget {
            return Ok(Some(Ended::Memory));
        }
        let mut pager = Pager::new(trial.folder, clients, trial.bytes, self.room as usize / PAGE)?;
        let (mut clear, mut ours) = (Vec::new(), Vec::new());
        for window in 0..=WINDOWS {
            let times =
                (self.window(&mut trial.clear, None), self.window(&mut trial.packets, Some((&mut pager, clients))));
            let (one, other) = match times {
                (Ok(one), Ok(other)) => (one, other),
                (Err(error), _) | (_, Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(Some(Ended::Connection));
                }
                (Err(error), _) | (_, Err(error)) => return Err(error),
            };
            // The first warms up.
            if window > 0 {
                clear.push(one);
                ours.push(other);
            }
        }
        // The least disturbed windows: pages are missed in every one.
        let least = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
        let slow = least(&ours) > FACTOR * least(&clear);
        Ok(slow.then(|| if pager.misses() > 0 { Ended::Paging } else { Ended::Encryption }))
    }

    /// The most clients of a scheme.
    pub(super) fn served(&mut self, held: &Held, payload: usize, folder: &Path) -> io::Result<Served> {
        let few = |spec| -> io::Result<Packets> {
            Packets::of_crowd(Crowd::new(spec, sealwright::Isa::best(), RESIDENT)?, payload)
        };
        let clear = few("clear".parse().map_err(io::Error::other)?)?;
        let bytes = held.accounted.round() as usize;
        let mut trial = Trial { clear, packets: few(held.spec)?, bytes, folder };
        let step = (self.room / bytes as u64 / 16).max(1);
        let (stable, reported, ended) = search(step, |clients| self.stable(&mut trial, clients))?;
        Ok(Served { spec: held.spec, bytes, payload, reported, stable, step, ended })
    }
}

/// What is tried.
struct Trial<'a> {
    clear: Packets,
    packets: Packets,
    bytes: usize,
    folder: &'a Path,
}

/// The most steps that are stable, in clients, and the last that was reported: by doubling, then by bisection. An end by
/// rule (a) was reported, one by another was not.
fn search(step: u64, mut trial: impl FnMut(u64) -> io::Result<Option<Ended>>) -> io::Result<(u64, u64, Ended)> {
    let (mut good, mut bad) = (0, 1);
    let mut ended = loop {
        match trial(bad * step)? {
            None => (good, bad) = (bad, 2 * bad),
            Some(ended) => break ended,
        }
    };
    while bad - good > 1 {
        let middle = good.midpoint(bad);
        match trial(middle * step)? {
            None => good = middle,
            Some(why) => (bad, ended) = (middle, why),
        }
    }
    let reported = if matches!(ended, Ended::Paging | Ended::Encryption) { bad } else { good };
    Ok((good * step, reported * step, ended))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::sessions::memory;

    #[test]
    fn the_search_finds_the_last_stable_step() {
        for limit in [0u64, 1, 5, 16, 37, 1000] {
            let mut trials = 0;
            let found = search(10, |clients| {
                trials += 1;
                Ok((clients > 10 * limit).then_some(Ended::Paging))
            });
            assert_eq!(found.unwrap(), (10 * limit, 10 * (limit + 1), Ended::Paging));
            assert!(trials <= 22, "{trials}");
        }
        let full = search(3, |clients| Ok((clients > 30).then_some(Ended::Memory))).unwrap();
        assert_eq!(full, (30, 30, Ended::Memory));
    }

    #[test]
    fn clients_that_fit_are_served_and_too_many_have_no_memory() {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Server::new(4 << 20).unwrap();
        let held = memory::held("gcm-on64".parse().unwrap(), 1 << 20).unwrap();
        let few = |spec: &str| {
            let crowd = Crowd::new(spec.parse().unwrap(), sealwright::Isa::best(), 10).unwrap();
            Packets::of_crowd(crowd, 40).unwrap()
        };
        let mut trial = Trial {
            clear: few("clear"),
            packets: few("gcm-on64"),
            bytes: held.accounted.round() as usize,
            folder: folder.path(),
        };
        assert_eq!(server.stable(&mut trial, 1 << 20).unwrap(), Some(Ended::Memory));
        match server.stable(&mut trial, 100) {
            // On a busy machine even clients that fit may come out slow, but never by paging.
            Ok(why) => assert!(matches!(why, None | Some(Ended::Encryption)), "{why:?}"),
            Err(error) => eprintln!("skipped: no direct access in {}: {error}", folder.path().display()),
        }
    }
}
