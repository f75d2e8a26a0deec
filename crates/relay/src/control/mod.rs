//! The control plane: mutual TLS 1.3, over which a client opens its session and finds others.

#[cfg(any(test, feature = "fuzz"))]
#[doc(hidden)]
pub mod fuzz;
pub mod protocol;
pub mod tls;

mod access;
mod certificates;
mod deadline;
mod denial_log;
mod expiry;
mod gauge;
mod handshake;
mod names;
mod rate_limiter;
mod requests;
mod server;
mod short_chains;
mod stats;
#[cfg(test)]
pub(crate) mod trial_control;
mod upkeep;
mod validity;
mod verified;

pub(crate) use access::Access;
pub(crate) use certificates::OpenLimits;
pub(crate) use deadline::Deadline;
pub(crate) use gauge::{Gauged, NamesGauge};
pub(crate) use names::Names;
pub(crate) use rate_limiter::Rate;
pub(crate) use server::{ACCEPT_RETRY_WAIT, ControlServer, Limits, Listed, NameDirectory, Shared};
pub(crate) use stats::ControlStats;
