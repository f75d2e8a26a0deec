//! Table 4 repeated: the most clients that a server with little memory can serve. Most of the memory is a pool for
//! packets; records of clients that do not fit into the rest are paged. As in the paper, there is a thread for each of
//! 50 computers, and each computer has one packet in flight. Rule (a) limits the mean time of a packet: while some
//! threads wait for the disk, others work.

use std::{
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    sync::mpsc,
    thread,
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

/// Number of connections, one for each of the paper's computers.
const CONNECTIONS: usize = 50;
/// Rule (a): a packet may take this many times as long as without encryption.
const FACTOR: f64 = 2.0;
/// Number of timed windows, of which the fastest counts, and number of packets of each computer in a window.
const WINDOWS: usize = 5;
const PACKETS: usize = 4;
/// Rule (c): a connection counts as lost after this time without a packet.
const STALL: Duration = Duration::from_secs(5);
/// Number of clients per computer whose keys are really used. The paged records are as many as there are clients.
const RESIDENT: u32 = 2;
/// The pool's share of the memory.
const POOL: f64 = 0.9;

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Rule (a): too slow, and pages were read.
    Paging,
    /// Rule (a): too slow because of encryption alone; no page was read.
    Encryption,
    /// Rule (b): memory and paging file are full.
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

/// The result for one scheme and packet length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Served {
    pub(super) spec: Spec,
    /// Bytes per client that were paged.
    pub(super) bytes: usize,
    /// Length of the packets in bytes.
    pub(super) payload: usize,
    /// The last number of clients that was reported, and the last one that was stable.
    pub(super) reported: u64,
    pub(super) stable: u64,
    pub(super) step: u64,
    pub(super) ended: Ended,
}

/// The schemes and packet lengths, the paper's rows first.
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

/// Searches for the most clients in each row, on a server with `budget` bytes of memory.
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

/// The server's memory: the pool for packets, and the room for records of clients.
pub(super) struct Server {
    pool: Vec<u8>,
    room: u64,
    budget: u64,
}

/// The next task of a thread.
enum Order {
    /// Prepare the packets of a window, with the scheme or without encryption.
    Prepare(bool),
    /// Process the packets; if a number of clients is given, page the records of that many clients.
    Go(Option<u64>),
}

/// A thread of the server together with the computer that it serves: both ends of a connection.
struct Computer<'a> {
    ends: (TcpStream, TcpStream),
    pool: &'a mut [u8],
    clear: Packets,
    packets: Packets,
    frames: Vec<Vec<u8>>,
    scheme: bool,
    random: Random,
}

impl Computer<'_> {
    /// Seals the packets before the clock runs, because in the paper clients ran on other computers.
    fn prepare(&mut self, scheme: bool) -> io::Result<()> {
        self.scheme = scheme;
        let packets = if scheme { &mut self.packets } else { &mut self.clear };
        self.frames = (0..PACKETS).map(|_| packets.one()).collect::<io::Result<_>>()?;
        Ok(())
    }

    /// Sends, processes and receives the packets one after the other.
    fn go(&mut self, pager: &Pager, clients: Option<u64>) -> io::Result<()> {
        let (computer, server) = &mut self.ends;
        let packets = if self.scheme { &mut self.packets } else { &mut self.clear };
        for frame in &mut self.frames {
            computer.write_all(frame)?;
            server.read_exact(frame)?;
            let place = self.random.below(self.pool.len() - frame.len());
            let place = place..place + frame.len();
            self.pool[place.clone()].copy_from_slice(frame);
            frame.copy_from_slice(&self.pool[place]);
            if let Some(clients) = clients {
                for _ in 0..2 {
                    pager.touch(self.random.below(clients as usize) as u64)?;
                }
            }
            packets.forward_one(frame)?;
            server.write_all(frame)?;
            computer.read_exact(frame)?;
        }
        Ok(())
    }
}

/// Both ends of a new connection.
fn pair(listener: &TcpListener) -> io::Result<(TcpStream, TcpStream)> {
    let client = TcpStream::connect(listener.local_addr()?)?;
    let (server, _) = listener.accept()?;
    for end in [&client, &server] {
        end.set_nodelay(true)?;
        end.set_read_timeout(Some(STALL))?;
    }
    Ok((client, server))
}

/// A scheme to be tried, and the memory that a client takes.
struct Trial<'a> {
    spec: Spec,
    payload: usize,
    bytes: usize,
    folder: &'a Path,
}

impl Server {
    /// A server with `budget` bytes of memory, and a paging file of the same size, as in the paper.
    pub(super) fn new(budget: u64) -> io::Result<Server> {
        let pool = (budget as f64 * POOL) as usize;
        // The pool is filled, so that all of it is resident
        Ok(Server { pool: vec![1; pool], room: budget - pool as u64, budget })
    }

