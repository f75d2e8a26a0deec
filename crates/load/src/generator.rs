//! The clients' side of a workload: one thread, a few connections, every client's keys.

use std::{
    io,
    net::SocketAddr,
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;
use mio::{Events, Interest, Poll, Token, net::TcpStream};
use sealwright_measure::random::Random;
use sealwright_relay::{
    Address,
    frame_stream::{FrameStream, READ_SIZE, ReadOutcome},
};
use sealwright_session::{
    FrameJob,
    frame::{HEADER, Header, TAG, payload},
};

use crate::{
    in_flight::{Arrival, InFlight},
    keys::Keys,
    workload::{Mix, Workload},
};

/// How long packets may stay in flight when the time is over.
const DRAIN: Duration = Duration::from_secs(5);
/// The mark of a forged packet, in case it ever opens.
const FORGED: (u16, u16, u32) = (u16::MAX, u16::MAX, u32::MAX);
/// Enough queued bytes to make a write worth a system call.
const WRITE_SIZE: usize = 32 << 10;

/// What happened in one slice of time.
#[derive(Clone, Debug)]
pub struct Slice {
    /// Packets sent.
    pub sent: u64,
    /// Packets that reached their destination, unchanged and once.
    pub frames: u64,
    /// Packets that did not arrive.
    pub lost: u64,
    /// Forged frames and replays that were sent.
    pub bad: u64,
    /// Forged, changed, misdelivered or replayed packets that a client accepted.
    pub forged_accepted: u64,
    /// Nanoseconds from when a packet was due until it was received.
    pub latency: Histogram<u64>,
    /// Time until the last packet arrived.
    pub wall: Duration,
}

struct Link {
    stream: FrameStream,
    /// Its clients are `first`, `first + step`, ... below the number of clients.
    first: u32,
    step: u32,
    next: u32,
    in_flight: InFlight,
    broken: bool,
}

/// Clients with their connections to one relay.
pub struct Generator {
    poll: Poll,
    links: Vec<Link>,
    keys: Keys,
    workload: Workload,
    random: Random,
    /// Packets until bad frames are sent again.
    until_bad: u64,
    start: Instant,
    buffer: Vec<u8>,
    /// Frames that are sealed, or opened, together.
    jobs: Vec<FrameJob>,
}

impl std::fmt::Debug for Generator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Generator").field("workload", &self.workload).finish_non_exhaustive()
    }
}

/// Where packets go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    /// Each client sends to itself once: afterwards the relay knows the connection of every client.
    Itself,
    /// A random client.
    Random,
}

impl Generator {
    /// Connects.
    ///
    /// # Errors
    /// When the relay refuses a connection.
    pub(crate) fn connect(relay: SocketAddr, keys: Keys, workload: Workload) -> io::Result<Generator> {
        let poll = Poll::new()?;
        let shards = keys.shards() as usize;
        let mut links = Vec::new();
        // A connection carries clients of one shard, so every shard needs at least one
        let connections = workload.connections.max(shards).min(workload.clients.max(1) as usize);
        for at in 0..connections {
            let stream = std::net::TcpStream::connect(relay)?;
            stream.set_nonblocking(true)?;
            stream.set_nodelay(true)?;
            let mut stream = TcpStream::from_std(stream);
            poll.registry().register(&mut stream, Token(at), Interest::READABLE | Interest::WRITABLE)?;
            let shard = at % shards;
            let siblings = (connections - shard).div_ceil(shards);
            let first = ((at / shards) * shards + shard) as u32;
            let in_flight = InFlight::new(workload.window);
            let step = (siblings * shards) as u32;
            links.push(Link { stream: FrameStream::new(stream), first, step, next: first, in_flight, broken: false });
        }
        let random = Random::new(workload.seed);
        let largest = HEADER + workload.payload.largest() + TAG;
        let until_bad = workload.bad_every;
        let buffer = vec![0; READ_SIZE + largest];
        Ok(Generator {
            poll,
            links,
            keys,
            workload,
            random,
            until_bad,
            start: Instant::now(),
            buffer,
            jobs: Vec::new(),
        })
    }

