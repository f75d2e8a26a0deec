//! A running relay: its workers, and the operations of its owner.

#[cfg(feature = "nats")]
#[path = "mesh_orders.rs"]
mod mesh_orders;
#[path = "orders.rs"]
mod orders;

use std::{
    io,
    net::SocketAddr,
    ops::Range,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering},
        mpsc,
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use mio::{
    Poll, Waker,
    net::{TcpListener, UdpSocket},
};
use sealwright_session::{SessionError, Sessions};
use thiserror::Error;

use crate::{
    address::Address,
    data::{
        context::Shared,
        count::{Counts, Published},
        denials::Denials,
        inbox::{Inbox, Message},
        io::WAKER,
        settings::Settings,
        worker::Worker,
    },
    errors::os_error_text,
    layout::NodeLayout,
};

/// After this long without authentic datagrams, clients that use datagrams count as gone: datagrams have no end of a
/// connection.
const DATAGRAM_SILENCE: Duration = Duration::from_secs(2);

/// A relay cannot listen at an address, or the system gives it too little to do so.
#[derive(Debug, Error)]
#[error("{address}: {}", os_error_text(error))]
#[non_exhaustive]
pub struct ListenError {
    /// The address: for frames, or that of a worker's datagrams.
    pub address: SocketAddr,
    /// Why.
    pub error: io::Error,
}

impl From<ListenError> for io::Error {
    fn from(error: ListenError) -> io::Error {
        io::Error::new(error.error.kind(), error.to_string())
    }
}

/// The relay, or one of its workers, has ended.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the relay has stopped")]
pub struct StoppedError;

/// Why a session was not given keys.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum AdmitError {
    /// The relay has stopped.
    #[error(transparent)]
    Stopped(#[from] StoppedError),
    /// The session cannot be made.
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// A relay of frames. Dropping it stops its threads.
pub struct Relay {
    address: SocketAddr,
    udp: Vec<SocketAddr>,
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl std::fmt::Debug for Relay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Relay").field("address", &self.address).field("workers", &self.shared.inboxes.len()).finish()
    }
}

impl Relay {
    /// Starts one worker for each table. The sessions of node `node` are spread over them: session `index` is in table
    /// `index % tables`, slot `index / tables`.
    ///
    /// # Errors
    /// When the relay cannot listen at the address or at those for datagrams, or the system gives no thread or
    /// descriptor.
    ///
    /// # Panics
    /// When there is no table, or no such node.
    pub fn start(
        address: SocketAddr,
        node: u32,
        settings: Settings,
        tables: Vec<Box<dyn Sessions>>,
    ) -> Result<Relay, ListenError> {
        let mut sockets = Vec::new();
        for at in 0..tables.len() {
            sockets.extend(settings.udp.map(|first| datagrams(first, at)).transpose()?);
        }
        Relay::start_with(address, node, settings, tables, sockets).map_err(|error| ListenError { address, error })
    }

    /// Like `start`, with the UDP sockets of the workers.
    fn start_with(
        address: SocketAddr,
        node: u32,
        settings: Settings,
        tables: Vec<Box<dyn Sessions>>,
        sockets: Vec<UdpSocket>,
    ) -> io::Result<Relay> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let layout = NodeLayout::new(node, u32::try_from(tables.len()).map_err(io::Error::other)?);
        let polls = tables.iter().map(|_| Poll::new()).collect::<io::Result<Vec<_>>>()?;
        let wakers = polls.iter().map(|poll| Waker::new(poll.registry(), WAKER)).collect::<io::Result<Vec<_>>>()?;
        let shared = Arc::new(Shared {
            layout,
            settings,
            counts: wakers.iter().map(|_| Published::default()).collect(),
            inboxes: wakers.into_iter().map(Inbox::new).collect(),
            connections: AtomicUsize::new(0),
            addresses: Arc::default(),
            live: tables.iter().map(|_| AtomicU32::new(0)).collect(),
            queues: tables.iter().map(|_| AtomicUsize::new(0)).collect(),
            peers: tables.iter().map(|_| AtomicUsize::new(0)).collect(),
            heard: AtomicU64::new(0),
            denials: Denials::default(),
            remote: OnceLock::new(),
        });
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

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address for datagrams of a shard's sessions, if the relay receives any.
    pub fn udp(&self, shard: usize) -> Option<SocketAddr> {
        self.udp.get(shard).copied()
    }

    /// How its sessions are numbered.
    pub fn layout(&self) -> NodeLayout {
        self.shared.layout
    }

    /// Takes the pairs of sender and receiver that were denied since the last call: a bounded number of them.
    pub(crate) fn denials(&self) -> Vec<(Address, Address)> {
        self.shared.denials.take()
    }

    /// Sessions that have keys.
    pub fn live(&self) -> u32 {
        self.shared.live.iter().map(|live| live.load(Ordering::Relaxed)).sum()
    }

    /// What all workers have counted so far.
    pub fn counts(&self) -> Counts {
        let mut sum = Counts::default();
        self.shared.counts.iter().for_each(|counts| counts.add_to(&mut sum));
        sum
    }

