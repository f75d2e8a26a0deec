#![doc = include_str!("../README.md")]

pub mod client;
pub mod control;
pub mod data;
pub mod fleet;
pub mod load;
pub mod place;
pub mod serve;

mod sentence;

pub use data::{Count, Counts, Relay, Settings, Stopped};
pub use place::Place;
