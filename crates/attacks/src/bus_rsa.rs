//! Public keys of 128 bits, with which the thesis's units encrypt keys and first counters. It names no algorithm; its
//! example of such keys is RSA, whose modulus is factored here.

use num_bigint::BigUint;
use sealwright_measure::random::Random;

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size, Target},
    tools::sieve::factor,
};

pub(crate) const ATTACK: Attack = Attack {
    name: "bus-rsa",
    title: "The thesis's 128-bit public keys, taken as RSA, are factored, and the key sent to a unit is decrypted",
    knows: "a unit's public key, and a ciphertext under it",
    stopped_by: "keys of 2048 bits or more; the simulator's units agree on keys with X25519",
    page: "bus.md",
    figure: Axes { spent: "numbers sieved", gained: "relations, in per cent of those needed" },
    run,
};

fn run(log: &mut Log, size: Size) -> Result<(), AttackError> {
    let (weak, strong, tries) = if size == Size::Small { (96, 1024, 1 << 20) } else { (128, 2048, 1 << 24) };
    if size == Size::Small {
        log.reduced = Some("RSA of 96 bits instead of 128, and of 1024 instead of 2048");
    }
    let mut attempt = |target, bits, most| {
        log.trial(target, format!("RSA with {bits} bits"), |cost| Ok::<_, AttackError>(decrypt(bits, most, cost)))
    };
    attempt(Target::Weak, weak, 1 << 30)?;
    attempt(Target::Strong, strong, tries)
}

/// A random prime of `bits` bits; composite with a probability below 2^-40.
fn prime(bits: u64, random: &mut Random) -> BigUint {
    loop {
        let words: Vec<u32> = (0..bits.div_ceil(32)).map(|_| random.bits() as u32).collect();
        let mut number = BigUint::new(words);
        // The product of two such numbers has twice as many bits
        for at in [0, bits - 2, bits - 1] {
            number.set_bit(at, true);
        }
        for at in bits..number.bits() {
            number.set_bit(at, false);
        }
        let small = (3..2000u32).step_by(2).any(|p| &number % p == BigUint::ZERO);
        if !small && (2..22).all(|base| passes(&number, base)) {
            return number;
        }
    }
}

/// Whether an odd number passes the Miller-Rabin test for a base.
fn passes(number: &BigUint, base: u32) -> bool {
    let one = BigUint::from(1u8);
    let less = number - &one;
    let twos = less.trailing_zeros().unwrap_or(0);
    let mut power = BigUint::from(base).modpow(&(&less >> twos), number);
    if power == one || power == less {
        return true;
    }
    (1..twos).any(|_| {
        power = &power * &power % number;
        power == less
    })
}

fn decrypt(bits: u64, most: u64, cost: &mut Cost) -> (bool, String) {
    let (mut random, e, one) = (Random::new(41), BigUint::from(65_537u32), BigUint::from(1u8));
    let n = prime(bits / 2, &mut random) * prime(bits / 2, &mut random);
    // The group's AES key, reduced modulo n
    let key = BigUint::new((0..4).map(|_| random.bits() as u32).collect()) % &n;
    let sent = key.modpow(&e, &n);

    (cost.queries, cost.step, cost.memory) = (1, "numbers sieved", 1 << 20);
    cost.point(0.0, 0.0);
    let (mut next, mut found) = (0, 0);
    let factor = factor(&n, most, &mut |progress| {
        cost.steps = progress.sieved;
        found = progress.relations;
        if progress.sieved >= next || progress.relations == progress.needed {
            next = progress.sieved * 3 / 2;
            cost.point(progress.sieved as f64, 100.0 * progress.relations as f64 / progress.needed as f64);
        }
    });
    let Some(p) = factor else {
        return (false, format!("{found} relations, and no factor"));
    };
    let group = (&p - &one) * (&n / &p - &one);
    let read = e.modinv(&group).map(|d| sent.modpow(&d, &n));
    (read.as_ref() == Some(&key), format!("{n} = {p} x {}; the key is decrypted", &n / &p))
}
