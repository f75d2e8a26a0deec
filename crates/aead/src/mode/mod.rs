//! Modes of operation over any [`BlockCipher`](crate::block::BlockCipher).
//!
//! ```
//! use sealwright::{Aead, Isa, block::aes::Aes256, ghash::Clmul, mode::gcm::{Gcm, TagLen}};
//!
//! // A mode, a cipher and a strategy are types: here AES-256-GCM, made of its parts.
//! let isa = Isa::best();
//! let aead: Gcm<Aes256, Clmul> = Gcm::new(isa, Aes256::new(isa, &[7; 32]), TagLen::T16);
//! let mut text = *b"attack at dawn";
//! let tag = aead.seal_in_place(&[1; 12], b"header", &mut text)?;
//! # Ok::<(), sealwright::SealError>(())
//! ```
//!
//! [`ctr`] and [`ecb`] are building blocks for modes of your own, and available without features. **They do not
//! authenticate**; nor do `cbc` (features `cbc` and `raw`), `cbc_many` (`raw`) and `multi_buffer` (`sessions`).

#[cfg(any(feature = "cbc", feature = "raw"))]
pub mod cbc;
#[cfg(feature = "cbc")]
pub mod cbc_hmac;
#[cfg(feature = "raw")]
pub mod cbc_many;
#[cfg(feature = "chacha")]
pub mod chacha;
pub mod ctr;
pub mod ecb;
#[cfg(feature = "gcm")]
pub mod gcm;
#[cfg(feature = "siv")]
pub mod gcm_siv;
#[cfg(feature = "sessions")]
pub mod gscm;
#[cfg(feature = "sessions")]
pub mod multi_buffer;
#[cfg(feature = "sessions")]
pub mod multi_key;
#[cfg(feature = "ocb")]
pub mod ocb;
#[cfg(feature = "research")]
pub mod rkc;
#[cfg(feature = "gcm")]
pub mod xaes;
