//! From bytes of a connection to frames on other connections: cut, check, open for the sender, seal for the
//! destination.

use std::net::SocketAddr;

use sealwright_session::{
    FrameJob, SessionError,
    frame::{ADDRESS, HEADER, Header, TAG},
};

use crate::{
    data::{
        connection::{Bound, Handle, Source, Way},
        count::Count,
        mail::{Letter, Texts},
        worker::Worker,
    },
    frame_stream::ReadOutcome,
    layout::NodeLayout,
};

/// The frames of one read. Kept between reads for its memory alone.
#[derive(Default)]
pub(crate) struct Routes {
    open: Vec<FrameJob>,
    seal: Vec<FrameJob>,
}

/// Where a frame came from.
enum From {
    Connection(Handle),
    Address(SocketAddr),
}

impl From {
    /// Who can be told to wait.
    fn source(&self, worker: usize) -> Option<Source> {
        match self {
            From::Connection(handle) => Some(Source { worker, handle: *handle }),
            From::Address(_) => None,
        }
    }
}

/// Which sessions are this worker's.
#[derive(Clone, Copy)]
struct Here {
    layout: NodeLayout,
    me: usize,
    slots: u32,
}

impl Here {
    /// The slot of a frame's session here, or what is wrong with it.
    #[inline]
    fn slot_of(self, header: &Header) -> Result<u32, Count> {
        if header.frame_len() < HEADER + ADDRESS + TAG {
            return Err(Count::Short);
        }
        match self.layout.locate(header.session) {
            Some((worker, _)) if worker != self.me => Err(Count::Misplaced),
            Some((_, slot)) if slot < self.slots => Ok(slot),
            _ => Err(Count::Unknown),
        }
    }
}

/// What cutting the buffer into frames found.
enum Cut {
    /// Frames up to here; the rest is the beginning of another.
    Until(usize),
    /// The first frame, here, is of a session of that worker.
    Elsewhere(usize, usize),
    /// Not frames: nothing that follows can be understood.
    Malformed,
}

impl Worker {
    /// Reads a connection once and forwards the frames that came.
    pub(super) fn read_into(&mut self, handle: Handle, buffer: &mut [u8]) {
        let Some(connection) = self.connections.named(handle) else { return };
        connection.ready = false;
        if connection.paused > 0 {
            return;
        }
        match connection.read(buffer) {
            ReadOutcome::Bytes { all, fresh, more } => {
                self.counts.add(Count::BytesIn, fresh as u64);
                self.forward(handle, &mut buffer[..all]);
                if more {
                    self.mark_ready(handle);
                }
            }
            ReadOutcome::Nothing => {}
            ReadOutcome::Closed => self.close(handle),
        }
    }

    fn forward(&mut self, handle: Handle, buffer: &mut [u8]) {
        let mut routes = std::mem::take(&mut self.routes);
        routes.open.clear();
        routes.seal.clear();
        let (mut bad, mut malformed) = (0, false);
        match self.cut(handle, buffer, &mut routes, &mut bad) {
            Cut::Until(end) => {
                if let Some(connection) = self.connections.named(handle) {
                    connection.stream.keep(&buffer[end..]);
                }
            }
            Cut::Elsewhere(worker, start) => self.hand_over(handle, worker, buffer[start..].to_vec()),
            Cut::Malformed => {
                self.counts.one(Count::Malformed);
                malformed = true;
            }
        }
        let opened = self.open(buffer, &mut routes, &mut bad, |_| From::Connection(handle));
        if opened > 0
            && let Some(connection) = self.connections.named(handle)
        {
            connection.proved = true;
        }
        let source = Some(Source { worker: self.me, handle });
        self.seal(buffer, &mut routes.seal, |_| source);
        self.routes = routes;
        if let Some(connection) = self.connections.named(handle) {
            connection.bad = connection.bad.saturating_add(bad);
            if malformed || connection.bad > self.shared.settings.max_bad {
                self.expel(handle);
            }
        }
    }

