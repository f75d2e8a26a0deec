//! A worker: a thread with its own connections and sessions. Each iteration waits for events, reads each ready
//! connection once, handles messages, and writes once to each connection with queued bytes.

use std::{
    io,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use mio::{
    Events, Poll,
    net::{TcpListener, UdpSocket},
};
use nix::time::ClockId;
use sealwright_session::Sessions;

use crate::data::{
    context::{Context, Shared},
    count::{Count, Counts},
    forwarder::Forwarder,
    inbox::Message,
    io::Io,
};

/// The interval between checks of time limits.
const TIME_LIMIT_CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Opened frames for another worker are posted before the end of the iteration once they take this many bytes.
const EARLY_POST_BYTES: usize = 256 << 10;
/// The most reads of datagrams in one iteration.
const MAX_DATAGRAM_READS: usize = 4;
/// How long the last writes may take when the worker stops.
const LAST_WRITES_TIMEOUT: Duration = Duration::from_secs(2);

/// The state of a worker.
pub(crate) struct Worker {
    ctx: Context,
    io: Io,
    forwarder: Forwarder,
    last_tick: Instant,
    /// When CPU time was last published.
    cpu_published: Instant,
    stopping: Option<Instant>,
}

impl Worker {
    pub(crate) fn new(
        worker: usize,
        shared: Arc<Shared>,
        poll: Poll,
        listener: Option<TcpListener>,
        udp: Option<UdpSocket>,
        sessions: Box<dyn Sessions>,
    ) -> io::Result<Worker> {
        let now = Instant::now();
        Ok(Worker {
            io: Io::new(poll, listener, udp, (&shared.settings, shared.inboxes.len()))?,
            forwarder: Forwarder::new(sessions, &shared, now),
            ctx: Context { worker, shared, counts: Counts::default(), now },
            last_tick: now,
            cpu_published: now,
            stopping: None,
        })
    }

    /// Works until told to stop.
    pub(crate) fn run(mut self) {
        self.forwarder.publish(&self.ctx);
        let mut events = Events::with_capacity(1024);
        while !self.is_done() {
            let time = if !self.io.has_work() {
                TIME_LIMIT_CHECK_INTERVAL
            } else if self.stopping.is_some() || self.ctx.others_are_full() {
                Duration::from_millis(1)
            } else {
                Duration::ZERO
            };
            self.io.wait(&mut events, time);
            self.ctx.now = Instant::now();
            for event in &events {
                self.io.note(event);
            }
            self.iterate();
        }
        self.publish();
    }

    fn iterate(&mut self) {
        self.io.accept(&mut self.ctx);
        if self.stopping.is_none() {
            self.read();
        }
        for message in self.ctx.shared.clone().inboxes[self.ctx.worker].take() {
            self.handle(message);
        }
        self.forwarder.post(&self.ctx, 0);
        self.forwarder.flush_batches(&mut self.ctx);
        // Published before writing, so that a client that receives a frame finds it counted
        self.publish();
        self.io.write(&mut self.ctx);
        if self.ctx.now - self.last_tick >= TIME_LIMIT_CHECK_INTERVAL {
            self.last_tick = self.ctx.now;
            self.io.check_times(&mut self.ctx);
            self.forwarder.check_bindings(&self.io);
            self.io.retry_accept();
        }
        self.ctx.count(Count::Iterations);
        self.publish();
    }

    /// Reads each ready connection once, and the datagrams.
    fn read(&mut self) {
        for _ in 0..self.io.ready_count() {
            // Memory of frames for other workers is bounded: post them early
            self.forwarder.post(&self.ctx, EARLY_POST_BYTES);
            if self.ctx.others_are_full() {
                break;
            }
            let Some(handle) = self.io.next_ready() else { break };
            self.forwarder.read(&mut self.ctx, &mut self.io, handle);
        }
        for _ in 0..MAX_DATAGRAM_READS {
            self.forwarder.post(&self.ctx, EARLY_POST_BYTES);
            if !self.io.has_datagrams() || self.ctx.others_are_full() {
                break;
            }
            self.forwarder.read_datagrams(&mut self.ctx, &mut self.io);
        }
    }

    fn handle(&mut self, message: Message) {
        match message {
            Message::Connection(stream, place, received) => self.io.add(&mut self.ctx, stream, place, received),
            Message::Frames(frames) => self.forwarder.deliver(&mut self.ctx, &mut self.io, frames),
            Message::Pause(handle) => self.io.pause(&mut self.ctx, handle),
            Message::Resume(handle) => self.io.resume(handle),
            Message::Change { slots, change } => self.forwarder.change(&self.ctx, &mut self.io, slots, change),
            Message::Classes { classes, nobody } => self.forwarder.set_classes(&classes, nobody),
            Message::Class { slot, address, class } => self.forwarder.set_class(slot, address, class),
            Message::Admit { slot, owner, material, reply } => {
                // The caller may have given up
                let _ = reply.send(self.forwarder.admit(&self.ctx, &mut self.io, slot, owner, &material));
            }
            Message::Remove { slot, only, revoke, reply } => {
                let others = self.forwarder.remove(&mut self.ctx, &mut self.io, slot, (only, revoke));
                reply.into_iter().for_each(|reply| drop(reply.send(others.clone())));
            }
            Message::CloseIdle { from } => self.io.close_idle(&mut self.ctx, from),
            Message::Drain => self.io.stop_accepting(),
            Message::Stop => {
                self.io.stop_accepting();
                self.stopping = Some(self.ctx.now);
            }
        }
    }

    fn publish(&mut self) {
        let now = Instant::now();
        if now - self.cpu_published >= Duration::from_millis(1) || self.stopping.is_some() {
            self.cpu_published = now;
            self.ctx.counts.set(Count::CpuNanoseconds, thread_cpu().as_nanos() as u64);
        }
        self.ctx.shared.counts[self.ctx.worker].publish(&self.ctx.counts);
        self.ctx.shared.queues[self.ctx.worker].store(self.io.held(), Ordering::Relaxed);
        if let Some(udp) = &self.io.udp {
            self.ctx.shared.peers[self.ctx.worker].store(udp.peers(), Ordering::Relaxed);
        }
    }

    /// Whether it was told to stop, and everything is written or has had its time.
    fn is_done(&self) -> bool {
        self.stopping.is_some_and(|since| {
            // Other workers may still post frames that they opened in their last iteration
            let quiet = self.ctx.now - since > TIME_LIMIT_CHECK_INTERVAL;
            (self.io.is_flushed() && quiet) || self.ctx.now - since > LAST_WRITES_TIMEOUT
        })
    }
}

/// CPU time of the current thread.
fn thread_cpu() -> Duration {
    // Linux has this clock for every thread
    ClockId::CLOCK_THREAD_CPUTIME_ID.now().map_or(Duration::ZERO, Duration::from)
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.ctx.shared.connections.fetch_sub(self.io.len(), Ordering::Relaxed);
    }
}
