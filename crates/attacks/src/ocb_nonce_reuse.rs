//! OCB3: two messages under one nonce can be combined into a third with a valid tag.
//!
//! Under one nonce, block i has the same offset in both messages, and the tag depends only on the sum of the plaintext
//! blocks. Among more than 128 blocks, the differences of some sum to zero: exchanging those leaves the tag unchanged.

use sealwright::{
    Isa,
    mode::ocb::{TagLen, by_key},
};
use sealwright_measure::random::Random;

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size, Target},
    tools::ghash::number,
};

pub(crate) const ATTACK: Attack = Attack {
    name: "ocb-nonce-reuse",
    title: "Two AES-OCB messages under one nonce are combined into a third with a valid tag",
    knows: "two ciphertexts of 140 blocks under one nonce, and their plaintexts",
    stopped_by: "a nonce for each message: `Sealer` counts them, sealed files have a fresh key each",
    page: "ocb.md",
    figure: Axes { spent: "messages", gained: "forgeries accepted" },
    run,
};

const BLOCKS: usize = 140;

fn run(log: &mut Log, _: Size) -> Result<(), AttackError> {
    log.trial(Target::Weak, "AES-256-OCB, one nonce twice", |cost| splice([[1; 12], [1; 12]], cost))?;
    log.trial(Target::Strong, "AES-256-OCB, two nonces", |cost| splice([[1; 12], [2; 12]], cost))
}

fn splice(nonces: [[u8; 12]; 2], cost: &mut Cost) -> Result<(bool, String), AttackError> {
    let victim = by_key(Isa::best(), b"a key that the attacker has not.", TagLen::T16)?;
    let mut random = Random::new(7);
    let texts: [Vec<[u8; 16]>; 2] =
        core::array::from_fn(|_| (0..BLOCKS).map(|_| core::array::from_fn(|_| random.bits() as u8)).collect());
    let mut sealed = texts.clone();
    let mut tags = Vec::new();
    for (nonce, text) in nonces.iter().zip(&mut sealed) {
        tags.push(victim.seal_in_place(nonce, b"header", text.as_flattened_mut())?);
    }
    let differences: Vec<u128> = (0..BLOCKS).map(|i| number(&texts[0][i]) ^ number(&texts[1][i])).collect();
    let exchanged = dependent(&differences);
    let pick = |from: &[Vec<[u8; 16]>; 2]| -> Vec<[u8; 16]> {
        (0..BLOCKS).map(|i| from[usize::from(exchanged[i])][i]).collect()
    };
    (cost.queries, cost.steps, cost.step, cost.memory) =
        (2, BLOCKS as u64, "rows of Gaussian elimination", 32 * BLOCKS as u64);
    let mut forged = pick(&sealed);
    let blocks = exchanged.iter().filter(|exchanged| **exchanged).count();
    let opened = victim.open_in_place(&nonces[0], b"header", forged.as_flattened_mut(), tags[0].as_ref());
    Ok(match opened {
        Ok(()) if forged == pick(&texts) && blocks > 0 => {
            (true, format!("accepted with {blocks} of {BLOCKS} blocks from the other message"))
        }
        _ => (false, "the combined message is refused".into()),
    })
}

/// A non-empty subset of the numbers that sums to zero, which exists if there are more than 128.
fn dependent(numbers: &[u128]) -> Vec<bool> {
    // By highest bit: a number, and the subset of the inputs of which it is the sum.
    let mut basis: Vec<(u128, Vec<bool>)> = Vec::new();
    for (i, &number) in numbers.iter().enumerate() {
        let mut row = (number, vec![false; numbers.len()]);
        row.1[i] = true;
        for (value, of) in &basis {
            if row.0 ^ value < row.0 {
                row.0 ^= value;
                row.1.iter_mut().zip(of).for_each(|(mine, theirs)| *mine ^= theirs);
            }
        }
        if row.0 == 0 {
            return row.1;
        }
        let at = basis.partition_point(|(value, _)| *value > row.0);
        basis.insert(at, row);
    }
    vec![false; numbers.len()]
}
