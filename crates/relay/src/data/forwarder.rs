//! The sessions of one worker: opens frames from their senders, seals them for their receivers, and knows where each
//! session is bound.

use std::{ops::Range, sync::atomic::Ordering, time::Instant};

use sealwright_session::{
    FrameJob, SessionError, Sessions,
    frame::{HEADER, TAG},
};

use crate::{
    address::Address,
    data::{
        binding::Route,
        connection::{ConnectionId, Handle},
        context::{Context, Shared},
        count::Count,
        inbox::{Change, Message, OpenedFrames},
        io::Io,
        parse::{Local, Parsed, parse},
        remote::Batches,
        shares::FrameShares,
        slots::{Slots, Source},
        udp::Arrived,
    },
    frame_stream::ReadOutcome,
    policy::Class,
};

/// A worker's sessions, and the frames in transit between them.
pub(crate) struct Forwarder {
    pub(super) sessions: Box<dyn Sessions>,
    pub(super) slots: Slots,
    /// Opened frames for other workers, by worker.
    outgoing: Vec<OpenedFrames>,
    /// Opened frames for other nodes.
    batches: Batches,
    scratch: Scratch,
}

/// Buffers that are reused to save allocations; they hold nothing between reads.
#[derive(Default)]
struct Scratch {
    open: Vec<FrameJob>,
    seal: Vec<FrameJob>,
    arrived: Vec<Arrived>,
}

impl Forwarder {
    pub(crate) fn new(sessions: Box<dyn Sessions>, shared: &Shared, now: Instant) -> Forwarder {
        let shares = FrameShares::new(shared.settings.session_rate, sessions.slots() as usize, now);
        Forwarder {
            slots: Slots::new(sessions.slots(), shares),
            outgoing: (0..shared.inboxes.len()).map(|_| OpenedFrames::default()).collect(),
            batches: Batches::new(),
            scratch: Scratch::default(),
            sessions,
        }
    }

    fn local(&self, ctx: &Context) -> Local {
        Local { layout: ctx.shared.layout, worker: ctx.worker, slots: self.slots.len() as u32 }
    }

    /// Reads a connection once and forwards the frames that came.
    pub(crate) fn read(&mut self, ctx: &mut Context, io: &mut Io, handle: Handle) {
        let mut buffer = std::mem::take(&mut io.buffer);
        if let Some(connection) = io.readable(handle) {
            match connection.read(&mut buffer) {
                ReadOutcome::Bytes { all, fresh, more } => {
                    ctx.counts.add(Count::BytesIn, fresh as u64);
                    self.forward(ctx, io, handle, &mut buffer[..all]);
                    if more {
                        io.mark_ready(handle);
                    }
                }
                ReadOutcome::Nothing => {}
                ReadOutcome::Closed => io.close(ctx, handle),
            }
        }
        io.buffer = buffer;
    }

    /// Forwards the frames in the buffer of a connection.
    fn forward(&mut self, ctx: &mut Context, io: &mut Io, handle: Handle, buffer: &mut [u8]) {
        let Some(connection) = io.get_mut(handle) else { return };
        let mut scratch = self.take_scratch();
        let (mut bad, mut malformed) = (0, false);
        match parse(ctx, self.local(ctx), connection, buffer, (&mut scratch.open, &mut bad)) {
            Parsed::Until(end) => connection.stream.keep(&buffer[end..]),
            Parsed::Elsewhere { worker, start } => io.hand_over(ctx, handle, worker, buffer[start..].to_vec()),
            Parsed::Malformed => {
                ctx.count(Count::Malformed);
                malformed = true;
            }
        }
        let (opened, refused) = self.open(ctx, io, buffer, &mut scratch, |_| Source::Connection(handle));
        let sender = Some(ConnectionId { worker: ctx.worker, handle });
        self.seal(ctx, io, buffer, &mut scratch.seal, |_| sender);
        self.scratch = scratch;
        let Some(connection) = io.get_mut(handle) else { return };
        if opened > 0 {
            (connection.authentic, connection.heard) = (true, ctx.now);
        }
        connection.bad = connection.bad.saturating_add(bad + refused);
        if malformed || connection.bad > ctx.settings().max_bad {
            io.expel(ctx, handle);
        }
    }

