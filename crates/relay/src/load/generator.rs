//! The clients' side of a load: one thread, a few connections, every client's keys.

use std::{
    io,
    net::SocketAddr,
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;
use mio::{Events, Interest, Poll, Token, net::TcpStream};
use sealwright_measure::random::Random;
use sealwright_session::{
    FrameJob,
    frame::{ADDRESS, HEADER, Header, TAG, payload},
};

use crate::{
    data::{Connection, Got, Handle, READ},
    load::{
        keys::Keys,
        lanes::Lanes,
        order::{Mix, Order},
    },
};

/// How long packets may be under way when the time is over.
const HOMEWARD: Duration = Duration::from_secs(5);
/// What a forged packet says, if it ever opens.
const FORGED: (u16, u16, u32) = (u16::MAX, u16::MAX, u32::MAX);
/// A write is worth a system call from here on.
const ENOUGH: usize = 32 << 10;

/// What a slice of time saw.
#[derive(Clone, Debug)]
pub struct Slice {
    /// Packets sent.
    pub sent: u64,
    /// Packets that came to their destination, whole and once.
    pub frames: u64,
    /// Packets that did not come.
    pub lost: u64,
    /// Forged frames and replays put in.
    pub bad: u64,
    /// Forged, changed, misdelivered or replayed packets that a client received as if good.
    pub forged_accepted: u64,
    /// Nanoseconds from when a packet was due until it was received.
    pub latency: Histogram<u64>,
    /// Until the last packet came.
    pub wall: Duration,
}

struct Link {
    connection: Connection,
    /// Its clients are `first`, `first + step`, ... below the number of clients.
    first: u32,
    step: u32,
    next: u32,
    lanes: Lanes,
    broken: bool,
}

/// Clients over connections to one relay.
pub struct Generator {
    poll: Poll,
    links: Vec<Link>,
    keys: Keys,
    order: Order,
    random: Random,
    /// Packets until bad frames are put in again.
    until_bad: u64,
    start: Instant,
    buffer: Vec<u8>,
    /// Frames to be sealed, or opened, together.
    jobs: Vec<FrameJob>,
}

impl std::fmt::Debug for Generator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Generator").field("order", &self.order).finish_non_exhaustive()
    }
}

/// Whom packets go to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    /// The client itself, each in turn: afterwards the relay knows where everybody is.
    Itself,
    /// Anybody.
    Anybody,
}

impl Generator {
    /// Connects.
    ///
    /// # Errors
    /// When a connection is refused.
    pub(crate) fn connect(relay: SocketAddr, keys: Keys, order: Order) -> io::Result<Generator> {
        let poll = Poll::new()?;
        let shards = keys.shards() as usize;
        let mut links = Vec::new();
        // A connection carries one shard's clients; clients without connection there would be, were there fewer
        let connections = order.connections.max(shards).min(order.clients.max(1) as usize);
        for at in 0..connections {
            let stream = std::net::TcpStream::connect(relay)?;
            stream.set_nonblocking(true)?;
            stream.set_nodelay(true)?;
            let mut stream = TcpStream::from_std(stream);
            poll.registry().register(&mut stream, Token(at), Interest::READABLE | Interest::WRITABLE)?;
            let shard = at % shards;
            let siblings = (connections - shard).div_ceil(shards);
            let first = ((at / shards) * shards + shard) as u32;
            let mut connection = Connection::new(stream, Handle::new(at, 0), Vec::new(), Instant::now());
            connection.proved = true;
            let lanes = Lanes::new(order.window);
            let step = (siblings * shards) as u32;
            links.push(Link { connection, first, step, next: first, lanes, broken: false });
        }
        let random = Random::new(order.seed);
        let largest = HEADER + order.payload.largest() + TAG;
        let until_bad = order.bad_every;
        let buffer = vec![0; READ + largest];
        Ok(Generator { poll, links, keys, order, random, until_bad, start: Instant::now(), buffer, jobs: Vec::new() })
    }

    /// Every client sends one packet to itself: the relay then knows the connection of each.
    ///
    /// # Errors
    /// When the system refuses to wait for connections.
    pub fn introduce(&mut self) -> io::Result<Slice> {
        for link in &mut self.links {
            link.next = link.first;
        }
        let (bad, rate) = (std::mem::take(&mut self.order.bad_every), self.order.rate.take());
        let slice = self.drive(To::Itself, Duration::MAX);
        (self.order.bad_every, self.order.rate) = (bad, rate);
        for link in &mut self.links {
            link.next = link.first;
        }
        slice
    }

