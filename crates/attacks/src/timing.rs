//! Data-dependent timing of GHASH with a table of 64 KiB, detected statistically (Reparaz, Balasch and Verbauwhede,
//! "Dude, is my code constant time?", 2017).
//!
//! Messages with fixed associated data and with random data are sealed in random order, and timed. Fixed data touches a
//! few lines of the table, random data touches all of them, and the caches treat these differently. If the two kinds of
//! times have different means, Welch's t grows with the number of samples.

use std::{hint::black_box, time::Instant};

use sealwright::{
    Aead, Isa,
    block::aes::Aes128,
    ghash::Table64k_vartime,
    mode::gcm::{Gcm, TagLen, by_key},
};
use sealwright_measure::random::Random;

use crate::attack::{Attack, AttackError, Axes, Cost, Log, Size, Target};

pub(crate) const ATTACK: Attack = Attack {
    name: "ghash-timing",
    title: "The time of table-based GHASH depends on the data; that of the default GHASH does not",
    knows: "the time of each of many sealings of data that the attacker chose",
    stopped_by: "GHASH by carry-less multiplication or bit slicing, which are the library's defaults",
    page: "timing.md",
    figure: Axes { spent: "timings", gained: "Welch's t, without its sign" },
    run,
};

/// Welch's t beyond which times count as different. The usual 4.5 is for a machine without other load.
const LIMIT: f64 = 10.0;
const BYTES: usize = 4096;

fn run(log: &mut Log, size: Size) -> Result<(), AttackError> {
    let samples = if size == Size::Small { 4000 } else { 20_000 };
    if size == Size::Small {
        log.reduced = Some("4000 samples or more instead of 20,000");
    }
    let (isa, key) = (Isa::best(), [9; 16]);
    let table: Gcm<_, Table64k_vartime> = Gcm::new(isa, Aes128::new(isa, &key), TagLen::T16);
    // The samples that the weak target needs depend on the machine's load; each strong one gets twice as many.
    let mut needed = samples;
    log.trial(Target::Weak, "AES-128-GCM with GHASH by a table of 64 KiB", |cost| {
        let found = listen(&table, samples, 16 * samples, cost);
        needed = cost.queries as usize;
        found
    })?;
    if log.give_up_on_weak("other programs use the caches too much: not even GHASH by a table is seen") {
        return Ok(());
    }
    for isa in Isa::available() {
        let default = by_key(isa, &key, TagLen::T16)?;
        log.trial(Target::Strong, format!("AES-128-GCM as it is by default, level {isa}"), |cost| {
            listen(&*default, 2 * needed, 2 * needed, cost)
        })?;
    }
    Ok(())
}

/// Takes `least` samples, and then twice as many until the kinds differ or there are `most`.
fn listen(victim: &dyn Aead, least: usize, most: usize, cost: &mut Cost) -> Result<(bool, String), AttackError> {
    let mut random = Random::new(11);
    let mut ad = vec![0; BYTES];
    let mut times: [Vec<f64>; 2] = Default::default();
    let mut next = least / 8;
    cost.point(0.0, 0.0);
    for i in 0..most + 100 {
        let class = random.below(2);
        // Both kinds are written to the same buffer in the same way, so that only their values differ.
        let bytes: Vec<u8> = (0..BYTES).map(|_| random.bits() as u8).collect();
        let mask = if class == 1 { 0xff } else { 0 };
        ad.iter_mut().zip(&bytes).for_each(|(ad, byte)| *ad = byte & mask);
        let start = Instant::now();
        let _ = black_box(victim.seal_in_place(&[0; 12], black_box(&ad), &mut [])?);
        let time = start.elapsed().as_nanos() as f64;
        if i < 100 {
            continue;
        }
        times[class].push(time);
        let taken = i + 1 - 100;
        if taken < next {
            continue;
        }
        next *= 2;
        (cost.queries, cost.steps, cost.step) = (taken as u64, taken as u64, "timings");
        cost.memory = 16 * taken as u64;
        let t = welch(times.clone());
        cost.gained(t.abs());
        if taken >= least && (t.abs() > LIMIT || next > most) {
            return Ok((t.abs() > LIMIT, format!("t = {t:.1}, with {LIMIT} as the limit")));
        }
    }
    Ok((false, "no samples".to_owned()))
}

/// Welch's t of the faster nine tenths of both kinds: the slowest times are due to other programs.
fn welch(mut times: [Vec<f64>; 2]) -> f64 {
    let mut all: Vec<f64> = times.concat();
    all.sort_unstable_by(f64::total_cmp);
    let most = all[all.len() * 9 / 10];
    let [a, b] = times.each_mut().map(|times| {
        times.retain(|time| *time <= most);
        let count = times.len() as f64;
        let mean = times.iter().sum::<f64>() / count;
        let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (count - 1.0);
        (mean, variance / count)
    });
    (b.0 - a.0) / (a.1 + b.1).sqrt().max(f64::MIN_POSITIVE)
}
