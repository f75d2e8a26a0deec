//! Papers on authenticated encryption, replayed.
//!
//! * [`Study`] runs a paper's grid anew and ends in an [`Outcome`]: tables, [`Figure`]s, claims with verdicts, notes;
//! * [`STUDIES`] are those that exist; [`run_one`] and [`run_all`] run them, keep [`Results`] and write the page;
//! * [`report`] makes that page from the results directory alone.
//!
//! ```no_run
//! use sealwright_study::{Options, run_all};
//! let options = Options { quick: true, binary: std::env::current_exe().ok(), ..Options::default() };
//! let (results, page) = run_all(&options, &mut |step| eprintln!("{}/{} {}", step.done, step.total, step.what))?;
//! println!("{} studies, read {}", results.len(), page.display());
//! # Ok::<(), sealwright_study::Failure>(())
//! ```

pub mod bench;
pub mod corpus;
pub mod figure;
mod files;
pub mod judgement;
mod messages;
pub mod paper;
mod plain_rkc;
mod plot;
pub mod report;
pub mod results;
mod run;
mod sessions;
mod study;

pub use figure::Figure;
pub use paper::Paper;
pub use results::Results;
pub use run::{run_all, run_one};
pub use study::{Failure, Note, Options, Outcome, Progress, STUDIES, Step, Study, by_name, names};
