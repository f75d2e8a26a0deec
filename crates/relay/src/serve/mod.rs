//! The relay as a service: configuration, certificates to try it, metrics, logs, signals, systemd.

pub mod config;
pub mod init;
pub mod log;
pub mod notify;
pub mod run;

mod metrics;
mod server;

pub use config::{Config, ConfigError};
pub use init::{init, stem};
pub use log::Log;
pub use run::{Signals, run};
pub use server::{Addresses, ServeError, Server};
