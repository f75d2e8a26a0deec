//! A shared-memory multiprocessor whose cache-to-cache transfers are sealed on the bus, simulated cycle by cycle.
//!
//! * [`Machine`]: in-order processors, split first and unified second level, MOSI snooping ([`mosi`], one table), a split or
//!   atomic bus, memory. Lines hold real bytes. The same input gives the same cycles, bit for bit.
//! * [`scheme`]: what stands between node and bus: AES-GCM with pads made ahead, chains of masks, links; one a file.
//! * [`attack`]: somebody on the bus; what comes to light, when, or never.
//! * [`kernel`] and [`trace`]: what the processors run; [`mod@record`] makes traces. [`run`]: a whole run from settings to numbers.
//! * [`matrix`]: every attack against every scheme. [`tester`]: steps at random, everything watched.
//!
//! ```
//! use sealwright_smp::{Config, run::{Job, Workload}};
//! let mut config = Config::default();
//! config.shu.scheme = sealwright_smp::scheme::Name::Gcm;
//! let job = Job::new(config, Workload::kernel("fft", 8, true).expect("a kernel of that name"));
//! let report = job.run(&mut |_| {})?;
//! assert!(report.stats.number("transfers.count") > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod access;
pub mod attack;
mod cache;
pub mod config;
pub mod engine;
mod guard;
pub mod kernel;
mod machine;
pub mod matrix;
mod memory;
pub mod message;
pub mod mosi;
mod node;
pub mod record;
pub mod run;
pub mod scheme;
mod stats;
pub mod tester;
pub mod trace;

pub use config::{BadConfig, Config};
pub use guard::GuardCounts;
pub use machine::{Broken, End, Fault, Machine, Seen};
pub use memory::Image;
pub use stats::Stats;
