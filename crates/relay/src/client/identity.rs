//! Who a client is, and how it gets its session.

use std::{io, net::SocketAddr, path::Path};

use sealwright_session::{Client, Spec};
use serde::Deserialize;
use thiserror::Error;

use crate::{
    client::desk::Desk,
    control::tls::{Papers, TlsError},
    errors::{self, os_error_text},
};

/// Why a client has no session, or lost its peer.
#[derive(Debug, Error)]
pub enum ClientError {
    /// The configuration.
    #[error("{0}")]
    Config(String),
    /// Certificates and keys.
    #[error("{0}")]
    Tls(#[from] TlsError),
    /// The relay cannot be reached, or does not speak as it should.
    #[error("{relay}: {}", os_error_text(error))]
    Relay {
        /// Its address.
        relay: String,
        /// Why.
        error: io::Error,
    },
    /// The relay says no.
    #[error("the relay refused: {0}")]
    Refused(String),
    /// Frames were to travel as datagrams.
    #[error("the relay takes no datagrams")]
    NoDatagrams,
    /// Nothing is heard of the other client.
    #[error("{0} does not answer")]
    Absent(String),
    /// The other client ended and began again.
    #[error("{0} began anew; what was not acknowledged is lost")]
    Anew(String),
    /// Input or output here.
    #[error("{}", os_error_text(.0))]
    Io(#[from] io::Error),
}

/// Name, relay and papers of a client, from `NAME.toml`.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Its name, which its certificate must bear.
    pub name: String,
    /// Host and port of the relay's control plane; of several relays of a fleet, with commas between, the first that
    /// answers is taken.
    pub relay: String,
    /// Its certificate, and the relay's authority.
    pub papers: Papers,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    relay: String,
    authority: std::path::PathBuf,
    certificate: std::path::PathBuf,
    key: std::path::PathBuf,
}

/// An open session.
#[derive(Debug)]
pub struct Session {
    /// The keys.
    pub client: Client,
    /// The scheme that the relay speaks.
    pub spec: Spec,
    /// Where frames go.
    pub frames: SocketAddr,
    /// Whether others may be at other relays, and move.
    pub fleet: bool,
    /// Where they go as datagrams, if the relay takes any.
    pub udp: Option<SocketAddr>,
    /// Workers of the relay: a connection carries sessions of one.
    pub workers: u32,
    /// The numbers of those who were asked for.
    pub found: Vec<u32>,
}

impl Identity {
    /// Reads a file; paths in it count from its folder.
    ///
    /// # Errors
    /// When it cannot be read, or is not what it should be.
    pub fn read(path: &Path) -> Result<Identity, ClientError> {
        let wrong = |why: &dyn std::fmt::Display| ClientError::Config(format!("{}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| wrong(&os_error_text(&error)))?;
        let file: File = errors::toml(&text).map_err(|why| wrong(&why))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let papers = Papers {
            authority: folder.join(file.authority),
            certificate: folder.join(file.certificate),
            key: folder.join(file.key),
        };
        Ok(Identity { name: file.name, relay: file.relay, papers })
    }

    /// Opens the session of this name, with fresh keys, and finds the numbers of others.
    ///
    /// # Errors
    /// When the relay cannot be reached or refuses.
    pub fn open(&self, others: &[&str]) -> Result<Session, ClientError> {
        let mut desk = Desk::connect(self, 1 + others.len())?;
        let mut session = desk.open(&self.name)?;
        for other in others {
            session.found.push(desk.find(other)?);
        }
        desk.leave();
        Ok(session)
    }

    /// Finds the numbers of others.
    ///
    /// # Errors
    /// When the relay cannot be reached or does not know one of them.
    pub fn find(&self, others: &[&str]) -> Result<Vec<u32>, ClientError> {
        let mut desk = Desk::connect(self, others.len())?;
        let found = others.iter().map(|other| desk.find(other)).collect::<Result<_, _>>()?;
        desk.leave();
        Ok(found)
    }

    /// Opens sessions of all these names over one connection; the certificate must name them all.
    ///
    /// # Errors
    /// When the relay cannot be reached or refuses one of them.
    pub fn open_many(&self, names: &[String]) -> Result<Vec<Session>, ClientError> {
        let mut desk = Desk::connect(self, names.len())?;
        let sessions = names.iter().map(|name| desk.open(name)).collect::<Result<_, _>>()?;
        desk.leave();
        Ok(sessions)
    }
}
