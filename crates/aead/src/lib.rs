// These come first because the first definition of a link wins: the README's own, meant for its other readers, lead to
// files.
#![doc = "[CHOOSING]: crate::choosing\n[COMING_FROM]: crate::coming_from\n"]
#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(test), no_std)]
// With few features enabled, code that modes share is unused; with all of them, unused code is an error.
#![cfg_attr(
    not(all(
        feature = "gcm",
        feature = "ocb",
        feature = "serpent",
        feature = "siv",
        feature = "commit",
        feature = "chacha",
        feature = "cbc",
        feature = "raw",
        feature = "random",
        feature = "sessions",
        feature = "pieces",
        feature = "rustcrypto",
        feature = "research"
    )),
    allow(dead_code, unused_imports, unused_macros)
)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[macro_use]
mod wipe;

mod aead;
#[cfg(feature = "sessions")]
mod batch;
pub mod block;
#[cfg(feature = "commit")]
pub mod committing;
#[cfg(feature = "rustcrypto")]
pub mod compat;
#[cfg(any(feature = "gcm", feature = "ocb"))]
mod counter;
#[cfg(feature = "drbg")]
pub mod drbg;
mod error;
#[cfg(feature = "gcm")]
pub mod ghash;
mod key;
pub mod mode;
#[cfg(all(feature = "pieces", target_has_atomic = "ptr"))]
mod pieces;
mod pointers;
#[cfg(all(feature = "gcm", feature = "random", target_has_atomic = "32"))]
mod random_nonce;
#[cfg(feature = "raw")]
pub mod raw;
mod sealed;
#[cfg(feature = "drbg")]
mod seed_number;
#[allow(unsafe_code, reason = "the one module whose intrinsics need it; its documentation says why that is sound")]
pub mod simd;
#[cfg(any(feature = "gcm", feature = "ocb"))]
mod suite;
mod tag;

/// Which AEAD to choose for which purpose, with measurements.
#[cfg_attr(not(doctest), doc = "", doc = include_str!("../docs/CHOOSING.md"))]
pub mod choosing {}
/// The same code for ring, RustCrypto, aws-lc-rs and pyca.
// The blocks that use this crate are run as tests where the features that they need are enabled.
#[cfg_attr(
    any(not(doctest), all(feature = "random", feature = "rustcrypto")),
    doc = "",
    doc = include_str!("../docs/COMING_FROM.md")
)]
pub mod coming_from {}

pub use aead::Aead;
#[cfg(feature = "sessions")]
pub use batch::{Batch, BatchError, BatchMessage};
#[cfg(any(feature = "gcm", feature = "ocb"))]
pub use counter::{Opener, Sealer};
pub use error::{KeyLengthError, OpenError, SealError};
pub use key::Key;
#[cfg(feature = "random")]
pub use key::RandomError;
#[cfg(all(feature = "pieces", target_has_atomic = "ptr"))]
pub use pieces::{InPieces, Pieces};
#[cfg(all(feature = "gcm", feature = "random", target_has_atomic = "32"))]
pub use random_nonce::RandomNonceKey;
pub use simd::{Block, Isa, UnknownIsaError};
#[cfg(any(feature = "gcm", feature = "ocb"))]
pub use suite::{Suite, UnknownSuiteError};
pub use tag::{MAX_TAG, Tag};
