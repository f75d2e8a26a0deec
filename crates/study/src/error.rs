//! Why a study or a report could not be finished.

use std::{io, path::PathBuf};

use crate::rule::RuleError;

/// Why a study or a report could not be finished.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// No study has this name.
    #[error("there is no study named {name}: the studies are {known}")]
    Unknown {
        /// The requested name.
        name: String,
        /// The names that exist, separated by commas.
        known: String,
    },
    /// A file or a program failed: what was being done, and why it failed.
    #[error("{0}: {1}")]
    Io(String, #[source] io::Error),
    /// This version cannot read a results file: which file, and why.
    #[error("{path}: {1}", path = .0.display())]
    Results(PathBuf, String),
    /// A folder holds no results file.
    #[error("{path}: no results of a study", path = .0.display())]
    NoResults(PathBuf),
    /// A rule cannot be read.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The page could not be made from its template.
    #[error("the template of the report: {0}")]
    Page(String),
}

impl StudyError {
    /// Turns an [`io::Error`] into an error that says what was being done.
    pub fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> StudyError {
        let what = what.into();
        move |error| StudyError::Io(what, error)
    }
}
