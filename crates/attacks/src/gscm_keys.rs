//! GSCM as printed with 128-bit keys: an insider recovers another client's keys from 256 packets, or from one known
//! text.
//!
//! Between K1 and K2 are five AES rounds whose keys all members of the cluster know. The masks of 256 consecutive
//! packets are AES2S of blocks that differ in one byte, and so are blocks 256 to 511 of one packet's keystream. After
//! three rounds, each byte of the state sums to zero over the 256 blocks, whatever K1 is (the property that the Square
//! attack uses). Four bytes of K2 suffice to compute one column of that state, so they are guessed and the sums
//! checked: 2^32 guesses for each of four columns.

use rayon::prelude::*;
use sealwright::{Block, Isa};

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size, Target},
    tools::{
        aes::{Rounds, mixed, shifted, unmix},
        cluster::{Capture, Cluster, SquareSet},
        column::{Column, Guess},
    },
};

const SEED: u8 = 0x77;

/// What the attacker is given in reduced trials.
pub(crate) const HINT: &str =
    "the attacker is told 8 of the 16 bytes of K2, which leaves 2^16 guesses of a column instead of 2^32";

pub(crate) const ATTACK: Attack = Attack {
    name: "gscm-keys",
    title: "A member of a GSCM cluster with 128-bit keys recovers another client's keys and reads all its packets",
    knows: "its own grant (and so the cluster's main key), and 256 consecutive packets of the victim with unknown texts, or one known text of 8,160 bytes",
    stopped_by: "K2 in the last round (gscm-h); better, keys that are not shared (gcm-on64)",
    page: "gscm-keys.md",
    figure: Axes { spent: "guesses of four bytes", gained: "bits of K2 known" },
    run,
};

fn run(log: &mut Log, size: Size) -> Result<(), AttackError> {
    if size == Size::Small {
        log.reduced = Some(HINT);
    }
    log.trial(Target::Weak, "gscm(clmul), 256 packets", |cost| {
        let capture = Cluster::new("gscm(clmul)", SEED)?.capture(cost)?;
        Ok::<_, AttackError>(recover(&capture, &capture.of_masks(), 5, size, cost))
    })?;
    // The remaining trials make the same guesses, and strong targets would take as long to find nothing: so all get
    // hints. A known text needs no GHASH key, and under gscm-h the insider does not have the victim's.
    for (target, scheme, x) in [
        (Target::Weak, "gscm(clmul)", 5),
        (Target::Strong, "gscm(clmul)-256", 9),
        (Target::Strong, "gscm-h", 5),
        (Target::Strong, "gscm-h-256", 9),
        (Target::Strong, "gcm-on64", 5),
    ] {
        log.trial(target, format!("{scheme}, one known text"), |cost| {
            let capture = Cluster::new(scheme, SEED)?.capture_known(cost)?;
            let Some(set) = capture.of_known_text() else { return Ok((false, "the text is too short".into())) };
            Ok::<_, AttackError>(recover(&capture, &set, x, Size::Small, cost))
        })?;
    }
    log.trial(Target::Strong, "gscm(clmul)-256, 256 packets", |cost| {
        let capture = Cluster::new("gscm(clmul)-256", SEED)?.capture(cost)?;
        Ok(recover(&capture, &capture.of_masks(), 9, Size::Small, cost))
    })
}

/// Searches a set of blocks for the keys, assuming that K2 replaces round key `x`, and decrypts the packets with them.
pub(crate) fn recover(capture: &Capture, set: &SquareSet, x: usize, size: Size, cost: &mut Cost) -> (bool, String) {
    let Capture { seen, texts, .. } = capture;
    let known = capture.rounds();
    let told = size == Size::Small;
    cost.reduced = told.then_some(HINT);
    (cost.step, cost.memory) = ("guesses of four bytes", 1 << 20);
    let candidates = second_keys(&known, x, &set.outputs, &Secret { key: capture.secret_column_keys(x), told }, cost);
    let keys = candidates.iter().find_map(|k2| complete(&known, x, *k2, set));
    if keys.is_some() {
        cost.point(cost.steps as f64, 128);
    }
    let Some(keys) = keys else {
        return (false, format!("{} candidates for K2, none of them right", candidates.len()));
    };
    let read = seen.iter().zip(texts).filter(|(packet, text)| packet.decrypt(&keys) == **text).count();
    let of = seen.len();
    (read == of, format!("K2 and K1 found; {read} of {of} packets decrypted"))
}

