//! What the command lines `sealwright` and `sealwright-lab` share.
//!
//! * [`CommandError`]: one line saying what failed, then `hint:` lines, and an [`Exit`] code.
//! * [`run`]: parses arguments, runs a verb, prints its error.
//! * [`interrupt`]: SIGINT, SIGTERM and SIGHUP.
//! * [`print`] and [`say`]: the standard streams, which may be closed.
//! * [`Status`]: the progress of a long measurement. [`size`]: sizes as people write them.
//! * [`pages`]: completions and manual pages, made from the arguments.

mod args;
mod error;
mod exit;
pub mod interrupt;
mod level;
pub mod pages;
mod run;
pub mod size;
mod status;
mod streams;
mod usage;

pub use args::{ProgressArgs, ProgressFormat};
pub use error::{CommandError, os_message, printable, shown};
pub use exit::Exit;
pub use run::run;
pub use status::Status;
pub use streams::{print, print_or_leave, say};
