//! What a family of algorithms is, and what comes of a case.

use sealwright::Isa;

use crate::case::{Case, CaseError};

/// Algorithms that are tested in one way.
pub trait Family: Sync {
    /// Whether the family has the algorithm of this name.
    fn has(&self, alg: &str) -> bool;
    /// Fields without which a case of `alg` says nothing; `nonce` may also be called `iv`.
    fn needs(&self, _alg: &str) -> &'static [&'static str] {
        &[]
    }
    /// Runs one case at one level. A case that must be refused passes only if it is.
    fn run(&self, case: &Case, isa: Isa) -> Outcome;
}

/// What came of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As the vector says.
    Passed,
    /// Not as the vector says; what differs.
    Failed(CaseError),
    /// The algorithm or its parameters are not built.
    Skipped,
}
