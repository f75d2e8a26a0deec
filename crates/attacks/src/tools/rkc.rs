//! What attacks on RKC are tried against.

use sealwright::{
    Aead, Isa,
    mode::{
        gcm::{TagLen, by_key},
        rkc::{Rkc, RkcHmac},
    },
};

use crate::attack::{AttackError, Target};

/// A target: whether it is expected to resist, its name, the mode and the length of its nonce.
pub(crate) type Candidate = (Target, &'static str, Box<dyn Aead>, usize);

/// RKC as published, and two modes whose tag needs a key.
pub(crate) fn candidates() -> Result<[Candidate; 3], AttackError> {
    let (isa, key) = (Isa::best(), [3; 32]);
    Ok([
        (Target::Weak, "RKC", Box::new(Rkc::research_only(isa, &key)), 55),
        (Target::Strong, "RKC with HMAC", Box::new(RkcHmac::research_only(isa, &key, &[4; 32])), 55),
        (Target::Strong, "AES-256-GCM", by_key(isa, &key, TagLen::T16)?, 12),
    ])
}
