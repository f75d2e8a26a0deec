//! The operator's end of the socket that `admin` serves.

use std::{
    io::{self, BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;
use thiserror::Error;

use crate::{errors::os_error_text, serve::admin::AdminRequest};

/// How long to wait for an answer: longer than the relay's own time limit, so that the relay reports that it took too
/// long.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(35);

/// Why a relay did not answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AdminError {
    /// Its socket cannot be used.
    #[error("{}: {}", path.display(), os_error_text(error))]
    Socket {
        /// The socket.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It refused.
    #[error("the relay refused: {why}")]
    Refused {
        /// Why.
        why: String,
        /// What to do about it.
        hint: Option<String>,
    },
}

impl AdminError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&str> {
        match self {
            AdminError::Socket { .. } => Some("is the relay running?"),
            AdminError::Refused { hint, .. } => hint.as_deref(),
        }
    }
}

/// Sends a request to the relay at this socket. Returns its answer, one value per line.
///
/// # Errors
/// When it cannot be reached, or refuses.
pub fn ask(path: &Path, request: AdminRequest) -> Result<Vec<Value>, AdminError> {
    let failed = |error: io::Error| AdminError::Socket { path: path.to_owned(), error };
    let exchange = || {
        let mut stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        serde_json::to_writer(&mut stream, &request)?;
        stream.write_all(b"\n")?;
        let lines = BufReader::new(stream).lines();
        lines.map(|line| Ok(serde_json::from_str(&line?)?)).collect::<io::Result<Vec<Value>>>()
    };
    let lines = exchange().map_err(failed)?;
    let text = |key: &str| lines.first()?.get(key)?.as_str().map(str::to_owned);
    match lines.first().map(|line| line.get("error")) {
        Some(Some(_)) => Err(AdminError::Refused { why: text("error").unwrap_or_default(), hint: text("hint") }),
        // The list of sessions may be empty
        None if request != AdminRequest::List => {
            Err(failed(io::Error::new(io::ErrorKind::UnexpectedEof, "the relay ended without an answer")))
        }
        _ => Ok(lines),
    }
}
