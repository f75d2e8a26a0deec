//! Two secret keys around a public permutation, found from known plaintexts alone: the slide with a twist (Biryukov and Wagner, 2000).
//!
//! Two plaintexts that differ by the first key form a pair: what one is xored with it is the other. So the ciphertext of each, xored
//! with the permutation of its own plaintext, is the same. Among 2^((n+1)/2) plaintexts there is such a pair.

use std::collections::HashMap;

use sealwright_measure::random::Random;

use crate::{
    attack::{Attack, AttackError, Cost, Log, Size, Target},
    tools::permutation::{EvenMansour, Permutation},
};

pub(crate) const ATTACK: Attack = Attack {
    name: "even-mansour-slide",
    title: "The same keys are found from 2^((n+1)/2) known plaintexts that nobody chose (n = 32 here, 128 in GSCM-H)",
    knows: "the permutation, and 2^((n+1)/2) plaintexts with their ciphertexts",
    stopped_by: "a permutation that the attacker does not know, which is a block cipher; limits on data for GSCM-H",
    page: "even-mansour.md",
    run,
};

fn run(log: &mut Log, size: Size) -> Result<(), AttackError> {
    let bits = if size == Size::Small { 24 } else { 32 };
    if size == Size::Small {
        log.reduced = Some("blocks of 24 bits instead of 32");
    }
    log.trial(Target::Weak, format!("a known permutation of {bits} bits"), |cost| {
        Ok::<_, AttackError>(recover(bits, 1, 1, cost))
    })?;
    log.trial(Target::Strong, "a permutation chosen by a key that the attacker has not", |cost| {
        Ok(recover(bits, 1, 2, cost))
    })
}

fn recover(bits: u32, theirs: u32, ours: u32, cost: &mut Cost) -> (bool, String) {
    let known = Permutation { bits, key: ours };
    let mut random = Random::new(5);
    let victim = EvenMansour::new(Permutation { bits, key: theirs }, &mut random);
    let mut seen: HashMap<u32, Vec<u32>> = HashMap::new();
    cost.step = "evaluations of the permutation";
    // Eight times what is needed on average.
    while cost.queries < 8 << bits.div_ceil(2) {
        let plain = known.block(&mut random);
        let cipher = victim.encrypt(plain);
        (cost.queries, cost.steps) = (cost.queries + 1, cost.steps + 1);
        cost.memory = 16 * cost.queries;
        let others = seen.entry(cipher ^ known.of(plain)).or_default();
        for other in others.iter().filter(|&&other| other != plain) {
            cost.steps += 1;
            let keys = [plain ^ other, cipher ^ known.of(*other)];
            if victim.fits(known, keys) {
                let data = (cost.queries as f64).log2();
                return (keys == victim.keys, format!("both keys found from 2^{data:.1} plaintexts"));
            }
        }
        others.push(plain);
    }
    (false, "no keys fit".into())
}
