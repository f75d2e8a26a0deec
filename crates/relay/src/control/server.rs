//! The relay's end of the control plane: one thread listens, one serves each connection, and one ends sessions that
//! have expired or lost their trust.

use std::{
    collections::BTreeSet,
    io::{self, BufRead, BufReader, Read, Write},
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use rustls::{ServerConfig, ServerConnection, StreamOwned, pki_types::CertificateDer};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    address::Address,
    control::{
        access::Access,
        certificates::{Chain, OpenLimits},
        deadline::Deadline,
        denial_log::DenialLog,
        gauge::{Gauged, NamesGauge},
        handshake::shake_hands,
        names::{Names, Number, OpenSession},
        protocol::{self, Request, Response},
        rate_limiter::{Permit, Rate, RateLimiter},
        stats::{ControlStats, one},
        tls::ServerTls,
        verified::Verified,
    },
    data::Relay,
    listening::wake,
    log::Log,
    policy::{Class, Policy},
};

/// The most requests of one connection.
pub(super) const MAX_REQUESTS: u32 = 1024;
/// How long to wait before accepting again when there is no file descriptor.
pub(crate) const ACCEPT_RETRY_WAIT: Duration = Duration::from_millis(20);

/// The logged reason when a connection lost its place to another one.
const MADE_ROOM: &str = "closed while it waited for its client, to make room for another connection";

/// Limits of the control plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    pub(crate) rate: Rate,
    /// How long one connection may take in all.
    pub(crate) time: Duration,
    /// The most time for which a session may be open before its client must open it again.
    pub(crate) lifetime: Duration,
    pub(crate) open: OpenLimits,
}

/// The directory of clients and their addresses, on this node and others.
pub(crate) trait NameDirectory: Send + Sync {
    /// A client opened its session on this node, with keys of this epoch.
    fn opened(&self, name: &str, address: Address, epoch: u16);
    /// The session of a client on this node has ended.
    fn closed(&self, name: &str, address: Address);
    /// The address of a client with a session on any node.
    fn find(&self, name: &str) -> Option<Address>;
    /// Clients whose session was on this node and is now open on another one, since the last call.
    fn take_moved(&self) -> Vec<(String, Address)>;
    /// Applies another policy to clients of other nodes.
    fn set_policy(&self, policy: &Arc<Policy>);
}

/// What the control plane uses of the rest of the relay.
pub(crate) struct Shared {
    pub(crate) relay: Arc<Relay>,
    /// The other nodes, if there are any.
    pub(crate) directory: Option<Arc<dyn NameDirectory>>,
    /// Host and port for frames, as clients are told.
    pub(crate) frames: (Option<String>, u16),
    pub(crate) stats: Arc<ControlStats>,
    pub(crate) log: Arc<Log>,
}

pub(super) struct Inner {
    pub(super) shared: Shared,
    limiter: RateLimiter,
    pub(super) stop: AtomicBool,
    /// Set when sessions are to be checked before the next regular check.
    pub(super) check_soon: AtomicBool,
    pub(super) denial_log: DenialLog,
    pub(super) verified: Mutex<Verified>,
    current: Mutex<Current>,
}

/// The state that a reload replaces.
pub(super) struct Current {
    pub(super) tls: ServerTls,
    /// The TLS setup by which all open sessions were last checked. Sessions opened since then were checked by `tls`.
    pub(super) checked: ServerTls,
    pub(super) names: Names,
    pub(super) limits: Limits,
    pub(super) policy: Arc<Policy>,
}

/// The control plane, running.
pub(crate) struct ControlServer {
    address: SocketAddr,
    listener: TcpListener,
    pub(super) inner: Arc<Inner>,
    last_gauged: Arc<Mutex<Gauged>>,
    threads: Vec<JoinHandle<()>>,
}

