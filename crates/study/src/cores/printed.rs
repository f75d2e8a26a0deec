//! The paper's table and claims.

use std::sync::LazyLock;

use crate::paper::Paper;

/// The paper, from `data/cores.toml`.
pub(super) static PAPER: LazyLock<Paper> = LazyLock::new(|| Paper::compiled_in(include_str!("../../data/cores.toml")));
