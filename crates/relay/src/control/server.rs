//! The relay's end of the control plane: a thread that listens, a thread for each connection, and one that ends sessions
//! whose time is over.

use std::{
    collections::HashMap,
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use rustls::{ServerConnection, StreamOwned, pki_types::CertificateDer};
use sealwright_session::{Material, SessionError};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    address::Address,
    control::{
        deadline::Deadline,
        names::{Allowed, Chain, Names, NoNumber, Number, OpenSession},
        protocol::{self, Request, Response},
        rate_limiter::{Permit, Rate, RateLimiter},
        stats::{ControlStats, one},
        tls::{self, ServerTls},
    },
    data::{AdmitError, Relay},
    log::Log,
};

/// The most requests of one connection.
const REQUESTS: u32 = 1024;
/// How often certificates and lifetimes of open sessions are checked.
const CHECK: Duration = Duration::from_secs(30);

/// Limits of the control plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    pub(crate) rate: Rate,
    /// How long one connection may take in all.
    pub(crate) time: Duration,
    /// How long a session may live before its client must open it again.
    pub(crate) lifetime: Duration,
}

/// Which client has which address, on this node and others.
pub(crate) trait NameDirectory: Send + Sync {
    /// A client opened its session here.
    fn opened(&self, name: &str, address: Address);
    /// The session of a client here has ended.
    fn closed(&self, name: &str, address: Address);
    /// The address of a client that has a session anywhere.
    fn find(&self, name: &str) -> Option<Address>;
}

/// What the control plane works with.
pub(crate) struct Shared {
    pub(crate) relay: Arc<Relay>,
    /// The other nodes, if there are any.
    pub(crate) directory: Option<Arc<dyn NameDirectory>>,
    /// Host and port for frames, as clients are told.
    pub(crate) frames: (Option<String>, u16),
    pub(crate) stats: Arc<ControlStats>,
    pub(crate) log: Arc<Log>,
}

struct Inner {
    shared: Shared,
    limiter: RateLimiter,
    stop: AtomicBool,
    current: Mutex<Current>,
}

/// What a reload changes.
struct Current {
    tls: ServerTls,
    names: Names,
    limits: Limits,
}

/// The control plane, running.
pub(crate) struct ControlServer {
    address: SocketAddr,
    inner: Arc<Inner>,
    threads: Vec<JoinHandle<()>>,
}

impl ControlServer {
    pub(crate) fn start(
        address: SocketAddr,
        shared: Shared,
        tls: ServerTls,
        names: Names,
        limits: Limits,
    ) -> io::Result<ControlServer> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let limiter = RateLimiter::new(limits.rate, Instant::now());
        let current = Mutex::new(Current { tls, names, limits });
        let inner = Arc::new(Inner { shared, limiter, stop: AtomicBool::new(false), current });
        let mut server = ControlServer { address, inner, threads: Vec::new() };
        let (listening, checking) = (server.inner.clone(), server.inner.clone());
        let thread = |name: &str| std::thread::Builder::new().name(name.into());
        server.threads.push(thread("lifetimes").spawn(move || checking.check_until_stopped())?);
        server.threads.push(thread("control").spawn(move || listening.listen(&listener))?);
        Ok(server)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Other names, certificates and limits from now on. Sessions end whose names are gone, or whose certificates the
    /// authority does not vouch for any more.
    pub(crate) fn reload(&self, tls: ServerTls, allowed: &Allowed, limits: Limits) {
        self.inner.limiter.set(limits.rate);
        let gone = {
            let mut current = self.inner.current();
            current.tls = tls;
            current.limits = limits;
            current.names.set(allowed)
        };
        let Shared { relay, directory, log, .. } = &self.inner.shared;
        for (name, number) in gone {
            let address = self.inner.address(number);
            // A relay that has stopped has no sessions
            let others = relay.revoke(address.session).unwrap_or(0);
            directory.iter().for_each(|directory| directory.closed(&name, address));
            // Those who shared keys with it must open their sessions again
            let about = [("name", name.into()), ("session", address.session.into()), ("others_revoked", others.into())];
            log.say("removed", &about);
        }
        self.inner.check_sessions();
    }
}

