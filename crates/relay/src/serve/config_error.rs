//! Errors in a configuration.

use std::path::PathBuf;

use sealwright_session::{ReplayWindow, Spec, UnknownSchemeError};
use thiserror::Error;

use crate::{
    control::tls::FileError,
    errors::{TomlError, os_error_text},
};

/// What is wrong with a configuration.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// It cannot be read.
    #[error("{}: {}", path.display(), os_error_text(error))]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// It says something wrong.
    #[error("{}: {why}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// What.
        why: ValueError,
    },
}

/// What is wrong in a configuration.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ValueError {
    /// It is not TOML, or has unknown keys.
    #[error(transparent)]
    Toml(#[from] TomlError),
    /// There is no such scheme.
    #[error("scheme: there is no such scheme; there are {}, and each with -256 for 256-bit keys", schemes())]
    Scheme(UnknownSchemeError),
    /// The scheme does not encrypt.
    #[error("scheme: clear seals nothing; it is for measurements only")]
    Clear,
    /// The scheme is broken, or its time depends on secrets.
    #[error("scheme: {0} is for research only: {1}")]
    Research(Spec, &'static str),
    /// A number is too small.
    #[error("{0} must be at least {1}")]
    TooSmall(&'static str, u64),
    /// A number is too large.
    #[error("{0} must be at most {1}")]
    TooLarge(&'static str, u64),
    /// A number must be positive.
    #[error("{0} must be a positive number")]
    NotPositive(&'static str),
    /// There is no such replay window.
    #[error("limits.replay_window must be {} or {}", ReplayWindow::Narrow, ReplayWindow::Wide)]
    ReplayWindow,
    /// An address for clients cannot be used.
    #[error("public must be a host and a port, such as relay.example:7600 or [2001:db8::7]:7600")]
    Public,
    /// A client cannot have this name.
    #[error("{0}: {1:?} is not a DNS name, with or without *. before it")]
    Name(&'static str, String),
    /// A name is there twice.
    #[error("{0}: {1:?} is listed twice; case does not matter")]
    Duplicate(&'static str, String),
    /// A line of a file of names is none. It is not repeated: it may be another file, with a key in it.
    #[error("{}: line {line} is not a DNS name, with or without *. before it", path.display())]
    NameInFile {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// A setting that must name a file contains a key. It is not repeated.
    #[error("{0} must name a file; its value looks like a key")]
    NoFileName(&'static str),
    /// A file of names cannot be read.
    #[error("{}: {error}", path.display())]
    NamesFile {
        /// The file.
        path: PathBuf,
        /// Why.
        error: String,
    },
    /// A name may belong to two tenants.
    #[error("tenants: {0:?} and {1:?} are of different tenants, and one name can match both")]
    TenantsOverlap(String, String),
    /// Rules are exceptions between tenants.
    #[error("rules: there are no tenants")]
    RulesWithoutTenants,
    /// There are more rules than fit.
    #[error("rules: more than 64 directions; a rule counts as two unless it has one_way = true")]
    TooManyRules,
    /// The file with the secret of the mesh cannot be used.
    #[error("{}: {why}", path.display())]
    Secret {
        /// The file.
        path: PathBuf,
        /// Why.
        why: SecretError,
    },
    /// The servers of NATS cannot be used.
    #[cfg(feature = "nats")]
    #[error("mesh.nats: {0}")]
    Nats(crate::mesh::ServersError),
    /// The subjects of a mesh cannot begin with this.
    #[error("mesh.name must be letters, digits, - and _, in parts with dots between, such as sealwright")]
    MeshName,
    /// This build cannot connect to other nodes.
    #[error("mesh: this program was built without support for several nodes (cargo feature `nats`)")]
    NoMesh,
}

/// The schemes that a relay accepts without being told that it is for research, with 128-bit keys.
fn schemes() -> String {
    let short = Spec::all().into_iter().filter(|scheme| !scheme.long && !scheme.research_only());
    short.map(|scheme| scheme.to_string()).collect::<Vec<_>>().join(", ")
}

impl ConfigError {
    /// A suggestion to the user, if there is one beyond the error itself.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            ConfigError::Wrong { why, .. } => why.hint(),
            ConfigError::Io { .. } => None,
        }
    }
}

impl ValueError {
    /// A suggestion to the user, if there is one beyond the error itself.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            ValueError::Toml(why) if matches!(why.unknown_field(), Some("authority" | "name" | "relay")) => {
                Some("this is the file of a client; the relay's configuration, such as relay.toml, has a [tls] table")
            }
            ValueError::Research(..) => Some("research = true allows it all the same"),
            ValueError::ReplayWindow => Some(
                "it is the number of packets by which one may be late; the larger takes 128 bytes more per session",
            ),
            ValueError::NoFileName(_) => {
                Some("move the key into a file that only its owner may read, and name that file")
            }
            ValueError::RulesWithoutTenants => {
                Some("name tenants first, such as [tenants] acme = [\"*.acme.example\"]")
            }
            ValueError::Secret { why: SecretError::File(why), .. } => why.hint(),
            #[cfg(feature = "nats")]
            ValueError::Nats(error) => error.hint(),
            _ => None,
        }
    }
}

/// Why a file does not hold the secret of a mesh.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SecretError {
    /// The file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// It holds something else.
    #[error("not 64 hexadecimal digits, as `sealwright key new` writes them")]
    NotHex,
}
