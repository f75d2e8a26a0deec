//! Polynomials over GF(2^128), lowest coefficient first, and their roots.

use super::ghash::{ONE, inverse, mul};

type Poly = Vec<u128>;

fn trim(mut p: Poly) -> Poly {
    while p.last() == Some(&0) {
        p.pop();
    }
    p
}

fn monic(p: Poly) -> Poly {
    let p = trim(p);
    let Some(&leading) = p.last() else { return p };
    let by = inverse(leading);
    p.into_iter().map(|c| mul(c, by)).collect()
}

fn add(a: &[u128], b: &[u128]) -> Poly {
    let at = |p: &[u128], i: usize| p.get(i).copied().unwrap_or(0);
    trim((0..a.len().max(b.len())).map(|i| at(a, i) ^ at(b, i)).collect())
}

/// The quotient and the remainder by a monic `f`.
fn divide(mut p: Poly, f: &[u128]) -> (Poly, Poly) {
    let mut quotient = vec![0; (p.len() + 1).saturating_sub(f.len())];
    while p.len() >= f.len() {
        let (leading, shift) = (p[p.len() - 1], p.len() - f.len());
        quotient[shift] = leading;
        for (i, &c) in f.iter().enumerate() {
            p[shift + i] ^= mul(leading, c);
        }
        p.pop();
    }
    (quotient, trim(p))
}

/// The square modulo `f`. In characteristic 2 it consists of the squares of the coefficients.
fn square(p: &[u128], f: &[u128]) -> Poly {
    let mut squared = vec![0; (2 * p.len()).saturating_sub(1)];
    for (i, &c) in p.iter().enumerate() {
        squared[2 * i] = mul(c, c);
    }
    divide(squared, f).1
}

fn gcd(a: Poly, b: Poly) -> Poly {
    let (mut a, mut b) = (monic(a), monic(b));
    while !b.is_empty() {
        let rest = divide(a, &b).1;
        a = b;
        b = monic(rest);
    }
    a
}

/// The roots of `p` in GF(2^128), each once.
pub(crate) fn roots(p: &[u128]) -> Vec<u128> {
    let f = monic(p.to_vec());
    if f.len() < 2 {
        return Vec::new();
    }
    // X^(2^128) - X is the product of all X - a, so its greatest common divisor with f has f's distinct roots.
    let mut power = divide(vec![0, ONE], &f).1;
    for _ in 0..128 {
        power = square(&power, &f);
    }
    let mut roots = Vec::new();
    split(gcd(f, add(&power, &[0, ONE])), 0, &mut roots);
    roots
}

/// Berlekamp's trace algorithm: the trace of b X is 0 for about half of the roots and 1 for the others.
fn split(f: Poly, bit: u32, roots: &mut Vec<u128>) {
    if f.len() < 2 {
        return;
    }
    if f.len() == 2 {
        roots.push(f[0]);
        return;
    }
    for bit in bit..128 {
        let mut power = divide(vec![0, 1 << bit], &f).1;
        let mut trace = power.clone();
        for _ in 1..128 {
            power = square(&power, &f);
            trace = add(&trace, &power);
        }
        let one = gcd(f.clone(), trace);
        if one.len() > 1 && one.len() < f.len() {
            let other = divide(f, &one).0;
            split(one, bit + 1, roots);
            return split(other, bit + 1, roots);
        }
    }
}

/// The polynomial of degree below the number of points that has these values at these places (Lagrange).
pub(crate) fn interpolate(points: &[(u128, u128)]) -> Poly {
    let mut all = vec![ONE];
    for &(x, _) in points {
        all = add(&[&[0], &all[..]].concat(), &all.iter().map(|&c| mul(c, x)).collect::<Poly>());
    }
    let mut sum = Vec::new();
    for &(x, y) in points {
        let others = divide(all.clone(), &[x, ONE]).0;
        let value = others.iter().rev().fold(0, |value, &c| mul(value, x) ^ c);
        let by = mul(y, inverse(value));
        sum = add(&sum, &others.iter().map(|&c| mul(c, by)).collect::<Poly>());
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_roots_that_a_polynomial_was_made_of() {
        let mut expected = [3, 1 << 100, u128::MAX / 3, ONE, 77];
        let f = expected.iter().fold(vec![ONE], |f, &root| {
            add(&[&[0], &f[..]].concat(), &f.iter().map(|&c| mul(c, root)).collect::<Poly>())
        });
        let mut found = roots(&f);
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
        assert!(roots(&[ONE]).is_empty());
    }

    #[test]
    fn interpolation_goes_through_the_points() {
        let points = [(5, 9), (7, 1 << 90), (ONE, 3)];
        let p = interpolate(&points);
        assert!(p.len() <= 3);
        for (x, y) in points {
            assert_eq!(p.iter().rev().fold(0, |value, &c| mul(value, x) ^ c), y);
        }
    }
}
