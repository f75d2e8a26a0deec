//! The clients' side of a workload: one thread that holds a few connections and the keys of every client.

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
    connection::{Connection, To},
    in_flight::{Arrival, InFlight},
    keys::Keys,
    pace::{Alarm, Pace},
    workload::{Mix, Workload},
};

/// How long to wait for packets in flight after the time is over, and for the first packet to arrive.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest wait for events when there is nothing to send.
const IDLE_WAIT: Duration = Duration::from_millis(20);
/// The most bad frames on a connection. After 100, a relay reads the connection in smaller pieces. The relay without
/// cryptography gets no bad frames, so the two would no longer be comparable.
const MAX_BAD_FRAMES: u32 = 98;
/// The mark of a forged packet, which no genuine packet has. It shows if a client accepts the forgery.
const FORGED_MARK: (u16, u16, u32) = (u16::MAX, u16::MAX, u32::MAX);
/// The number of queued bytes at which filling the queue stops, so that they are written: enough for one system call.
const WRITE_SIZE: usize = 32 << 10;

/// Counts and times of one slice of a measurement.
#[derive(Clone, Debug)]
pub struct Slice {
    /// Packets sent.
    pub sent: u64,
    /// Packets that reached their destination, each counted once.
    pub frames: u64,
    /// Packets that did not arrive.
    pub lost: u64,
    /// Packets that were due in an open loop but were not sent before the time was over, because the windows were
    /// full.
    pub unsent: u64,
    /// Forged frames and replays that were sent.
    pub bad: u64,
    /// Forged, misdelivered or replayed packets that a client accepted.
    pub forged_accepted: u64,
    /// Nanoseconds from when a packet was due until it was received.
    pub latency: Histogram<u64>,
    /// Time until the last packet arrived; the wait for lost packets is not included.
    pub wall: Duration,
}

/// Clients with their connections to one relay.
pub struct Generator {
    poll: Poll,
    links: Vec<Connection>,
    keys: Keys,
    workload: Workload,
    random: Random,
    /// Packets to send before the next bad frames.
    until_bad: u64,
    /// Open loop: the connection that sends next, and the timer for the next packet.
    turn: usize,
    alarm: Option<Alarm>,
    start: Instant,
    buffer: Vec<u8>,
    /// Frames of one connection that will be sealed or opened in one batch.
    jobs: Vec<FrameJob>,
}

impl std::fmt::Debug for Generator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Generator").field("workload", &self.workload).finish_non_exhaustive()
    }
}

impl Generator {
    /// Connects to the relay.
    ///
    /// # Errors
    /// When the relay refuses a connection.
    pub(crate) fn connect(relay: SocketAddr, keys: Keys, workload: Workload) -> io::Result<Generator> {
        let poll = Poll::new()?;
        let shards = keys.shards() as usize;
        let mut links = Vec::new();
        // A connection carries the clients of one shard only, so every shard needs at least one connection
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
            let stream = FrameStream::new(stream);
            links.push(Connection { stream, first, step, next: first, in_flight, bad: 0, broken: false });
        }
        let alarm = workload.rate.map(|_| Alarm::new(poll.registry(), Token(connections))).transpose()?;
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
            turn: 0,
            alarm,
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

    /// How many connections there are.
    pub(crate) fn connections(&self) -> usize {
        self.links.len()
    }

    /// How many of them the relay has closed.
    pub(crate) fn closed(&self) -> usize {
        self.links.iter().filter(|link| link.broken).count()
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
        let wall = Duration::ZERO;
        let mut slice = Slice { sent: 0, frames: 0, lost: 0, unsent: 0, bad: 0, forged_accepted: 0, latency, wall };
        let mut events = Events::with_capacity(self.links.len().max(16));
        let pace = self.workload.rate.map(Pace::new);
        let begin = Instant::now();
        let (mut over, mut heard) = (None, begin);
        loop {
            let now = Instant::now();
            let (ends, mut wait) = (now - begin >= time, IDLE_WAIT);
            // In an open loop, packets that were due before the end are sent even now
            if over.is_none() && (!ends || pace.is_some()) {
                wait = self.send(to, &mut slice, pace, now - begin, time);
            }
            if over.is_none() && (ends || to == To::Itself && self.links.iter().all(Connection::is_bound)) {
                (over, wait) = (Some(now), IDLE_WAIT);
                slice.unsent = pace.map_or(0, |pace| pace.due(time).saturating_sub(slice.sent));
            }
            if let Some(over) = over {
                let drained = self.links.iter().all(|link| link.broken || link.in_flight.len() == 0);
                if drained || now - over > DRAIN_TIMEOUT {
                    break;
                }
            }
            self.flush();
            if let Some(alarm) = self.alarm.as_ref().filter(|_| !wait.is_zero() && wait < IDLE_WAIT) {
                alarm.set(wait)?;
            }
            match self.poll.poll(&mut events, Some(wait)) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            let before = slice.frames;
            for event in &events {
                let Token(at) = event.token();
                if at == self.links.len() {
                    continue;
                }
                if event.is_readable() || event.is_read_closed() || event.is_error() {
                    self.receive(at, event.is_read_closed(), &mut slice);
                }
            }
            if slice.frames > before {
                heard = Instant::now();
            } else if to == To::Itself && heard.elapsed() > DRAIN_TIMEOUT {
                // The relay does not answer, so the windows stay full
                break;
            }
        }
        slice.lost = self.links.iter_mut().map(|link| link.in_flight.abandon()).sum();
        slice.wall = if slice.lost == 0 { begin.elapsed() } else { heard - begin };
        Ok(slice)
    }

