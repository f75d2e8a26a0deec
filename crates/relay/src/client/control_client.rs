//! The client's end of the control plane.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs},
    time::{Duration, Instant},
};

use rustls::{ClientConnection, StreamOwned, pki_types::ServerName};
use sealwright_session::{Client, Grant};
use zeroize::Zeroizing;

use crate::{
    address::Address,
    client::{
        identity::{ClientError, Identity, Session, UnheardError},
        refusal::Refusal,
    },
    control::{
        Deadline,
        protocol::{MAX_LINE, Request, Response},
        tls::TlsError,
    },
};

/// Time limit of the connection, and then of the first request.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The same limit in the first round, if there are other relays to try.
const SHORT_TIMEOUT: Duration = Duration::from_secs(2);
/// The least time limit, however little of the caller's time is left.
const LEAST_TIMEOUT: Duration = Duration::from_secs(1);
/// Additional time for each further request.
const EXTRA_TIME: Duration = Duration::from_millis(10);

const WRONG_REQUEST_ERROR: ClientError = ClientError::Protocol("its response belongs to another request");

/// A connection to the control plane of a relay.
pub(crate) struct ControlClient {
    relay: String,
    stream: StreamOwned<ClientConnection, Deadline>,
    peer: IpAddr,
    /// Whether sessions with schemes for research are accepted.
    research: bool,
}

impl ControlClient {
    /// Runs `ask` against a relay, for so many requests and within the time that is left. The relay that answered last
    /// is tried first; completing a handshake does not count as an answer. All relays are tried once, and again only
    /// while there is time.
    pub(crate) fn ask<T>(
        identity: &Identity,
        requests: usize,
        within: Duration,
        mut ask: impl FnMut(&mut ControlClient) -> Result<T, ClientError>,
    ) -> Result<T, ClientError> {
        let start = Instant::now();
        let left = || within.saturating_sub(start.elapsed());
        let relays: Vec<&str> = identity.relay.split(',').map(str::trim).collect();
        let first = identity.last.get() % relays.len();
        // A silent relay must not delay the next one for long; if none answers quickly, each gets the full time in the
        // second round
        let rounds = if relays.len() > 1 { &[SHORT_TIMEOUT, TIMEOUT][..] } else { &[TIMEOUT] };
        let mut last = None;
        for (round, time) in rounds.iter().enumerate() {
            let mut slow = false;
            for at in (first..relays.len()).chain(0..first) {
                if round > 0 && left().is_zero() {
                    break;
                }
                let connecting = left().max(LEAST_TIMEOUT).min(*time);
                let connected =
                    ControlClient::connect_to(identity, relays[at], connecting, *time + EXTRA_TIME * requests as u32);
                let answer = connected.and_then(|mut control| {
                    let answer = ask(&mut control)?;
                    control.close();
                    Ok(answer)
                });
                match answer {
                    Err(ClientError::Relay { relay, error }) => {
                        slow |= error.kind() == io::ErrorKind::TimedOut;
                        last = Some(ClientError::Relay { relay, error });
                    }
                    other => {
                        identity.last.set(at);
                        return other;
                    }
                }
            }
            if !slow {
                break;
            }
        }
        Err(last.unwrap_or_else(|| ClientError::NoRelay))
    }

    /// Connects to the only relay, for so many requests.
    #[cfg(test)]
    pub(crate) fn connect(identity: &Identity, requests: usize) -> Result<ControlClient, ClientError> {
        ControlClient::connect_to(identity, &identity.relay, TIMEOUT, TIMEOUT + EXTRA_TIME * requests as u32)
    }

