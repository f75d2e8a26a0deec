//! Two secret keys around a public permutation, found from known plaintexts alone: the slide with a twist (Biryukov and
//! Wagner, 2000).
//!
//! Two plaintexts whose XOR is the first key form a slid pair: for both, the XOR of the ciphertext and the permutation
//! of the plaintext is the same. Such a pair is expected among 2^((n+1)/2) plaintexts.

use std::collections::HashMap;

use sealwright_measure::random::Random;

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size},
    tools::permutation::{EvenMansour, Permutation, both},
};

pub(crate) const ATTACK: Attack = Attack {
    name: "even-mansour-slide",
    title: "The same keys are found from 2^((n+1)/2) known plaintexts that nobody chose (n = 32 here, 128 in GSCM-H)",
    knows: "the permutation, and 2^((n+1)/2) plaintexts with their ciphertexts",
    stopped_by: "a permutation that the attacker does not know, which is a block cipher; limits on data for GSCM-H",
    page: "even-mansour.md",
    figure: Axes { spent: "known plaintexts", gained: "bits of the keys known" },
    run,
};

fn run(log: &mut Log, size: Size) -> Result<(), AttackError> {
    both(log, size, 5, recover)
}

fn recover(victim: &EvenMansour, known: Permutation, random: &mut Random, cost: &mut Cost) -> (bool, String) {
    let bits = known.bits;
    let mut seen: HashMap<u32, Vec<u32>> = HashMap::new();
    cost.gained(0.0);
    // Eight times what is needed on average.
    while cost.queries < 8 << bits.div_ceil(2) {
        let plain = known.block(random);
        let cipher = victim.encrypt(plain);
        (cost.queries, cost.steps) = (cost.queries + 1, cost.steps + 1);
        cost.memory = 16 * cost.queries;
        let others = seen.entry(cipher ^ known.of(plain)).or_default();
        for other in others.iter().filter(|&&other| other != plain) {
            cost.steps += 1;
            let keys = [plain ^ other, cipher ^ known.of(*other)];
            if victim.fits(known, keys) {
                let data = (cost.queries as f64).log2();
                cost.point(cost.queries as f64 - 1.0, 0.0);
                cost.gained(2.0 * f64::from(bits));
                return (keys == victim.keys, format!("both keys found from 2^{data:.1} plaintexts"));
            }
        }
        others.push(plain);
    }
    cost.gained(0.0);
    (false, "no keys fit".into())
}