impl Drop for ControlServer {
    fn drop(&mut self) {
        self.inner.stop.store(true, Ordering::Relaxed);
        // One last connection, so that the listening thread notices
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

impl Inner {
    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn address(&self, number: Number) -> Address {
        let session = self.shared.relay.layout().session(number.index);
        Address { session, generation: number.generation }
    }

    fn listen(self: &Arc<Self>, listener: &TcpListener) {
        loop {
            let accepted = listener.accept();
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            let Ok((stream, from)) = accepted else {
                // No descriptors: new connections are delayed
                std::thread::sleep(Duration::from_millis(20));
                continue;
            };
            let Some(permit) = self.limiter.admit(from.ip(), Instant::now()) else {
                one(&self.shared.stats.refused);
                continue;
            };
            let host = self.clone();
            let serve = move || host.serve(stream, from, permit);
            if std::thread::Builder::new().name("client".into()).spawn(serve).is_err() {
                one(&self.shared.stats.refused);
            }
        }
    }

    fn serve(&self, stream: TcpStream, from: SocketAddr, permit: Permit) {
        let (tls, time) = {
            let current = self.current();
            (current.tls.clone(), current.limits.time)
        };
        if let Err(error) = self.converse(stream, &tls, time, &permit) {
            one(&self.shared.stats.failed);
            let about = [("from", from.to_string().into()), ("why", error.to_string().into())];
            self.shared.log.say("control-failed", &about);
        }
    }

    fn converse(&self, stream: TcpStream, tls: &ServerTls, time: Duration, permit: &Permit) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut connection = ServerConnection::new(tls.config.clone()).map_err(io::Error::other)?;
        let mut stream = Deadline::new(stream, time);
        while connection.is_handshaking() {
            connection.complete_io(&mut stream).inspect_err(|_| permit.failed())?;
        }
        one(&self.shared.stats.handshakes);
        let chain: Vec<_> = connection.peer_certificates().unwrap_or_default().to_vec();
        let mut client = Client { chain: Arc::new(chain), opened: 0 };
        let mut stream = BufReader::new(StreamOwned::new(connection, stream));
        for _ in 0..REQUESTS {
            let mut line = Vec::new();
            match stream.by_ref().take(protocol::MAX_LINE as u64).read_until(b'\n', &mut line) {
                Ok(0) => break,
                Ok(_) => {}
                // Closed between two requests, without the alert that TLS asks for
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && line.is_empty() => break,
                Err(error) => return Err(error),
            }
            let response = match serde_json::from_slice(&line) {
                // A client that gets no response asks again, and by then another relay may be here
                Ok(Request::Open(_)) if self.stop.load(Ordering::Relaxed) => break,
                Ok(Request::Open(name)) => self.open(&name.to_ascii_lowercase(), &stream.get_ref().conn, &mut client),
                Ok(Request::Find(name)) => self.find(&name.to_ascii_lowercase(), &client),
                Err(_) => Response::Refused("unknown request".into()),
            };
            // The grant is a secret: no copy of it stays behind, so the buffer must not grow
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

    fn open(&self, name: &str, connection: &ServerConnection, client: &mut Client) -> Response {
        if !client.certificate().is_some_and(|certificate| tls::names(certificate, name)) {
            one(&self.shared.stats.denied);
            return Response::Refused("your certificate does not name this client".into());
        }
        let mut number = match self.current().names.number(name) {
            Ok(number) => number,
            Err(why) => return self.no_number(name, why),
        };
        let mut granted = self.admit(number, connection, client);
        if let Some(Err(AdmitError::Session(SessionError::Exhausted))) = granted {
            // The number has had all its keys: the client gets another one
            let renewed = {
                let mut current = self.current();
                current.names.retire(name, number);
                current.names.number(name)
            };
            number = match renewed {
                Ok(number) => number,
                Err(why) => return self.no_number(name, why),
            };
            granted = self.admit(number, connection, client);
        }
        let grant = match granted {
            Some(Ok(grant)) => grant,
            Some(Err(error)) => return Response::Refused(format!("the session cannot be opened: {error}")),
            None => return Response::Refused("no keys could be agreed on".into()),
        };
        let address = self.address(number);
        let open = OpenSession { since: Instant::now(), chain: client.chain.clone() };
        // The configuration may have changed since the number was looked up
        if !self.current().names.opened(name, number, open) {
            self.shared.relay.remove(address);
            return self.no_number(name, NoNumber::Unknown);
        }
        let Shared { relay, directory, frames, stats, log } = &self.shared;
        one(&stats.opened);
        directory.iter().for_each(|directory| directory.opened(name, address));
        log.say("opened", &[("name", name.into()), ("session", address.session.into())]);
        let (host, port) = frames.clone();
        let shard = relay.layout().locate(address.session).map_or(0, |(shard, _)| shard);
        Response::Opened {
            session: address.session,
            generation: address.generation,
            host,
            port,
            udp: relay.udp(shard).map(|address| address.port()),
            mesh: directory.is_some(),
            workers: relay.layout().shards(),
            grant: base16ct::lower::encode_string(&grant.to_bytes()[..]),
        }
    }

    /// Gives the session of this number keys of the connection; nothing if TLS exports none.
    fn admit(
        &self,
        number: Number,
        connection: &ServerConnection,
        client: &mut Client,
    ) -> Option<Result<sealwright_session::Grant, AdmitError>> {
        let address = self.address(number);
        let context = protocol::context(address.session, client.opened);
        let exported = Zeroizing::new([0; Material::LEN]);
        let exported = connection.export_keying_material(exported, protocol::LABEL, Some(&context)).ok()?;
        client.opened += 1;
        Some(self.shared.relay.admit(address, Material::from_bytes(&exported)))
    }

    fn find(&self, name: &str, client: &Client) -> Response {
        let current = self.current();
        let dns_names = client.certificate().map(tls::dns_names).unwrap_or_default();
        if !dns_names.iter().any(|name| current.names.knows(name)) {
            one(&self.shared.stats.denied);
            return Response::Refused("your certificate names no client of this relay".into());
        }
        if let Some(address) = self.shared.directory.as_ref().and_then(|directory| directory.find(name)) {
            return Response::Found(address);
        }
        let found = current.names.find(name);
        drop(current);
        match found {
            Ok(number) => Response::Found(self.address(number)),
            Err(why) => self.no_number(name, why),
        }
    }

    fn no_number(&self, name: &str, why: NoNumber) -> Response {
        if why == NoNumber::Absent {
            return Response::Absent(name.to_owned());
        }
        one(&self.shared.stats.denied);
        Response::Refused(match why {
            NoNumber::Full => "all sessions of this relay are taken".into(),
            _ => "this relay does not know that name".into(),
        })
    }

    fn check_until_stopped(&self) {
        while !self.stop.load(Ordering::Relaxed) {
            std::thread::park_timeout(CHECK);
            if !self.stop.load(Ordering::Relaxed) {
                self.check_sessions();
            }
        }
    }

    /// Ends sessions whose lifetime is over, or whose certificate has expired or comes from another authority.
    fn check_sessions(&self) {
        let ended: Vec<(String, Number, &str)> = {
            let current = self.current();
            // Many sessions may have one certificate
            let mut checked: HashMap<*const Vec<CertificateDer<'_>>, bool> = HashMap::new();
            let mut why = |open: &OpenSession| {
                if open.since.elapsed() > current.limits.lifetime {
                    return Some("its lifetime is over");
                }
                let valid =
                    checked.entry(Arc::as_ptr(&open.chain)).or_insert_with(|| current.tls.is_valid(&open.chain));
                (!*valid).then_some("its certificate is not valid any more")
            };
            let sessions = current.names.open_sessions();
            sessions.filter_map(|(name, number, open)| Some((name.to_owned(), number, why(open)?))).collect()
        };
        for (name, number, why) in ended {
            self.current().names.closed(&name, number);
            let address = self.address(number);
            self.shared.relay.remove(address);
            self.shared.directory.iter().for_each(|directory| directory.closed(&name, address));
            let about = [("name", name.into()), ("session", address.session.into()), ("why", why.into())];
            self.shared.log.say("ended", &about);
        }
    }
}

/// The client of a connection.
struct Client {
    /// Its certificate, and those up to the authority.
    chain: Chain,
    /// Sessions that it opened over this connection.
    opened: u32,
}

impl Client {
    fn certificate(&self) -> Option<&CertificateDer<'static>> {
        self.chain.first()
    }
}
