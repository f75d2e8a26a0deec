//! A timing channel of pads: a node whose pads are used up answers late, so a process learns what others did with it.
//!
//! One AES engine precomputes the pads for all peers of a node. If the victim has just exchanged a burst of lines, the
//! engine is still replacing their pads, and pads for another peer come later. The attacker needs no access to the bus:
//! it measures the time of its own loads.

use sealwright_measure::random::Random;

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size, Target},
    tools::bus::{Program, run as simulate},
};

pub(crate) const ATTACK: Attack = Attack {
    name: "bus-stalls",
    title: "A process learns from the latency of its own loads whether another one exchanged lines: a timing channel",
    knows: "the cycles that its own loads take; no access to the bus; simulated",
    stopped_by: "enough AES engines that no pad is ever late, or no encryption (which needs no pads and hides nothing)",
    page: "bus.md",
    figure: Axes { spent: "bits of the secret sent", gained: "bits that the observer read" },
    run,
};

fn run(log: &mut Log, size: Size) -> Result<(), AttackError> {
    let bits = if size == Size::Small { 64 } else { 256 };
    if size == Size::Small {
        log.reduced = Some("64 bits instead of 256");
    }
    let targets: [(Target, &str, &[&str]); 3] = [
        (Target::Weak, "gcm, an engine that makes one line at a time", &["scheme.name=gcm", "engines.model=iterative"]),
        (Target::Strong, "gcm, an engine whenever one is needed", &["scheme.name=gcm", "engines.units=generous"]),
        (Target::Strong, "clear", &["scheme.name=clear"]),
    ];
    for (target, name, settings) in targets {
        log.trial(target, name, |cost| {
            let (right, words) = listen(settings, bits, cost)?;
            Ok::<_, AttackError>((if target == Target::Weak { right == bits } else { tells(right, bits) }, words))
        })?;
    }
    Ok(())
}

/// Whether so many of the bits are right, or wrong, that random guesses would be as extreme only once in a million
/// times.
fn tells(right: u32, bits: u32) -> bool {
    let sigma = f64::from(bits).sqrt() / 2.0;
    (f64::from(right) - f64::from(bits) / 2.0).abs() > 5.0 * sigma
}

/// Lines in the victim's burst, and in the observer's: more than there are precomputed pads.
const BURST: u64 = 12;
/// The first line of each burst: the victim's (at processor 0 or at processor 3), and the observer's.
const FIRST: [u64; 2] = [1000, 2000];
const OWN: u64 = 3000;

/// Cycles that the observer waits for lines of processor 0, after the victim on processor 1 has requested a burst from
/// processor 0 (a one) or from processor 3 (a zero).
fn wait(settings: &[&str], bit: bool, pause: u32) -> Result<u64, AttackError> {
    let store = |program: Program, first: u64| (0..BURST).fold(program, |p, i| p.store(first + i, i));
    let load = |program: Program, first: u64| (0..BURST).fold(program, |p, i| p.load(first + i));
    let first = FIRST[usize::from(!bit)];
    let programs = vec![
        store(store(Program::default(), FIRST[0]), OWN).barrier(1, 1).barrier(2, 1),
        load(Program::default().barrier(1, 1), first).barrier(2, 1),
        load(Program::default().barrier(1, 1).barrier(2, pause), OWN),
        store(Program::default(), FIRST[1]).barrier(1, 1).barrier(2, 1),
    ];
    Ok(simulate(settings, programs, None)?.waited(2))
}

fn listen(settings: &[&str], bits: u32, cost: &mut Cost) -> Result<(u32, String), AttackError> {
    let mut random = Random::new(17);
    (cost.step, cost.memory) = ("bursts of loads timed", 64);
    // Calibration with known bits
    let mut pause = || random.below(8) as u32 + 1;
    let mut usual = [Vec::new(), Vec::new()];
    for i in 0..8 {
        usual[i % 2].push(wait(settings, i % 2 == 1, pause())?);
    }
    let mean = |waits: &[u64]| waits.iter().sum::<u64>() as f64 / waits.len() as f64;
    let (zero, one) = (mean(&usual[0]), mean(&usual[1]));
    let limit = f64::midpoint(zero, one);
    let (mut right, mut secret) = (0, Random::new(99));
    cost.gained(0.0);
    for _ in 0..bits {
        let bit = secret.bits() >> 63 == 1;
        let waited = wait(settings, bit, pause())? as f64;
        let read = if one > zero { waited > limit } else { waited < limit };
        right += u32::from(read == bit);
        (cost.queries, cost.steps) = (cost.queries + 1, cost.steps + 1);
        cost.gained(right);
    }
    let result = format!("{right} of {bits} bits read; twelve loads wait {zero:.0} or {one:.0} cycles");
    Ok((right, result))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_that_errs_now_and_then_is_one_and_guesses_are_none() {
        assert!(tells(63, 64) && tells(1, 64) && tells(170, 256));
        assert!(!tells(31, 64) && !tells(44, 64) && !tells(110, 256));
    }
}
