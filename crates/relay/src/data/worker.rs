//! One worker: a thread with its own connections and its own sessions. Its turn: hear what happened, read each ready
//! connection once, take in letters, write once to each connection that has something to take.

use std::{
    collections::VecDeque,
    io,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use mio::{
    Events, Interest, Poll, Token,
    net::{TcpListener, TcpStream, UdpSocket},
};
use nix::time::ClockId;
use sealwright_session::Sessions;

use crate::{
    data::{
        connection::{Bound, Connection, Connections, Handle, Way},
        count::{Count, Counts, Published},
        forward::Routes,
        mail::{Letter, Mailbox, Texts},
        settings::Settings,
        udp::{Arrived, Udp},
    },
    fleet::Outbox,
    frame_stream::{FrameStream, READ_SIZE},
    layout::NodeLayout,
};

pub(crate) const BELL: Token = Token(0);
const LISTENER: Token = Token(1);
const DATAGRAMS: Token = Token(2);
const FIRST: usize = 3;

/// How often connections are looked over for those that wait too long.
const TICK: Duration = Duration::from_millis(50);
/// Connections taken in one turn: a flood of newcomers must not hold up those who are here.
const NEWCOMERS: usize = 64;
/// Bytes opened for another worker that are not kept until the end of the turn.
const POSTED: usize = 256 << 10;
/// Reads of datagrams in one turn.
const READS: usize = 4;
/// How long the last writes may take when the worker stops.
const LAST_WRITES: Duration = Duration::from_secs(2);

/// What all workers of a relay share.
pub(crate) struct Shared {
    pub(crate) layout: NodeLayout,
    pub(crate) settings: Settings,
    pub(crate) mailboxes: Vec<Mailbox>,
    pub(crate) counts: Vec<Published>,
    /// Connections of all workers.
    pub(crate) connections: AtomicUsize,
    /// The way to other nodes, if there are any.
    pub(crate) fleet: OnceLock<Outbox>,
}

/// A worker with all it owns.
pub(crate) struct Worker {
    pub(super) me: usize,
    pub(super) shared: Arc<Shared>,
    pub(super) poll: Poll,
    listener: Option<TcpListener>,
    /// Newcomers may wait at the listener.
    knocking: bool,
    pub(super) connections: Connections,
    ready: VecDeque<Handle>,
    pub(super) dirty: Vec<Handle>,
    pub(super) sessions: Box<dyn Sessions>,
    /// Where each session was last heard.
    pub(super) bound: Vec<Bound>,
    pub(super) udp: Option<Udp>,
    pub(super) arrived: Vec<Arrived>,
    pub(super) outgoing: Vec<Texts>,
    /// Frames for other nodes, by node.
    pub(super) abroad: Vec<Vec<u8>>,
    pub(super) routes: Routes,
    buffer: Vec<u8>,
    pub(super) counts: Counts,
    pub(super) now: Instant,
    looked: Instant,
    cpu: Instant,
    stopping: Option<Instant>,
}

impl Worker {
    pub(crate) fn new(
        me: usize,
        shared: Arc<Shared>,
        poll: Poll,
        mut listener: Option<TcpListener>,
        udp: Option<UdpSocket>,
        sessions: Box<dyn Sessions>,
    ) -> io::Result<Worker> {
        if let Some(listener) = &mut listener {
            poll.registry().register(listener, LISTENER, Interest::READABLE)?;
        }
        let udp = match udp {
            Some(mut socket) => {
                poll.registry().register(&mut socket, DATAGRAMS, Interest::READABLE)?;
                Some(Udp::new(socket)?)
            }
            None => None,
        };
        let now = Instant::now();
        let workers = shared.mailboxes.len();
        Ok(Worker {
            me,
            poll,
            listener,
            knocking: false,
            connections: Connections::default(),
            ready: VecDeque::new(),
            dirty: Vec::new(),
            bound: vec![Bound::default(); sessions.slots() as usize],
            udp,
            arrived: Vec::new(),
            sessions,
            outgoing: (0..workers).map(|_| Texts::default()).collect(),
            abroad: vec![Vec::new(); NodeLayout::NODES as usize],
            routes: Routes::default(),
            buffer: vec![0; READ_SIZE + shared.settings.max_frame],
            counts: Counts::default(),
            shared,
            now,
            looked: now,
            cpu: now,
            stopping: None,
        })
    }

    /// Turns until told to stop.
    pub(crate) fn run(mut self) {
        let mut events = Events::with_capacity(1024);
        while !self.done() {
            let wait = if self.ready.is_empty() && !self.knocking && !self.has_datagrams() {
                TICK
            } else if self.others_are_full() {
                Duration::from_millis(1)
            } else {
                Duration::ZERO
            };
            // An interrupted wait is a turn without events
            let _ = self.poll.poll(&mut events, Some(wait));
            self.now = Instant::now();
            self.turn(&events);
        }
        self.publish();
    }

    fn turn(&mut self, events: &Events) {
        for event in events {
            match event.token() {
                BELL => {}
                LISTENER => self.knocking = true,
                DATAGRAMS => self.udp.iter_mut().for_each(|udp| udp.readable = true),
                Token(token) => {
                    let Some(connection) = self.connections.at(token - FIRST) else { continue };
                    let handle = connection.handle;
                    connection.stream.half_closed |= event.is_read_closed() || event.is_error();
                    if event.is_writable() && connection.queued() > 0 {
                        self.mark_dirty(handle);
                    }
                    if event.is_readable() || event.is_read_closed() || event.is_error() {
                        self.mark_ready(handle);
                    }
                }
            }
        }
        if self.knocking {
            self.welcome();
        }
        if self.stopping.is_none() {
            for _ in 0..self.ready.len() {
                // What is opened for others is bounded, so it is posted on the way
                self.post(POSTED);
                if self.others_are_full() {
                    break;
                }
                let Some(handle) = self.ready.pop_front() else { break };
                self.read(handle);
            }
            for _ in 0..READS {
                self.post(POSTED);
                if !self.has_datagrams() || self.others_are_full() {
                    break;
                }
                self.read_datagrams();
            }
        }
        for letter in self.shared.clone().mailboxes[self.me].take() {
            self.take_in(letter);
        }
        self.post(0);
        self.post_abroad();
        // Whoever receives what is written finds it counted
        self.publish();
        self.write();
        if self.now - self.looked >= TICK {
            self.looked = self.now;
            self.look_over();
            // Those whom the system had no descriptor for may be let in now
            self.knocking |= self.listener.is_some();
        }
        self.counts.one(Count::Turns);
        self.publish();
    }

    fn has_datagrams(&self) -> bool {
        self.udp.as_ref().is_some_and(|udp| udp.readable) && self.stopping.is_none()
    }

    fn publish(&mut self) {
        let now = Instant::now();
        if now - self.cpu >= Duration::from_millis(1) || self.stopping.is_some() {
            self.cpu = now;
            self.counts.set(Count::CpuNanoseconds, thread_cpu().as_nanos() as u64);
        }
        self.shared.counts[self.me].publish(&self.counts);
    }

    fn others_are_full(&self) -> bool {
        self.shared.mailboxes.iter().enumerate().any(|(at, mailbox)| at != self.me && mailbox.is_full())
    }

    /// Takes newcomers, or turns them away at the door.
    fn welcome(&mut self) {
        self.knocking = false;
        for turn in 0.. {
            if turn == NEWCOMERS {
                self.knocking = true;
                break;
            }
            let Some(listener) = &self.listener else { return };
            match listener.accept() {
                Ok((stream, _)) => {
                    let others = self.shared.connections.fetch_add(1, Ordering::Relaxed);
                    if others < self.shared.settings.max_connections {
                        self.counts.one(Count::Accepted);
                        self.settle(stream, Vec::new());
                    } else {
                        self.shared.connections.fetch_sub(1, Ordering::Relaxed);
                        self.counts.one(Count::Refused);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(_) => {
                    // No descriptors or no memory: those who knock wait at the door, and the next tick looks again
                    self.counts.one(Count::Refused);
                    break;
                }
            }
        }
    }

    /// Gives a connection a slot here. It is counted already.
    fn settle(&mut self, stream: TcpStream, early: Vec<u8>) {
        // Without it small frames wait for acknowledgements; a stream that refuses is just slower
        let _ = stream.set_nodelay(true);
        let fresh = early.is_empty();
        let mut stream = FrameStream::resumed(stream, early);
        let Some(handle) = self.connections.reserve() else {
            self.leave(Count::Refused);
            return;
        };
        let token = Token(handle.slot() + FIRST);
        if self.poll.registry().register(stream.source(), token, Interest::READABLE | Interest::WRITABLE).is_err() {
            self.connections.give_back(handle);
            self.leave(Count::Refused);
            return;
        }
        self.connections.put(Connection::new(stream, handle, fresh, self.now));
        self.mark_ready(handle);
    }

    pub(super) fn leave(&mut self, why: Count) {
        self.counts.one(why);
        self.shared.connections.fetch_sub(1, Ordering::Relaxed);
    }

    pub(super) fn mark_ready(&mut self, handle: Handle) {
        if let Some(connection) = self.connections.named(handle)
            && !connection.ready
            && connection.paused == 0
        {
            connection.ready = true;
            self.ready.push_back(handle);
        }
    }

    pub(super) fn mark_dirty(&mut self, handle: Handle) {
        if let Some(connection) = self.connections.named(handle)
            && !connection.dirty
        {
            connection.dirty = true;
            self.dirty.push(handle);
        }
    }

    /// One read of one connection, and all frames in it.
    fn read(&mut self, handle: Handle) {
        let mut buffer = std::mem::take(&mut self.buffer);
        self.read_into(handle, &mut buffer);
        self.buffer = buffer;
    }

    fn take_in(&mut self, letter: Letter) {
        match letter {
            Letter::Newcomer(stream, early) => self.settle(stream, early),
            Letter::Texts(texts) => self.seal_for(texts),
            Letter::Pause(handle) => self.pause(handle),
            Letter::Resume(handle) => self.resume(handle),
            Letter::Change { slots, change } => {
                let bound = self.bound.len();
                for slot in (slots.start as usize).min(bound)..(slots.end as usize).min(bound) {
                    if let (Way::Peer(peer), Some(udp)) = (self.bound[slot].way(), &mut self.udp) {
                        udp.leave(peer);
                    }
                    self.bound[slot] = Bound::default();
                }
                change(&mut *self.sessions);
            }
            Letter::Drain => {
                if let Some(mut listener) = self.listener.take() {
                    let _ = self.poll.registry().deregister(&mut listener);
                }
                self.knocking = false;
            }
            Letter::Stop => {
                self.take_in(Letter::Drain);
                self.stopping = Some(self.now);
            }
        }
    }

    /// Hands opened frames to the workers that seal them, where there are more than so many bytes.
    fn post(&mut self, beyond: usize) {
        for (at, texts) in self.outgoing.iter_mut().enumerate().filter(|(_, texts)| texts.len() > beyond) {
            self.shared.mailboxes[at].post(Letter::Texts(std::mem::take(texts)));
        }
    }

    /// One write to each connection that has something to take.
    fn write(&mut self) {
        let mut dirty = std::mem::take(&mut self.dirty);
        for handle in dirty.drain(..) {
            let Some(connection) = self.connections.named(handle) else { continue };
            connection.dirty = false;
            match connection.flush(self.now) {
                Ok(took) => self.counts.add(Count::BytesOut, took as u64),
                Err(_) => {
                    self.close(handle);
                    continue;
                }
            }
            if connection.queued() <= self.shared.settings.low() {
                connection.slow = connection.slow.filter(|until| *until > self.now);
                self.release(handle);
            }
        }
        if let Some(udp) = &mut self.udp {
            udp.flush(&mut self.counts);
        }
        // Closing may have marked others
        if self.dirty.is_empty() {
            self.dirty = dirty;
        }
    }

    /// Told to stop, and everything is written or has had its time.
    fn done(&self) -> bool {
        self.stopping.is_some_and(|since| {
            let written = self.connections.iter().all(|connection| connection.queued() == 0);
            // Other workers may still be posting what they opened in their last turn
            let quiet = self.now - since > TICK;
            (written && quiet) || self.now - since > LAST_WRITES
        })
    }
}

/// CPU time that this thread has used.
fn thread_cpu() -> Duration {
    // Linux has this clock for every thread
    ClockId::CLOCK_THREAD_CPUTIME_ID.now().map_or(Duration::ZERO, Duration::from)
}

impl Drop for Worker {
    fn drop(&mut self) {
        let here = self.connections.len();
        self.shared.connections.fetch_sub(here, Ordering::Relaxed);
    }
}
