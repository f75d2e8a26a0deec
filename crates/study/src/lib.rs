//! Repeats the measurements of papers on authenticated encryption, and judges their claims.
//!
//! * A [`Study`] repeats the measurements of one paper. Its [`Outcome`] has tables, [`Figure`]s, notes, and claims
//!   with verdicts.
//! * [`STUDIES`] lists all studies. [`run_one`] and [`run_all`] run them, store their [`Results`] and write the
//!   report.
//! * [`report`] makes the report from a results directory alone; [`compare`] compares two such directories.
//! * [`plot`] draws tables of simulated runs in the style of the report.
//! * [`advise`](advise::advise) recommends a suite, based on what [`bench`] measured.
//!
//! ```no_run
//! use sealwright_study::{Options, run_all};
//! let options = Options { quick: true, binary: std::env::current_exe().ok(), ..Options::default() };
//! let ran = run_all(&options, &mut |step| eprintln!("{}/{} {}", step.done, step.total, step.what))?;
//! println!("{} studies, read {:?}", ran.results.len(), ran.page);
//! # Ok::<(), sealwright_study::StudyError>(())
//! ```

pub mod advise;
mod amount;
mod attack_evidence;
pub mod attacks;
pub mod bench;
mod bus;
pub mod check;
pub mod compare;
mod cores;
pub mod corpus;
mod error;
pub mod figure;
mod files;
mod journal;
pub mod judgement;
mod messages;
pub mod paper;
#[cfg(test)]
mod papers_tests;
mod plain_rkc;
pub mod plot;
pub mod progress;
pub mod provenance;
pub mod quantity;
pub mod report;
pub mod results;
mod rotation;
pub mod rule;
mod run;
pub mod schema;
mod sessions;
mod studies;
mod study;
mod svg;

pub use advise::{Advice, Measured, Question, advise};
pub use error::StudyError;
pub use figure::Figure;
#[cfg(feature = "fuzz")]
#[doc(hidden)]
pub use journal::fuzz::fuzz as journal_fuzz;
pub use paper::Paper;
pub use progress::{Progress, Step};
pub use results::{ATTACKS, BENCH, Results};
pub use run::{Failure, Ran, run_all, run_one};
pub use studies::{STUDIES, by_name, names};
pub use study::{Note, Options, Outcome, Study};
