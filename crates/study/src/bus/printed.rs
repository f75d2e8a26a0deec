//! What the thesis printed.

use std::sync::LazyLock;

use crate::paper::Paper;

/// What the thesis printed.
pub(super) static PAPER: LazyLock<Paper> = LazyLock::new(|| Paper::compiled_in(include_str!("../../data/bus.toml")));
