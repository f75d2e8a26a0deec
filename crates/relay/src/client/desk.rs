//! A connection to the control plane, as a client asks over it.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs},
    time::Duration,
};

use rustls::{ClientConnection, StreamOwned, pki_types::ServerName};
use sealwright_session::{Client, Grant};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    client::identity::{ClientError, Identity, Session},
    control::{
        Deadline,
        message::{Answer, Ask, LONGEST},
        tls::TlsError,
    },
};

/// How long a question may take, the connection included.
const TIME: Duration = Duration::from_secs(10);
/// How much longer for each of many.
const EACH: Duration = Duration::from_millis(10);

/// The control plane of a relay.
pub(crate) struct Desk {
    relay: String,
    stream: BufReader<StreamOwned<ClientConnection, Deadline>>,
    peer: IpAddr,
}

impl Desk {
    /// Connects to the first relay that answers. Time for so many questions.
    pub(crate) fn connect(identity: &Identity, questions: usize) -> Result<Desk, ClientError> {
        let mut last = None;
        for relay in identity.relay.split(',') {
            match Desk::connect_to(identity, relay.trim(), questions) {
                Err(error @ ClientError::Relay { .. }) => last = Some(error),
                other => return other,
            }
        }
        Err(last.unwrap_or_else(|| ClientError::Config("no relay".into())))
    }

    /// Connects, shows the certificate, and looks at the relay's.
    fn connect_to(identity: &Identity, address: &str, questions: usize) -> Result<Desk, ClientError> {
        let config = identity.papers.client()?;
        let relay = |error: io::Error| ClientError::Relay { relay: address.to_owned(), error };
        let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name =
            ServerName::try_from(host).map_err(|_| ClientError::Config(format!("{address}: no host and port")))?;
        let stream = dial(address).map_err(relay)?;
        let peer = stream.peer_addr().map_err(relay)?.ip();
        let mut connection = ClientConnection::new(config, name).map_err(TlsError::from)?;
        let mut stream = Deadline::new(stream, TIME + EACH * questions as u32);
        while connection.is_handshaking() {
            connection.complete_io(&mut stream).map_err(relay)?;
        }
        Ok(Desk { relay: address.to_owned(), stream: BufReader::new(StreamOwned::new(connection, stream)), peer })
    }

    /// Opens a session.
    pub(crate) fn open(&mut self, name: &str) -> Result<Session, ClientError> {
        match self.ask(&Ask::Open(name.to_owned()))? {
            Answer::Opened { host, port, grant, workers, udp, fleet, .. } => {
                let at = |frames: SocketAddr| udp.map(|port| SocketAddr::new(frames.ip(), port));
                let grant = Zeroizing::new(grant);
                let frames = match host {
                    Some(host) => resolve(&format!("{host}:{port}")).map_err(|error| self.failed(error))?,
                    None => SocketAddr::new(self.peer, port),
                };
                let bytes = Zeroizing::new(base16ct::mixed::decode_vec(&*grant).unwrap_or_default());
                let grant = <&[u8; Grant::LEN]>::try_from(&bytes[..])
                    .ok()
                    .and_then(Grant::from_bytes)
                    .filter(|_| workers > 0)
                    .ok_or_else(|| ClientError::Refused("with a grant that is none".into()))?;
                Ok(Session {
                    client: Client::new(&grant),
                    spec: grant.spec(),
                    frames,
                    udp: at(frames),
                    fleet,
                    workers,
                    found: Vec::new(),
                })
            }
            other => Err(refusal(other)),
        }
    }

    /// The number of another client's session.
    pub(crate) fn find(&mut self, name: &str) -> Result<u32, ClientError> {
        match self.ask(&Ask::Find(name.to_owned()))? {
            Answer::Found(session) => Ok(session),
            other => Err(refusal(other)),
        }
    }

    /// Says goodbye.
    pub(crate) fn leave(mut self) {
        self.stream.get_mut().conn.send_close_notify();
        // The relay has said all it had to say
        let _ = self.stream.get_mut().flush();
    }

    fn ask(&mut self, question: &Ask) -> Result<Answer, ClientError> {
        self.exchange(question).map_err(|error| self.failed(error))
    }

    fn exchange(&mut self, question: &Ask) -> io::Result<Answer> {
        let mut line = serde_json::to_vec(question)?;
        line.push(b'\n');
        self.stream.get_mut().write_all(&line)?;
        self.stream.get_mut().flush()?;
        let mut answer = Vec::with_capacity(LONGEST);
        self.stream.by_ref().take(LONGEST as u64).read_until(b'\n', &mut answer)?;
        if answer.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let parsed = serde_json::from_slice(&answer).map_err(io::Error::from);
        answer.zeroize();
        parsed
    }

    fn failed(&self, error: io::Error) -> ClientError {
        ClientError::Relay { relay: self.relay.clone(), error }
    }
}

fn refusal(answer: Answer) -> ClientError {
    match answer {
        Answer::Refused(why) => ClientError::Refused(why),
        _ => ClientError::Refused("with an answer to another question".into()),
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