    /// Reads datagrams once and forwards their frames. Nothing about a stranger is stored.
    pub(crate) fn read_datagrams(&mut self, ctx: &mut Context, io: &mut Io) {
        let Some(udp) = &mut io.udp else { return };
        let mut scratch = self.take_scratch();
        let mut buffer = udp.take_buffer();
        udp.read(&mut buffer, &mut scratch.arrived);
        let (local, max_frame) = (self.local(ctx), ctx.settings().max_frame);
        let mut from = Vec::new();
        for run in &scratch.arrived {
            ctx.counts.add(Count::BytesIn, (run.end - run.start) as u64);
            for start in (run.start..run.end).step_by(run.stride) {
                let frame = start..(start + run.stride).min(run.end);
                let parsed = local.datagram(&buffer[frame.clone()], max_frame);
                // As on a connection, malformed bytes do not count as a frame that arrived
                if parsed != Err(Count::Malformed) {
                    ctx.count(Count::Arrived);
                }
                match parsed {
                    Ok((slot, session)) => {
                        scratch.open.push(FrameJob::new(frame, slot, session));
                        from.push(run.from);
                    }
                    Err(wrong) => ctx.count(wrong),
                }
            }
        }
        let (opened, _) = self.open(ctx, io, &mut buffer, &mut scratch, |at| Source::Datagram(from[at]));
        if opened > 0 {
            ctx.shared.heard.fetch_add(1, Ordering::Relaxed);
        }
        self.seal(ctx, io, &mut buffer, &mut scratch.seal, |_| None);
        self.scratch = scratch;
        if let Some(udp) = &mut io.udp {
            udp.give_buffer(buffer);
        }
    }

    fn take_scratch(&mut self) -> Scratch {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.open.clear();
        scratch.seal.clear();
        scratch
    }

    /// Opens the frames in place and replaces the receiver's address by the sender's, which has the same length, so
    /// that the frame can be sealed in place. Frames for other workers and nodes are copied out. Returns how many
    /// frames opened and how many were refused.
    fn open(
        &mut self,
        ctx: &mut Context,
        io: &mut Io,
        buffer: &mut [u8],
        scratch: &mut Scratch,
        source: impl Fn(usize) -> Source,
    ) -> (u64, u32) {
        self.sessions.open_all(buffer, &mut scratch.open);
        let (mut opened, mut bad) = (0, 0);
        for (at, job) in scratch.open.iter().enumerate() {
            if let Some(Err(refused)) = job.outcome {
                ctx.count(count_of(refused));
                bad += 1;
                continue;
            }
            opened += 1;
            let source = source(at);
            self.slots.bind(ctx, io, job.slot, source);
            let frame = &mut buffer[job.start..job.end];
            if !self.slots.take_share(ctx, job.slot) {
                ctx.count(Count::Share);
                frame.fill(0);
                continue;
            }
            let (generation, class) = (self.slots.generation(job.slot).unwrap_or(0), self.slots.class(job.slot));
            let me = Address { session: job.session, generation };
            let Some(receiver) = frame[HEADER..].first_chunk_mut() else { continue };
            let to = Address::from_bytes(std::mem::replace(receiver, me.to_bytes()));
            match ctx.shared.layout.locate(to.session) {
                Some((worker, slot)) if worker != ctx.worker => {
                    self.outgoing[worker].push((slot, to), (me, class), source.connection(ctx.worker), frame);
                }
                Some((_, slot))
                    if self.slots.generation(slot) == Some(to.generation)
                        && !self.may(ctx, (me, class), (slot, to)) => {}
                Some((_, slot)) if self.slots.is_reachable(io, slot, to.generation) => {
                    scratch.seal.push(FrameJob::new(job.start..job.end, slot, to.session));
                    continue;
                }
                None if self.send_to_node(ctx, to, me, frame) => {}
                _ => ctx.count(Count::WrongDestination),
            }
            // The plaintext was copied out or dropped: wipe it here
            frame.fill(0);
        }
        ctx.counts.add(Count::Opened, opened);
        (opened, bad)
    }

    fn send_to_node(&mut self, ctx: &mut Context, to: Address, from: Address, frame: &[u8]) -> bool {
        let data = frame.get(HEADER + Address::LEN..frame.len() - TAG);
        data.is_some_and(|data| self.batches.push(ctx, to, from, data))
    }

    /// Seals and sends frames that another worker or node opened.
    pub(crate) fn deliver(&mut self, ctx: &mut Context, io: &mut Io, mut frames: OpenedFrames) {
        let (buffer, jobs, routes) = frames.parts();
        let mut stays = Vec::with_capacity(jobs.len());
        for (job, route) in jobs.iter().zip(&*routes) {
            let to = Address { session: job.session, generation: route.to };
            let reachable = self.slots.is_reachable(io, job.slot, route.to);
            if !reachable {
                ctx.count(Count::WrongDestination);
            }
            stays.push(reachable && self.may(ctx, (route.from, route.class), (job.slot, to)));
        }
        let (mut stay, mut also) = (stays.iter(), stays.iter());
        jobs.retain(|_| stay.next() == Some(&true));
        routes.retain(|_| also.next() == Some(&true));
        self.seal(ctx, io, buffer, jobs, |at| routes[at].sender);
    }

