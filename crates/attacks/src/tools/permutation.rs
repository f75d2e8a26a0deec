//! A small Even-Mansour cipher: a permutation between two whitening keys.

use sealwright_measure::random::Random;

use crate::attack::{AttackError, Cost, Log, Size, Target};

/// A permutation of so many bits, chosen by a key.
#[derive(Clone, Copy)]
pub(crate) struct Permutation {
    pub(crate) bits: u32,
    pub(crate) key: u32,
}

impl Permutation {
    pub(crate) fn of(self, mut x: u32) -> u32 {
        let mask = u32::MAX >> (32 - self.bits);
        for round in 0..8 {
            x = (x ^ self.key.wrapping_mul(2 * round + 1)).wrapping_mul(0x9e37_79b1) & mask;
            x ^= x >> (self.bits / 2 + 1);
            x = x.wrapping_mul(0x85eb_ca6b) & mask;
            x ^= x >> (self.bits / 2 - 1);
        }
        x
    }

    /// A block at random.
    pub(crate) fn block(self, random: &mut Random) -> u32 {
        random.bits() as u32 & (u32::MAX >> (32 - self.bits))
    }
}

/// A permutation between two keys.
pub(crate) struct EvenMansour {
    permutation: Permutation,
    pub(crate) keys: [u32; 2],
}

impl EvenMansour {
    /// With keys at random.
    pub(crate) fn new(permutation: Permutation, random: &mut Random) -> Self {
        EvenMansour { permutation, keys: core::array::from_fn(|_| permutation.block(random)) }
    }

    pub(crate) fn encrypt(&self, block: u32) -> u32 {
        self.permutation.of(block ^ self.keys[0]) ^ self.keys[1]
    }

    /// Whether these keys encrypt the first blocks correctly, with the permutation that the attacker knows.
    pub(crate) fn fits(&self, known: Permutation, keys: [u32; 2]) -> bool {
        (0..8).all(|block| known.of(block ^ keys[0]) ^ keys[1] == self.encrypt(block))
    }
}

/// Tries `recover` against a permutation that the attacker knows, and against one that it does not know. Its arguments
/// are the victim, the attacker's permutation, random numbers, and the cost.
pub(crate) fn both(
    log: &mut Log,
    size: Size,
    seed: u64,
    recover: fn(&EvenMansour, Permutation, &mut Random, &mut Cost) -> (bool, String),
) -> Result<(), AttackError> {
    let bits = if size == Size::Small { 24 } else { 32 };
    if size == Size::Small {
        log.reduced = Some("blocks of 24 bits instead of 32");
    }
    for (target, key, against) in [
        (Target::Weak, 1, format!("a known permutation of {bits} bits")),
        (Target::Strong, 2, "a permutation chosen by a key that the attacker has not".to_owned()),
    ] {
        log.trial(target, against, |cost| {
            let mut random = Random::new(seed);
            let victim = EvenMansour::new(Permutation { bits, key: 1 }, &mut random);
            cost.step = "evaluations of the permutation";
            Ok::<_, AttackError>(recover(&victim, Permutation { bits, key }, &mut random, cost))
        })?;
    }
    Ok(())
}
