//! Why a benchmark ended early.

use std::io;

use super::way::Way;

/// The largest message in bytes, and the most bytes of messages that are sealed together. Two messages and the copies
/// that libraries make must fit into memory.
pub(super) const MOST_BYTES: usize = 1 << 30;

/// Why a benchmark ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// A size is 0 or beyond 1 GiB.
    #[error("messages of {0} bytes cannot be measured: from 1 to {MOST_BYTES} can")]
    Size(usize),
    /// The messages that a way takes at once have more than 1 GiB together.
    #[error(
        "messages of {0} bytes cannot be measured with --way {1}, which takes {n} at once: from 1 to {most} can",
        n = .1.at_once(),
        most = MOST_BYTES / .1.at_once()
    )]
    Together(usize, Way),
    /// Two implementations produce different results, so timing them would be meaningless.
    #[error("{who} {how} ({suite}, {bytes} bytes; reference: {with})")]
    Disagrees {
        /// The implementation that differs from the reference.
        who: String,
        /// The suite.
        suite: &'static str,
        /// Bytes of text.
        bytes: usize,
        /// How it differs.
        how: &'static str,
        /// The reference: Sealwright at the lowest level.
        with: String,
    },
    /// A candidate failed during the measurement.
    #[error("measuring failed: {0}")]
    Measuring(#[from] io::Error),
}