impl ControlServer {
    pub(crate) fn start(
        address: SocketAddr,
        shared: Shared,
        tls: ServerTls,
        names: Names,
        policy: Policy,
        limits: Limits,
    ) -> io::Result<ControlServer> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let waits = listener.try_clone()?;
        let limiter = RateLimiter::new(limits.rate, Instant::now());
        let policy = Arc::new(policy);
        shared.directory.iter().for_each(|directory| directory.set_policy(&policy));
        shared.relay.set_classes(std::iter::empty(), policy.nobody());
        let current = Mutex::new(Current { checked: tls.clone(), tls, names, limits, policy });
        let [stop, check_soon] = [const { AtomicBool::new(false) }; 2];
        let (denial_log, verified) = Default::default();
        let inner = Arc::new(Inner { shared, limiter, stop, check_soon, denial_log, verified, current });
        let mut server = ControlServer { address, listener, inner, last_gauged: Arc::default(), threads: Vec::new() };
        let (listening, checking) = (server.inner.clone(), server.inner.clone());
        let thread = |name: &str| std::thread::Builder::new().name(name.into());
        server.threads.push(thread("lifetimes").spawn(move || checking.check_until_stopped())?);
        server.threads.push(thread("control").spawn(move || listening.listen(&waits))?);
        Ok(server)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Applies other names, rules, certificates and limits. Ends the sessions of names that are gone or revoked, and
    /// those whose certificates the authority does not vouch for any more. `alive` is called between the steps, whose
    /// number grows with the number of sessions.
    pub(crate) fn reload(&self, tls: ServerTls, access: Access, limits: Limits, alive: &dyn Fn()) {
        self.inner.limiter.set(limits.rate);
        let Shared { relay, directory, log, .. } = &self.inner.shared;
        let (gone, same_trust) = {
            let mut current = self.inner.current();
            // A check by the present setup may still be running, so compare with both
            let same_trust = tls.trusts_as(&current.checked) && tls.trusts_as(&current.tls);
            current.tls = tls;
            current.limits = limits;
            let gone = current.names.change(&access.allowed, &access.revoked);
            let policy = access.policy.after(&current.policy);
            // If the rules stay, their classes stay too, so no frame in transit between workers or nodes is dropped
            if !policy.is(&current.policy) {
                current.policy = Arc::new(policy);
                let policy = &current.policy;
                directory.iter().for_each(|directory| directory.set_policy(policy));
                // Under the lock, so that no session can be opened meanwhile
                let sessions = current.names.open_sessions();
                let classes =
                    sessions.map(|(name, number, _)| (self.inner.address(number).session, policy.class(name)));
                relay.set_classes(classes, policy.nobody());
            }
            (gone, same_trust)
        };
        alive();
        let sessions: Vec<u32> = gone.names.iter().map(|(_, number)| self.inner.address(*number).session).collect();
        let lost = relay.revoke_all(&sessions, alive);
        for ((name, number), others) in gone.names.into_iter().zip(lost) {
            let address = self.inner.address(number);
            directory.iter().for_each(|directory| directory.closed(&name, address));
            // Clients that shared keys with it must open their sessions again
            let about = [("name", name.into()), ("session", address.session.into()), ("others_revoked", others.into())];
            log.say("removed", &about);
            alive();
        }
        let clusters = {
            let (current, workers) = (self.inner.current(), relay.layout().shards());
            gone.runs.iter().flat_map(|run| current.names.first_indexes(*run, workers)).collect()
        };
        self.inner.replace_keys(clusters);
        self.inner.current().names.settle(&access.allowed);
        alive();
        if same_trust {
            self.inner.check_lifetimes(alive);
        } else {
            self.inner.check_sessions(alive);
        }
    }
}

/// An open session, as operators see it.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) tenant: Option<String>,
    pub(crate) session: u32,
    pub(crate) from: IpAddr,
    pub(crate) age: Duration,
}

impl Current {
    fn gauged(&self) -> Gauged {
        Gauged {
            numbers: self.names.used(),
            bytes: self.names.bytes(),
            certificate_until: Some(self.tls.certificate_until()),
            revocations_until: self.tls.revocations_until(),
        }
    }
}

impl ControlServer {
    pub(crate) fn gauge(&self) -> NamesGauge {
        let inner = Arc::downgrade(&self.inner);
        let current = move || inner.upgrade().map(|inner| inner.current().gauged());
        NamesGauge::new(current, &self.last_gauged)
    }

    /// All open sessions, by name.
    pub(crate) fn list(&self) -> Vec<Listed> {
        let (policy, open) = {
            let current = self.inner.current();
            let one =
                |(name, number, open): (&str, Number, &OpenSession)| (name.to_owned(), number, open.from, open.since);
            (current.policy.clone(), current.names.open_sessions().map(one).collect::<Vec<_>>())
        };
        // The rest is slow and must not hold the lock on the current state
        let listed = |(name, number, from, since): (String, Number, IpAddr, Instant)| Listed {
            tenant: policy.tenant(&name).map(str::to_owned),
            session: self.inner.address(number).session,
            age: since.elapsed(),
            name,
            from,
        };
        let mut all: Vec<Listed> = open.into_iter().map(listed).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }
}

