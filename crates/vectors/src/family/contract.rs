//! The interface of a family of algorithms, and the outcome of a case.

use sealwright::Isa;

use crate::case::{Case, CaseError};

/// Algorithms that are tested in the same way.
pub(crate) trait Family: Sync {
    /// Whether the family supports the algorithm of this name.
    fn has(&self, alg: &str) -> bool;
    /// Fields that a case of `alg` requires; `nonce` may also be called `iv`.
    fn needs(&self, _alg: &str) -> &'static [&'static str] {
        &[]
    }
    /// Runs one case at one level. A case that must be refused passes only if it is refused.
    fn run(&self, case: &Case, isa: Isa) -> Outcome;
}

/// The outcome of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The result is the expected one.
    Passed,
    /// The result differs; the error says how.
    Failed(CaseError),
    /// This build does not support the algorithm or its parameters.
    Skipped,
}
