//! GCM: two messages under one nonce reveal the GHASH key, and so allow forgery of tags.
//!
//! A tag is a polynomial in h, plus a mask that depends on the nonce. In the sum of two tags under one nonce the mask
//! cancels, so h is a root of a polynomial with known coefficients (Joux, "Authentication failures in NIST version of
//! GCM").

use sealwright::{
    Isa,
    mode::gcm::{TagLen, by_key},
};

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size, Target},
    tools::{
        ghash::{blocks, ghash},
        poly::roots,
        xor,
    },
};

pub(crate) const ATTACK: Attack = Attack {
    name: "gcm-nonce-reuse",
    title: "Two AES-GCM messages under one nonce give the GHASH key; then messages can be forged",
    knows: "two ciphertexts under one nonce, and one of the plaintexts",
    stopped_by: "a nonce for each message: `Sealer` counts them, sealed files have a fresh key each",
    page: "gcm-nonce-reuse.md",
    figure: Axes { spent: "messages", gained: "forgeries accepted" },
    run,
};

const FIRST: &[u8] = b"The shipment leaves on Monday at nine from gate 4; bring the papers.";
const SECOND: &[u8] = b"Nobody may know about Monday. Burn this message after reading it, now!";
const FORGED: &[u8] = b"The shipment leaves on Friday at five from gate 7; bring no papers..";

fn run(log: &mut Log, _: Size) -> Result<(), AttackError> {
    log.trial(Target::Weak, "AES-256-GCM, one nonce twice", |cost| forge([[1; 12], [1; 12]], cost))?;
    log.trial(Target::Strong, "AES-256-GCM, two nonces", |cost| forge([[1; 12], [2; 12]], cost))
}

/// One sealed message: text and tag.
struct Sealed {
    text: Vec<u8>,
    tag: u128,
}

fn forge(nonces: [[u8; 12]; 2], cost: &mut Cost) -> Result<(bool, String), AttackError> {
    let ad = b"header";
    let victim = by_key(Isa::best(), b"a key that the attacker has not.", TagLen::T16)?;
    let seal = |nonce: &[u8; 12], text: &[u8]| -> Result<Sealed, AttackError> {
        let mut text = text.to_vec();
        let tag = victim.seal_in_place(nonce, ad, &mut text)?;
        Ok(Sealed { text, tag: u128::from_be_bytes(tag.as_ref().try_into().expect("16 bytes")) })
    };
    let (first, second) = (seal(&nonces[0], FIRST)?, seal(&nonces[1], SECOND)?);

    // The block that is last but i is multiplied by h^(i + 1).
    let mut sum = vec![first.tag ^ second.tag];
    for sealed in [&first, &second] {
        for (i, block) in blocks(ad, &sealed.text).into_iter().rev().enumerate() {
            if sum.len() < i + 2 {
                sum.push(0);
            }
            sum[i + 1] ^= block;
        }
    }
    let candidates = roots(&sum);
    let changed = xor(&first.text, &xor(FIRST, FORGED));
    (cost.steps, cost.step, cost.memory) = (candidates.len() as u64, "candidates for the GHASH key", 4096);
    cost.queries = 2;
    for h in &candidates {
        let tag = first.tag ^ ghash(*h, ad, &first.text) ^ ghash(*h, ad, &changed);
        let mut text = changed.clone();
        cost.queries += 1;
        if victim.open_in_place(&nonces[0], ad, &mut text, &tag.to_be_bytes()).is_ok() {
            return Ok((text == FORGED, format!("the forgery is accepted; candidates for h: {}", candidates.len())));
        }
    }
    Ok((false, format!("no forgery accepted; candidates for h: {}", candidates.len())))
}
