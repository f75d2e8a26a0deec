//! GSCM as printed with 128-bit keys: an insider recovers another client's keys from 256 packets.
//!
//! Between K1 and K2 lie five AES rounds whose keys all members of the cluster know. The masks of 256 packets in a row are
//! AES2S of blocks that differ in one byte. After three rounds, whatever K1 is, each byte of the state sums to zero over
//! the 256 blocks (the Square attack's property). Four bytes of K2 suffice to compute one column of that state, so they
//! are guessed and the sums checked: 2^32 guesses for each of four columns.

use rayon::prelude::*;
use sealwright::{Block, Isa};

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size, Target},
    tools::{
        aes::{Rounds, mixed, shifted, unmix},
        cluster::{Capture, Cluster, Seen},
        column::{Column, Guess},
    },
};

pub(crate) const ATTACK: Attack = Attack {
    name: "gscm-keys",
    title: "A member of a GSCM cluster with 128-bit keys recovers another client's keys and reads all its packets",
    knows: "its own grant (so the cluster's main key), and 256 consecutive packets of the victim; no plaintext",
    stopped_by: "K2 in the last round and a GHASH key for each client (gscm-h); better, keys that nobody shares (gcm-on64)",
    page: "gscm-keys.md",
    figure: Axes { spent: "guesses of four bytes", gained: "bits of K2 known" },
    run,
};

fn run(log: &mut Log, size: Size) -> Result<(), AttackError> {
    if size == Size::Small {
        log.reduced = Some("the attacker is told 8 of the 16 bytes of K2: 2^16 guesses a column instead of 2^32");
    }
    let mut attempt = |target, scheme: &str, x, size| {
        log.trial(target, scheme, |cost| {
            let capture = Cluster::new(scheme, 0x77)?.capture(cost)?;
            Ok::<_, AttackError>(recover(&capture, x, size, cost))
        })
    };
    attempt(Target::Weak, "gscm(clmul)", 5, size)?;
    // A strong target is searched with the same hints, else it would take as long as the weak one and find nothing.
    for (scheme, x) in [("gscm(clmul)-256", 9), ("gscm-h", 5), ("gcm-on64", 5)] {
        attempt(Target::Strong, scheme, x, Size::Small)?;
    }
    Ok(())
}

/// Looks for the keys with K2 in the place of round key `x`, as far as the attacker knows, and reads the packets with them.
pub(crate) fn recover(capture: &Capture, x: usize, size: Size, cost: &mut Cost) -> (bool, String) {
    let Capture { seen, texts, .. } = capture;
    let (masks, known) = (capture.masks(), capture.rounds());
    let hint = (size == Size::Small).then(|| capture.secret_column_keys(x));
    (cost.step, cost.memory) = ("guesses of four bytes", 1 << 20);
    let candidates = second_keys(&known, x, &masks, hint, cost);
    let keys = candidates.iter().find_map(|k2| complete(&known, x, *k2, seen, &masks));
    let right = keys.is_some();
    for column in 0..=4 {
        cost.point((cost.steps / 4 * column) as f64, if right { 32.0 * column as f64 } else { 0.0 });
    }
    let Some(keys) = keys else {
        return (false, format!("{} candidates for K2, none of them right", candidates.len()));
    };
    let read = seen.iter().zip(texts).filter(|(packet, text)| packet.decrypt(&keys) == **text).count();
    (read == 256, format!("K2 and K1 found; {read} of 256 packets decrypted"))
}

/// What K2 may be, judged by the sums of one set of 256 blocks.
fn second_keys(known: &Rounds, x: usize, masks: &[Block], hint: Option<Block>, cost: &mut Cost) -> Vec<Block> {
    // Back through the rounds behind K2, and through the MixColumns in front of it: MC(x) ^ K2 becomes x ^ K2'.
    let outputs: Vec<Block> = masks.iter().map(|mask| unmix(&known.back_to(mask, x))).collect();
    let mut candidates = vec![[0; 16]];
    for column in 0..4 {
        // The four bytes that ShiftRows brings to this column from.
        let places: [usize; 4] = core::array::from_fn(|row| {
            (0..16).find(|&at| shifted(at) == 4 * column + row).expect("ShiftRows is a permutation")
        });
        let texts: Vec<[u8; 4]> = outputs.iter().map(|output| places.map(|at| output[at])).collect();
        let key: [u8; 4] = core::array::from_fn(|row| known.0[x - 1][4 * column + row]);
        let attacked = Column::new(Isa::best(), &texts, key);
        let guesses: Vec<Guess> = match hint {
            Some(hint) => attacked.search(hint[places[0]], Some(hint[places[1]])),
            None => (0..=255).into_par_iter().flat_map_iter(|first| attacked.search(first, None)).collect(),
        };
        cost.steps += if hint.is_some() { 1 << 16 } else { 1 << 32 };
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

/// AES2S with K2 made of `k2`, and K1 so that the first packet fits; if that fits the others too.
fn complete(known: &Rounds, x: usize, k2: Block, seen: &[Seen], masks: &[Block]) -> Option<Rounds> {
    let mut rounds = known.clone();
    rounds.0[x] = mixed(&k2);
    let whitened = rounds.back_to(&masks[0], 0);
    let block = seen[0].counter(1);
    // The unknown 32-bit nonce is a part of this K1: it does no harm.
    rounds.0[0] = core::array::from_fn(|i| whitened[i] ^ block[i]);
    let fits = seen.iter().zip(masks).all(|(packet, mask)| rounds.encrypt(&packet.counter(1)) == *mask);
    fits.then_some(rounds)
}
