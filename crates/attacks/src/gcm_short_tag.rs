//! GCM with short tags: forgeries are easier than the tag's length suggests, and each one makes the next easier
//! (Ferguson, "Authentication weaknesses in GCM", 2005).
//!
//! In GF(2^128) squaring is linear over GF(2). So changing only the blocks that are multiplied by h^2, h^4, h^8, ...
//! changes the tag by a linear function of the bits of h. The changes can be chosen so that some bits of the tag never
//! change, whatever h is; the others are right by chance. Each success gives linear equations for the bits of h.

use rayon::prelude::*;
use sealwright::{
    Aead, Isa,
    mode::gcm::{ShortTagLen, TagLen, by_key, short_tag_by_key},
    raw,
};
use sealwright_measure::random::Random;

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size, Target},
    tools::{
        bits::{Row, add, bit, flip, kernel, zeros},
        ghash::{ghash, mul, number},
    },
};

pub(crate) const ATTACK: Attack = Attack {
    name: "gcm-short-tag",
    title: "The GHASH key is found if AES-GCM has 32-bit tags; then every message can be forged",
    knows: "one long sealed message, and for each modified one whether the receiver accepts it",
    stopped_by: "tags of 128 bits, as in all suites of this library",
    page: "gcm-short-tag.md",
    figure: Axes { spent: "questions", gained: "bits of the GHASH key known" },
    run,
};

const KEY: &[u8; 16] = b"the victim's key";
const NONCE: [u8; 12] = [3; 12];

fn run(log: &mut Log, size: Size) -> Result<(), AttackError> {
    let isa = Isa::best();
    // The message has 2^squares - 1 blocks; in reduced runs, the attacker is given `told` bits of h. A receiver that
    // compared only 32 of the 128 bits would accept one change in 2^15 or 2^19: the control gets four times as many.
    let (squares, told, most, control) =
        if size == Size::Small { (10, 56, 1 << 20, 1 << 17) } else { (14, 0, 1 << 23, 1 << 21) };
    if size == Size::Small {
        log.reduced = Some("56 of the 128 bits of the GHASH key are told; 1023 blocks instead of 16,383");
    }
    let short = short_tag_by_key(isa, KEY, ShortTagLen::T4)?;
    log.trial(Target::Weak, "AES-128-GCM with tags of 32 bits", |cost| {
        recover(&*short, &opens(&*short), squares, told, most, cost).map(|found| (found.h, found.words))
    })?;
    let full = by_key(isa, KEY, TagLen::T16)?;
    log.trial(Target::Strong, "AES-128-GCM with tags of 128 bits", |cost| {
        // One forgery breaks the receiver, whether or not h is found.
        recover(&*full, &opens(&*full), squares, told, control, cost).map(|found| (found.forgeries > 0, found.words))
    })
}

/// A receiver: whether it accepts a text with a tag.
type Receiver<'a> = &'a (dyn Fn(&mut [u8], &[u8]) -> bool + Sync);

fn opens(aead: &dyn Aead) -> impl Fn(&mut [u8], &[u8]) -> bool + Sync {
    |text, tag| aead.open_in_place(&NONCE, &[], text, tag).is_ok()
}

/// The result: whether h is known, and how many changed messages were accepted.
struct Found {
    h: bool,
    forgeries: u64,
    words: String,
}

/// The attacker's state.
struct Forger<'a> {
    receiver: Receiver<'a>,
    text: Vec<u8>,
    tag: Vec<u8>,
    /// The number of blocks that may change: those multiplied by h^2, h^4, ..., h^(2^squares).
    squares: usize,
    /// A basis of the space of possible h.
    space: Vec<u128>,
}

fn recover(
    sender: &dyn Aead,
    receiver: Receiver<'_>,
    squares: usize,
    told: usize,
    most: u64,
    cost: &mut Cost,
) -> Result<Found, AttackError> {
    let mut text = vec![0x61; 16 * ((1 << squares) - 1)];
    let tag = sender.seal_in_place(&NONCE, &[], &mut text)?.as_ref().to_vec();
    cost.memory = 32 * text.len() as u64;
    cost.step = "systems of linear equations";
    let mut forger = Forger { receiver, text, tag, squares, space: space(told)? };
    let mut forgeries = 0;
    let mut first = 0;
    let known = |space: &[u128]| 128.0 - space.len() as f64;
    cost.gained(known(&forger.space));
    while forger.space.len() > 1 {
        let bits = 8 * forger.tag.len();
        // Some bits are always left to chance: otherwise a success would give no equations.
        let zero = (128 * squares - 1) / forger.space.len();
        let zero = zero.min(bits - 8.min(forger.space.len() - 1));
        cost.steps += 1;
        let Some(change) = forger.forge(zero, most, cost) else {
            cost.gained(known(&forger.space));
            let words = format!("{forgeries} forgeries accepted in {} tries", cost.queries);
            return Ok(Found { h: false, forgeries, words });
        };
        forgeries += 1;
        if forgeries == 1 {
            first = cost.queries;
        }
        forger.learn(&change, zero, bits);
        cost.gained(known(&forger.space));
    }
    let Some(&h) = forger.space.first() else {
        return Ok(Found { h: false, forgeries, words: "no GHASH key is possible".into() });
    };
    // A forgery with a text of the attacker's choice, at the first try.
    let mut forged = b"pay everything to mallory".to_vec();
    let bytes = forger.tag.len();
    let mask = ghash(h, &[], &forger.text) ^ ghash(h, &[], &forged);
    let tag: Vec<u8> = forger.tag.iter().zip(mask.to_be_bytes()).map(|(t, m)| t ^ m).collect();
    let accepted = receiver(&mut forged, &tag[..bytes]);
    let words = format!("first forgery after {first} tries; h known after {}; forged at will", cost.queries);
    Ok(Found { h: accepted, forgeries, words })
}

