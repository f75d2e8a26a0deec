//! What keeps traits from being implemented outside this crate, so that they may grow.

use core::panic::{RefUnwindSafe, UnwindSafe};

/// The supertrait of every sealed trait. Nothing of ours is changed behind a shared reference, so that a panic leaves it as it was.
#[allow(unreachable_pub, reason = "it bounds public traits")]
pub trait Sealed: UnwindSafe + RefUnwindSafe {}
