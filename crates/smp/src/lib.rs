//! A shared-memory multiprocessor whose cache-to-cache transfers are encrypted on the bus, simulated cycle by cycle.
//!
//! * [`Machine`]: in-order processors whose misses may overlap, split first-level and unified second-level caches, MOSI
//!   snooping ([`mosi`], one table), a split or atomic bus, or a ring or mesh of links with directories ([`topology`]),
//!   and memory. Lines hold real bytes. Runs are deterministic: the same input gives the same cycles.
//! * [`scheme`]: protection of transfers between nodes: AES-GCM with precomputed pads, chained masks, protected links.
//! * [`attack`]: attackers on the bus and in memory.
//! * [`kernel`] and [`trace`]: the workloads; [`mod@record`] records traces. [`run`]: a run from settings to results.
//! * [`settings`]: a whole simulation as a file; [`sweep`]: simulations of all combinations of some settings.
//! * [`output`]: output files that appear only when they are complete.
//! * [`matrix`]: every attack against every scheme. [`tester`]: random accesses with all checks enabled.
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
