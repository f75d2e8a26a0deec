//! The thesis's figures and claims.

use std::sync::LazyLock;

use crate::paper::Paper;

/// The thesis, from `data/bus.toml`.
pub(super) static PAPER: LazyLock<Paper> = LazyLock::new(|| Paper::compiled_in(include_str!("../../data/bus.toml")));
