#![doc = include_str!("../README.md")]

pub mod client;
pub mod control;
pub mod data;
pub mod fleet;
pub mod frame_stream;
pub mod layout;
pub mod serve;

mod errors;

pub use data::{Count, Counts, Relay, Settings, Stopped};
pub use errors::os_error_text;
pub use frame_stream::FrameStream;
pub use layout::NodeLayout;
