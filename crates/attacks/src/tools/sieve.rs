//! Factoring with the quadratic sieve (Pomerance, 1981) and one polynomial: x^2 - n for x near the square root of n.

use num_bigint::{BigInt, BigUint};

use super::bits::{bit, flip, kernel, zeros};

/// Numbers sieved at a time.
const BLOCK: usize = 1 << 18;

/// A prime, its logarithm, and the roots of n modulo it.
struct Prime {
    p: u64,
    log: u8,
    roots: Vec<u64>,
}

/// x, and the exponents of x^2 - n: of -1 first, then of each prime.
type Relation = (BigInt, Vec<u32>);

/// The progress of a sieve.
pub(crate) struct Progress {
    pub(crate) sieved: u64,
    pub(crate) relations: usize,
    pub(crate) needed: usize,
}

/// Greatest common divisor.
pub(crate) fn gcd(mut a: BigUint, mut b: BigUint) -> BigUint {
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// Primes up to `most` modulo which n is a square, or that divide it.
fn primes(n: &BigUint, most: u64) -> Vec<Prime> {
    let mut composite = vec![false; most as usize + 1];
    let mut found = Vec::new();
    for p in 2..=most {
        if composite[p as usize] {
            continue;
        }
        (p * p..=most).step_by(p as usize).for_each(|at| composite[at as usize] = true);
        let rest = small(&(n % p));
        let roots: Vec<u64> = (0..p).filter(|t| t * t % p == rest).collect();
        if !roots.is_empty() {
            found.push(Prime { p, log: (p as f64).log2().round() as u8, roots });
        }
    }
    found
}

fn small(number: &BigUint) -> u64 {
    number.iter_u64_digits().next().unwrap_or(0)
}

/// A factor of `n`, or `None` after `most` numbers were sieved; `tell` is called with the progress now and then.
pub(crate) fn factor(n: &BigUint, most: u64, tell: &mut dyn FnMut(&Progress)) -> Option<BigUint> {
    // sqrt(L(n)), the bound of the factor base that balances the cost of sieving and the yield of relations
    let ln = n.bits() as f64 * core::f64::consts::LN_2;
    let limit = (0.5 * (ln * ln.ln()).sqrt()).exp().clamp(200.0, 30_000.0) as u64;
    let primes = primes(n, limit);
    if let Some(Prime { p, .. }) = primes.iter().find(|prime| n % prime.p == BigUint::ZERO) {
        return Some(BigUint::from(*p));
    }
    let root = n.sqrt();
    let needed = primes.len() + 12;
    let mut relations: Vec<Relation> = Vec::new();
    for block in 0..most.div_ceil(BLOCK as u64) as i64 {
        // Above the root and below it, alternately
        let start = if block % 2 == 0 { block / 2 } else { -1 - block / 2 } * BLOCK as i64;
        relations.extend(sieve(n, &root, &primes, start));
        tell(&Progress { sieved: (block as u64 + 1) * BLOCK as u64, relations: relations.len().min(needed), needed });
        if relations.len() >= needed {
            return combine(n, &primes, &relations);
        }
    }
    None
}

/// The relations of one block.
fn sieve(n: &BigUint, root: &BigUint, primes: &[Prime], start: i64) -> Vec<Relation> {
    let mut logs = vec![0u8; BLOCK];
    for Prime { p, log, roots } in primes {
        let first = i128::from(start) + i128::from(small(&(root % *p)));
        for r in roots {
            let at = (i128::from(*r) - first).rem_euclid(i128::from(*p)) as usize;
            logs[at..].iter_mut().step_by(*p as usize).for_each(|sum| *sum = sum.saturating_add(*log));
        }
    }
    let value = |offset: i64| {
        let x = BigInt::from(root.clone()) + offset;
        (x.clone(), &x * &x - BigInt::from(n.clone()))
    };
    // Prime powers are not sieved, so allow for their logarithms
    let size = value(start + BLOCK as i64 / 2).1.bits();
    let enough = size.saturating_sub(18).min(250) as u8;
    let candidates = logs.iter().enumerate().filter(|(_, log)| **log >= enough);
    candidates.filter_map(|(at, _)| smooth(value(start + at as i64), primes)).collect()
}

/// The exponents, if the number factors completely over the primes.
fn smooth((x, value): (BigInt, BigInt), primes: &[Prime]) -> Option<Relation> {
    let mut rest = value.magnitude().clone();
    let mut exponents = vec![u32::from(value < BigInt::ZERO)];
    for Prime { p, .. } in primes {
        let mut exponent = 0;
        while rest != BigUint::ZERO && &rest % *p == BigUint::ZERO {
            rest /= *p;
            exponent += 1;
        }
        exponents.push(exponent);
    }
    (rest == BigUint::from(1u8)).then_some((x, exponents))
}

/// Combines relations to a product that is a square, which gives a factor in every second case.
fn combine(n: &BigUint, primes: &[Prime], relations: &[Relation]) -> Option<BigUint> {
    let rows = (0..=primes.len()).map(|at| {
        let mut row = zeros(relations.len());
        relations.iter().enumerate().filter(|(_, (_, e))| e[at] % 2 == 1).for_each(|(i, _)| flip(&mut row, i));
        row
    });
    let modulus = BigInt::from(n.clone());
    kernel(rows.collect(), relations.len()).iter().find_map(|set| {
        let chosen = || relations.iter().enumerate().filter(|(i, _)| bit(set, *i)).map(|(_, relation)| relation);
        let left = chosen().fold(BigInt::from(1), |product, (x, _)| product * x % &modulus);
        let right = primes.iter().enumerate().fold(BigUint::from(1u8), |product, (i, prime)| {
            let exponent: u32 = chosen().map(|(_, exponents)| exponents[i + 1]).sum();
            product * BigUint::from(prime.p).modpow(&BigUint::from(exponent / 2), n) % n
        });
        let found = gcd((left - BigInt::from(right)).magnitude().clone(), n.clone());
        (found != BigUint::from(1u8) && found != *n).then_some(found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_two_primes_are_factored() {
        // Primes by their definition: 2^31 - 1 and 2^61 - 1 are Mersenne's, 65537 is Fermat's
        for (p, q) in [(2_147_483_647u64, 65_537u64), (2_147_483_647, 2_305_843_009_213_693_951)] {
            let n = BigUint::from(p) * q;
            let found = factor(&n, 1 << 26, &mut |_| {}).expect("small numbers fall");
            assert!(found == BigUint::from(p) || found == BigUint::from(q), "{n}: {found}");
        }
        assert_eq!(gcd(BigUint::from(84u8), BigUint::from(30u8)), BigUint::from(6u8));
    }
}
