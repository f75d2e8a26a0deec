//! Why a relay cannot serve, or not serve on with another configuration.

use std::{io, net::SocketAddr, path::PathBuf};

use sealwright_session::SessionError;
use thiserror::Error;

use crate::{control::tls::TlsError, data::ListenError, errors::os_error_text, serve::config_error::ConfigError};

/// Why a relay cannot serve.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Certificates or keys cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The node cannot take part in its mesh.
    #[cfg(feature = "nats")]
    #[error("mesh: {0}")]
    Mesh(crate::mesh::MeshError),
    /// There is no memory for the records.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The memory budget is too small.
    #[error(
        "{sessions} sessions{} take {needed} MiB, and a connection {connection} KiB: memory_mib = {budget} is too little; \
         at least {least} is needed, and {all} for all of limits.connections",
        if *nodes { ", the workers and what waits from other nodes" } else { " and the workers" }
    )]
    Budget {
        /// Sessions asked for.
        sessions: u32,
        /// Whether there are other nodes, whose messages wait.
        nodes: bool,
        /// The memory that all of these need, in MiB, as all memory here but that of a connection.
        needed: u64,
        /// The memory that the buffers of one connection may take, in KiB.
        connection: usize,
        /// The configured memory.
        budget: u64,
        /// The least memory with which the relay serves one connection.
        least: u64,
        /// The memory with which it serves as many connections as the configuration allows.
        all: u64,
    },
    /// The relay cannot listen at an address.
    #[error("{address}: {}", os_error_text(error))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        error: io::Error,
    },
    /// The file at the path of the operators' socket is not a socket.
    #[error("{}: this file is not a socket, so the relay does not replace it", .0.display())]
    NoSocket(PathBuf),
    /// No socket can have the path that is configured for operators.
    #[error("{}: this path is too long for a socket", .0.display())]
    LongPath(PathBuf),
    /// The socket for operators cannot be made.
    #[error("{}: {}", path.display(), os_error_text(error))]
    Admin {
        /// The socket.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A reload changes something that needs a restart.
    #[error("{0} cannot be changed while the relay runs")]
    NeedsRestart(&'static str),
    /// Signals or the notification socket cannot be used.
    #[error("{}", os_error_text(.0))]
    Io(io::Error),
}

impl From<io::Error> for ServeError {
    fn from(error: io::Error) -> ServeError {
        ServeError::Io(error)
    }
}

impl ServeError {
    /// A suggestion to the user, if there is one beyond the error itself.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            ServeError::Config(error) => error.hint(),
            ServeError::Tls(error) => error.hint(),
            ServeError::NoSocket(_) => Some("set admin to a path where no other file is"),
            ServeError::LongPath(_) => Some("set admin to a path of at most 100 bytes"),
            ServeError::Admin { .. } => Some(
                "admin names a socket in a folder where the relay may write; under the unit for systemd that is \
                 /run/sealwright/relay.sock",
            ),
            ServeError::Listen { error, .. } => match error.kind() {
                io::ErrorKind::AddrInUse => {
                    Some("another program, perhaps another relay, has this port: stop it, or set another port")
                }
                io::ErrorKind::AddrNotAvailable => Some("set an address of this machine, or 0.0.0.0 for all"),
                io::ErrorKind::PermissionDenied => {
                    Some("set a port of 1024 or above, or allow the relay to use lower ports")
                }
                _ => None,
            },
            ServeError::NeedsRestart(_) => Some("restart the relay to change it"),
            _ => None,
        }
    }
}

impl From<ListenError> for ServeError {
    fn from(ListenError { address, error }: ListenError) -> ServeError {
        ServeError::Listen { address, error }
    }
}