    /// Packets from each client in turn to random ones, for `time`; then waits until all have come.
    ///
    /// # Errors
    /// When the system refuses to wait for connections.
    pub fn run(&mut self, time: Duration) -> io::Result<Slice> {
        self.drive(To::Anybody, time)
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
                if to == To::Itself && !sending && self.links.iter().all(Link::is_introduced) {
                    over = Some(now);
                }
            }
            if let Some(over) = over {
                let home = self.links.iter().all(|link| link.broken || link.lanes.under_way() == 0);
                if home || now - over > HOMEWARD {
                    break;
                }
            }
            self.flush();
            let wait =
                if sending { Duration::ZERO } else { self.order.rate.map_or(20, |_| 1) * Duration::from_millis(1) };
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
        slice.lost = self.links.iter_mut().map(|link| link.lanes.give_up()).sum();
        slice.wall = begin.elapsed();
        Ok(slice)
    }

    /// Fills lanes; whether more is to be sent at once.
    fn send(&mut self, to: To, slice: &mut Slice, since: Duration) -> bool {
        let due = self.order.rate.map(|rate| (since.as_secs_f64() * rate) as u64);
        let now = self.start.elapsed().as_nanos() as u64;
        let mut more = false;
        for at in 0..self.links.len() {
            loop {
                let link = &self.links[at];
                if link.broken || !link.lanes.is_free() || (to == To::Itself && link.is_introduced()) {
                    break;
                }
                if due.is_some_and(|due| slice.sent >= due) {
                    self.seal(at);
                    return false;
                }
                if link.connection.queued() >= ENOUGH {
                    more = true;
                    break;
                }
                // In an open loop a packet that had to wait for a lane was due earlier
                let late = self
                    .order
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
        let client = link.next.min(self.order.clients - 1);
        let after = u64::from(link.next) + u64::from(link.step);
        link.next = match u32::try_from(after) {
            Ok(after) if after < self.order.clients => after,
            _ if to == To::Itself => u32::MAX,
            _ => link.first,
        };
        let Some((lane, number)) = link.lanes.take(due) else { return };
        let other = match to {
            To::Itself => client,
            To::Anybody => self.random.below(self.order.clients as usize) as u32,
        };
        let bytes = if to == To::Itself { Mix::LEAST } else { self.order.payload.draw(&mut self.random) };
        let start = link.connection.queue().len();
        self.put(at, client, other, bytes, (at as u16, lane, number));
        slice.sent += 1;
        if self.order.bad_every > 0 {
            self.until_bad -= 1;
            if self.until_bad == 0 {
                self.until_bad = self.order.bad_every;
                self.put_bad(at, client, other, start);
                slice.bad += 2;
            }
        }
    }

    /// Queues one packet with a mark in it, to be sealed.
    fn put(&mut self, at: usize, client: u32, other: u32, bytes: usize, mark: (u16, u16, u32)) {
        let to = self.keys.session(other);
        let queue = self.links[at].connection.queue();
        let start = queue.len();
        queue.extend_from_slice(&[0; HEADER]);
        queue.extend_from_slice(&to.to_be_bytes());
        queue.extend_from_slice(&mark.0.to_be_bytes());
        queue.extend_from_slice(&mark.1.to_be_bytes());
        queue.extend_from_slice(&mark.2.to_be_bytes());
        queue.resize(start + HEADER + bytes + TAG, 0x5a);
        self.jobs.push(self.keys.sent_by(client, start..queue.len()));
    }

    /// Seals what was put into the queue of a connection.
    fn seal(&mut self, at: usize) {
        // A key that is used up: the packet goes out unsealed, is refused and counts as lost
        self.keys.seal_all(self.links[at].connection.queue(), &mut self.jobs);
        self.jobs.clear();
    }

    /// Queues the frame at `start` again, and a fresh one with a bit turned over.
    fn put_bad(&mut self, at: usize, client: u32, other: u32, start: usize) {
        self.seal(at);
        let queue = self.links[at].connection.queue();
        queue.extend_from_within(start..);
        let forged = queue.len();
        self.put(at, client, other, Mix::LEAST, FORGED);
        self.seal(at);
        let queue = self.links[at].connection.queue();
        let sealed = forged + HEADER..queue.len();
        let bit = self.random.below(sealed.len() * 8);
        queue[sealed.start + bit / 8] ^= 1 << (bit % 8);
    }

    fn flush(&mut self) {
        let now = Instant::now();
        for link in self.links.iter_mut().filter(|link| !link.broken && link.connection.queued() > 0) {
            link.broken |= link.connection.flush(now).is_err();
        }
    }

    /// Reads a connection until it has no more.
    fn receive(&mut self, at: usize, slice: &mut Slice) {
        let mut buffer = std::mem::take(&mut self.buffer);
        loop {
            match self.links[at].connection.read(&mut buffer) {
                Got::Bytes { all, more, .. } => {
                    let used = self.frames_of(&mut buffer[..all], slice);
                    self.links[at].connection.keep(&buffer[used..all]);
                    if !more {
                        break;
                    }
                }
                Got::Nothing => break,
                Got::End => {
                    self.links[at].broken = true;
                    break;
                }
            }
        }
        self.buffer = buffer;
    }

    /// Opens the frames of a buffer; how many bytes they took.
    fn frames_of(&mut self, buffer: &mut [u8], slice: &mut Slice) -> usize {
        let now = self.start.elapsed().as_nanos() as u64;
        let mut at = 0;
        while let Some(header) = buffer[at..].first_chunk::<HEADER>().and_then(|header| Header::read(header).ok()) {
            let frame = at..at + header.frame_len();
            if frame.end > buffer.len() {
                break;
            }
            at = frame.end;
            self.jobs.extend(self.keys.come_for(header.session, frame));
        }
        self.keys.open_all(buffer, &mut self.jobs);
        for job in self.jobs.drain(..).filter(FrameJob::done) {
            let Some((link, lane, number)) = mark_of(payload(&buffer[job.start..job.end])) else { continue };
            match self.links.get_mut(usize::from(link)).and_then(|link| link.lanes.back(lane, number)) {
                Some(sent) => {
                    slice.frames += 1;
                    // A histogram that grows takes every number
                    let _ = slice.latency.record(now.saturating_sub(sent).max(1));
                }
                None => slice.forged_accepted += 1,
            }
        }
        at
    }
}

impl Link {
    fn is_introduced(&self) -> bool {
        self.broken || self.next == u32::MAX
    }
}

/// (connection, lane, number) behind the sender's address.
fn mark_of(text: &[u8]) -> Option<(u16, u16, u32)> {
    let mark = text.get(ADDRESS..ADDRESS + 8)?.first_chunk::<8>()?;
    let [a, b, c, d, e, f, g, h] = *mark;
    Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]), u32::from_be_bytes([e, f, g, h])))
}
