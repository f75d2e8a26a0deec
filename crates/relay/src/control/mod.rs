//! The control plane: mutual TLS 1.3, over which a client opens its session and finds others.

pub mod message;
pub mod tls;

mod deadline;
mod door;
mod names;
mod server;

pub(crate) use deadline::Deadline;
pub(crate) use names::{Allowed, Names};
pub(crate) use server::{Control, Heard, Limits};