    /// Sends packets on each connection in turn: in a closed loop until the windows are full, in an open loop those
    /// that are due before `end`. Returns the time until there is something to send again, provided that nothing
    /// arrives.
    fn send(&mut self, to: To, slice: &mut Slice, pace: Option<Pace>, since: Duration, end: Duration) -> Duration {
        let count = self.links.len();
        let due = pace.map_or(u64::MAX, |pace| pace.due(since.min(end)));
        let pending = due.saturating_sub(slice.sent);
        let (each, first) = (pending / count as u64, (pending % count as u64) as usize);
        let now = self.start.elapsed().as_nanos() as u64;
        let mut more = false;
        for step in 0..count {
            let at = (self.turn + step) % count;
            let mut left = each + u64::from(step < first);
            while self.links[at].takes(to) {
                if left == 0 || self.links[at].stream.queued() >= WRITE_SIZE {
                    more = true;
                    break;
                }
                left -= 1;
                // Open loop: latency is counted from when the packet was due, even if it had to wait for room in the
                // window
                let late = pace.map_or(0, |pace| pace.late(since, slice.sent));
                self.send_one(at, to, slice, now.saturating_sub(late));
            }
            self.seal(at);
        }
        self.turn = if pace.is_some() { (self.turn + first) % count } else { 0 };
        match pace {
            Some(pace) if slice.sent >= due => pace.wait(since, slice.sent, IDLE_WAIT),
            _ if more => Duration::ZERO,
            _ => IDLE_WAIT,
        }
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
        let other = match to {
            To::Itself => client,
            To::Random => self.random.below(self.workload.clients as usize) as u32,
        };
        let Some((slot, number)) = link.in_flight.start(due, self.keys.address(other).session) else { return };
        let bytes = if to == To::Itself { Mix::MIN_BYTES } else { self.workload.payload.draw(&mut self.random) };
        let start = link.stream.queue().len();
        self.put(at, client, other, bytes, (at as u16, slot, number));
        slice.sent += 1;
        if self.workload.bad_every > 0 {
            self.until_bad -= 1;
            if self.until_bad == 0 {
                self.until_bad = self.workload.bad_every;
                if self.links[at].bad < MAX_BAD_FRAMES {
                    self.put_bad(at, client, other, start);
                    self.links[at].bad += 2;
                    slice.bad += 2;
                }
            }
        }
    }

    /// Queues one packet that contains `mark`. [`Generator::seal`] seals it later.
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
        // If a key is exhausted, the packet is sent unsealed, refused by the relay, and counted as lost
        self.keys.seal_all(self.links[at].stream.queue(), &mut self.jobs);
        self.jobs.clear();
    }

    /// Queues a replay of the frame at `start`, and a forgery: a fresh frame with one bit flipped.
    fn put_bad(&mut self, at: usize, client: u32, other: u32, start: usize) {
        self.seal(at);
        let queue = self.links[at].stream.queue();
        queue.extend_from_within(start..);
        let forged = queue.len();
        self.put(at, client, other, Mix::MIN_BYTES, FORGED_MARK);
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

    /// Reads from a connection until no data is available; if the relay `closed` it, until end of file.
    fn receive(&mut self, at: usize, closed: bool, slice: &mut Slice) {
        let mut buffer = std::mem::take(&mut self.buffer);
        loop {
            match self.links[at].stream.read(&mut buffer, READ_SIZE) {
                ReadOutcome::Bytes { all, more, .. } => {
                    let used = self.frames_of(&mut buffer[..all], slice);
                    self.links[at].stream.keep(&buffer[used..all]);
                    if !more && !closed {
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

    /// Opens the complete frames in a buffer. Returns the number of bytes that they occupy.
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
            let link = self.links.get_mut(usize::from(link));
            let arrival = link.map(|link| link.in_flight.finish(slot, number, job.session));
            match arrival.unwrap_or(Arrival::Wrong) {
                Arrival::InTime(due) => {
                    slice.frames += 1;
                    // Recording cannot fail: the histogram resizes itself
                    let _ = slice.latency.record(now.saturating_sub(due).max(1));
                }
                // It was already counted as lost in the slice in which it was sent
                Arrival::Late => {}
                Arrival::Wrong => slice.forged_accepted += 1,
            }
        }
        at
    }
}

/// The mark of a packet (connection, slot and number), which follows the sender's address.
fn mark_of(text: &[u8]) -> Option<(u16, u16, u32)> {
    let mark = text.get(Address::LEN..Address::LEN + 8)?.first_chunk::<8>()?;
    let [a, b, c, d, e, f, g, h] = *mark;
    Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]), u32::from_be_bytes([e, f, g, h])))
}

#[cfg(test)]
#[path = "generator_tests.rs"]
mod tests;
