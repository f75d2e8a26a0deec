//! Why a program cannot be recorded.

use std::{io, path::PathBuf};

/// A required program that is missing or too old, and how to get it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct MissingToolError {
    /// What is missing.
    pub what: String,
    /// What to do about it.
    pub hint: String,
}

/// Why nothing was recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A required program is missing or too old.
    #[error("{0}")]
    Missing(#[from] MissingToolError),
    /// Something could not be read, written or started: what, and why.
    #[error("{0}: {1}")]
    Io(String, #[source] io::Error),
    /// A trace of that name exists already.
    #[error("{}: exists already", .0.display())]
    Exists(PathBuf),
    /// Other users can write to the folder of the compiled recorder, whose files are executed.
    #[error("{}: the compiled recorder is kept here, and other users can write to it", .0.display())]
    Shared(PathBuf),
    /// The recorder's library could not be preloaded into the program.
    #[error("{}: cannot preload the recorder's library: the program is static or has special privileges", .0.display())]
    Closed(PathBuf),
    /// The program could not be recorded, or not to its end.
    #[error("{0}")]
    Program(String),
}

impl RecordError {
    pub(super) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> RecordError {
        let what = what.into();
        move |error| RecordError::Io(what, error)
    }
}