    /// Whether this number of clients is stable (`None`), or why not. It must fail three times to count as not stable.
    fn stable(&mut self, trial: &Trial<'_>, clients: u64) -> io::Result<Option<Ended>> {
        if clients * trial.bytes as u64 > self.room + self.budget {
            return Ok(Some(Ended::Memory));
        }
        let mut ended = None;
        for _ in 0..3 {
            ended = self.tried(trial, clients)?;
            if ended.is_none() {
                break;
            }
        }
        Ok(ended)
    }

    /// One trial: all computers at once run windows with the scheme and without encryption in turns.
    fn tried(&mut self, trial: &Trial<'_>, clients: u64) -> io::Result<Option<Ended>> {
        let pager = Pager::new(trial.folder, clients, trial.bytes, self.room as usize / PAGE)?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let part = self.pool.len() / CONNECTIONS;
        let pools = self.pool.chunks_exact_mut(part).take(CONNECTIONS).enumerate();
        let (mut least, mut lost) = ([f64::INFINITY; 2], false);
        thread::scope(|scope| -> io::Result<()> {
            let (tell, told) = mpsc::channel();
            let mut orders = Vec::new();
            for (number, pool) in pools {
                let (order, ordered) = mpsc::channel();
                orders.push(order);
                let (ends, tell, pager) = (pair(&listener)?, tell.clone(), &pager);
                scope.spawn(move || {
                    // Sessions cannot be sent to another thread
                    let few =
                        |spec| Packets::of_crowd(Crowd::new(spec, sealwright::Isa::best(), RESIDENT)?, trial.payload);
                    let both =
                        "clear".parse().map_err(io::Error::other).and_then(|clear| Ok((few(clear)?, few(trial.spec)?)));
                    let (clear, packets) = match both {
                        Ok(both) => both,
                        Err(error) => return drop(tell.send(Err(error))),
                    };
                    let random = Random::new(number as u64);
                    let mut computer =
                        Computer { ends, pool, clear, packets, frames: Vec::new(), scheme: false, random };
                    for order in ordered {
                        let done = match order {
                            Order::Prepare(scheme) => computer.prepare(scheme),
                            Order::Go(clients) => computer.go(pager, clients),
                        };
                        if tell.send(done).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(tell);
            let all = |order: fn(bool, u64) -> Order, scheme| -> io::Result<()> {
                for one in &orders {
                    // A thread that has ended has already reported its error
                    let _ = one.send(order(scheme, clients));
                }
                let mut result = Ok(());
                for _ in &orders {
                    let done = told.recv().map_err(io::Error::other)?;
                    result = result.and(done);
                }
                result
            };
            for window in 0..=WINDOWS {
                for scheme in [false, true] {
                    all(|scheme, _| Order::Prepare(scheme), scheme)?;
                    let clock = Wall::new();
                    match all(|scheme, clients| Order::Go(scheme.then_some(clients)), scheme) {
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                            lost = true;
                            return Ok(());
                        }
                        other => other?,
                    }
                    // The first window is a warm-up. The fastest window is the least disturbed; misses occur in every
                    // window
                    if window > 0 {
                        let took = clock.now().as_secs_f64();
                        let least = &mut least[usize::from(scheme)];
                        *least = least.min(took);
                    }
                }
            }
            Ok(())
        })?;
        if lost {
            return Ok(Some(Ended::Connection));
        }
        let slow = least[1] > FACTOR * least[0];
        Ok(slow.then(|| if pager.misses() > 0 { Ended::Paging } else { Ended::Encryption }))
    }

    /// Searches for the most clients of a scheme.
    pub(super) fn served(&mut self, held: &Held, payload: usize, folder: &Path) -> io::Result<Served> {
        let bytes = held.accounted.round() as usize;
        let trial = Trial { spec: held.spec, payload, bytes, folder };
        let step = (self.room / bytes as u64 / 16).max(1);
        let (stable, reported, ended) = search(step, |clients| self.stable(&trial, clients))?;
        Ok(Served { spec: held.spec, bytes, payload, reported, stable, step, ended })
    }
}

/// Searches for the largest stable number of clients, in steps, by doubling and then by bisection. Returns this
/// number, the last reported number, and why the search ended. A number at which rule (a) failed counts as reported, a
/// number at which another rule failed does not.
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
    use sealwright_transcripts::skipped;

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
        let bytes = held.accounted.round() as usize;
        let trial = Trial { spec: held.spec, payload: 40, bytes, folder: folder.path() };
        assert_eq!(server.stable(&trial, 1 << 20).unwrap(), Some(Ended::Memory));
        match server.stable(&trial, 100) {
            // On a busy machine even clients that fit into memory may be too slow, but not because of paging
            Ok(why) => assert!(matches!(why, None | Some(Ended::Encryption)), "{why:?}"),
            Err(error) => skipped(format_args!("no direct access in {}: {error}", folder.path().display())),
        }
    }
}