    /// Finds the frames; what is wrong with one by its header alone is counted and passed over.
    fn cut(&mut self, handle: Handle, buffer: &[u8], routes: &mut Routes, bad: &mut u32) -> Cut {
        let (here, longest) = (self.here(), self.shared.settings.max_frame);
        let Some(connection) = self.connections.named(handle) else { return Cut::Until(buffer.len()) };
        let mut at = connection.skip.min(buffer.len());
        connection.skip -= at;
        loop {
            let rest = &buffer[at..];
            let Some(header) = rest.first_chunk::<HEADER>() else { return Cut::Until(at) };
            let Ok(header) = Header::read(header) else { return Cut::Malformed };
            let length = header.frame_len();
            if length > longest {
                connection.fresh = false;
                self.counts.one(Count::Arrived);
                self.counts.one(Count::Oversize);
                *bad += 1;
                let here = length.min(rest.len());
                connection.skip = length - here;
                at += here;
                continue;
            }
            if let Some((worker, _)) = here.layout.locate(header.session)
                && worker != self.me
                && std::mem::take(&mut connection.fresh)
            {
                return Cut::Elsewhere(worker, at);
            }
            if rest.len() < length {
                return Cut::Until(at);
            }
            connection.fresh = false;
            self.counts.one(Count::Arrived);
            match here.slot_of(&header) {
                Ok(slot) => routes.open.push(FrameJob::new(at..at + length, slot, header.session)),
                Err(wrong) => {
                    self.counts.one(wrong);
                    *bad += 1;
                }
            }
            at += length;
        }
    }

    fn here(&self) -> Here {
        Here { layout: self.shared.layout, me: self.me, slots: self.bound.len() as u32 }
    }

    /// Reads datagrams once and forwards the frames that came. Nothing of strangers is kept.
    pub(super) fn read_datagrams(&mut self) {
        let Some(udp) = &mut self.udp else { return };
        let (mut buffer, mut arrived) = (udp.take_buffer(), std::mem::take(&mut self.arrived));
        udp.read(&mut buffer, &mut arrived);
        let mut routes = std::mem::take(&mut self.routes);
        routes.open.clear();
        routes.seal.clear();
        let mut from = Vec::new();
        for run in &arrived {
            self.counts.add(Count::BytesIn, (run.end - run.start) as u64);
            for start in (run.start..run.end).step_by(run.stride) {
                let frame = start..(start + run.stride).min(run.end);
                self.counts.one(Count::Arrived);
                match self.check_datagram(&buffer[frame.clone()]) {
                    Ok((slot, session)) => {
                        routes.open.push(FrameJob::new(frame, slot, session));
                        from.push(run.from);
                    }
                    Err(wrong) => self.counts.one(wrong),
                }
            }
        }
        self.open(&mut buffer, &mut routes, &mut 0, |at| From::Address(from[at]));
        self.seal(&mut buffer, &mut routes.seal, |_| None);
        (self.routes, self.arrived) = (routes, arrived);
        if let Some(udp) = &mut self.udp {
            udp.give_buffer(buffer);
        }
    }

    /// Slot and session of a datagram that may be a frame.
    fn check_datagram(&self, frame: &[u8]) -> Result<(u32, u32), Count> {
        let header = frame.first_chunk::<HEADER>().ok_or(Count::Short)?;
        let header = Header::read(header).map_err(|_| Count::Malformed)?;
        if frame.len() > self.shared.settings.max_frame {
            return Err(Count::Oversize);
        }
        if header.frame_len() != frame.len() {
            return Err(Count::Short);
        }
        Ok((self.here().slot_of(&header)?, header.session))
    }

    /// Opens the frames in place, and writes the sender over the destination: what is then to be sealed has just the
    /// length of what came. Frames for other workers are set aside. How many opened.
    fn open(&mut self, buffer: &mut [u8], routes: &mut Routes, bad: &mut u32, from: impl Fn(usize) -> From) -> u64 {
        self.sessions.open_all(buffer, &mut routes.open);
        let mut opened = 0;
        for (at, job) in routes.open.iter().enumerate() {
            if let Some(Err(refused)) = job.outcome {
                self.counts.one(count_of(refused));
                *bad += 1;
                continue;
            }
            opened += 1;
            let from = from(at);
            self.bind(job.slot, &from);
            let frame = &mut buffer[job.start..job.end];
            let Some(address) = frame[HEADER..].first_chunk_mut::<ADDRESS>() else { continue };
            let to = u32::from_be_bytes(std::mem::replace(address, job.session.to_be_bytes()));
            match self.shared.layout.locate(to) {
                Some((worker, slot)) if worker != self.me => {
                    let source = from.source(self.me);
                    self.outgoing[worker].push(slot, to, source, frame);
                    frame.fill(0);
                }
                Some((_, slot)) if self.is_bound(slot) => {
                    routes.seal.push(FrameJob::new(job.start..job.end, slot, to));
                }
                None if self.send_abroad(to, job.session, &buffer[job.start..job.end]) => {
                    buffer[job.start..job.end].fill(0);
                }
                _ => {
                    self.counts.one(Count::WrongDestination);
                    // Nobody is to have it
                    buffer[job.start..job.end].fill(0);
                }
            }
        }
        self.counts.add(Count::Opened, opened);
        opened
    }

