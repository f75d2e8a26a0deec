//! GHASH with a different key h in every lane, for packets of many clients, one per lane.

use super::field::{Factor, both_halves, reduce, times_x};
use crate::simd::{Reg, Simd};

/// A different key h in every lane, for hashing one block after the other.
#[derive(Clone, Copy)]
pub(crate) struct LaneKeys<R> {
    h: R,
    middle: R,
}

impl<R: Reg> LaneKeys<R> {
    /// The keys, given as blocks.
    #[inline(always)]
    pub(crate) fn new<S: Simd<Reg = R>>(simd: S, h: R) -> Self {
        let h = times_x(simd, h.reverse_bytes());
        LaneKeys { h, middle: h ^ h.swap_halves() }
    }

    /// The hash `sum`, bytes reversed, after one more block in every lane.
    #[inline(always)]
    pub(crate) fn absorb<S: Simd<Reg = R>>(&self, simd: S, sum: R, block: R) -> R {
        let x = sum ^ block.reverse_bytes();
        let (low, high) = (x.clmul::<0x00>(self.h), x.clmul::<0x11>(self.h));
        let middle = (x ^ x.swap_halves()).clmul::<0x00>(self.middle);
        reduce(simd, low, middle ^ low ^ high, high, R::BLOCKS)
    }
}

/// Powers of h in every lane, for hashing four blocks with one reduction: worth computing for longer texts only.
#[derive(Clone, Copy)]
pub(crate) struct LanePowers<R> {
    /// h^4 down to h.
    powers: [R; 4],
    /// Low xor high half of h^4 and h^3, of h^2 and h.
    middles: [R; 2],
}

impl<R: Reg> LanePowers<R> {
    /// The powers of these keys.
    #[inline(always)]
    pub(crate) fn new<S: Simd<Reg = R>>(simd: S, keys: &LaneKeys<R>) -> Self {
        let h = keys.h;
        let first = Factor::new(simd, h);
        let square = first.times(simd, h);
        let (third, fourth) = (first.times(simd, square), Factor::new(simd, square).times(simd, square));
        let middles = [both_halves(fourth, third), both_halves(square, h)];
        LanePowers { powers: [fourth, third, square, h], middles }
    }

    /// The hash `sum`, bytes reversed, after four more blocks in every lane.
    #[inline(always)]
    pub(crate) fn absorb<S: Simd<Reg = R>>(&self, simd: S, sum: R, [a, b, c, d]: [R; 4]) -> R {
        let [p, q, r, s] = self.powers;
        let (a, b) = (sum ^ a.reverse_bytes(), b.reverse_bytes());
        let (c, d) = (c.reverse_bytes(), d.reverse_bytes());
        let (first, second) = (both_halves(a, b), both_halves(c, d));
        let low = a.clmul::<0x00>(p) ^ b.clmul::<0x00>(q) ^ c.clmul::<0x00>(r) ^ d.clmul::<0x00>(s);
        let high = a.clmul::<0x11>(p) ^ b.clmul::<0x11>(q) ^ c.clmul::<0x11>(r) ^ d.clmul::<0x11>(s);
        let middle = first.clmul::<0x00>(self.middles[0])
            ^ first.clmul::<0x11>(self.middles[0])
            ^ second.clmul::<0x00>(self.middles[1])
            ^ second.clmul::<0x11>(self.middles[1]);
        reduce(simd, low, middle ^ low ^ high, high, R::BLOCKS)
    }
}
