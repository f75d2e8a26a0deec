//! Two secret keys around a public permutation (Even and Mansour): for n-bit blocks, the attack needs 2^(n/2) data and
//! 2^(n/2) work.
//!
//! To an insider, GSCM-H has this form: AES under the cluster's key is a permutation that the insider can compute. Here
//! the permutation has 32 bits, so that the attack is feasible. The product of blocks and evaluations is 2^(n+1) on
//! average: 2^129 for 128 bits.

use std::collections::HashMap;

use sealwright_measure::random::Random;

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size},
    tools::permutation::{EvenMansour, Permutation, both},
};

pub(crate) const ATTACK: Attack = Attack {
    name: "even-mansour",
    title: "Keys around a known permutation are found with 2^(n/2) blocks and 2^(n/2) steps (n = 32 here, 128 in GSCM-H)",
    knows: "the permutation, and 2^(n/2) pairs of counter mode's inputs and outputs",
    stopped_by: "a permutation that the attacker does not know, which is a block cipher; limits on data for GSCM-H",
    page: "even-mansour.md",
    figure: Axes { spent: "evaluations of the permutation", gained: "bits of the keys known" },
    run,
};

fn run(log: &mut Log, size: Size) -> Result<(), AttackError> {
    both(log, size, 3, recover)
}

/// Daemen's attack: for inputs that differ in the last bit, the difference of the outputs does not depend on the second
/// key.
fn recover(victim: &EvenMansour, known: Permutation, random: &mut Random, cost: &mut Cost) -> (bool, String) {
    let bits = known.bits;
    let encrypt = |block: u32| victim.encrypt(block);
    let pairs = 1u32 << (bits / 2 - 1);
    let seen: HashMap<u32, (u32, u32)> =
        (0..pairs).map(|i| (2 * i, encrypt(2 * i))).map(|(p, c)| (c ^ encrypt(p ^ 1), (p, c))).collect();
    cost.queries = 2 * u64::from(pairs);
    cost.memory = 16 * u64::from(pairs);
    cost.point(0.0, 0.0);
    // Eight times the average, 2^(n+1) / 2^(n/2).
    while cost.steps < 16 << (bits / 2) {
        let x = known.block(random);
        let y = known.of(x);
        cost.steps += 2;
        if let Some(&(plain, cipher)) = seen.get(&(y ^ known.of(x ^ 1))) {
            for (first, y) in [(plain ^ x, y), (plain ^ x ^ 1, known.of(x ^ 1))] {
                let second = cipher ^ y;
                if victim.fits(known, [first, second]) {
                    let steps = (cost.steps as f64).log2();
                    cost.point(cost.steps as f64 - 1.0, 0.0);
                    cost.point(cost.steps as f64, 2.0 * f64::from(bits));
                    return ([first, second] == victim.keys, format!("both keys found after 2^{steps:.1} steps"));
                }
            }
        }
    }
    cost.point(cost.steps as f64, 0.0);
    (false, "no keys fit".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_times_evaluations_are_two_to_the_n_plus_one_on_average() {
        let (bits, runs) = (20, 40);
        let mut product = 0.0;
        for seed in 0..runs {
            let (permutation, mut random) = (Permutation { bits, key: 1 }, Random::new(seed));
            let victim = EvenMansour::new(permutation, &mut random);
            let mut cost = Cost::default();
            assert!(recover(&victim, permutation, &mut random, &mut cost).0, "{seed}");
            product += cost.queries as f64 * cost.steps as f64 / runs as f64;
        }
        let said = f64::from(2u32.pow(bits + 1));
        assert!((said / 2.0..2.0 * said).contains(&product), "2^{:.2}", product.log2());
    }
}
