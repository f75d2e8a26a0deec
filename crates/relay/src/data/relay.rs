//! A running relay: its workers, and what its owner may ask of them.

use std::{
    io,
    net::SocketAddr,
    ops::Range,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use mio::{
    Poll, Waker,
    net::{TcpListener, UdpSocket},
};
use sealwright_session::{Sessions, frame::unsealed};
use thiserror::Error;

use crate::{
    data::{
        count::{Counts, Published},
        mail::{Letter, Mailbox, Texts},
        settings::Settings,
        worker::{BELL, Shared, Worker},
    },
    fleet::Outbox,
    layout::NodeLayout,
};

/// The relay has ended, or a worker of it.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the relay has stopped")]
pub struct Stopped;

/// A relay of frames. Dropping it stops its threads.
pub struct Relay {
    address: SocketAddr,
    udp: Vec<SocketAddr>,
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl std::fmt::Debug for Relay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Relay").field("address", &self.address).field("workers", &self.shared.mailboxes.len()).finish()
    }
}

impl Relay {
    /// Starts a worker for each table of sessions: the sessions of node `node` are dealt to them by turns, so
    /// session `index` is in table `index % tables`, slot `index / tables`.
    ///
    /// # Errors
    /// When the address cannot be listened on, or the system gives no thread or descriptor.
    ///
    /// # Panics
    /// When there is no table, or no such node.
    pub fn start(
        address: SocketAddr,
        node: u32,
        settings: Settings,
        tables: Vec<Box<dyn Sessions>>,
    ) -> io::Result<Relay> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let layout = NodeLayout::new(node, u32::try_from(tables.len()).map_err(io::Error::other)?);
        let polls = tables.iter().map(|_| Poll::new()).collect::<io::Result<Vec<_>>>()?;
        let bells = polls.iter().map(|poll| Waker::new(poll.registry(), BELL)).collect::<io::Result<Vec<_>>>()?;
        let shared = Arc::new(Shared {
            layout,
            settings,
            counts: bells.iter().map(|_| Published::default()).collect(),
            mailboxes: bells.into_iter().map(Mailbox::new).collect(),
            connections: AtomicUsize::new(0),
            fleet: OnceLock::new(),
        });
        let mut sockets = Vec::new();
        for at in 0..layout.shards() {
            sockets.extend(shared.settings.udp.map(|first| datagrams(first, at)).transpose()?);
        }
        let udp = sockets.iter().map(UdpSocket::local_addr).collect::<io::Result<_>>()?;
        let mut sockets = sockets.into_iter();
        let relay = Relay { address, udp, shared, threads: Mutex::default() };
        let mut listener = Some(listener);
        for (me, (poll, table)) in polls.into_iter().zip(tables).enumerate() {
            let worker = Worker::new(me, relay.shared.clone(), poll, listener.take(), sockets.next(), table)?;
            let thread = std::thread::Builder::new().name(format!("relay {me}")).spawn(move || worker.run())?;
            relay.threads().push(thread);
        }
        Ok(relay)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where datagrams of the sessions of a worker go, if any are taken.
    pub fn udp(&self, shard: usize) -> Option<SocketAddr> {
        self.udp.get(shard).copied()
    }

    /// How its sessions are numbered.
    pub fn layout(&self) -> NodeLayout {
        self.shared.layout
    }

    /// Lets workers send to other nodes.
    pub(crate) fn join(&self, outbox: Outbox) {
        // Who joins twice stays where it was
        let _ = self.shared.fleet.set(outbox);
    }

    /// Opened frames from other nodes: receiver, sender, data.
    pub(crate) fn deliver<'a>(&self, frames: impl Iterator<Item = (u32, u32, &'a [u8])>) {
        let mut texts: Vec<Texts> = self.shared.mailboxes.iter().map(|_| Texts::default()).collect();
        for (to, from, data) in frames {
            if let Some((worker, slot)) = self.shared.layout.locate(to)
                && !self.shared.mailboxes[worker].is_full()
            {
                texts[worker].push(slot, to, None, &unsealed(from, data));
            }
        }
        for (mailbox, texts) in self.shared.mailboxes.iter().zip(texts) {
            if texts.len() > 0 {
                mailbox.post(Letter::Texts(texts));
            }
        }
    }

    /// Ends a session of this node, without waiting for it.
    pub(crate) fn dismiss(&self, session: u32) {
        if let Some((shard, slot)) = self.shared.layout.locate(session) {
            let change = Box::new(move |sessions: &mut dyn Sessions| sessions.remove(slot));
            self.shared.mailboxes[shard].post(Letter::Change { slots: slot..slot + 1, change });
        }
    }

    /// What all workers counted so far.
    pub fn counts(&self) -> Counts {
        let mut sum = Counts::default();
        self.shared.counts.iter().for_each(|counts| counts.add_to(&mut sum));
        sum
    }

    /// Connections now.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// Lets worker `shard` change sessions `slots` of its table, and waits for it. They lose their connections: each
    /// is bound anew by its first authentic frame.
    ///
    /// # Errors
    /// When the relay has stopped.
    pub fn change<T: Send + 'static>(
        &self,
        shard: usize,
        slots: Range<u32>,
        change: impl FnOnce(&mut dyn Sessions) -> T + Send + 'static,
    ) -> Result<T, Stopped> {
        let (tell, hear) = mpsc::sync_channel(1);
        let change = Box::new(move |sessions: &mut dyn Sessions| {
            // Nobody listens any more when the asker gave up
            let _ = tell.send(change(sessions));
        });
        self.shared.mailboxes.get(shard).ok_or(Stopped)?.post(Letter::Change { slots, change });
        loop {
            match hear.recv_timeout(Duration::from_millis(100)) {
                Ok(answer) => return Ok(answer),
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err(Stopped),
                // A letter that nobody reads: its worker is gone
                Err(mpsc::RecvTimeoutError::Timeout) if self.has_ended(shard) => return Err(Stopped),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Takes no newcomers from now on; those who are here stay.
    pub fn drain(&self) {
        self.shared.mailboxes.iter().for_each(|mailbox| mailbox.post(Letter::Drain));
    }

    /// Takes no newcomers and waits until all connections have ended, at most `grace`; whether they have.
    pub fn drained_within(&self, grace: Duration) -> bool {
        self.drain();
        let start = Instant::now();
        while self.connections() > 0 {
            if start.elapsed() > grace {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        true
    }

    /// Reads no more, writes what is queued, ends; what it had counted.
    pub fn stop(&self) -> Counts {
        self.shared.mailboxes.iter().for_each(|mailbox| mailbox.post(Letter::Stop));
        for thread in self.threads().drain(..) {
            // A worker that panicked has said so on standard error
            let _ = thread.join();
        }
        self.counts()
    }

    fn threads(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_ended(&self, shard: usize) -> bool {
        self.threads().get(shard).is_none_or(JoinHandle::is_finished)
    }
}

/// The socket of a worker.
fn datagrams(first: SocketAddr, worker: u32) -> io::Result<UdpSocket> {
    let missing = || io::Error::new(io::ErrorKind::AddrNotAvailable, "no port left for every worker's datagrams");
    let port = match first.port() {
        0 => 0,
        port => u16::try_from(u32::from(port) + worker).map_err(|_| missing())?,
    };
    UdpSocket::bind(SocketAddr::new(first.ip(), port))
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop();
    }
}
