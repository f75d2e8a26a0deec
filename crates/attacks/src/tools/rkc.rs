//! The targets of attacks on RKC.

use sealwright::{
    Aead, Isa,
    mode::{
        gcm::{TagLen, by_key},
        rkc::{Rkc, RkcHmac},
    },
};

use crate::attack::{AttackError, Cost, Log, Target};

/// Tries an attack against RKC as published, and against two modes with a keyed tag. Its arguments are the mode, the
/// victim's nonce, and the cost.
pub(crate) fn each(
    log: &mut Log,
    mut attack: impl FnMut(&dyn Aead, &[u8], &mut Cost) -> Result<(bool, String), AttackError>,
) -> Result<(), AttackError> {
    let (isa, key) = (Isa::best(), [3; 32]);
    let candidates: [(Target, &str, Box<dyn Aead>, usize); 3] = [
        (Target::Weak, "RKC", Box::new(Rkc::research_only(isa, &key)), 55),
        (Target::Strong, "RKC with HMAC", Box::new(RkcHmac::research_only(isa, &key, &[4; 32])), 55),
        (Target::Strong, "AES-256-GCM", by_key(isa, &key, TagLen::T16)?, 12),
    ];
    for (target, name, victim, nonce) in candidates {
        log.trial(target, name, |cost| {
            (cost.queries, cost.step, cost.memory) = (1, "SHA-256", 32);
            attack(&*victim, &vec![5; nonce], cost)
        })?;
    }
    Ok(())
}
