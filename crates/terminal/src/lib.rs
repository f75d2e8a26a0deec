#![doc = include_str!("../README.md")]

mod args;
mod error;
mod exit;
pub mod interrupt;
mod level;
pub mod pages;
mod run;
mod similar;
pub mod size;
mod streams;
mod usage;

pub use args::{ProgressArgs, ProgressFormat};
pub use error::{CommandError, os_message, printable, shown};
pub use exit::Exit;
pub use run::run;
pub use similar::similar;
pub use streams::{print, print_or_leave, say};
