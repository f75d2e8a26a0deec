//! Keeps traits from being implemented outside this crate, so that methods can be added.

use core::panic::{RefUnwindSafe, UnwindSafe};

/// The supertrait of every sealed trait. Its types have no interior mutability, so that a panic leaves them unchanged.
#[allow(unreachable_pub, reason = "it bounds public traits")]
pub trait Sealed: UnwindSafe + RefUnwindSafe {}
