//! Authenticated encryption, fast on every instruction set: one fused kernel per mode, written once.
//!
//! ```
//! use sealwright::{Opener, Sealer, Suite};
//!
//! let key = [7; 32]; // from a key exchange, or `sealwright key new`
//! let mut sealer = Sealer::new(Suite::Aes256Gcm, &key)?;
//! let mut text = *b"attack at dawn";
//! let tag = sealer.seal_in_place(b"header", &mut text)?;
//!
//! let mut opener = Opener::new(Suite::Aes256Gcm, &key)?;
//! opener.open_in_place(b"header", &mut text, tag.as_ref())?;
//! assert_eq!(&text, b"attack at dawn");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! * Names and lengths: [`Suite`]; keys that count their own nonces: [`Sealer`], [`Opener`]; the contract: [`Aead`].
//! * Modes: [`mode`]; hash strategies: [`ghash`]; ciphers: [`block`]; instruction sets: [`Isa`], [`simd`].
//! * Without authentication, for compatibility: [`raw`]; random bits from a seed: [`drbg`].
//!
//! # Features
//!
//! Each adds something and changes nothing; only `gcm` is on by default.
//!
//! | feature | adds |
//! |---|---|
//! | `gcm` | AES-GCM |
//! | `ocb` | AES-OCB3 |
//! | `serpent` | the cipher Serpent, in the modes that are on |
//! | `cbc` | AES-CBC with HMAC-SHA-256 |
//! | `raw` | ECB, CBC and CTR, which do not authenticate |
//! | `drbg` | Hash_DRBG of SP 800-90A |
//! | `sessions` | GCM for servers of very many clients: a key a packet, many packets side by side, GSCM-H |
//! | `rustcrypto` | the traits of the crates `aead` and `cipher` |
//! | `research` | **broken or slow on purpose, for studies**: RKC, GSCM as printed, GHASH bit by bit and by table |

// What modes share looks unused where few of them are built; with all features nothing may.
#![cfg_attr(
    not(all(
        feature = "gcm",
        feature = "ocb",
        feature = "serpent",
        feature = "cbc",
        feature = "raw",
        feature = "sessions",
        feature = "rustcrypto",
        feature = "research"
    )),
    allow(dead_code, unused_imports, unused_macros)
)]

#[macro_use]
mod wipe;

mod aead;
pub mod block;
#[cfg(feature = "rustcrypto")]
pub mod compat;
#[cfg(any(feature = "gcm", feature = "ocb"))]
mod counted;
#[cfg(feature = "drbg")]
pub mod drbg;
mod error;
#[cfg(feature = "gcm")]
pub mod ghash;
pub mod mode;
#[cfg(feature = "raw")]
pub mod raw;
mod sealed;
#[allow(unsafe_code, reason = "the one module whose intrinsics need it; its documentation says why that is sound")]
pub mod simd;
#[cfg(any(feature = "gcm", feature = "ocb"))]
mod suite;
mod tag;

pub use aead::Aead;
#[cfg(any(feature = "gcm", feature = "ocb"))]
pub use counted::{Opener, Sealer};
pub use error::{KeyLengthError, OpenError, SealError};
pub use simd::{Block, Isa, UnknownIsaError};
#[cfg(any(feature = "gcm", feature = "ocb"))]
pub use suite::{Suite, UnknownSuiteError};
pub use tag::{MAX_TAG, Tag};