    /// Every client sends one packet to itself, so that the relay learns the connection of each.
    ///
    /// # Errors
    /// When the system cannot wait for connections.
    pub fn bind_clients(&mut self) -> io::Result<Slice> {
        for link in &mut self.links {
            link.next = link.first;
        }
        let (bad, rate) = (std::mem::take(&mut self.workload.bad_every), self.workload.rate.take());
        let slice = self.drive(To::Itself, Duration::MAX);
        (self.workload.bad_every, self.workload.rate) = (bad, rate);
        for link in &mut self.links {
            link.next = link.first;
        }
        slice
    }

    /// Sends packets from each client in turn to random ones for `time`, then waits until all have arrived.
    ///
    /// # Errors
    /// When the system cannot wait for connections.
    pub fn run(&mut self, time: Duration) -> io::Result<Slice> {
        self.drive(To::Random, time)
    }

    fn drive(&mut self, to: To, time: Duration) -> io::Result<Slice> {
        let latency = Histogram::new(3).map_err(io::Error::other)?;
        let mut slice =
            Slice { sent: 0, frames: 0, lost: 0, bad: 0, forged_accepted: 0, latency, wall: Duration::ZERO };
        let mut events = Events::with_capacity(self.links.len().max(16));
        let begin = Instant::now();
        let mut over = None;
        loop {
            let now = Instant::now();
            if over.is_none() && now - begin >= time {
                over = Some(now);
            }
            let mut sending = false;
            if over.is_none() {
                sending = self.send(to, &mut slice, now - begin);
                if to == To::Itself && !sending && self.links.iter().all(Link::is_bound) {
                    over = Some(now);
                }
            }
            if let Some(over) = over {
                let drained = self.links.iter().all(|link| link.broken || link.in_flight.len() == 0);
                if drained || now - over > DRAIN {
                    break;
                }
            }
            self.flush();
            let wait =
                if sending { Duration::ZERO } else { self.workload.rate.map_or(20, |_| 1) * Duration::from_millis(1) };
            match self.poll.poll(&mut events, Some(wait)) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            for event in &events {
                let Token(at) = event.token();
                if event.is_readable() || event.is_read_closed() || event.is_error() {
                    self.receive(at, &mut slice);
                }
            }
        }
        slice.lost = self.links.iter_mut().map(|link| link.in_flight.abandon()).sum();
        slice.wall = begin.elapsed();
        Ok(slice)
    }

    /// Fills the windows. Returns whether more can be sent at once.
    fn send(&mut self, to: To, slice: &mut Slice, since: Duration) -> bool {
        let due = self.workload.rate.map(|rate| (since.as_secs_f64() * rate) as u64);
        let now = self.start.elapsed().as_nanos() as u64;
        let mut more = false;
        for at in 0..self.links.len() {
            loop {
                let link = &self.links[at];
                if link.broken || !link.in_flight.has_room() || (to == To::Itself && link.is_bound()) {
                    break;
                }
                if due.is_some_and(|due| slice.sent >= due) {
                    self.seal(at);
                    return false;
                }
                if link.stream.queued() >= WRITE_SIZE {
                    more = true;
                    break;
                }
                // In an open loop a packet that had to wait for room in the window was due earlier
                let late = self
                    .workload
                    .rate
                    .map_or(0, |rate| ((since.as_secs_f64() - slice.sent as f64 / rate).max(0.0) * 1e9) as u64);
                self.send_one(at, to, slice, now.saturating_sub(late));
            }
            self.seal(at);
        }
        more
    }

    fn send_one(&mut self, at: usize, to: To, slice: &mut Slice, due: u64) {
        let link = &mut self.links[at];
        let client = link.next.min(self.workload.clients - 1);
        let after = u64::from(link.next) + u64::from(link.step);
        link.next = match u32::try_from(after) {
            Ok(after) if after < self.workload.clients => after,
            _ if to == To::Itself => u32::MAX,
            _ => link.first,
        };
        let Some((slot, number)) = link.in_flight.start(due) else { return };
        let other = match to {
            To::Itself => client,
            To::Random => self.random.below(self.workload.clients as usize) as u32,
        };
        let bytes = if to == To::Itself { Mix::LEAST } else { self.workload.payload.draw(&mut self.random) };
        let start = link.stream.queue().len();
        self.put(at, client, other, bytes, (at as u16, slot, number));
        slice.sent += 1;
        if self.workload.bad_every > 0 {
            self.until_bad -= 1;
            if self.until_bad == 0 {
                self.until_bad = self.workload.bad_every;
                self.put_bad(at, client, other, start);
                slice.bad += 2;
            }
        }
    }

