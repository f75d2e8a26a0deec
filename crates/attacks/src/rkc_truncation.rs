//! RKC: the tag is an unkeyed hash, so an attacker who knows the beginning of a plaintext can compute the tag of every
//! prefix of it; the tag of the empty text is a constant.

use sealwright::Aead;
use sha2::{Digest, Sha256};

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size},
    tools::{rkc::each, xor},
};

pub(crate) const ATTACK: Attack = Attack {
    name: "rkc-truncation",
    title: "An RKC message whose plaintext is known is cut short, with a valid tag",
    knows: "one ciphertext, and the first blocks of its plaintext; no key",
    stopped_by: "a tag that needs a key: RKC with HMAC, or any AEAD",
    page: "rkc.md",
    figure: Axes { spent: "forged messages sent", gained: "accepted" },
    run,
};

const TEXT: &[u8; 48] = b"pay 100 to alice; but only after she delivers.. ";

fn run(log: &mut Log, _: Size) -> Result<(), AttackError> {
    each(log, cut)
}

/// Truncates the message to nothing, to its first block, and to two blocks. Two blocks of the text are known.
fn cut(victim: &dyn Aead, nonce: &[u8], cost: &mut Cost) -> Result<(bool, String), AttackError> {
    let mut sealed = TEXT.to_vec();
    let tag = victim.seal_in_place(nonce, &[], &mut sealed)?;
    let mut accepted = 0;
    cost.point(0.0, 0.0);
    for cut in [0, 16, 32] {
        let forged = Sha256::digest(xor(&sealed[..cut], &TEXT[..32]));
        cost.steps += 1;
        let mut text = sealed[..cut].to_vec();
        let opened = victim.open_in_place(nonce, &[], &mut text, &forged[..tag.as_ref().len()]);
        accepted += u32::from(opened.is_ok() && text == TEXT[..cut]);
        cost.point(cost.steps as f64, accepted);
    }
    Ok(match accepted {
        3 => (true, "the receiver reads \"pay 100 to alice\" and nothing else".into()),
        0 => (false, "the cut message is refused".into()),
        some => (true, format!("{some} of three cut messages are accepted")),
    })
}
