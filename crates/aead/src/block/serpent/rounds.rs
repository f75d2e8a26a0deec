//! The 32 rounds of Serpent over groups of registers, in both directions, as a separate function, because they are
//! large and shared by every mode.

use super::{boxes::*, transpose};
use crate::simd::{Outlined, Reg, Simd};

/// All rounds over `G` groups of four registers in place, encrypting or decrypting.
pub(super) struct Rounds<'a, S: Simd, const G: usize, const FORWARD: bool> {
    pub(super) keys: &'a [[u32; 4]; 33],
    pub(super) groups: &'a mut [[S::Reg; 4]; G],
}

/// Repeats the body for each group, because the optimiser does not unroll loops of this size.
macro_rules! each {
    ($g:ident < $end:ident => $body:block) => { each!($g < $end => $body; 0 1 2 3 4) };
    ($g:ident < $end:ident => $body:block; $($n:literal)*) => {
        $(if $n < $end {
            let $g: usize = $n;
            $body
        })*
    };
}

impl<S: Simd, const G: usize, const FORWARD: bool> Outlined<S> for Rounds<'_, S, G, FORWARD> {
    type Output = ();

    #[inline(always)]
    fn run(self, simd: S) {
        let mut x = *self.groups;
        each!(g < G => { x[g] = transpose(x[g]); });
        let x = if FORWARD { forward(simd, self.keys, x) } else { backward(simd, self.keys, x) };
        each!(g < G => { self.groups[g] = transpose(x[g]); });
    }
}

#[inline(always)]
fn forward<S: Simd, const G: usize>(simd: S, keys: &[[u32; 4]; 33], mut x: [[S::Reg; 4]; G]) -> [[S::Reg; 4]; G] {
    macro_rules! rounds {
        ($turn:ident: $($n:literal $s:ident),*) => {
            $(
                let key = splat(simd, &keys[8 * $turn + $n]);
                each!(g < G => { x[g] = $s(add(x[g], key)); });
                if $n == 7 && $turn == 3 {
                    break;
                }
                each!(g < G => { x[g] = mix(x[g]); });
            )*
        };
    }
    for turn in 0.. {
        rounds!(turn: 0 s0, 1 s1, 2 s2, 3 s3, 4 s4, 5 s5, 6 s6, 7 s7);
    }
    let key = splat(simd, &keys[32]);
    each!(g < G => { x[g] = add(x[g], key); });
    x
}

#[inline(always)]
fn backward<S: Simd, const G: usize>(simd: S, keys: &[[u32; 4]; 33], mut x: [[S::Reg; 4]; G]) -> [[S::Reg; 4]; G] {
    macro_rules! rounds {
        ($turn:ident: $($n:literal $s:ident),*) => {
            $(
                let key = splat(simd, &keys[8 * $turn + $n]);
                each!(g < G => { x[g] = add($s(x[g]), key); });
                if $n == 0 && $turn == 0 {
                    break;
                }
                each!(g < G => { x[g] = unmix(x[g]); });
            )*
        };
    }
    let key = splat(simd, &keys[32]);
    each!(g < G => { x[g] = add(x[g], key); });
    for turn in (0..4).rev() {
        rounds!(turn: 7 inverse_s7, 6 inverse_s6, 5 inverse_s5, 4 inverse_s4, 3 inverse_s3, 2 inverse_s2, 1 inverse_s1,
            0 inverse_s0);
    }
    x
}

/// A round key in every word.
#[inline(always)]
fn splat<S: Simd>(simd: S, [a, b, c, d]: &[u32; 4]) -> [S::Reg; 4] {
    [simd.splat_words(*a), simd.splat_words(*b), simd.splat_words(*c), simd.splat_words(*d)]
}

#[inline(always)]
fn add<R: Reg>([a, b, c, d]: [R; 4], key: [R; 4]) -> [R; 4] {
    [a ^ key[0], b ^ key[1], c ^ key[2], d ^ key[3]]
}

/// The xor of three.
#[inline(always)]
fn sum<R: Reg>(a: R, b: R, c: R) -> R {
    a.ternary::<0x96>(b, c)
}

/// The linear transformation.
#[inline(always)]
fn mix<R: Reg>([a, b, c, d]: [R; 4]) -> [R; 4] {
    let (a, c) = (a.rotate32::<13>(), c.rotate32::<3>());
    let b = sum(b, a, c).rotate32::<1>();
    let d = sum(d, c, a.shift32::<3>()).rotate32::<7>();
    let a = sum(a, b, d).rotate32::<5>();
    let c = sum(c, d, b.shift32::<7>()).rotate32::<22>();
    [a, b, c, d]
}

/// Its inverse.
#[inline(always)]
fn unmix<R: Reg>([a, b, c, d]: [R; 4]) -> [R; 4] {
    let c = sum(c.rotate32::<10>(), d, b.shift32::<7>());
    let a = sum(a.rotate32::<27>(), b, d);
    let d = sum(d.rotate32::<25>(), c, a.shift32::<3>());
    let b = sum(b.rotate32::<31>(), a, c);
    [a.rotate32::<19>(), b, c.rotate32::<29>(), d]
}