    /// Memory that the queues of all connections take at this moment.
    pub fn queue_bytes(&self) -> usize {
        self.shared.queues.iter().map(|queues| queues.load(Ordering::Relaxed)).sum()
    }

    /// Connections at this moment.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// Lets worker `shard` change sessions `slots` of its table, and waits for it. They lose their connections, and
    /// each is bound to the connection of its next authentic frame.
    ///
    /// # Errors
    /// When the relay has stopped.
    pub fn change<T: Send + 'static>(
        &self,
        shard: usize,
        slots: Range<u32>,
        change: impl FnOnce(&mut dyn Sessions) -> T + Send + 'static,
    ) -> Result<T, StoppedError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let change = Box::new(move |sessions: &mut dyn Sessions| {
            // The caller may have given up
            let _ = sender.send(change(sessions));
        });
        self.inbox(shard)?.post(Message::Change { slots, change });
        self.wait(shard, &receiver)
    }

    /// Whether every worker answers within this time.
    pub fn responds(&self, within: Duration) -> bool {
        let (sender, receiver) = mpsc::channel();
        for inbox in &self.shared.inboxes {
            let sender = sender.clone();
            // The caller may have given up
            let change = Box::new(move |_: &mut dyn Sessions| {
                let _ = sender.send(());
            });
            inbox.post(Message::Change { slots: 0..0, change });
        }
        let until = Instant::now() + within;
        let left = || until.saturating_duration_since(Instant::now());
        self.shared.inboxes.iter().all(|_| receiver.recv_timeout(left()).is_ok())
    }

    fn inbox(&self, shard: usize) -> Result<&Inbox, StoppedError> {
        self.shared.inboxes.get(shard).ok_or(StoppedError)
    }

    /// Waits for a worker's answer.
    fn wait<T>(&self, shard: usize, answer: &mpsc::Receiver<T>) -> Result<T, StoppedError> {
        loop {
            match answer.recv_timeout(Duration::from_millis(100)) {
                Ok(answer) => return Ok(answer),
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err(StoppedError),
                // A message that nobody will read: the worker has ended
                Err(mpsc::RecvTimeoutError::Timeout) if self.has_ended(shard) => return Err(StoppedError),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Accepts no connections from now on. Open connections stay.
    pub fn drain(&self) {
        self.shared.inboxes.iter().for_each(|inbox| inbox.post(Message::Drain));
    }

    /// Accepts no connections and waits at most `grace` until all connections have ended, and nothing has come of those
    /// who send datagrams for two seconds. Returns whether that is so.
    pub fn drained_within(&self, grace: Duration) -> bool {
        self.drained_unless(grace, || false)
    }

    /// Like `drained_within`, but stops waiting as soon as `give_up` returns true.
    pub(crate) fn drained_unless(&self, grace: Duration, give_up: impl Fn() -> bool) -> bool {
        self.drain();
        let start = Instant::now();
        let heard = || self.shared.heard.load(Ordering::Relaxed);
        let (mut before, mut since) = (heard(), start);
        loop {
            let now = heard();
            if now != before {
                (before, since) = (now, Instant::now());
            }
            if self.connections() == 0 && (self.peers() == 0 || since.elapsed() > DATAGRAM_SILENCE) {
                return true;
            }
            if start.elapsed() > grace || give_up() {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// How many datagram peers sessions are bound to.
    fn peers(&self) -> usize {
        self.shared.peers.iter().map(|peers| peers.load(Ordering::Relaxed)).sum()
    }

    /// Stops reading, writes what is queued, and ends. Returns what was counted.
    pub fn stop(&self) -> Counts {
        self.shared.inboxes.iter().for_each(|inbox| inbox.post(Message::Stop));
        for thread in self.threads().drain(..) {
            // A worker that panicked has already printed a message
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

/// The UDP socket of a worker.
fn datagrams(first: SocketAddr, worker: usize) -> Result<UdpSocket, ListenError> {
    let failed = |address: SocketAddr, error: io::Error| {
        // The same port may be in use for frames
        let why = format!("datagrams: {}", os_error_text(&error));
        ListenError { address, error: io::Error::new(error.kind(), why) }
    };
    let port = match first.port() {
        0 => Some(0),
        port => u16::try_from(usize::from(port) + worker).ok(),
    };
    let Some(port) = port else {
        let missing = io::Error::new(io::ErrorKind::AddrNotAvailable, "there are not enough ports for every worker");
        return Err(failed(first, missing));
    };
    let address = SocketAddr::new(first.ip(), port);
    UdpSocket::bind(address).map_err(|error| failed(address, error))
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
impl Relay {
    /// Keeps the first worker busy until the returned sender is dropped.
    pub(crate) fn occupy_worker(&self) -> mpsc::Sender<()> {
        let ((go_on, until_then), (begin, begun)) = (mpsc::channel(), mpsc::channel());
        let change = Box::new(move |_: &mut dyn Sessions| {
            let _ = begin.send(());
            let _ = until_then.recv();
        });
        self.shared.inboxes[0].post(Message::Change { slots: 0..0, change });
        begun.recv().expect("a worker");
        go_on
    }
}