    /// Seals and sends what other workers opened.
    pub(super) fn seal_for(&mut self, mut texts: Texts) {
        let (buffer, jobs, sources) = texts.parts();
        let all = jobs.len();
        let mut wanted = jobs.iter().map(|job| self.is_bound(job.slot)).collect::<Vec<_>>().into_iter();
        let mut also = wanted.clone();
        jobs.retain(|_| wanted.next().unwrap_or(false));
        sources.retain(|_| also.next().unwrap_or(false));
        self.counts.add(Count::WrongDestination, (all - jobs.len()) as u64);
        self.seal(buffer, jobs, |at| sources[at]);
    }

    /// Seals opened frames in place for their destinations and queues them on the connections where those were last
    /// heard.
    fn seal(&mut self, buffer: &mut [u8], jobs: &mut [FrameJob], source: impl Fn(usize) -> Option<Source>) {
        self.sessions.seal_all(buffer, jobs);
        for (at, job) in jobs.iter().enumerate() {
            match job.outcome {
                Some(Ok(())) => self.send(job.slot, &buffer[job.start..job.end], source(at)),
                Some(Err(SessionError::Exhausted)) => self.counts.one(Count::Exhausted),
                _ => self.counts.one(Count::WrongDestination),
            }
        }
    }

    /// Frames for this session go where this one came from.
    #[inline]
    fn bind(&mut self, slot: u32, from: &From) {
        let bound = self.bound[slot as usize];
        match (from, &mut self.udp) {
            (From::Connection(handle), None) => self.bound[slot as usize] = Bound::to(*handle),
            (From::Connection(handle), Some(udp)) => {
                if let Way::Peer(before) = bound.way() {
                    udp.leave(before);
                }
                self.bound[slot as usize] = Bound::to(*handle);
            }
            (From::Address(address), Some(udp)) => {
                let before = if let Way::Peer(before) = bound.way() { Some(before) } else { None };
                if before.is_some_and(|before| udp.is_at(before, *address)) {
                    return;
                }
                self.bound[slot as usize] = Bound::to_peer(udp.bind(*address));
                before.into_iter().for_each(|before| udp.leave(before));
            }
            // There are no datagrams without a socket
            (From::Address(_), None) => {}
        }
    }

    fn is_bound(&mut self, slot: u32) -> bool {
        match self.bound.get(slot as usize).map_or(Way::Nowhere, |bound| bound.way()) {
            Way::Nowhere => false,
            Way::Connection(handle) => self.connections.named(handle).is_some(),
            Way::Peer(_) => true,
        }
    }

    fn send(&mut self, slot: u32, frame: &[u8], source: Option<Source>) {
        let (high, limit) = (self.shared.settings.high(), self.shared.settings.queue);
        let now = self.now;
        let connection = match self.bound[slot as usize].way() {
            Way::Connection(handle) => self.connections.named(handle),
            Way::Nowhere => None,
            Way::Peer(peer) => {
                let queued = self.udp.as_mut().is_some_and(|udp| udp.queue(peer, frame, limit));
                self.counts.one(if queued { Count::Forwarded } else { Count::Slow });
                return;
            }
        };
        let Some(connection) = connection else { return };
        let queued = connection.queued() + frame.len();
        if queued > limit || (connection.slow.is_some() && queued > high) {
            self.counts.one(Count::Slow);
            return;
        }
        connection.stream.queue().extend_from_slice(frame);
        let handle = connection.handle;
        let waits = source.filter(|source| queued > high && !connection.waiters.contains(source));
        if let Some(source) = waits {
            connection.full.get_or_insert(now);
            connection.waiters.push(source);
        }
        self.counts.one(Count::Forwarded);
        self.mark_dirty(handle);
        match waits {
            Some(source) if source.worker == self.me => self.pause(source.handle),
            Some(source) => self.shared.mailboxes[source.worker].post(Letter::Pause(source.handle)),
            None => {}
        }
    }
}

fn count_of(refused: SessionError) -> Count {
    match refused {
        SessionError::Short | SessionError::Malformed => Count::Short,
        SessionError::Replayed => Count::Replayed,
        SessionError::Forged => Count::Forged,
        SessionError::Exhausted => Count::Exhausted,
        SessionError::Oversize => Count::Oversize,
        SessionError::Stale => Count::Stale,
        _ => Count::Unknown,
    }
}
