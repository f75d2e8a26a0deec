//! A shared-memory multiprocessor whose cache-to-cache transfers are encrypted on the bus, simulated cycle by cycle.
//!
//! * [`Machine`]: in-order processors whose misses may overlap, split first and unified second level, MOSI snooping ([`mosi`], one table), a split or
//!   atomic bus, or a ring or mesh of links with a directory ([`topology`]), memory. Lines hold real bytes. The same input gives
//!   the same cycles, bit for bit.
//! * [`scheme`]: what protects a node's transfers: AES-GCM with pads made ahead, chained masks, links; one a file.
//! * [`attack`]: attackers on the bus and in memory; what is detected, and when.
//! * [`kernel`] and [`trace`]: what the processors run; [`mod@record`] makes traces. [`run`]: a run from settings to results.
//! * [`settings`]: a whole simulation as a file; [`sweep`]: many of them, crossed.
//! * [`output`]: files that get their name once they are whole.
//! * [`matrix`]: every attack against every scheme. [`tester`]: random accesses with everything checked.
//!
//! ```
//! use sealwright_smp::{Config, run::{Simulation, Workload}};
//! let config = Config::default().set("scheme.name=gcm")?;
//! let simulation = Simulation::new(config, Workload::kernel("fft", 8, true).expect("a kernel of that name"));
//! let report = simulation.run(&mut |_| {})?;
//! assert!(report.stats.number("transfers.count") > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod access;
pub mod attack;
pub mod config;
pub mod engine;
mod error;
mod hex;
pub mod kernel;
mod machine;
pub mod matrix;
mod memory;
pub mod message;
pub mod mosi;
pub mod output;
pub mod protocol;
mod random;
pub mod record;
pub mod run;
pub mod scheme;
pub mod settings;
mod stats;
pub mod sweep;
pub mod tester;
pub mod topology;
pub mod trace;

pub use config::Config;
pub use error::ConfigError;
pub use machine::{Detection, InvariantError, Machine, MachineError, Outcome, StrikeReport};
pub use memory::{Image, ProtectionCounters};
pub use stats::{ALSO_SETTINGS, Difference, MEANINGS, Meaning, Stats, meaning};