    /// Queues one packet with a mark in it. It is sealed later.
    fn put(&mut self, at: usize, client: u32, other: u32, bytes: usize, mark: (u16, u16, u32)) {
        let to = self.keys.address(other);
        let queue = self.links[at].stream.queue();
        let start = queue.len();
        queue.extend_from_slice(&[0; HEADER]);
        queue.extend_from_slice(&to.to_bytes());
        queue.extend_from_slice(&mark.0.to_be_bytes());
        queue.extend_from_slice(&mark.1.to_be_bytes());
        queue.extend_from_slice(&mark.2.to_be_bytes());
        queue.resize(start + HEADER + bytes + TAG, 0x5a);
        self.jobs.push(self.keys.sent_by(client, start..queue.len()));
    }

    /// Seals the packets that wait in the queue of a connection.
    fn seal(&mut self, at: usize) {
        // If a key is used up, the packet is sent unsealed, refused by the relay, and counted as lost
        self.keys.seal_all(self.links[at].stream.queue(), &mut self.jobs);
        self.jobs.clear();
    }

    /// Queues a copy of the frame at `start`, and a fresh frame with one bit flipped.
    fn put_bad(&mut self, at: usize, client: u32, other: u32, start: usize) {
        self.seal(at);
        let queue = self.links[at].stream.queue();
        queue.extend_from_within(start..);
        let forged = queue.len();
        self.put(at, client, other, Mix::LEAST, FORGED);
        self.seal(at);
        let queue = self.links[at].stream.queue();
        let sealed = forged + HEADER..queue.len();
        let bit = self.random.below(sealed.len() * 8);
        queue[sealed.start + bit / 8] ^= 1 << (bit % 8);
    }

    fn flush(&mut self) {
        for link in self.links.iter_mut().filter(|link| !link.broken && link.stream.queued() > 0) {
            link.broken |= link.stream.flush().is_err();
        }
    }

    /// Reads a connection until the system has no more.
    fn receive(&mut self, at: usize, slice: &mut Slice) {
        let mut buffer = std::mem::take(&mut self.buffer);
        loop {
            match self.links[at].stream.read(&mut buffer, READ_SIZE) {
                ReadOutcome::Bytes { all, more, .. } => {
                    let used = self.frames_of(&mut buffer[..all], slice);
                    self.links[at].stream.keep(&buffer[used..all]);
                    if !more {
                        break;
                    }
                }
                ReadOutcome::Nothing => break,
                ReadOutcome::Closed => {
                    self.links[at].broken = true;
                    break;
                }
            }
        }
        self.buffer = buffer;
    }

    /// Opens the frames of a buffer. Returns how many bytes they took.
    fn frames_of(&mut self, buffer: &mut [u8], slice: &mut Slice) -> usize {
        let now = self.start.elapsed().as_nanos() as u64;
        let mut at = 0;
        while let Some(header) = buffer[at..].first_chunk::<HEADER>().and_then(|header| Header::read(header).ok()) {
            let frame = at..at + header.frame_len();
            if frame.end > buffer.len() {
                break;
            }
            at = frame.end;
            self.jobs.extend(self.keys.received_by(header.session, frame));
        }
        self.keys.open_all(buffer, &mut self.jobs);
        for job in self.jobs.drain(..).filter(FrameJob::done) {
            let Some((link, slot, number)) = mark_of(payload(&buffer[job.start..job.end])) else { continue };
            let arrival = self.links.get_mut(usize::from(link)).map(|link| link.in_flight.finish(slot, number));
            match arrival.unwrap_or(Arrival::Wrong) {
                Arrival::InTime(due) => {
                    slice.frames += 1;
                    // A histogram that resizes itself takes every value
                    let _ = slice.latency.record(now.saturating_sub(due).max(1));
                }
                // The slice that it was sent in has counted it
                Arrival::Late => {}
                Arrival::Wrong => slice.forged_accepted += 1,
            }
        }
        at
    }
}

impl Link {
    fn is_bound(&self) -> bool {
        self.broken || self.next == u32::MAX
    }
}

/// Connection, slot and number, which stand after the sender's address.
fn mark_of(text: &[u8]) -> Option<(u16, u16, u32)> {
    let mark = text.get(Address::LEN..Address::LEN + 8)?.first_chunk::<8>()?;
    let [a, b, c, d, e, f, g, h] = *mark;
    Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]), u32::from_be_bytes([e, f, g, h])))
}