    /// Connects within this time, then allows as much for requests. Both sides present and verify certificates.
    fn connect_to(
        identity: &Identity,
        address: &str,
        time: Duration,
        for_requests: Duration,
    ) -> Result<ControlClient, ClientError> {
        let config = identity.tls.client()?;
        let relay = |error: io::Error| ClientError::Relay { relay: address.to_owned(), error };
        let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(host).map_err(|_| ClientError::RelayAddress(address.to_owned()))?;
        let stream = dial(address, time).map_err(relay)?;
        let peer = stream.peer_addr().map_err(relay)?.ip();
        let mut connection = ClientConnection::new(config, name).map_err(TlsError::from)?;
        let mut stream = Deadline::new(stream, time);
        while connection.is_handshaking() {
            let done = connection.complete_io(&mut stream);
            done.map_err(|error| relay(if connection.protocol_version().is_none() { unheard(error) } else { error }))?;
        }
        stream.extend(for_requests);
        let stream = StreamOwned::new(connection, stream);
        Ok(ControlClient { relay: address.to_owned(), stream, peer, research: identity.research })
    }

    /// Opens a session.
    pub(crate) fn open(&mut self, name: &str) -> Result<Session, ClientError> {
        self.granted(name).map(|(session, _)| session)
    }

    /// Opens a session, and keeps its grant.
    pub(crate) fn granted(&mut self, name: &str) -> Result<(Session, Grant), ClientError> {
        let response = self.request(Request::Open(name.to_owned()))?;
        let resolved = |host: &str| resolve(host, self.peer).map_err(|error| self.failed(error));
        granted(response, self.peer, self.research, resolved)
    }

    /// Looks up the address of another client; `None` if it has no session now.
    pub(crate) fn find(&mut self, name: &str) -> Result<Option<Address>, ClientError> {
        match self.request(Request::Find(name.to_owned()))? {
            Response::Found(address) => Ok(Some(address)),
            Response::Absent(_) => Ok(None),
            _ => Err(WRONG_REQUEST_ERROR),
        }
    }

    /// Closes the connection.
    pub(crate) fn close(mut self) {
        self.stream.conn.send_close_notify();
        // The relay has already sent all responses
        let _ = self.stream.flush();
    }

    fn request(&mut self, request: Request) -> Result<Response, ClientError> {
        match self.exchange(&request).map_err(|error| self.failed(error))? {
            Response::Refused(why) => Err(ClientError::Refused(Refusal::new(request, why))),
            response => Ok(response),
        }
    }

    fn exchange(&mut self, request: &Request) -> io::Result<Response> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        self.stream.write_all(&line)?;
        self.stream.flush()?;
        read_response(&mut self.stream)
    }

    fn failed(&self, error: io::Error) -> ClientError {
        ClientError::Relay { relay: self.relay.clone(), error }
    }
}

/// Marks an error of a connection on which the relay has not sent anything.
fn unheard(error: io::Error) -> io::Error {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    match error.kind() {
        ended @ (BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof) => {
            io::Error::new(ended, UnheardError)
        }
        _ => error,
    }
}

