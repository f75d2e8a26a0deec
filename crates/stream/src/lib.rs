#![doc = include_str!("../README.md")]

pub mod chunk;
mod cipher;
mod error;
mod opener;
mod sealer;

pub use cipher::{ChunkCipher, aead_name, hkdf_expand};
pub use error::StreamError;
pub use opener::Opener;
pub use sealer::Sealer;
