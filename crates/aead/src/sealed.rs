//! What keeps traits from being implemented outside this crate, so that they may grow.

/// The supertrait of every sealed trait.
#[allow(unreachable_pub, reason = "it bounds public traits")]
pub trait Sealed {}
