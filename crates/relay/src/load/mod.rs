//! The load generator: any number of clients over a few connections, closed loop as in the paper or open loop with
//! an arrival rate, beside the same relay without cryptography.

mod generator;
mod keys;
mod lanes;
mod local;
mod order;
mod point;
mod remote;
mod run;

pub use generator::{Generator, Slice};
pub use local::local;
pub use order::{Mix, MixError, Order};
pub use point::{compare, point};
pub use remote::remote;
pub use run::{LoadError, Outcome, Rig, measure};
