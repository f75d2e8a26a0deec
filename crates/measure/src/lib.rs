//! The measuring instrument of Sealwright: all figures that this project publishes come from it.
//!
//! * [`Meter`] runs [`Candidate`]s in interleaved rounds and returns a [`Comparison`] of [`Trial`]s.
//! * [`Interval`] is a median with its 95 % interval; every measured figure has this form.
//! * [`Verdict`] says whether a sentence is true here, as far as intervals tell.
//! * [`Machine`] describes the computer.
//! * [`Table`] prints figures as text, Markdown, CSV, JSON or HTML.
//! * [`Store`] writes results to disk as soon as they are known.
//!
//! ```
//! use sealwright_measure::{Meter, Work};
//! let data = vec![1u8; 4096];
//! let mut sum = Work::new("sum", || drop(std::hint::black_box(data.iter().map(|&x| u64::from(x)).sum::<u64>())));
//! let mut xor = Work::new("xor", || drop(std::hint::black_box(data.iter().fold(0, |all, x| all ^ x))));
//! let meter = Meter::quick().budget(std::time::Duration::from_millis(50));
//! let found = meter.compare(&mut [&mut sum, &mut xor], &mut |_| {})?;
//! println!("sum: {:.1} GB/s", found.trials[0].interval.gigabytes_per_second(4096));
//! println!("time of xor over time of sum: {:?}", found.ratio("xor", "sum"));
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod aa;
pub mod candidate;
pub mod clock;
pub mod comparison;
pub mod interval;
pub mod machine;
pub mod meter;
pub mod placement;
pub mod random;
pub mod render;
pub mod state;
pub mod store;
mod student;
pub mod table;
pub mod verdict;

pub use candidate::{Candidate, Counted, Process, Work, quiet};
pub use clock::{ChildTime, Clock, run_child};
pub use comparison::{Comparison, Trial};
pub use interval::{Basis, FEWEST, Interval};
pub use machine::Machine;
pub use meter::{Meter, Progress, Stage};
pub use placement::Placed;
pub use store::{Record, SCHEMA, Store};
pub use table::{Align, Cell, Column, Table};
pub use verdict::Verdict;
