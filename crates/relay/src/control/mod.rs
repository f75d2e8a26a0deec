//! The control plane: mutual TLS 1.3, over which a client opens its session and finds others.

pub mod protocol;
pub mod tls;

mod deadline;
mod names;
mod rate_limiter;
mod server;
mod stats;

pub(crate) use deadline::Deadline;
pub(crate) use names::{Allowed, Names};
pub(crate) use rate_limiter::Rate;
pub(crate) use server::{ControlServer, Limits, NameDirectory, Shared};
pub(crate) use stats::ControlStats;