/// Reads the next line from the relay.
pub(super) fn read_response(stream: &mut impl Read) -> io::Result<Response> {
    // The line may contain a grant, of which we keep no copy; what rustls frees of it is not wiped. No other response is
    // in transit, so nothing behind it is lost
    let mut response = Zeroizing::new([0; MAX_LINE]);
    let mut length = 0;
    while !response[..length].ends_with(b"\n") {
        match stream.read(&mut response[length..]) {
            Ok(0) if length == 0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    serde_json::from_slice(&response[..length]).map_err(io::Error::from)
}

/// The session that a relay's response opens, and its grant; `peer` is the relay's address. A scheme for research is
/// refused unless `research` is set.
pub(super) fn granted(
    response: Response,
    peer: IpAddr,
    research: bool,
    resolve: impl FnOnce(&str) -> Result<SocketAddr, ClientError>,
) -> Result<(Session, Grant), ClientError> {
    match response {
        Response::Opened { session, generation, host, port, grant, workers, udp, mesh } => {
            let at = |frames: SocketAddr| udp.map(|port| SocketAddr::new(frames.ip(), port));
            let grant = Zeroizing::new(grant);
            let frames = match host {
                Some(host) => resolve(&format!("{host}:{port}"))?,
                None => SocketAddr::new(peer, port),
            };
            let mut bytes = Zeroizing::new(base16ct::mixed::decode_vec(&*grant).unwrap_or_default());
            let read = |bytes: &mut [u8]| {
                <&mut [u8; Grant::LEN]>::try_from(bytes)
                    .ok()
                    .and_then(Grant::from_bytes)
                    .filter(|grant| workers > 0 && grant.session() == session)
                    .ok_or(ClientError::Protocol("its grant cannot be read"))
            };
            let grant = read(&mut bytes.clone())?;
            if grant.spec().research_only() && !research {
                return Err(ClientError::Research(grant.spec()));
            }
            let session = Session {
                client: Client::new(read(&mut bytes)?), // takes it: what is kept beside it is for looking at
                address: Address { session, generation },
                spec: grant.spec(),
                frames,
                udp: at(frames),
                mesh,
                workers,
                found: Vec::new(),
            };
            Ok((session, grant))
        }
        _ => Err(WRONG_REQUEST_ERROR),
    }
}

fn resolve(address: &str, peer: IpAddr) -> io::Result<SocketAddr> {
    let missing = || io::Error::new(io::ErrorKind::NotFound, "no such host");
    likeliest(address.to_socket_addrs()?, peer).ok_or_else(missing)
}

/// Chooses from a host's addresses the one most likely to be reachable: that of the control connection, else one of its
/// address family.
fn likeliest(addresses: impl Iterator<Item = SocketAddr>, peer: IpAddr) -> Option<SocketAddr> {
    let peer = peer.to_canonical();
    addresses.min_by_key(|address| match address.ip().to_canonical() {
        same if same == peer => 0,
        other if other.is_ipv4() == peer.is_ipv4() => 1,
        _ => 2,
    })
}

/// Connects to a host, allowing this time for each of its addresses.
fn dial(address: &str, time: Duration) -> io::Result<TcpStream> {
    let mut last = None;
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, time) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such host")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwright_session::{Material, Plan, table};

    use super::*;
    use crate::control::{fuzz::trial_files, trial_control::start};

    /// A name may have addresses of both families, of which this machine can reach only one.
    #[test]
    fn frames_go_where_the_control_plane_was_reached() {
        let all = ["[2001:db8::1]:7", "192.0.2.1:7", "192.0.2.2:7"].map(|address| address.parse().unwrap());
        let chosen = |peer: &str| likeliest(all.into_iter(), peer.parse().unwrap()).unwrap();
        assert_eq!(chosen("192.0.2.2"), all[2], "the same");
        assert_eq!(chosen("::ffff:192.0.2.2"), all[2], "the same, as a socket for both families has it");
        assert_eq!(chosen("192.0.2.9"), all[1], "the first of its family");
        assert_eq!(chosen("2001:db8::9"), all[0]);
        assert_eq!(likeliest(all[1..].iter().copied(), "2001:db8::9".parse().unwrap()), Some(all[1]), "all there is");
        assert_eq!(likeliest(std::iter::empty(), "::1".parse().unwrap()), None);
    }

    /// The caller's time limit holds even if none of many relays answers.
    #[test]
    fn relays_that_are_silent_take_no_more_time_than_there_is() {
        let folder = tempfile::tempdir().unwrap();
        let trial = folder.path().join("trial");
        crate::serve::init(&trial, &[], &["alice".into()]).unwrap();
        // The kernel completes their connections
        let silent: Vec<_> = (0..3).map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let mut identity = Identity::read(&trial.join("alice.toml")).unwrap();
        let addresses: Vec<_> = silent.iter().map(|relay| relay.local_addr().unwrap().to_string()).collect();
        identity.relay = addresses.join(",");
        let start = Instant::now();
        let failed = ControlClient::ask(&identity, 1, Duration::from_millis(1500), |_| Ok(())).err().unwrap();
        assert!(matches!(&failed, ClientError::Relay { relay, .. } if *relay == addresses[2]), "all once: {failed}");
        assert!(start.elapsed() < Duration::from_secs(10), "two rounds of ten seconds each take half a minute");
    }

    /// A relay whose worker hangs completes handshakes but answers nothing. A relay that answers more slowly than
    /// others gets its turn as well.
    #[test]
    fn a_relay_that_only_shakes_hands_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let trial = folder.path().join("trial");
        crate::serve::init(&trial, &[], &["alice".into()]).unwrap();
        let tls = trial_files(&trial, "relay").server().unwrap();
        let hung = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = hung.local_addr().unwrap();
        let config = tls.config.clone();
        std::thread::spawn(move || {
            let mut held = Vec::new();
            for stream in hung.incoming() {
                let (mut stream, mut server) =
                    (stream.unwrap(), rustls::ServerConnection::new(config.clone()).unwrap());
                while server.is_handshaking() && server.complete_io(&mut stream).is_ok() {}
                held.push((stream, server));
            }
        });
        let control = start(tls, &["alice"]);
        let mut identity = Identity::read(&trial.join("alice.toml")).unwrap();
        identity.relay = format!("localhost:{}, localhost:{}", address.port(), control.address().port());
        let start = Instant::now();
        identity.open(&[]).unwrap();
        assert!(start.elapsed() < TIMEOUT, "{:?}", start.elapsed());
        assert_eq!(identity.last.get(), 1, "it is asked first from now on");
        identity.last.pass_over();
        assert_eq!(identity.last.get() % 2, 0);
    }

    /// Behaves like a relay with no place for a handshake, before or after the client's first message arrived.
    #[test]
    fn a_relay_that_closes_the_connection_may_be_too_busy() {
        let folder = tempfile::tempdir().unwrap();
        let trial = folder.path().join("trial");
        crate::serve::init(&trial, &[], &["alice".into()]).unwrap();
        let mut identity = Identity::read(&trial.join("alice.toml")).unwrap();
        let relay = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        identity.relay = relay.local_addr().unwrap().to_string();
        for reads in [false, true] {
            let failed = std::thread::scope(|scope| {
                scope.spawn(|| {
                    let (mut stream, _) = relay.accept().unwrap();
                    if reads {
                        stream.read_exact(&mut [0]).unwrap();
                    }
                });
                ControlClient::connect(&identity, 1).err().unwrap()
            });
            let told = format!("{}: the relay closed the connection; perhaps it is too busy", identity.relay);
            assert_eq!(failed.to_string(), told);
            assert!(failed.is_unheard());
        }
        // A relay that has sent something before it closes the connection knows who the client is
        let error = io::ErrorKind::UnexpectedEof.into();
        assert!(!ClientError::Relay { relay: identity.relay, error }.is_unheard());
    }

    #[test]
    fn a_scheme_for_research_must_be_meant() {
        let open = |scheme: &str, research| {
            let mut sessions = table(Plan::new(scheme.parse().unwrap(), 1)).unwrap();
            let grant = sessions.admit(0, 0, &Material::random().unwrap()).unwrap();
            let response = Response::Opened {
                session: 0,
                generation: 1,
                host: None,
                port: 7600,
                udp: None,
                mesh: false,
                workers: 1,
                grant: base16ct::lower::encode_string(&grant.to_bytes()[..]),
            };
            let opened = granted(response, [127, 0, 0, 1].into(), research, |_| Err(ClientError::NoRelay));
            opened.map(|(session, _)| session.spec.to_string())
        };
        let refused = open("clear", false).unwrap_err();
        assert_eq!(refused.to_string(), "the relay's scheme, clear, is for research only");
        assert_eq!(refused.hint(), Some("research = true in the client's file allows it"));
        assert_eq!(open("clear", true).unwrap(), "clear");
        assert_eq!(["gcm-on64", "gscm-h-256"].map(|scheme| open(scheme, false).unwrap()), ["gcm-on64", "gscm-h-256"]);
    }
}
