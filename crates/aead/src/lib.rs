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

mod aead;
pub mod block;
#[cfg(feature = "rustcrypto")]
pub mod compat;
mod counted;
pub mod drbg;
pub mod ghash;
pub mod mode;
pub mod raw;
#[allow(unsafe_code, reason = "the one room whose intrinsics need it; see its essay")]
pub mod simd;
mod suite;

pub use aead::{Aead, Block, MAX_TAG, NotAuthentic, SealError, Tag};
pub use counted::{Opener, Sealer};
pub use simd::{Isa, UnknownIsa};
pub use suite::{KeyLength, Suite, UnknownSuite};
