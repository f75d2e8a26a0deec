//! From bytes of a connection to frames on other connections: cut, check, open for the sender, seal for the
//! destination.

use sealwright_session::frame::{ADDRESS, HEADER, Header, TAG};
use sealwright_session::{Job, Refused};

use crate::data::connection::{Connection, Got, Handle, Source};
use crate::data::count::Count;
use crate::data::mail::{Letter, Texts};
use crate::data::worker::Worker;

/// The frames of one read. Kept between reads for its memory alone.
#[derive(Default)]
pub(crate) struct Routes {
    open: Vec<Job>,
    seal: Vec<Job>,
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
            Got::Bytes { all, fresh, more } => {
                self.counts.add(Count::BytesIn, fresh as u64);
                self.forward(handle, &mut buffer[..all]);
                if more {
                    self.mark_ready(handle);
                }
            }
            Got::Nothing => {}
            Got::End => self.close(handle),
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
                    connection.keep(&buffer[end..]);
                }
            }
            Cut::Elsewhere(worker, start) => self.hand_over(handle, worker, buffer[start..].to_vec()),
            Cut::Malformed => {
                self.counts.one(Count::Malformed);
                malformed = true;
            }
        }
        self.open(handle, buffer, &mut routes, &mut bad);
        let source = Source { worker: self.me, handle };
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
        let Some(connection) = self.connections.named(handle) else { return Cut::Until(buffer.len()) };
        let (place, longest) = (self.shared.place, self.shared.settings.max_frame);
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
            let found = place.find(header.session);
            if let Some((worker, _)) = found
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
            let wrong = match found {
                _ if length < HEADER + ADDRESS + TAG => Count::Short,
                None => Count::Unknown,
                Some((worker, _)) if worker != self.me => Count::Misplaced,
                Some((_, slot)) if slot >= self.bound.len() as u32 => Count::Unknown,
                Some((_, slot)) => {
                    routes.open.push(Job::new(at..at + length, slot, header.session));
                    at += length;
                    continue;
                }
            };
            self.counts.one(wrong);
            *bad += 1;
            at += length;
        }
    }

    /// Opens the frames in place, and writes the sender over the destination: what is then to be sealed has just the
    /// length of what came. Frames for other workers are set aside.
    fn open(&mut self, handle: Handle, buffer: &mut [u8], routes: &mut Routes, bad: &mut u32) {
        self.sessions.open_all(buffer, &mut routes.open);
        let source = Source { worker: self.me, handle };
        let mut opened = 0;
        for job in &routes.open {
            if let Some(Err(refused)) = job.outcome {
                self.counts.one(count_of(refused));
                *bad += 1;
                continue;
            }
            opened += 1;
            self.bound[job.slot as usize] = handle.number();
            let frame = &mut buffer[job.start..job.end];
            let Some(address) = frame[HEADER..].first_chunk_mut::<ADDRESS>() else { continue };
            let to = u32::from_be_bytes(std::mem::replace(address, job.session.to_be_bytes()));
            match self.shared.place.find(to) {
                Some((worker, slot)) if worker != self.me => {
                    self.outgoing[worker].push(slot, to, source, frame);
                    frame.fill(0);
                }
                Some((_, slot)) if self.connection_of(slot).is_some() => {
                    routes.seal.push(Job::new(job.start..job.end, slot, to));
                }
                _ => {
                    self.counts.one(Count::WrongDestination);
                    // nobody is to have it
                    frame.fill(0);
                }
            }
        }
        self.counts.add(Count::Opened, opened);
        if opened > 0
            && let Some(connection) = self.connections.named(handle)
        {
            connection.proved = true;
        }
    }

    /// Seals and sends what other workers opened.
    pub(super) fn seal_for(&mut self, mut texts: Texts) {
        let (buffer, jobs, sources) = texts.parts();
        let all = jobs.len();
        let mut wanted = jobs.iter().map(|job| self.connection_of(job.slot).is_some()).collect::<Vec<_>>().into_iter();
        let mut also = wanted.clone();
        jobs.retain(|_| wanted.next().unwrap_or(false));
        sources.retain(|_| also.next().unwrap_or(false));
        self.counts.add(Count::WrongDestination, (all - jobs.len()) as u64);
        self.seal(buffer, jobs, |at| sources[at]);
    }

    /// Seals opened frames in place for their destinations and queues them on the connections where those were last
    /// heard.
    fn seal(&mut self, buffer: &mut [u8], jobs: &mut [Job], source: impl Fn(usize) -> Source) {
        self.sessions.seal_all(buffer, jobs);
        for (at, job) in jobs.iter().enumerate() {
            match job.outcome {
                Some(Ok(())) => self.send(job.slot, &buffer[job.start..job.end], source(at)),
                Some(Err(Refused::Exhausted)) => self.counts.one(Count::Exhausted),
                _ => self.counts.one(Count::WrongDestination),
            }
        }
    }

    fn connection_of(&mut self, slot: u32) -> Option<&mut Connection> {
        let handle = self.bound.get(slot as usize).copied().and_then(Handle::from_number)?;
        self.connections.named(handle)
    }

    fn send(&mut self, slot: u32, frame: &[u8], source: Source) {
        let (high, limit) = (self.shared.settings.high(), self.shared.settings.queue);
        let now = self.now;
        let Some(connection) = self.connection_of(slot) else { return };
        let queued = connection.queued() + frame.len();
        if queued > limit || (connection.slow.is_some() && queued > high) {
            self.counts.one(Count::Slow);
            return;
        }
        connection.queue().extend_from_slice(frame);
        let handle = connection.handle;
        let wait = queued > high && !connection.waiters.contains(&source);
        if wait {
            connection.full.get_or_insert(now);
            connection.waiters.push(source);
        }
        self.counts.one(Count::Forwarded);
        self.mark_dirty(handle);
        if wait && source.worker == self.me {
            self.pause(source.handle);
        } else if wait {
            self.shared.mailboxes[source.worker].post(Letter::Pause(source.handle));
        }
    }
}

fn count_of(refused: Refused) -> Count {
    match refused {
        Refused::Short | Refused::Malformed => Count::Short,
        Refused::Replayed => Count::Replayed,
        Refused::Forged => Count::Forged,
        Refused::Exhausted => Count::Exhausted,
        Refused::Oversize => Count::Oversize,
        Refused::Stale => Count::Stale,
        Refused::Unknown | Refused::NoMemory | Refused::NoRandom => Count::Unknown,
    }
}
