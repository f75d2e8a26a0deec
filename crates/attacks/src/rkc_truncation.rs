//! RKC: the tag is a hash without a key, so whoever knows a plaintext computes the tag of every prefix.

use sealwright::Aead;
use sha2::{Digest, Sha256};

use crate::{
    attack::{Attack, AttackError, Cost, Log, Size},
    tools::{rkc::candidates, xor},
};

pub(crate) const ATTACK: Attack = Attack {
    name: "rkc-truncation",
    title: "An RKC message whose plaintext is known is cut short, with a valid tag",
    knows: "one ciphertext with its tag, and its plaintext; no key",
    stopped_by: "a tag that needs a key: RKC with HMAC, or any AEAD",
    page: "rkc.md",
    run,
};

const TEXT: &[u8; 48] = b"pay 100 to alice; but only after she delivers.. ";
/// Bytes that are left of it.
const CUT: usize = 16;

fn run(log: &mut Log, _: Size) -> Result<(), AttackError> {
    for (target, name, victim, nonce) in candidates()? {
        log.trial(target, name, |cost| cut(&*victim, nonce, cost))?;
    }
    Ok(())
}

fn cut(victim: &dyn Aead, nonce: usize, cost: &mut Cost) -> Result<(bool, String), AttackError> {
    let nonce = vec![5; nonce];
    let mut sealed = TEXT.to_vec();
    let tag = victim.seal_in_place(&nonce, &[], &mut sealed)?;
    let forged = Sha256::digest(xor(&sealed[..CUT], TEXT));
    (cost.queries, cost.steps, cost.step, cost.memory) = (1, 1, "SHA-256", 32);
    let mut text = sealed[..CUT].to_vec();
    let opened = victim.open_in_place(&nonce, &[], &mut text, &forged[..tag.as_ref().len()]);
    Ok(match opened {
        Ok(()) if text == TEXT[..CUT] => (true, "the receiver reads \"pay 100 to alice\" and nothing else".into()),
        _ => (false, "the cut message is refused".into()),
    })
}
