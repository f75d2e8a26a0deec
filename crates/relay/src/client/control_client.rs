//! The client's end of the control plane.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs},
    time::Duration,
};

use rustls::{ClientConnection, StreamOwned, pki_types::ServerName};
use sealwright_session::{Client, Grant};
use zeroize::Zeroizing;

use crate::{
    address::Address,
    client::identity::{ClientError, Identity, Session},
    control::{
        Deadline,
        protocol::{MAX_LINE, Request, Response},
        tls::TlsError,
    },
};

/// How long a request may take, the connection included.
const TIME: Duration = Duration::from_secs(10);
/// How much longer each further request may take.
const EACH: Duration = Duration::from_millis(10);

/// A connection to the control plane of a relay.
pub(crate) struct ControlClient {
    relay: String,
    stream: StreamOwned<ClientConnection, Deadline>,
    peer: IpAddr,
}

impl ControlClient {
    /// Connects to the first relay that responds, with time for so many requests.
    pub(crate) fn connect(identity: &Identity, requests: usize) -> Result<ControlClient, ClientError> {
        let mut last = None;
        for relay in identity.relay.split(',') {
            match ControlClient::connect_to(identity, relay.trim(), requests) {
                Err(error @ ClientError::Relay { .. }) => last = Some(error),
                other => return other,
            }
        }
        Err(last.unwrap_or_else(|| ClientError::NoRelay))
    }

    /// Connects; both sides show and verify certificates.
    fn connect_to(identity: &Identity, address: &str, requests: usize) -> Result<ControlClient, ClientError> {
        let config = identity.tls.client()?;
        let relay = |error: io::Error| ClientError::Relay { relay: address.to_owned(), error };
        let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(host).map_err(|_| ClientError::RelayAddress(address.to_owned()))?;
        let stream = dial(address).map_err(relay)?;
        let peer = stream.peer_addr().map_err(relay)?.ip();
        let mut connection = ClientConnection::new(config, name).map_err(TlsError::from)?;
        let mut stream = Deadline::new(stream, TIME + EACH * requests as u32);
        while connection.is_handshaking() {
            connection.complete_io(&mut stream).map_err(relay)?;
        }
        Ok(ControlClient { relay: address.to_owned(), stream: StreamOwned::new(connection, stream), peer })
    }

    /// Opens a session.
    pub(crate) fn open(&mut self, name: &str) -> Result<Session, ClientError> {
        self.granted(name).map(|(session, _)| session)
    }

    /// Opens a session, and keeps its grant.
    pub(crate) fn granted(&mut self, name: &str) -> Result<(Session, Grant), ClientError> {
        let response = self.request(&Request::Open(name.to_owned()))?;
        granted(response, self.peer, |host| resolve(host).map_err(|error| self.failed(error)))
    }

    /// The address of another client; none if it has no session now.
    pub(crate) fn find(&mut self, name: &str) -> Result<Option<Address>, ClientError> {
        match self.request(&Request::Find(name.to_owned()))? {
            Response::Found(address) => Ok(Some(address)),
            Response::Absent(_) => Ok(None),
            other => Err(refusal(other)),
        }
    }

    /// Closes the connection.
    pub(crate) fn close(mut self) {
        self.stream.conn.send_close_notify();
        // The relay has sent everything that was requested
        let _ = self.stream.flush();
    }

    fn request(&mut self, request: &Request) -> Result<Response, ClientError> {
        self.exchange(request).map_err(|error| self.failed(error))
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

/// The next line that the relay sends.
pub(super) fn read_response(stream: &mut impl Read) -> io::Result<Response> {
    // It may have a grant, of which no copy may stay; and it is the only one that is under way
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

/// The session that a response of the relay at `peer` opens, and its grant.
pub(super) fn granted(
    response: Response,
    peer: IpAddr,
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
            let bytes = Zeroizing::new(base16ct::mixed::decode_vec(&*grant).unwrap_or_default());
            let read = || {
                <&[u8; Grant::LEN]>::try_from(&bytes[..])
                    .ok()
                    .and_then(Grant::from_bytes)
                    .filter(|grant| workers > 0 && grant.session() == session)
                    .ok_or(ClientError::Protocol("its grant cannot be read"))
            };
            let grant = read()?;
            let session = Session {
                client: Client::new(read()?), // takes it: what is kept beside it is for looking at
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
        other => Err(refusal(other)),
    }
}

fn refusal(response: Response) -> ClientError {
    match response {
        Response::Refused(why) => ClientError::Refused(why),
        _ => ClientError::Protocol("its response belongs to another request"),
    }
}

fn resolve(address: &str) -> io::Result<SocketAddr> {
    let missing = || io::Error::new(io::ErrorKind::NotFound, "no such host");
    address.to_socket_addrs()?.next().ok_or_else(missing)
}

fn dial(address: &str) -> io::Result<TcpStream> {
    let mut last = None;
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, TIME) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such host")))
}
