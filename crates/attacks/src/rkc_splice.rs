//! RKC with a seed used twice, which its paper allows: blocks of two messages can be exchanged.

use sealwright::{Isa, mode::rkc::Rkc};
use sha2::{Digest, Sha256};

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size, Target},
    tools::xor,
};

pub(crate) const ATTACK: Attack = Attack {
    name: "rkc-splice",
    title: "Two RKC messages under one seed are combined into a third with a valid tag; equal blocks are visible",
    knows: "two ciphertexts under one seed, and their plaintexts",
    stopped_by: "a fresh seed for each message; better, a real AEAD",
    page: "rkc.md",
    figure: Axes { spent: "messages", gained: "forgeries accepted" },
    run,
};

const TEXTS: [&[u8; 32]; 2] = [b"pay to: alice   amount:      010", b"pay to: mallory amount:      999"];

fn run(log: &mut Log, _: Size) -> Result<(), AttackError> {
    log.trial(Target::Weak, "RKC, one seed twice", |cost| splice([[1; 55], [1; 55]], cost))?;
    log.trial(Target::Strong, "RKC, two seeds", |cost| splice([[1; 55], [2; 55]], cost))
}

fn splice(seeds: [[u8; 55]; 2], cost: &mut Cost) -> Result<(bool, String), AttackError> {
    let victim = Rkc::research_only(Isa::best(), &[3; 32]);
    let mut sealed = [TEXTS[0].to_vec(), TEXTS[1].to_vec()];
    for (seed, text) in seeds.iter().zip(&mut sealed) {
        // The tag is an unkeyed hash that anybody can compute
        let _ = victim.seal(seed, text)?;
    }
    // The first block of one, the second of the other.
    let mut text = [&sealed[1][..16], &sealed[0][16..]].concat();
    let wanted = [&TEXTS[1][..16], &TEXTS[0][16..]].concat();
    let tag = Sha256::digest(xor(&text, &wanted));
    (cost.queries, cost.steps, cost.step, cost.memory) = (2, 1, "SHA-256", 64);
    let opened = victim.open(&seeds[0], &mut text, &tag).is_ok() && text == wanted;
    let result = if opened { "the receiver reads the name of one and the amount of the other" } else { "refused" };
    Ok((opened, result.into()))
}
