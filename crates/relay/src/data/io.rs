//! The sockets of one worker: accepts, reads, writes and closes connections.

use std::{collections::VecDeque, io, time::Duration};

use mio::{
    Events, Interest, Poll, Token,
    event::Event,
    net::{TcpListener, TcpStream, UdpSocket},
};

use crate::{
    data::{
        backpressure::Backpressure,
        connection::{Connection, ConnectionId, Connections, Handle, notice_dead_peers},
        context::Context,
        count::Count,
        inbox::Message,
        settings::{Settings, low_mark},
        shares::Place,
        udp::Udp,
    },
    frame_stream::{FrameStream, READ_SIZE},
};

/// The token of the worker's waker.
pub(crate) const WAKER: Token = Token(0);
const LISTENER: Token = Token(1);
const DATAGRAMS: Token = Token(2);
const FIRST_CONNECTION: usize = 3;
/// An empty queue that was unused for this long releases its memory.
const QUEUE_RELEASE_AGE: Duration = Duration::from_secs(1);

/// A worker's sockets.
pub(crate) struct Io {
    poll: Poll,
    pub(super) listener: Option<TcpListener>,
    /// Whether connections may be waiting at the listener.
    pub(super) accept_ready: bool,
    /// Whether a connection waits at the listener for lack of a descriptor.
    pub(super) accept_waits: bool,
    pub(super) connections: Connections,
    backpressure: Backpressure,
    ready: VecDeque<Handle>,
    dirty: Vec<Handle>,
    /// Memory of the queues, and the amount above which each queue must be short.
    held: usize,
    crowded: usize,
    pub(crate) udp: Option<Udp>,
    /// The buffer that connections are read into; empty while it is taken out for use.
    pub(crate) buffer: Vec<u8>,
}

impl Io {
    pub(crate) fn new(
        poll: Poll,
        mut listener: Option<TcpListener>,
        udp: Option<UdpSocket>,
        (settings, workers): (&Settings, usize),
    ) -> io::Result<Io> {
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
        Ok(Io {
            poll,
            listener,
            accept_ready: false,
            accept_waits: false,
            connections: Connections::default(),
            backpressure: Backpressure::default(),
            ready: VecDeque::new(),
            dirty: Vec::new(),
            held: 0,
            crowded: usize::try_from(settings.queues / workers as u64 / 4 * 3).unwrap_or(usize::MAX),
            udp,
            buffer: vec![0; READ_SIZE + settings.max_frame],
        })
    }

    /// Waits for events. An interrupted wait returns none.
    pub(crate) fn wait(&mut self, events: &mut Events, time: Duration) {
        let _ = self.poll.poll(events, Some(time));
    }

