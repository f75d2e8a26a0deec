//! Table-based AES leaks its key through a shared first-level cache: prime and probe on the last round (Osvik, Shamir
//! and Tromer, "Cache attacks and countermeasures: the case of AES", 2006).
//!
//! A byte of the ciphertext is an entry of the last table XOR a byte of the last round key, so each guess of the key
//! byte predicts which line of the table was read. For the right guess, reading the attacker's lines of that set takes
//! longer on average, because the victim's line has evicted one of them. The attack needs neither plaintexts nor the
//! address of the tables.

use sealwright::{Block, Isa, raw};
use sealwright_measure::{interval::median, random::Random};

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size, Target},
    tools::{
        cache::{Cache, SETS},
        tables::{TableAes_vartime, key_of_last_round, line_of_last_round},
    },
};

pub(crate) const ATTACK: Attack = Attack {
    name: "aes-timing",
    title: "The whole key of table-based AES leaks through the first-level cache; the default AES leaks nothing",
    knows: "ciphertexts, and how long its own reads take on the core that encrypts",
    stopped_by: "AES instructions or bit slicing: no memory address depends on a secret",
    page: "timing.md",
    figure: Axes { spent: "encryptions", gained: "bits of the key known" },
    run,
};

/// Standard errors from which on the attacker counts as seeing its own lines.
const SEEN: f64 = 8.0;
/// Nanoseconds by which the running median of a set's time moves with each sample.
const STEP: f32 = 0.05;
/// Encryptions after which the attacker first looks for the key.
const FIRST: usize = 1000;

fn run(log: &mut Log, size: Size) -> Result<(), AttackError> {
    // The samples that the weak target needs depend on the machine's load; each strong one gets twice as many, and at
    // least `least`.
    let (most, least) = if size == Size::Small { (256_000, 8000) } else { (1_024_000, 256_000) };
    if size == Size::Small {
        log.reduced = Some("8000 encryptions or more of each default instead of 256,000 or more");
    }
    let Some(cache) = Cache::here() else {
        log.not_here = Some("the first-level cache is not known, or its ways have not 4 KiB");
        return Ok(());
    };
    if !(0..5).any(|_| cache.sees(4000) > SEEN) {
        log.not_here = Some("reading a line of its own does not slow the attacker down: no cache, or no clock");
        return Ok(());
    }
    let key = *b"sixteen secrets!";
    let tables = TableAes_vartime::new(&key);
    let mut needed = 0;
    log.trial(Target::Weak, "AES-128 by tables, as in OpenSSL 0.9", |cost| {
        let known = recover(&key, &mut sampled(&cache, &mut |block| tables.encrypt(block)), most, cost);
        needed = cost.queries as usize;
        Ok::<_, AttackError>((known == 128, words(known, needed)))
    })?;
    if log.give_up_on_weak("other programs use the cache of this core too much: the key was not found") {
        return Ok(());
    }
    let control = least.max(2 * needed);
    for isa in Isa::available() {
        let default = raw::aes(isa, &key)?;
        log.trial(Target::Strong, format!("AES-128 as it is by default, level {isa}"), |cost| {
            let mut encrypt = |block: &mut Block| default.ecb_encrypt(block);
            let known = recover(&key, &mut sampled(&cache, &mut encrypt), control, cost);
            Ok::<_, AttackError>((tells(known), words(known, control)))
        })?;
    }
    Ok(())
}

/// For each ciphertext byte and value: how often it occurred, and the sum of times of each set.
struct Sums {
    count: Vec<[f32; 256]>,
    times: Vec<[[f32; SETS]; 256]>,
    /// The running median of each set's time.
    usual: [f32; SETS],
    samples: usize,
}

impl Sums {
    fn new(usual: [f32; SETS]) -> Sums {
        Sums { count: vec![[0.0; 256]; 16], times: vec![[[0.0; SETS]; 256]; 16], usual, samples: 0 }
    }

    fn add(&mut self, ciphertext: &Block, times: &[f32; SETS]) {
        let more: [f32; SETS] = core::array::from_fn(|set| {
            let more = times[set] - self.usual[set];
            // More than twice the median: an interruption, which is ignored
            if more < self.usual[set] { more } else { 0.0 }
        });
        // The median moves slowly, to follow changes of clock speed and load
        self.usual.iter_mut().zip(times).for_each(|(usual, time)| *usual += if time > usual { STEP } else { -STEP });
        for (at, &byte) in ciphertext.iter().enumerate() {
            self.count[at][usize::from(byte)] += 1.0;
            self.times[at][usize::from(byte)].iter_mut().zip(&more).for_each(|(sum, more)| *sum += more);
        }
        self.samples += 1;
    }

    /// The likeliest byte of the last round key at position `at`, if the table begins in set `first`, and its score.
    fn likeliest(&self, at: usize, first: usize, means: &[f32; SETS]) -> (u8, f32) {
        let score = |key: u8| {
            (0..=255u8).fold(0.0, |sum, byte| {
                let set = (first + line_of_last_round(byte, key)) % SETS;
                let byte = usize::from(byte);
                sum + self.times[at][byte][set] - self.count[at][byte] * means[set]
            })
        };
        let scores = (0..=255u8).map(|key| (key, score(key)));
        scores.fold((0, f32::MIN), |best, one| if one.1 > best.1 { one } else { best })
    }

