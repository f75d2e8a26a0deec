//! Errors of making a trial folder or adding a client to it.

use std::io;

use thiserror::Error;

use crate::errors::os_error_text;

/// Why no folder was made, or no client added to it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InitError {
    /// A client cannot have this name.
    #[error("{0:?}: not a name such as alice, alice.example or, for many, *.load.test")]
    Name(String),
    /// A relay cannot be known by this.
    #[error("{0:?}: not a host such as relay.example or 192.0.2.1, without a port")]
    Host(String),
    /// A client would have the files of the relay itself.
    #[error("{0}: the relay has files of this name")]
    OwnName(String),
    /// Two clients would have the same files.
    #[error("{name}: {other} is a client already")]
    SameFiles {
        /// The second client.
        name: String,
        /// The first one.
        other: String,
    },
    /// The folder is there.
    #[error("exists already")]
    Exists,
    /// A file of the new client is there.
    #[error("{0}: File exists")]
    ClientExists(String),
    /// The key of the authority cannot be read.
    #[error("authority.key: {}", os_error_text(.0))]
    AuthorityKey(io::Error),
    /// The key or the certificate of the authority is damaged, or they do not belong to each other. What stands in the
    /// files is not repeated.
    #[error("{0}")]
    Authority(&'static str),
    /// A file cannot be written.
    #[error("{file}: {}", os_error_text(error))]
    Write {
        /// Its name within the folder.
        file: String,
        /// Why.
        error: io::Error,
    },
    /// No key can be made, or nothing be written.
    #[error("{}", os_error_text(.0))]
    Io(io::Error),
}

impl From<io::Error> for InitError {
    fn from(error: io::Error) -> InitError {
        InitError::Io(error)
    }
}

impl InitError {
    /// A suggestion to the user, if there is one beyond the error itself.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            InitError::OwnName(_) => Some("choose another one"),
            InitError::SameFiles { .. } => {
                Some("names that differ only in case or by a leading *. use the same file names")
            }
            InitError::Exists => Some("--init makes a new folder: choose another name for it"),
            InitError::ClientExists(_) => Some("remove it if it is not needed, or choose another name"),
            InitError::AuthorityKey(error) if error.kind() == io::ErrorKind::NotFound => Some(
                "add the client where authority.key is kept, beside a copy of this folder's relay.toml and lists of \
                 names, then add its name to clients_file here (docs/OPERATING.md)",
            ),
            _ => None,
        }
    }

    /// Whether what was asked for cannot be, wherever it is asked for: a name or a host is wrong.
    pub fn is_usage(&self) -> bool {
        use InitError::{Host, Name, OwnName, SameFiles};
        matches!(self, Name(_) | Host(_) | OwnName(_) | SameFiles { .. })
    }
}

impl From<rcgen::Error> for InitError {
    fn from(error: rcgen::Error) -> InitError {
        InitError::Io(io::Error::other(error))
    }
}
