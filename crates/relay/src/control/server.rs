//! The relay's end of the control plane: a thread that listens, and one for each guest while it is inside.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use rustls::{ServerConfig, ServerConnection, StreamOwned, pki_types::CertificateDer};
use sealwright_session::Material;
use zeroize::{Zeroize, Zeroizing};

use crate::{
    control::{
        deadline::Deadline,
        door::{Door, Guest, Rate},
        message::{self, Answer, Ask},
        names::{Allowed, Names, NoNumber},
        tls,
    },
    data::Relay,
    fleet::Fleet,
    serve::log::Log,
};

/// How many questions one connection may ask.
const QUESTIONS: u32 = 1024;

/// Limits of the control plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    pub(crate) rate: Rate,
    /// How long one connection may take in all.
    pub(crate) time: Duration,
}

impl Limits {
    pub(crate) fn new(per_second: f64, at_once: usize, from_one: usize, time: Duration) -> Limits {
        Limits { rate: Rate { per_second, at_once, from_one }, time }
    }
}

/// What happened at the control plane.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) handshakes: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) opened: AtomicU64,
    pub(crate) denied: AtomicU64,
}

struct Inner {
    relay: Arc<Relay>,
    /// Where frames go, as clients are told.
    frames: (Option<String>, u16),
    door: Door,
    heard: Arc<Heard>,
    log: Arc<Log>,
    fleet: Option<Arc<Fleet>>,
    stop: AtomicBool,
    now: Mutex<Now>,
}

/// What a reload changes.
struct Now {
    tls: Arc<ServerConfig>,
    names: Names,
    time: Duration,
}

/// The control plane, running.
pub(crate) struct Control {
    address: SocketAddr,
    inner: Arc<Inner>,
    thread: Option<JoinHandle<()>>,
}

fn one(count: &AtomicU64) {
    count.fetch_add(1, Ordering::Relaxed);
}

