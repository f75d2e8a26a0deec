#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(any(feature = "gcm", feature = "chacha", feature = "ocb")))]
compile_error!("an AEAD for the chunks: the feature gcm, chacha or ocb");

pub mod chunk;
mod cipher;
mod error;
mod opener;
mod sealer;

pub use cipher::{ChunkCipher, hkdf_expand};
pub use error::StreamError;
pub use opener::Opener;
pub use sealer::Sealer;
pub use sealwright::{Isa, RandomError, Suite};
