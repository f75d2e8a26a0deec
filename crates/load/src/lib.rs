//! The load generator for relays: any number of clients over a few connections, as a closed loop or at a fixed arrival
//! rate. The same load also runs against a relay without cryptography, for comparison.
//!
//! [`point`] measures one point of a figure. [`compare`] runs any [`Workload`] against a relay in this process, and
//! [`remote`] with [`measure`] runs it against a relay elsewhere.

mod connection;
mod generator;
mod in_flight;
mod keys;
mod link;
mod local;
mod measure;
mod pace;
mod point;
mod remote;
mod workload;

pub use generator::{Generator, Slice};
pub use link::{Link, LinkError, over_link};
pub use local::{local, smallest};
pub use measure::{LoadError, Outcome, Testbed, measure};
pub use point::{compare, point, point_over};
pub use remote::remote;
pub use workload::{Mix, MixError, Workload};
