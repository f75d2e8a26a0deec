//! Why the grid could not be run.

use sealwright_smp::run::RunError;

/// Why the grid could not be run.
#[derive(Debug, thiserror::Error)]
pub(super) enum GridError {
    #[error(transparent)]
    Run(#[from] RunError),
    /// A run did not finish, or its result is wrong.
    #[error("a run failed or gave a wrong result: {0}")]
    Wrong(String),
}