/// A basis of GF(2^128), or in reduced runs of a subspace that contains h.
fn space(told: usize) -> Result<Vec<u128>, AttackError> {
    if told == 0 {
        return Ok((0..128).map(|i| 1 << i).collect());
    }
    let mut h = [0; 16];
    raw::aes(Isa::best(), KEY)?.ecb_encrypt(&mut h);
    let mut random = Random::new(5);
    let mut number_of = || u128::from(random.bits()) << 64 | u128::from(random.bits());
    let others: Vec<u128> = (1..128 - told).map(|_| number_of()).collect();
    // The last element makes h the sum of all of them, so that h itself is not in the basis.
    let sum = others.iter().fold(number(&h), |sum, other| sum ^ other);
    Ok([others, vec![sum]].concat())
}

impl Forger<'_> {
    /// The difference in the tag that a change of the blocks would cause under this `h`.
    fn effect(&self, change: &[u64], h: u128) -> u128 {
        let mut power = h;
        (0..self.squares).fold(0, |sum, i| {
            power = mul(power, power);
            sum ^ mul(block(change, i), power)
        })
    }

    /// Tries changes that keep the first `zero` bits of the tag for every possible h, until the others are right by
    /// chance.
    fn forge(&self, zero: usize, most: u64, cost: &mut Cost) -> Option<Row> {
        let unknowns = 128 * self.squares;
        let mut equations = Vec::new();
        for &h in &self.space {
            let mut power = h;
            let mut rows = vec![zeros(unknowns); zero];
            for i in 0..self.squares {
                power = mul(power, power);
                // Multiplication by x moves to the next bit: from the first, which is 1.
                let mut product = power;
                for at in 0..128 {
                    for (t, row) in rows.iter_mut().enumerate() {
                        if product >> (127 - t) & 1 == 1 {
                            flip(row, 128 * i + at);
                        }
                    }
                    product = (product >> 1) ^ ((product & 1) * (0xe1 << 120));
                }
            }
            equations.extend(rows);
        }
        let solutions = kernel(equations, unknowns);
        let (tries, before) = (AtomicTries::default(), cost.queries);
        let found = (0..most).into_par_iter().find_map_any(|seed| {
            let mut random = Random::new(before ^ seed << 20);
            let mut change = zeros(unknowns);
            for solution in &solutions {
                if random.bits() >> 63 == 1 {
                    add(&mut change, solution);
                }
            }
            if change.iter().all(|word| *word == 0) {
                return None;
            }
            tries.one();
            self.accepted(&change).then_some(change)
        });
        cost.queries += tries.all();
        found
    }

    /// Whether the receiver accepts the changed message.
    fn accepted(&self, change: &[u64]) -> bool {
        let mut text = self.text.clone();
        let end = text.len();
        for i in 0..self.squares {
            // The block multiplied by h^(2^(i + 1)): the lengths are multiplied by h, and the last block by h^2.
            let at = end - 16 * ((1 << (i + 1)) - 1);
            let changed = number(text[at..][..16].first_chunk().expect("a block")) ^ block(change, i);
            text[at..][..16].copy_from_slice(&changed.to_be_bytes());
        }
        (self.receiver)(&mut text, &self.tag)
    }

    /// Learns from a success that bits `zero` to `bits` of the effect are zero as well.
    fn learn(&mut self, change: &[u64], zero: usize, bits: usize) {
        let effects: Vec<u128> = self.space.iter().map(|&h| self.effect(change, h)).collect();
        let equations = (zero..bits).map(|t| {
            let mut row = zeros(effects.len());
            for (i, effect) in effects.iter().enumerate() {
                if effect >> (127 - t) & 1 == 1 {
                    flip(&mut row, i);
                }
            }
            row
        });
        let combinations = kernel(equations.collect(), effects.len());
        let sum = |of: &Row| (0..self.space.len()).filter(|&i| bit(of, i)).fold(0, |sum, i| sum ^ self.space[i]);
        self.space = combinations.iter().map(sum).collect();
    }
}

/// Block `i` of a change.
fn block(change: &[u64], i: usize) -> u128 {
    // Bit 0 is the first of the block, which is the highest of the number.
    (u128::from(change[2 * i].reverse_bits()) << 64) | u128::from(change[2 * i + 1].reverse_bits())
}

/// A counter that threads share.
#[derive(Default)]
struct AtomicTries(core::sync::atomic::AtomicU64);

impl AtomicTries {
    fn one(&self) {
        self.0.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
    }

    fn all(&self) -> u64 {
        self.0.load(core::sync::atomic::Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_that_compared_four_of_sixteen_bytes_would_fall() -> Result<(), AttackError> {
        let isa = Isa::best();
        let (full, short) = (by_key(isa, KEY, TagLen::T16)?, short_tag_by_key(isa, KEY, ShortTagLen::T4)?);
        let receiver = |text: &mut [u8], tag: &[u8]| opens(&*short)(text, &tag[..4]);
        let found = recover(&*full, &receiver, 10, 56, 1 << 17, &mut Cost::default())?;
        assert!(found.forgeries > 0, "{}", found.words);
        Ok(())
    }
}
