//! The relay as a service: configuration, a trial setup, metrics, signals, systemd.

pub mod config;
pub mod config_error;
pub mod init;
pub mod notify;
pub mod run;

mod metrics;
mod server;

pub use config::Config;
pub use config_error::{ConfigError, SecretError, ValueError};
pub use init::{init, stem};
pub use run::{Signals, run};
pub use server::{Addresses, ServeError, Server};
