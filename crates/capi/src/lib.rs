//! The C interface. cbindgen generates `include/sealwright.h` from this source; `docs/C.md` describes it.
//!
//! No panic crosses the boundary: every function that can panic runs in `guard`, which turns a panic into an error
//! number. The unsafe code that turns callers' pointers into slices and boxes is in `pointer`.

mod error;
mod file;
#[cfg(feature = "fuzz")]
#[doc(hidden)]
pub mod fuzz;
mod message;
mod pointer;
mod provider;
mod random;
mod reader;
mod stream;

pub use error::{SealwrightError, sealwright_error_text, sealwright_last_error, sealwright_version};
pub use file::*;
pub use message::*;
pub use provider::OSSL_provider_init;
pub use random::*;
pub use reader::*;
pub use stream::*;
