//! RKC: the tag confirms or refutes a guess of the plaintext.

use sealwright::Aead;
use sha2::{Digest, Sha256};

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size},
    tools::{rkc::each, xor},
};

pub(crate) const ATTACK: Attack = Attack {
    name: "rkc-guess",
    title: "A six-digit number is read from an RKC ciphertext, without the key",
    knows: "one ciphertext with its tag, and the form of the plaintext",
    stopped_by: "a tag that needs a key: RKC with HMAC, or any AEAD",
    page: "rkc.md",
    figure: Axes { spent: "numbers tried", gained: "bits of the number known" },
    run,
};

fn run(log: &mut Log, size: Size) -> Result<(), AttackError> {
    let digits = if size == Size::Small { 4 } else { 6 };
    if size == Size::Small {
        log.reduced = Some("four digits instead of six");
    }
    each(log, |victim, nonce, cost| guess(victim, nonce, digits, cost))
}

/// The text with a number.
fn text(number: u32, digits: usize) -> Vec<u8> {
    format!("PIN: {number:0digits$}{:1$}", "", 11 - digits).into_bytes()
}

fn guess(victim: &dyn Aead, nonce: &[u8], digits: usize, cost: &mut Cost) -> Result<(bool, String), AttackError> {
    let most = 10u32.pow(digits as u32);
    let secret = 978_561 % most;
    let mut sealed = text(secret, digits);
    let tag = victim.seal_in_place(nonce, &[], &mut sealed)?;
    let bits = f64::from(most).log2();
    cost.point(0.0, 0.0);
    for number in 0..most {
        cost.steps += 1;
        if Sha256::digest(xor(&sealed, &text(number, digits))).starts_with(tag.as_ref()) {
            cost.point(cost.steps as f64 - 1.0, 0.0);
            cost.point(cost.steps as f64, bits);
            return Ok((number == secret, format!("the number is {number:0digits$}")));
        }
    }
    cost.point(cost.steps as f64, 0.0);
    Ok((false, "no guess matches the tag".into()))
}
