//! A running relay: its workers, and what its owner can do with them.

use std::{
    io,
    net::SocketAddr,
    ops::Range,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU32, AtomicUsize, Ordering},
        mpsc,
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use mio::{
    Poll, Waker,
    net::{TcpListener, UdpSocket},
};
use sealwright_session::{
    Grant, Material, SessionError, Sessions,
    frame::{HEADER, MAX_PAYLOAD, TAG},
};
use thiserror::Error;

use crate::{
    address::Address,
    data::{
        context::Shared,
        count::{Counts, Published},
        denials::Denials,
        inbox::{Inbox, Message, OpenedFrames},
        io::WAKER,
        remote_nodes::RemoteNodes,
        settings::Settings,
        worker::Worker,
    },
    layout::NodeLayout,
    policy::Class,
};

/// How long workers may take to learn of another policy.
const POLICY: Duration = Duration::from_secs(5);
/// The most data that a frame has room for beside its address.
const LONGEST: usize = MAX_PAYLOAD - Address::LEN;

/// The relay, or one of its workers, has ended.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the relay has stopped")]
pub struct Stopped;

/// Why a session was not given keys.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum AdmitError {
    /// The relay has stopped.
    #[error("{0}")]
    Stopped(#[from] Stopped),
    /// The session cannot be made.
    #[error("{0}")]
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
    /// When the relay cannot listen at the address, or the system gives no thread or descriptor.
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
            denials: Denials::default(),
            remote: OnceLock::new(),
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

    /// Lets the workers send frames to other nodes. Only the first call counts.
    pub(crate) fn connect_nodes(&self, remote: Arc<dyn RemoteNodes>) {
        let _ = self.shared.remote.set(remote);
    }

    /// Delivers opened frames from other nodes: receiver, sender and what the policy says of it, data.
    /// Returns for how many there is a session and room.
    pub(crate) fn deliver<'a>(&self, frames: impl Iterator<Item = (Address, (Address, Class), &'a [u8])>) -> u64 {
        let mut taken = 0;
        let mut opened: Vec<OpenedFrames> = self.shared.inboxes.iter().map(|_| OpenedFrames::default()).collect();
        for (to, (from, class), data) in frames {
            // Another node may say anything
            if data.len() <= LONGEST
                && let Some((worker, slot)) = self.shared.layout.locate(to.session)
                && !self.shared.inboxes[worker].is_full()
            {
                let parts = [&[0; HEADER][..], &from.to_bytes(), data, &[0; TAG]];
                opened[worker].push_parts((slot, to), (from, class), None, &parts);
                taken += 1;
            }
        }
        for (inbox, frames) in self.shared.inboxes.iter().zip(opened) {
            if frames.len() > 0 {
                inbox.post(Message::Frames(frames));
            }
        }
        taken
    }

    /// Gives a client the session of this address, with keys made of `material`, and waits for it. The client loses its
    /// connection until its next authentic frame. Frames for former owners of the number do not reach it.
    ///
    /// # Errors
    /// When the relay has stopped, or the session cannot be made.
    pub fn admit(&self, address: Address, material: Material) -> Result<Grant, AdmitError> {
        self.admit_as(address, Class::default(), material)
    }

    /// The same, with what the policy says of the client.
    pub(crate) fn admit_as(&self, address: Address, class: Class, material: Material) -> Result<Grant, AdmitError> {
        let (shard, slot) = self.shared.layout.locate(address.session).ok_or(SessionError::Unknown)?;
        let (reply, answer) = mpsc::sync_channel(1);
        self.inbox(shard)?.post(Message::Admit { slot, owner: (address, class), material, reply });
        Ok(self.wait(shard, &answer)??)
    }

    /// Ends a session that must not be used any more, closes its connection, and waits for it. Returns how many other
    /// sessions lost their keys because they shared them.
    ///
    /// # Errors
    /// When the relay has stopped.
    pub fn revoke(&self, session: u32) -> Result<usize, Stopped> {
        let Some((shard, slot)) = self.shared.layout.locate(session) else { return Ok(0) };
        let (reply, answer) = mpsc::sync_channel(1);
        self.inbox(shard)?.post(Message::Remove { slot, only: None, revoke: true, reply: Some(reply) });
        self.wait(shard, &answer).map(|others| others.len())
    }

    /// Ends the session of this address, without waiting for the worker. A later owner of its number stays.
    pub fn remove(&self, address: Address) {
        if let Some((shard, slot)) = self.shared.layout.locate(address.session) {
            let only = Some(address.generation);
            self.shared.inboxes[shard].post(Message::Remove { slot, only, revoke: false, reply: None });
        }
    }

    /// Takes away the keys that the clusters of these sessions share, whether the sessions are open or not, and waits
    /// for it. Returns how many sessions lost theirs: none where no keys are shared.
    pub(crate) fn revoke_clusters(&self, sessions: &[u32]) -> usize {
        let mut by_worker: Vec<Vec<u32>> = self.shared.inboxes.iter().map(|_| Vec::new()).collect();
        for (worker, slot) in sessions.iter().filter_map(|session| self.shared.layout.locate(*session)) {
            by_worker[worker].push(slot);
        }
        let workers = by_worker.into_iter().enumerate().filter(|(_, slots)| !slots.is_empty());
        let revoked = workers.map(|(worker, slots)| {
            let revoke = move |sessions: &mut dyn Sessions| {
                let (shared, before) = (sessions.spec().clustered(), sessions.live());
                slots.into_iter().filter(|_| shared).for_each(|slot| drop(sessions.revoke(slot)));
                before - sessions.live()
            };
            // A relay that has stopped has no sessions
            self.change(worker, 0..0, revoke).unwrap_or(0)
        });
        revoked.sum::<u32>() as usize
    }

    /// Another policy: what it says of these sessions, and of all others. Waits until the workers have it.
    pub(crate) fn set_classes(&self, classes: impl Iterator<Item = (u32, Class)>, nobody: Class) {
        let mut by_worker: Vec<Vec<(u32, Class)>> = self.shared.inboxes.iter().map(|_| Vec::new()).collect();
        for (session, class) in classes {
            if let Some((worker, slot)) = self.shared.layout.locate(session) {
                by_worker[worker].push((slot, class));
            }
        }
        for (inbox, classes) in self.shared.inboxes.iter().zip(by_worker) {
            inbox.post(Message::Classes { classes, nobody });
        }
        // From now on the new policy counts, unless a worker is gone
        self.responds(POLICY);
    }

    /// Another class for one session.
    pub(crate) fn set_class(&self, address: Address, class: Class) {
        if let Some((worker, slot)) = self.shared.layout.locate(address.session) {
            self.shared.inboxes[worker].post(Message::Class { slot, address, class });
        }
    }

    /// Who spoke to whom and may not, a few of them.
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

    /// Lets worker `shard` change sessions `slots` of its table, and waits for it. They lose their connections, and each
    /// is bound to the connection of its next authentic frame.
    ///
    /// # Errors
    /// When the relay has stopped.
    pub fn change<T: Send + 'static>(
        &self,
        shard: usize,
        slots: Range<u32>,
        change: impl FnOnce(&mut dyn Sessions) -> T + Send + 'static,
    ) -> Result<T, Stopped> {
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

    fn inbox(&self, shard: usize) -> Result<&Inbox, Stopped> {
        self.shared.inboxes.get(shard).ok_or(Stopped)
    }

    /// Waits for the answer of a worker.
    fn wait<T>(&self, shard: usize, answer: &mpsc::Receiver<T>) -> Result<T, Stopped> {
        loop {
            match answer.recv_timeout(Duration::from_millis(100)) {
                Ok(answer) => return Ok(answer),
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err(Stopped),
                // A message that nobody reads: the worker is gone
                Err(mpsc::RecvTimeoutError::Timeout) if self.has_ended(shard) => return Err(Stopped),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Accepts no connections from now on. Open connections stay.
    pub fn drain(&self) {
        self.shared.inboxes.iter().for_each(|inbox| inbox.post(Message::Drain));
    }

    /// Accepts no connections and waits at most `grace` until all connections have ended. Returns whether they have.
    pub fn drained_within(&self, grace: Duration) -> bool {
        self.drained_unless(grace, || false)
    }

    /// The same, but stops waiting as soon as `give_up` says so.
    pub(crate) fn drained_unless(&self, grace: Duration, give_up: impl Fn() -> bool) -> bool {
        self.drain();
        let start = Instant::now();
        while self.connections() > 0 {
            if start.elapsed() > grace || give_up() {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        true
    }

    /// Stops reading, writes what is queued, and ends. Returns what was counted.
    pub fn stop(&self) -> Counts {
        self.shared.inboxes.iter().for_each(|inbox| inbox.post(Message::Stop));
        for thread in self.threads().drain(..) {
            // A worker that panicked has printed so
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
fn datagrams(first: SocketAddr, worker: u32) -> io::Result<UdpSocket> {
    let missing = || {
        io::Error::new(io::ErrorKind::AddrNotAvailable, "there are not enough ports for the datagrams of every worker")
    };
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