impl Control {
    pub(crate) fn start(
        address: SocketAddr,
        (relay, fleet): (Arc<Relay>, Option<Arc<Fleet>>),
        frames: (Option<String>, u16),
        tls: Arc<ServerConfig>,
        names: Names,
        limits: Limits,
        (heard, log): (Arc<Heard>, Arc<Log>),
    ) -> io::Result<Control> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let now = Now { tls, names, time: limits.time };
        let door = Door::new(limits.rate, Instant::now());
        let inner = Arc::new(Inner {
            relay,
            frames,
            door,
            heard,
            log,
            fleet,
            stop: AtomicBool::new(false),
            now: Mutex::new(now),
        });
        let host = inner.clone();
        let thread = std::thread::Builder::new().name("control".into()).spawn(move || host.listen(&listener))?;
        Ok(Control { address, inner, thread: Some(thread) })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Other names, certificates and limits from now on. Sessions of names that are gone end.
    pub(crate) fn reload(&self, tls: Arc<ServerConfig>, allowed: &Allowed, limits: Limits) {
        self.inner.door.set(limits.rate);
        let gone = {
            let mut now = self.inner.now();
            now.tls = tls;
            now.time = limits.time;
            now.names.set(allowed)
        };
        let layout = self.inner.relay.layout();
        for (name, index) in gone {
            let session = layout.session(index);
            let Some((shard, slot)) = layout.locate(session) else { continue };
            let revoked = self.inner.relay.change(shard, slot..slot + 1, move |sessions| {
                let revoked = sessions.revoke(slot);
                sessions.remove(slot);
                revoked.len()
            });
            self.inner.fleet.iter().for_each(|fleet| fleet.closed(&name));
            // Those who shared its cluster's keys must open theirs anew; a relay that has stopped has none
            let others = revoked.unwrap_or(0);
            let about = [("name", name.into()), ("session", session.into()), ("others_revoked", others.into())];
            self.inner.log.say("removed", &about);
        }
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.inner.stop.store(true, Ordering::Relaxed);
        // One last visitor, so that the listening thread looks up
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Inner {
    fn now(&self) -> std::sync::MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listen(self: &Arc<Self>, listener: &TcpListener) {
        loop {
            let visitor = listener.accept();
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            let Ok((stream, from)) = visitor else {
                // No descriptors: those who knock wait a little
                std::thread::sleep(Duration::from_millis(20));
                continue;
            };
            let Some(guest) = self.door.admit(from.ip(), Instant::now()) else {
                one(&self.heard.refused);
                continue;
            };
            let host = self.clone();
            let inside = move || host.receive(stream, from, guest);
            if std::thread::Builder::new().name("guest".into()).spawn(inside).is_err() {
                one(&self.heard.refused);
            }
        }
    }

    fn receive(&self, stream: TcpStream, from: SocketAddr, guest: Guest) {
        let (tls, time) = {
            let now = self.now();
            (now.tls.clone(), now.time)
        };
        if let Err(error) = self.converse(stream, tls, time) {
            one(&self.heard.failed);
            let why = error.to_string();
            self.log.say("control-failed", &[("from", from.to_string().into()), ("why", why.into())]);
        }
        drop(guest);
    }

    fn converse(&self, stream: TcpStream, tls: Arc<ServerConfig>, time: Duration) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut connection = ServerConnection::new(tls).map_err(io::Error::other)?;
        let mut stream = Deadline::new(stream, time);
        while connection.is_handshaking() {
            connection.complete_io(&mut stream)?;
        }
        one(&self.heard.handshakes);
        let mut stream = BufReader::new(StreamOwned::new(connection, stream));
        let mut opened = 0;
        for _ in 0..QUESTIONS {
            let mut line = Vec::new();
            match stream.by_ref().take(message::LONGEST as u64).read_until(b'\n', &mut line) {
                Ok(0) => break,
                Ok(_) => {}
                // Closed without a word of goodbye: nothing was being said
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && line.is_empty() => break,
                Err(error) => return Err(error),
            }
            let answer = match serde_json::from_slice(&line) {
                // Who hears nothing asks again, and by then another relay may be here
                Ok(Ask::Open(_)) if self.stop.load(Ordering::Relaxed) => break,
                Ok(Ask::Open(name)) => self.open(&name, &stream.get_ref().conn, &mut opened),
                Ok(Ask::Find(name)) => self.find(&name),
                Err(_) => Answer::Refused("no such question".into()),
            };
            let mut line = Zeroizing::new(serde_json::to_vec(&answer)?);
            if let Answer::Opened { mut grant, .. } = answer {
                grant.zeroize();
            }
            line.push(b'\n');
            stream.get_mut().write_all(&line)?;
            stream.get_mut().flush()?;
        }
        stream.get_mut().conn.send_close_notify();
        // Nobody has to wait for the goodbye
        let _ = stream.get_mut().flush();
        Ok(())
    }

    fn open(&self, name: &str, connection: &ServerConnection, opened: &mut u32) -> Answer {
        let certificate: Option<&CertificateDer<'_>> = connection.peer_certificates().and_then(<[_]>::first);
        if !certificate.is_some_and(|certificate| tls::names(certificate, name)) {
            one(&self.heard.denied);
            return Answer::Refused("your certificate does not name this client".into());
        }
        let index = match self.now().names.number(name) {
            Ok(index) => index,
            Err(why) => return self.no_number(why),
        };
        let layout = self.relay.layout();
        let session = layout.session(index);
        let Some((shard, slot)) = layout.locate(session) else { return self.no_number(NoNumber::Full) };
        let context = message::context(session, *opened);
        let exported = Zeroizing::new([0; Material::LEN]);
        let exported = connection.export_keying_material(exported, message::LABEL, Some(&context));
        let Ok(exported) = exported else { return Answer::Refused("no keys could be agreed on".into()) };
        let material = Material::from_bytes(&exported);
        *opened += 1;
        let admitted =
            self.relay.change(shard, slot..slot + 1, move |sessions| sessions.admit(slot, session, &material));
        match admitted {
            Ok(Ok(grant)) => {
                one(&self.heard.opened);
                self.fleet.iter().for_each(|fleet| fleet.opened(name, session));
                self.log.say("opened", &[("name", name.into()), ("session", session.into())]);
                let (host, port) = self.frames.clone();
                let udp = self.relay.udp(shard).map(|address| address.port());
                Answer::Opened {
                    session,
                    host,
                    port,
                    udp,
                    fleet: self.fleet.is_some(),
                    workers: layout.shards(),
                    grant: base16ct::lower::encode_string(&grant.to_bytes()[..]),
                }
            }
            Ok(Err(refused)) => Answer::Refused(format!("the session could not be made: {refused}")),
            Err(stopped) => Answer::Refused(stopped.to_string()),
        }
    }

    fn find(&self, name: &str) -> Answer {
        if let Some(session) = self.fleet.as_ref().and_then(|fleet| fleet.find(name)) {
            return Answer::Found(session);
        }
        match self.now().names.number(name) {
            Ok(index) => Answer::Found(self.relay.layout().session(index)),
            Err(why) => self.no_number(why),
        }
    }

    fn no_number(&self, why: NoNumber) -> Answer {
        one(&self.heard.denied);
        Answer::Refused(match why {
            NoNumber::Unknown => "this relay does not know that name".into(),
            NoNumber::Full => "all sessions of this relay are taken".into(),
        })
    }
}
