//! Why a program cannot be recorded.

use std::{io, path::PathBuf};

/// A program that is not here, or too old, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct MissingToolError {
    /// What is missing.
    pub what: String,
    /// What to do.
    pub hint: String,
}

/// Why nothing was recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A program that recording needs is not here, or too old.
    #[error("{0}")]
    Missing(#[from] MissingToolError),
    /// Something could not be read, written or started: what, and why.
    #[error("{0}: {1}")]
    Io(String, #[source] io::Error),
    /// There is a trace of that name.
    #[error("{}: exists already", .0.display())]
    Exists(PathBuf),
    /// Others may write to the folder of the compiled recorder, which would be run.
    #[error("{}: the recorder is kept here, and others may write to it", .0.display())]
    Shared(PathBuf),
    /// Nothing could be preloaded into the program.
    #[error("{}: nothing could be preloaded: a static program, or one with privileges", .0.display())]
    Closed(PathBuf),
    /// The program cannot be recorded, or was not to its end.
    #[error("{0}")]
    Program(String),
}

impl RecordError {
    pub(super) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> RecordError {
        let what = what.into();
        move |error| RecordError::Io(what, error)
    }
}