    /// Whether the policy lets the sender send to the receiver. A frame that it forbids is counted.
    fn may(&self, ctx: &mut Context, (from, class): (Address, Class), (slot, to): (u32, Address)) -> bool {
        let receiver = self.slots.class(slot);
        if class.may_send_to(receiver) {
            return true;
        }
        if class.is_comparable(receiver) {
            ctx.count(Count::Denied);
            ctx.shared.denials.note(from, to);
        } else {
            // The classes are of different policies, so they cannot be compared
            ctx.count(Count::RulesChanged);
        }
        false
    }

    /// Seals opened frames in place and queues them for their receivers.
    fn seal(
        &mut self,
        ctx: &mut Context,
        io: &mut Io,
        buffer: &mut [u8],
        jobs: &mut [FrameJob],
        sender: impl Fn(usize) -> Option<ConnectionId>,
    ) {
        self.sessions.seal_all(buffer, jobs);
        for (at, job) in jobs.iter().enumerate() {
            match job.outcome {
                Some(Ok(())) => self.send(ctx, io, job.slot, &buffer[job.start..job.end], sender(at)),
                not_sealed => {
                    // It is still plaintext
                    buffer[job.start..job.end].fill(0);
                    let exhausted = matches!(not_sealed, Some(Err(SessionError::Exhausted)));
                    ctx.count(if exhausted { Count::Exhausted } else { Count::WrongDestination });
                }
            }
        }
    }

    fn send(&self, ctx: &mut Context, io: &mut Io, slot: u32, frame: &[u8], sender: Option<ConnectionId>) {
        match self.slots.route(slot) {
            Route::Connection(handle) => io.queue(ctx, handle, frame, sender),
            Route::Peer(peer) => {
                let limit = ctx.settings().queue;
                let queued = io.udp.as_mut().is_some_and(|udp| {
                    udp.make_room(&mut ctx.counts);
                    udp.queue(peer, frame, limit)
                });
                // A queued datagram is counted when it is sent or dropped
                if !queued {
                    ctx.count(Count::Slow);
                }
            }
            Route::None => {}
        }
    }

    /// Changes the table. Sessions in these slots lose their bindings.
    pub(crate) fn change(&mut self, ctx: &Context, io: &mut Io, slots: Range<u32>, change: Change) {
        let all = self.slots.len() as u32;
        for slot in slots.start.min(all)..slots.end.min(all) {
            self.slots.unbind(ctx, io, slot);
        }
        change(&mut *self.sessions);
        self.publish(ctx);
    }

    /// Applies another policy: sets the classes of these sessions, and `nobody` for all others.
    pub(crate) fn set_classes(&mut self, classes: &[(u32, Class)], nobody: Class) {
        self.slots.set_classes(classes, nobody);
    }

    /// Sets the class of a session, if its number still has this owner.
    pub(crate) fn set_class(&mut self, slot: u32, address: Address, class: Class) {
        if self.slots.generation(slot) == Some(address.generation) {
            self.slots.set_owner(slot, address, class);
        }
    }

    /// Forgets bindings to connections that have ended, for a part of the sessions at a time.
    pub(crate) fn check_bindings(&mut self, io: &Io) {
        self.slots.forget_lost(io);
    }

    /// Publishes how many sessions have keys.
    pub(crate) fn publish(&self, ctx: &Context) {
        ctx.shared.live[ctx.worker].store(self.sessions.live(), Ordering::Relaxed);
    }

    /// Ends a session. With `only`, ends it only if its number has this generation and, if an epoch is given, its keys
    /// have that epoch. Returns the slots of other sessions that lost their keys because they shared them.
    pub(crate) fn remove(
        &mut self,
        ctx: &mut Context,
        io: &mut Io,
        slot: u32,
        (only, revoke): (Option<(u32, Option<u16>)>, bool),
    ) -> Vec<u32> {
        let Some(generation) = self.slots.generation(slot) else { return Vec::new() };
        if let Some((of, epoch)) = only
            && (of != generation || epoch.is_some() && epoch != self.sessions.epoch(slot))
        {
            return Vec::new();
        }
        let others = if revoke { self.sessions.revoke(slot) } else { Vec::new() };
        self.sessions.remove(slot);
        let route = self.slots.route(slot);
        self.slots.unbind(ctx, io, slot);
        self.publish(ctx);
        // The client has no more use for the connection, unless other sessions are bound to it
        if let Route::Connection(handle) = route
            && io.get_mut(handle).is_some_and(|connection| connection.sessions == 0)
        {
            io.close(ctx, handle);
        }
        others
    }

    /// Posts opened frames to the workers that seal them, for workers with more than `more_than` bytes waiting.
    pub(crate) fn post(&mut self, ctx: &Context, more_than: usize) {
        for (worker, frames) in self.outgoing.iter_mut().enumerate().filter(|(_, frames)| frames.len() > more_than) {
            ctx.post(worker, Message::Frames(std::mem::take(frames)));
        }
    }

    /// Sends the batches for other nodes.
    pub(crate) fn flush_batches(&mut self, ctx: &mut Context) {
        self.batches.flush(ctx);
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
