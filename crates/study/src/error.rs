//! Why a study or a report could not be finished.

use std::{io, path::PathBuf};

use sealwright_measure::store;

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
    Results(PathBuf, #[source] io::Error),
    /// The journal cannot be read: which file, and why.
    #[error("{path}: {1}", path = .0.display())]
    Journal(PathBuf, #[source] io::Error),
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

    /// What to do about it, if that is known.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            StudyError::Journal(..) => Some("move the file away; `study all --fresh` does so, and measures everything"),
            StudyError::NoResults(_) => Some("sealwright-lab study all --quick makes results"),
            StudyError::Io(_, error) | StudyError::Results(_, error) => store::hint(error),
            StudyError::Unknown { .. } | StudyError::Rule(_) | StudyError::Page(_) => None,
        }
    }
}
