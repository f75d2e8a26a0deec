//! Modes of operation over any [`BlockCipher`](crate::block::BlockCipher).

#[cfg(any(feature = "cbc", feature = "raw"))]
pub mod cbc;
#[cfg(feature = "cbc")]
pub mod cbc_hmac;
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
