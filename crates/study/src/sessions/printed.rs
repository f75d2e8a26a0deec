//! The paper's tables and claims.

use std::sync::LazyLock;

use crate::paper::Paper;

/// The paper, from `data/sessions.toml`.
pub(super) static PAPER: LazyLock<Paper> =
    LazyLock::new(|| Paper::compiled_in(include_str!("../../data/sessions.toml")));