/// The victim's K2 before MixColumns, with which guesses are compared, and whether the attacker is given the first two
/// bytes of each column.
struct Secret {
    key: Block,
    told: bool,
}

/// The candidates for K2 that the sums of one set of 256 blocks allow.
fn second_keys(known: &Rounds, x: usize, outputs: &[Block], secret: &Secret, cost: &mut Cost) -> Vec<Block> {
    // Invert the rounds after K2, and the MixColumns before it: MC(x) ^ K2 becomes x ^ K2'.
    let outputs: Vec<Block> = outputs.iter().map(|output| unmix(&known.back_to(output, x))).collect();
    let mut candidates = vec![[0; 16]];
    let told_bits = if secret.told { 16.0 } else { 0.0 };
    let mut bits = 4.0 * told_bits;
    cost.point(cost.steps as f64, bits);
    for column in 0..4 {
        // The positions of the four bytes that InvShiftRows brings into this column.
        let places: [usize; 4] = core::array::from_fn(|row| {
            (0..16).find(|&at| shifted(at) == 4 * column + row).expect("ShiftRows is a permutation")
        });
        let texts: Vec<[u8; 4]> = outputs.iter().map(|output| places.map(|at| output[at])).collect();
        let key: [u8; 4] = core::array::from_fn(|row| known.0[x - 1][4 * column + row]);
        let attacked = Column::new(Isa::best(), &texts, key);
        let guesses: Vec<Guess> = if secret.told {
            attacked.search(secret.key[places[0]], Some(secret.key[places[1]]))
        } else {
            (0..=255).into_par_iter().flat_map_iter(|first| attacked.search(first, None)).collect()
        };
        cost.steps += if secret.told { 1 << 16 } else { 1 << 32 };
        // The gain counts only if the right guess is among the remaining ones
        if guesses.contains(&places.map(|at| secret.key[at])) {
            bits += 32.0 - (guesses.len() as f64).log2() - told_bits;
        }
        cost.point(cost.steps as f64, bits);
        candidates = candidates
            .iter()
            .flat_map(|before| {
                guesses.iter().map(|guess| {
                    let mut key = *before;
                    places.iter().zip(guess).for_each(|(&at, &byte)| key[at] = byte);
                    key
                })
            })
            .take(1 << 16)
            .collect();
    }
    candidates
}

/// AES2S with K2 from `k2`, and K1 computed from the first block; `None` unless the other blocks fit too.
fn complete(known: &Rounds, x: usize, k2: Block, set: &SquareSet) -> Option<Rounds> {
    let mut rounds = known.clone();
    rounds.0[x] = mixed(&k2);
    let whitened = rounds.back_to(&set.outputs[0], 0);
    // The unknown 32-bit nonce is absorbed into this K1.
    rounds.0[0] = core::array::from_fn(|i| whitened[i] ^ set.inputs[0][i]);
    let fits = set.inputs.iter().zip(&set.outputs).all(|(input, output)| rounds.encrypt(input) == *output);
    fits.then_some(rounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figure begins with what the attacker is given, and has a point for each column that was searched.
    #[test]
    fn what_is_told_is_not_shown_as_gained() -> Result<(), AttackError> {
        let report = ATTACK.run(Size::Small)?;
        for trial in &report.trials {
            let [first, columns @ ..] = &trial.curve[..] else { panic!("{}: no points", trial.against) };
            assert_eq!(*first, [0.0, 64.0], "{}", trial.against);
            let steps: Vec<f64> = columns.iter().map(|point| point[0] / 65536.0).take(4).collect();
            assert_eq!(steps, [1.0, 2.0, 3.0, 4.0], "{}", trial.against);
            let last = columns.last().map_or(0.0, |point| point[1]);
            assert_eq!(last, if trial.succeeded { 128.0 } else { 64.0 }, "{}", trial.against);
            assert_eq!(trial.reduced, Some(HINT), "{}", trial.against);
        }
        Ok(())
    }
}
