//! The C interface. `include/sealwright.h` is made from this source by cbindgen, and `docs/C.md` describes it.
//!
//! No panic crosses the boundary: every function that computes goes through `guard`, which turns a panic into
//! an error number. Unsafe code turns the pointers of callers into slices and boxes, in `pointer`.

mod error;
mod file;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod message;
mod pointer;
mod provider;
mod reader;
mod stream;

pub use error::{SealwrightError, sealwright_error_text, sealwright_last_error, sealwright_version};
pub use file::*;
pub use message::*;
pub use provider::OSSL_provider_init;
pub use reader::*;
pub use stream::*;