impl Drop for ControlServer {
    fn drop(&mut self) {
        self.inner.stop.store(true, Ordering::Relaxed);
        self.gauge().read();
        wake(&self.listener);
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

impl Inner {
    pub(super) fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn address(&self, number: Number) -> Address {
        let session = self.shared.relay.layout().session(number.index);
        Address { session, generation: number.generation }
    }

    /// Revokes the shared keys of clusters, each given by one of its indexes.
    pub(super) fn replace_keys(&self, clusters: BTreeSet<u32>) {
        let layout = self.shared.relay.layout();
        let sessions: Vec<u32> = clusters.into_iter().map(|index| layout.session(index)).collect();
        self.log_replaced(self.shared.relay.revoke_clusters(&sessions));
    }

    /// Logs how many sessions lost their shared keys.
    pub(super) fn log_replaced(&self, others: usize) {
        if others > 0 {
            self.shared.log.say("keys-replaced", &[("others_revoked", others.into())]);
        }
    }

    fn listen(self: &Arc<Self>, listener: &TcpListener) {
        loop {
            let accepted = listener.accept();
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            let Ok((stream, from)) = accepted else {
                // No file descriptors: new connections wait
                std::thread::sleep(ACCEPT_RETRY_WAIT);
                continue;
            };
            let Some(permit) = self.limiter.admit(from.ip(), Instant::now()) else {
                one(&self.shared.stats.refused);
                continue;
            };
            let stream = Arc::new(stream);
            permit.is_for(&stream);
            let host = self.clone();
            let serve = move || host.serve(stream, from, permit);
            if std::thread::Builder::new().name("client".into()).spawn(serve).is_err() {
                one(&self.shared.stats.refused);
            }
        }
    }

    fn serve(&self, stream: Arc<TcpStream>, from: SocketAddr, permit: Permit) {
        let (tls, time) = {
            let current = self.current();
            (current.tls.clone(), current.limits.time)
        };
        let shaken = shake_hands(stream, &tls, time);
        // If the handshake lost its place, report that rather than the end of the stream
        let shaken = if permit.keep() { shaken } else { Err(io::Error::other(MADE_ROOM)) };
        let shaken = shaken.inspect_err(|_| {
            permit.failed();
            one(&self.shared.stats.failed);
        });
        let done = shaken.and_then(|(connection, stream)| {
            one(&self.shared.stats.handshakes);
            self.converse(connection, stream, from, tls.config, &permit)
        });
        if let Err(error) = done {
            let about = [("from", from.to_string().into()), ("why", error.to_string().into())];
            self.shared.log.say("control-failed", &about);
        }
    }

    fn converse(
        &self,
        connection: ServerConnection,
        stream: Deadline,
        from: SocketAddr,
        verified: Arc<ServerConfig>,
        permit: &Permit,
    ) -> io::Result<()> {
        let chain = Arc::new(connection.peer_certificates().unwrap_or_default().to_vec());
        let mut client = Client { chain, verified, opened: 0, from, class: Class::default() };
        let mut stream = BufReader::new(StreamOwned::new(connection, stream));
        for _ in 0..MAX_REQUESTS {
            let mut line = Vec::new();
            permit.wait(Instant::now());
            match stream.by_ref().take(protocol::MAX_LINE as u64).read_until(b'\n', &mut line) {
                Ok(0) => break,
                Ok(_) => {}
                // Closed between requests, without the close_notify alert that TLS requires
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && line.is_empty() => break,
                Err(error) => return Err(error),
            }
            if !permit.keep() {
                return Err(io::Error::other(MADE_ROOM));
            }
            let response = match serde_json::from_slice(&line) {
                // A client that gets no response asks again; by then another relay may be running here
                Ok(Request::Open(_)) if self.stop.load(Ordering::Relaxed) => break,
                Ok(Request::Open(name)) => self.open(&name.to_ascii_lowercase(), &stream.get_ref().conn, &mut client),
                Ok(Request::Find(name)) => self.find(&name.to_ascii_lowercase(), &mut client),
                Err(_) => self.unknown_request(&client),
            };
            // The grant is secret: the buffer must not grow, because growing would leave a copy behind
            let mut line = Zeroizing::new(Vec::with_capacity(protocol::MAX_LINE));
            serde_json::to_writer(&mut *line, &response)?;
            if let Response::Opened { mut grant, .. } = response {
                grant.zeroize();
            }
            line.push(b'\n');
            stream.get_mut().write_all(&line)?;
            stream.get_mut().flush()?;
        }
        stream.get_mut().conn.send_close_notify();
        // The client may be gone already
        let _ = stream.get_mut().flush();
        Ok(())
    }
}

/// The client at the other end of a connection.
pub(super) struct Client {
    /// Its certificate, followed by the intermediate certificates.
    pub(super) chain: Chain,
    /// The TLS setup by which its certificate was last verified.
    pub(super) verified: Arc<ServerConfig>,
    /// How many sessions it opened over this connection.
    pub(super) opened: u32,
    pub(super) from: SocketAddr,
    /// The class of the last session that it opened.
    pub(super) class: Class,
}

impl Client {
    pub(super) fn certificate(&self) -> Option<&CertificateDer<'static>> {
        self.chain.first()
    }
}
