//! The identity of a client, and why it may fail to get a session.

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use sealwright_session::{Client, Spec};
use serde::Deserialize;
use thiserror::Error;

use crate::{
    address::Address,
    client::{refusal::Refusal, unreachable},
    control::tls::{TlsError, TlsFiles},
    errors::{self, TomlError, os_error_text},
    serve::{config_error::ValueError, file_name::file_within},
};

/// Why a client has no session, or cannot exchange its stream.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The configuration cannot be read.
    #[error("{}: {}", path.display(), os_error_text(error))]
    Read {
        /// Its file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The configuration is wrong.
    #[error("{}: {why}", path.display())]
    Config {
        /// Its file.
        path: PathBuf,
        /// What is wrong.
        why: TomlError,
    },
    /// A file that the configuration names cannot be one.
    #[error("{}: {why}", path.display())]
    FileName {
        /// Its file.
        path: PathBuf,
        /// What is wrong.
        why: ValueError,
    },
    /// The identity names no relay.
    #[error("no relay is configured")]
    NoRelay,
    /// The address of a relay cannot be used.
    #[error("{0:?} is not a host and a port, such as relay.example:7601")]
    RelayAddress(String),
    /// The relay's scheme is for research only, and the client did not ask for one.
    #[error("the relay's scheme, {0}, is for research only")]
    Research(Spec),
    /// The relay does not follow the protocol.
    #[error("the relay does not follow the protocol: {0}")]
    Protocol(&'static str),
    /// Certificates or keys cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The relay cannot be reached, or the connection fails.
    #[error("{relay}: {}", os_error_text(error))]
    Relay {
        /// Its address.
        relay: String,
        /// Why.
        error: io::Error,
    },
    /// The relay refused a request.
    #[error("the relay refused to {0}")]
    Refused(Refusal),
    /// Frames were to travel as datagrams, which the relay does not receive.
    #[error("the relay receives no datagrams")]
    NoDatagrams,
    /// The other client does not answer.
    #[error("{0} does not answer")]
    NoAnswer(String),
    /// The other client began another stream.
    #[error("{0} started again with a new stream; data that it had not acknowledged is lost")]
    PeerRestarted(String),
    /// The other client gave up.
    #[error("{0} gave up; data that it had not acknowledged is lost")]
    PeerFailed(String),
    /// The input cannot be read.
    #[error("the input cannot be read: {}", os_error_text(.0))]
    Input(io::Error),
    /// The output cannot be written.
    #[error("the output cannot be written: {}", os_error_text(.0))]
    Output(io::Error),
    /// The system has no chance, thread or poll for a stream; or what the caller waited for is missing.
    #[error("{}", os_error_text(.0))]
    Io(io::Error),
}

impl From<io::Error> for ClientError {
    fn from(error: io::Error) -> ClientError {
        ClientError::Io(error)
    }
}

/// The relay closed the connection before it sent anything, as it does when too many others are in a handshake.
#[derive(Clone, Copy, Debug, Error)]
#[error("the relay closed the connection; perhaps it is too busy")]
pub(super) struct UnheardError;

impl ClientError {
    /// A suggestion to the user, if there is one beyond the error itself.
    pub fn hint(&self) -> Option<&str> {
        match self {
            ClientError::Config { why, .. } => match why.unknown_field() {
                Some("admin" | "clients" | "clients_file" | "cluster_sessions" | "clusters" | "control" | "frames") => {
                    Some("this is the configuration of a relay; `relay add` writes a file for each client beside it")
                }
                _ => None,
            },
            ClientError::FileName { why, .. } => why.hint(),
            ClientError::Research(_) => Some("research = true in the client's file allows it"),
            ClientError::Tls(error) => error.hint(),
            error if error.is_unheard() => Some("is this the relay's control port? If it is, try again later"),
            ClientError::Relay { error, .. } => Some(unreachable::hint(error)),
            ClientError::Refused(refusal) => Some(refusal.hint()),
            ClientError::NoAnswer(_) => Some(
                "is the other client running? If another client has the name of one of the two as well, they take its \
                 session from each other: stop one of them",
            ),
            ClientError::Input(_) | ClientError::Output(_) => {
                Some("the stream is not complete: both clients must start again")
            }
            ClientError::NoDatagrams => Some("set `udp = ...` in the configuration of the relay"),
            _ => None,
        }
    }

    /// Whether the relay closed the connection before it sent anything: it may be overloaded, or something other than
    /// the control plane of a relay listens there.
    pub fn is_unheard(&self) -> bool {
        matches!(self, ClientError::Relay { error, .. } if error.get_ref().is_some_and(|why| why.is::<UnheardError>()))
    }
}

/// The index, in the list of relays, of the one that responded last. Copies of an identity share it.
#[derive(Clone, Debug, Default)]
pub struct LastRelay(Arc<AtomicUsize>);

impl LastRelay {
    pub(super) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn set(&self, place: usize) {
        self.0.store(place, Ordering::Relaxed);
    }

    /// Moves on to the next relay: this one answered, but is of no use.
    pub(super) fn pass_over(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Name, relay and certificates of a client, from `NAME.toml`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Identity {
    /// Its name, which its certificate must name too.
    pub name: String,
    /// Host and port of the relay's control plane, or of several nodes, separated by commas. The one that responded
    /// last is tried first, then those after it in the list.
    pub relay: String,
    /// Which of them responded last.
    pub last: LastRelay,
    /// Its certificate, and the relay's authority.
    pub tls: TlsFiles,
    /// Whether it accepts a session whose scheme is for research only ([`Spec::research_only`]).
    pub research: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    relay: String,
    authority: PathBuf,
    certificate: PathBuf,
    key: PathBuf,
    #[serde(default)]
    research: bool,
}

/// An open session.
#[derive(Debug)]
#[non_exhaustive]
pub struct Session {
    /// The keys.
    pub client: Client,
    /// The address of this client.
    pub address: Address,
    /// The scheme that the relay uses.
    pub spec: Spec,
    /// The address for frames.
    pub frames: SocketAddr,
    /// Whether other clients may be connected to other nodes, and move between nodes.
    pub mesh: bool,
    /// The address for datagrams, if the relay receives any.
    pub udp: Option<SocketAddr>,
    /// Number of workers of the relay. All sessions on one connection belong to one worker.
    pub workers: u32,
    /// The addresses of the clients that were looked up; `None` for a client without a session.
    pub found: Vec<Option<Address>>,
}

impl Identity {
    /// A client of this name at this relay, or list of relays, which accepts no session that is for research only.
    pub fn new(name: impl Into<String>, relay: impl Into<String>, tls: TlsFiles) -> Identity {
        Identity { name: name.into(), relay: relay.into(), last: LastRelay::default(), tls, research: false }
    }

    /// Reads a file. Paths in it are relative to its folder.
    ///
    /// # Errors
    /// When it cannot be read or is wrong.
    pub fn read(path: &Path) -> Result<Identity, ClientError> {
        let text = std::fs::read_to_string(path).map_err(|error| ClientError::Read { path: path.to_owned(), error })?;
        let file: File = errors::toml(&text).map_err(|why| ClientError::Config { path: path.to_owned(), why })?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let within = |setting, name| {
            file_within(folder, setting, name).map_err(|why| ClientError::FileName { path: path.to_owned(), why })
        };
        let (authority, certificate) = (within("authority", file.authority)?, within("certificate", file.certificate)?);
        let tls = TlsFiles::new(authority, certificate, within("key", file.key)?);
        Ok(Identity { research: file.research, ..Identity::new(file.name, file.relay, tls) })
    }
}
