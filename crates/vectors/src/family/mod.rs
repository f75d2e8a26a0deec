//! Families of algorithms, one per file.

mod cbc_hmac;
#[cfg(feature = "chacha")]
mod chacha;
mod chain;
mod committing;
mod compare;
mod contract;
mod drbg;
mod gcm;
mod gcm_variants;
#[cfg(feature = "research")]
mod gscm;
mod ocb;
mod raw;
#[cfg(feature = "research")]
mod rkc;

pub(crate) use contract::{Family, Outcome};

/// Every family.
const FAMILIES: &[&dyn Family] = &[
    &gcm::Gcm,
    &gcm_variants::GcmVariants,
    &committing::Committed,
    #[cfg(feature = "chacha")]
    &chacha::ChaCha,
    #[cfg(feature = "research")]
    &gscm::Gscm,
    &ocb::Ocb,
    &cbc_hmac::CbcHmac,
    &raw::Raw,
    &chain::MonteCarlo,
    &drbg::Drbg,
    #[cfg(feature = "research")]
    &rkc::RandomKeyChaining,
];

/// The family that supports `alg`.
pub(crate) fn of(alg: &str) -> Option<&'static dyn Family> {
    FAMILIES.iter().copied().find(|family| family.has(alg))
}
