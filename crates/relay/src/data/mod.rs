//! The data plane: frames of many sessions over TCP connections, a thread a core.

pub mod count;
pub mod relay;
pub mod settings;

mod abroad;
mod connection;
mod forward;
mod mail;
mod udp;
mod waiting;
mod worker;

pub use count::{Count, Counts};
pub use relay::{Relay, Stopped};
pub(crate) use settings::MAIL;
pub use settings::Settings;
