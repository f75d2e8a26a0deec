//! Modes of operation over any [`BlockCipher`](crate::block::BlockCipher).

pub mod agile;
pub mod cbc;
pub mod cbc_hmac;
pub mod ctr;
pub mod ecb;
pub mod gcm;
pub mod gscm;
pub mod ocb;
pub mod rkc;
