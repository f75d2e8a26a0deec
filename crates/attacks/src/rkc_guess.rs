//! RKC: the tag tells whether a guess of the plaintext is right.

use sealwright::Aead;
use sha2::{Digest, Sha256};

use crate::{
    attack::{Attack, AttackError, Cost, Log, Size},
    tools::{rkc::candidates, xor},
};

pub(crate) const ATTACK: Attack = Attack {
    name: "rkc-guess",
    title: "A six-digit number is read from an RKC ciphertext, without the key",
    knows: "one ciphertext with its tag, and the form of the plaintext",
    stopped_by: "a tag that needs a key: RKC with HMAC, or any AEAD",
    page: "rkc.md",
    run,
};

fn run(log: &mut Log, size: Size) -> Result<(), AttackError> {
    let digits = if size == Size::Small { 4 } else { 6 };
    if size == Size::Small {
        log.reduced = Some("four digits instead of six");
    }
    for (target, name, victim, nonce) in candidates()? {
        log.trial(target, name, |cost| guess(&*victim, nonce, digits, cost))?;
    }
    Ok(())
}

/// The text with a number.
fn text(number: u32, digits: usize) -> Vec<u8> {
    format!("PIN: {number:0digits$}{:1$}", "", 11 - digits).into_bytes()
}

fn guess(victim: &dyn Aead, nonce: usize, digits: usize, cost: &mut Cost) -> Result<(bool, String), AttackError> {
    let most = 10u32.pow(digits as u32);
    let secret = 978_561 % most;
    let mut sealed = text(secret, digits);
    let tag = victim.seal_in_place(&vec![5; nonce], &[], &mut sealed)?;
    (cost.queries, cost.step, cost.memory) = (1, "SHA-256", 32);
    for number in 0..most {
        cost.steps += 1;
        if Sha256::digest(xor(&sealed, &text(number, digits))).starts_with(tag.as_ref()) {
            return Ok((number == secret, format!("the number is {number:0digits$}")));
        }
    }
    Ok((false, "no guess matches the tag".into()))
}