    /// Records what an event announces.
    pub(crate) fn note(&mut self, event: &Event) {
        match event.token() {
            WAKER => {}
            LISTENER => self.accept_ready = true,
            DATAGRAMS => self.udp.iter_mut().for_each(|udp| udp.readable = true),
            Token(token) => {
                let Some(connection) = self.connections.at_mut(token - FIRST_CONNECTION) else { return };
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

    /// Whether something can be read or accepted without waiting for events.
    pub(crate) fn has_work(&self) -> bool {
        !self.ready.is_empty() || self.accept_ready || self.has_datagrams()
    }

    pub(crate) fn has_datagrams(&self) -> bool {
        self.udp.as_ref().is_some_and(|udp| udp.readable)
    }

    /// How many connections can be read.
    pub(crate) fn ready_count(&self) -> usize {
        self.ready.len()
    }

    pub(crate) fn next_ready(&mut self) -> Option<Handle> {
        self.ready.pop_front()
    }

    /// How many connections there are.
    pub(crate) fn len(&self) -> usize {
        self.connections.len()
    }

    /// Memory of all queues.
    pub(crate) fn held(&self) -> usize {
        self.held
    }

    /// Whether the queues together take so much memory that each must be short.
    fn is_crowded(&self) -> bool {
        self.held >= self.crowded
    }

    /// The most bytes that a connection may queue at present.
    fn queue_limit(&self, settings: &Settings) -> usize {
        if self.is_crowded() { settings.max_frame } else { settings.queue }
    }

    /// Whether all queues are written.
    pub(crate) fn is_flushed(&self) -> bool {
        self.connections.iter().all(|connection| connection.queued() == 0)
    }

    pub(crate) fn get_mut(&mut self, handle: Handle) -> Option<&mut Connection> {
        self.connections.get_mut(handle)
    }

    pub(crate) fn is_open(&self, handle: Handle) -> bool {
        self.connections.get(handle).is_some()
    }

    /// Whether a session is bound to this connection and it still exists. An old binding does not count if the handle
    /// now names another connection that no session is bound to.
    pub(crate) fn reaches(&self, handle: Handle) -> bool {
        self.connections.get(handle).is_some_and(|connection| !connection.is_idle())
    }

    /// Tries to accept again: there may be a descriptor now.
    pub(crate) fn retry_accept(&mut self) {
        self.accept_ready |= self.listener.is_some();
    }

    /// Accepts no connections any more.
    pub(crate) fn stop_accepting(&mut self) {
        if let Some(mut listener) = self.listener.take() {
            let _ = self.poll.registry().deregister(&mut listener);
        }
        self.accept_ready = false;
    }

    /// Adds a connection that was already counted. `received` was read from it and not parsed yet.
    pub(crate) fn add(&mut self, ctx: &mut Context, stream: TcpStream, place: Place, received: Vec<u8>) {
        // Otherwise small frames wait for acknowledgements. Failing to set it only costs time
        let _ = stream.set_nodelay(true);
        notice_dead_peers(&stream);
        let may_move = received.is_empty();
        let mut stream = FrameStream::resumed(stream, received);
        let Some(handle) = self.connections.reserve() else {
            // It was counted as accepted
            ctx.one_connection_less(Count::Closed);
            return;
        };
        let token = Token(handle.slot() + FIRST_CONNECTION);
        if self.poll.registry().register(stream.source(), token, Interest::READABLE | Interest::WRITABLE).is_err() {
            self.connections.release(handle);
            ctx.one_connection_less(Count::Closed);
            return;
        }
        self.connections.insert(Connection::new(stream, handle, place, may_move, ctx.now));
        self.backpressure.reset(handle);
        self.mark_ready(handle);
    }

    pub(crate) fn mark_ready(&mut self, handle: Handle) {
        if let Some(connection) = self.connections.get_mut(handle)
            && !connection.ready
            && !self.backpressure.is_paused(handle)
        {
            connection.ready = true;
            self.ready.push_back(handle);
        }
    }

    fn mark_dirty(&mut self, handle: Handle) {
        if let Some(connection) = self.connections.get_mut(handle)
            && !connection.dirty
        {
            connection.dirty = true;
            self.dirty.push(handle);
        }
    }

    /// The connection to read now; `None` if it has ended or must wait.
    pub(crate) fn readable(&mut self, handle: Handle) -> Option<&mut Connection> {
        let connection = self.connections.get_mut(handle)?;
        connection.ready = false;
        (!self.backpressure.is_paused(handle)).then_some(connection)
    }

    /// Queues a sealed frame. If the queue is now too long, `sender` must wait.
    pub(crate) fn queue(&mut self, ctx: &mut Context, handle: Handle, frame: &[u8], sender: Option<ConnectionId>) {
        let (limit, crowded) = (self.queue_limit(ctx.settings()), self.is_crowded());
        let bound = self.connections.get_mut(handle).filter(|connection| !connection.is_idle());
        let Some(connection) = bound else { return };
        let queued = connection.queued() + frame.len();
        if !self.backpressure.admits(handle, queued, limit) {
            ctx.count(Count::Slow);
            return;
        }
        let before = connection.stream.held();
        if crowded {
            connection.stream.push_tightly(frame);
        } else {
            connection.stream.queue().extend_from_slice(frame);
        }
        self.held = self.held + connection.stream.held() - before;
        ctx.count(Count::Forwarded);
        self.mark_dirty(handle);
        let Some(sender) = sender else { return };
        if !self.backpressure.must_wait(handle, queued, sender, (limit, ctx.now)) {
            return;
        }
        if sender.worker == ctx.worker {
            self.pause(ctx, sender.handle);
        } else {
            ctx.post(sender.worker, Message::Pause(sender.handle));
        }
    }

    /// Stops reading a connection for now.
    pub(crate) fn pause(&mut self, ctx: &mut Context, handle: Handle) {
        if self.is_open(handle) {
            self.backpressure.pause(handle);
            ctx.count(Count::Paused);
        }
    }

    /// Reads a connection again, if it waits for nothing else.
    pub(crate) fn resume(&mut self, handle: Handle) {
        if self.is_open(handle) {
            self.backpressure.resume(handle);
            self.mark_ready(handle);
        }
    }

    /// Lets the connections continue that wait for this one.
    fn release(&mut self, ctx: &Context, handle: Handle) {
        if !self.is_open(handle) {
            return;
        }
        for ConnectionId { worker, handle } in self.backpressure.release(handle) {
            if worker == ctx.worker {
                self.resume(handle);
            } else {
                ctx.post(worker, Message::Resume(handle));
            }
        }
    }

    /// Writes once to each connection with queued bytes, and sends the datagrams.
    pub(crate) fn write(&mut self, ctx: &mut Context) {
        let mut dirty = std::mem::take(&mut self.dirty);
        let (crowded, low) = (self.is_crowded(), low_mark(self.queue_limit(ctx.settings())));
        for handle in dirty.drain(..) {
            let Some(connection) = self.connections.get_mut(handle) else { continue };
            connection.dirty = false;
            let before = connection.stream.held();
            let flushed = connection.flush(ctx.now);
            if crowded {
                connection.stream.give_back();
            }
            self.held = self.held + connection.stream.held() - before;
            match flushed {
                Ok(taken) => ctx.counts.add(Count::BytesOut, taken as u64),
                Err(_) => {
                    self.close(ctx, handle);
                    continue;
                }
            }
            if connection.queued() <= low {
                self.backpressure.drained(handle, ctx.now);
                self.release(ctx, handle);
            }
        }
        if let Some(udp) = &mut self.udp {
            udp.flush(&mut ctx.counts);
        }
        // Closing connections may have marked more of them
        if self.dirty.is_empty() {
            self.dirty = dirty;
        }
    }

    /// Closes connections that exceed a time limit, and lets those continue that have waited for too long.
    pub(crate) fn check_times(&mut self, ctx: &mut Context) {
        let (settings, now) = (&ctx.shared.settings, ctx.now);
        let (mut close, mut release) = (Vec::new(), Vec::new());
        for connection in self.connections.iter_mut() {
            if connection.stream.held() > 0 && now - connection.progress > QUEUE_RELEASE_AGE {
                let before = connection.stream.held();
                connection.stream.give_back();
                self.held = self.held + connection.stream.held() - before;
            }
            let silent = connection.is_idle() && now - connection.idle_since > settings.first_frame;
            let stalled = connection.queued() > 0 && now - connection.progress > settings.stall;
            let gone = now - connection.heard > settings.idle;
            if silent || stalled || gone {
                close.push(connection.handle);
            } else if self.backpressure.is_too_slow(connection.handle, settings, now) {
                release.push(connection.handle);
            }
        }
        for handle in close {
            self.expel(ctx, handle);
        }
        for handle in release {
            self.backpressure.mark_slow(handle, ctx.settings(), now);
            self.release(ctx, handle);
        }
    }

    /// Closes a connection that misbehaved.
    pub(crate) fn expel(&mut self, ctx: &mut Context, handle: Handle) {
        ctx.count(Count::Expelled);
        self.close(ctx, handle);
    }

    /// Closes a connection. Its sessions stay open, without a binding.
    pub(crate) fn close(&mut self, ctx: &mut Context, handle: Handle) {
        self.release(ctx, handle);
        if let Some(mut connection) = self.connections.remove(handle) {
            self.held -= connection.stream.held();
            let _ = self.poll.registry().deregister(connection.stream.source());
            ctx.one_connection_less(Count::Closed);
        }
    }

    /// Moves a connection to the worker that has the session of its first frame.
    pub(crate) fn hand_over(&mut self, ctx: &mut Context, handle: Handle, to: usize, received: Vec<u8>) {
        self.release(ctx, handle);
        if let Some(mut connection) = self.connections.remove(handle) {
            self.held -= connection.stream.held();
            if self.poll.registry().deregister(connection.stream.source()).is_err() {
                ctx.one_connection_less(Count::Closed);
                return;
            }
            let Connection { stream, place, .. } = connection;
            ctx.post(to, Message::Connection(stream.into_inner(), place, received));
        }
    }
}
