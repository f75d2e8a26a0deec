//! What the paper printed.

use std::sync::LazyLock;

use crate::paper::Paper;

/// What the paper printed.
pub(super) static PAPER: LazyLock<Paper> =
    LazyLock::new(|| Paper::compiled_in(include_str!("../../data/messages.toml")));
