//! The relay as a service: configuration, a trial setup, metrics, signals, systemd.

pub(crate) mod config;
pub(crate) mod config_error;
pub(crate) mod file_name;
pub(crate) mod init;
mod init_error;
mod notify;
mod run;

mod admin;
mod ask;
mod budget;
mod hints;
mod limits;
mod mesh_table;
mod metrics;
mod names_table;
mod serve_error;
mod server;

pub use admin::AdminRequest;
pub use ask::{AdminError, ask};
pub use budget::{ConnectionBudget, bytes_per_session};
pub use config::Config;
pub use config_error::{ConfigError, SecretError, ValueError};
pub use init::{NameFile, add, host_in, init, is_name, stem};
pub use init_error::InitError;
pub use run::{Signals, run};
pub use serve_error::ServeError;
pub use server::{Addresses, Server};