    /// The likeliest key: the table is assumed to begin in the set for which the best guesses score highest.
    fn key(&self) -> Block {
        let mut means = [0.0; SETS];
        for times in &self.times[0] {
            means.iter_mut().zip(times).for_each(|(mean, time)| *mean += time / self.samples as f32);
        }
        // Four bytes select candidates for the table's first set, and all bytes decide among them
        let sum =
            |bytes: core::ops::Range<usize>, first| bytes.map(|at| self.likeliest(at, first, &means).1).sum::<f32>();
        let mut places: Vec<(usize, f32)> = (0..SETS).map(|first| (first, sum(0..4, first))).collect();
        places.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
        let guesses = places[..4].iter().map(|&(first, _)| {
            let bytes: [(u8, f32); 16] = core::array::from_fn(|at| self.likeliest(at, first, &means));
            (bytes.map(|(byte, _)| byte), bytes.iter().map(|(_, score)| score).sum::<f32>())
        });
        let best = guesses.fold(([0; 16], f32::MIN), |best, one| if one.1 > best.1 { one } else { best });
        key_of_last_round(&best.0)
    }
}

/// A sample: a ciphertext, and the times of all sets after it was made.
type Sample = (Block, [f32; SETS]);

/// Samples of a victim that encrypts random blocks.
fn sampled(cache: &Cache, encrypt: &mut dyn FnMut(&mut Block)) -> impl FnMut() -> Sample {
    let mut random = Random::new(23);
    move || {
        let mut block: Block = core::array::from_fn(|_| random.bits() as u8);
        let mut times = [0.0; SETS];
        cache.prime();
        encrypt(&mut block);
        cache.probe(&mut times);
        (block, times)
    }
}

/// Whether so many right bits are more than chance: that any four of 16 guessed bytes are right has a probability of
/// C(16, 4) / 256^4, one in two million.
fn tells(known: u32) -> bool {
    known >= 32
}

fn words(known: u32, samples: usize) -> String {
    match known {
        128 => format!("the key after {samples} encryptions"),
        known => {
            let as_by_chance = if tells(known) { "" } else { ", no more than by chance" };
            format!(
                "{known} of 128 bits of the likeliest key's last round are right after {samples} encryptions{as_by_chance}"
            )
        }
    }
}

/// Takes samples until the key is found, or `most` are taken. Returns the largest number of bits of the last round key
/// that were right at the same time.
fn recover(secret: &Block, sample: &mut dyn FnMut() -> Sample, most: usize, cost: &mut Cost) -> u32 {
    let first: Vec<[f32; SETS]> = (0..401).map(|_| sample().1).collect();
    let of_set = |set| first.iter().map(|times| f64::from(times[set])).collect::<Vec<_>>();
    let mut sums = Sums::new(core::array::from_fn(|set| median(&of_set(set)).unwrap_or_default() as f32));
    (cost.step, cost.memory) = ("reads of a set", size_of::<[[f32; SETS]; 4096]>() as u64);
    let (mut next, mut known) = (FIRST, 0);
    cost.point(0.0, 0.0);
    while sums.samples < most && known < 128 {
        let (block, times) = sample();
        sums.add(&block, &times);
        if sums.samples < next.min(most) {
            continue;
        }
        next *= 2;
        (cost.queries, cost.steps) = (sums.samples as u64, (SETS * sums.samples) as u64);
        // A real attacker would confirm the key by decrypting a message
        let right = bits(secret, &sums.key());
        known = known.max(right);
        cost.gained(right);
    }
    known
}

/// Number of bits of the last round key in bytes guessed right.
fn bits(secret: &Block, guess: &Block) -> u32 {
    let [right, ours] = [secret, guess].map(|key| crate::tools::aes::Rounds::expand(key).0[10]);
    8 * right.iter().zip(&ours).filter(|(a, b)| a == b).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::aes::Rounds;

    /// A simulated cache: each line that the last round reads adds a fixed time, with noise of ten nanoseconds; the
    /// reads of some bytes add nothing.
    #[test]
    fn the_sums_find_what_modelled_times_tell_and_nothing_without_them() {
        let key = *b"a modelled key..";
        let last = Rounds::expand(&key).0[10];
        for (cost_of_a_line, silent, falls) in [(3.0, 0, true), (3.0, 1, true), (3.0, 8, true), (0.0, 0, false)] {
            let mut random = Random::new(3);
            let mut sample = || {
                let block: Block = core::array::from_fn(|_| random.bits() as u8);
                let mut times: [f32; SETS] = core::array::from_fn(|_| 40.0 + random.below(10) as f32);
                for (byte, key) in block.iter().zip(last).skip(silent) {
                    let set = (57 + line_of_last_round(*byte, key)) % SETS;
                    times[set] = times[set].max(40.0) + cost_of_a_line;
                }
                (block, times)
            };
            let known = recover(&key, &mut sample, 8000, &mut Cost::default());
            assert_eq!(tells(known), falls, "{silent}: {}", words(known, 8000));
            assert_eq!(known == 128, falls && silent == 0, "{silent}: {}", words(known, 8000));
        }
    }
}
