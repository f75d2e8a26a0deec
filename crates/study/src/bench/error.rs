//! Why a benchmark ended early.

use std::io;

/// The largest message: two of them and the libraries' copies must fit into memory.
pub(super) const MOST_BYTES: usize = 1 << 30;

/// Why a bench ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// A size is 0 or beyond 1 GiB.
    #[error("messages of {0} bytes cannot be measured: from 1 to {MOST_BYTES} can")]
    Size(usize),
    /// Two implementations do not compute the same: nothing is worth timing then.
    #[error("{who} {how} ({suite}, {bytes} bytes; reference: {with})")]
    Disagrees {
        /// Who differs from the reference.
        who: String,
        /// The suite.
        suite: &'static str,
        /// Bytes of text.
        bytes: usize,
        /// In what.
        how: &'static str,
        /// The reference: ours at the lowest level.
        with: String,
    },
    /// A candidate failed while it was timed.
    #[error("measuring failed: {0}")]
    Measuring(#[from] io::Error),
}
