//! The S-boxes of Serpent and their inverses as circuits of seven or eight gates of three inputs.
//!
//! Words a to d hold bits 0 to 3 of the input, for as many blocks as they have bits. A gate's constant is its truth
//! table ([`Logic::ternary`]). The circuits were found by a random search over circuits of three-input gates: those
//! with the fewest gates, among these the ones with the fewest two-input gates for instruction sets without three-input
//! gates (15 to 17 per box), among these the ones with the shortest critical path. The tests compare them with the
//! designers' tables (Anderson, Biham and Knudsen, "Serpent: A Proposal for the Advanced Encryption Standard", 1998).

use crate::simd::Logic;

#[inline(always)]
pub(super) fn s0<L: Logic>([a, b, c, d]: [L; 4]) -> [L; 4] {
    let e = a.ternary::<0x93>(b, d);
    let f = a.ternary::<0x36>(b, d);
    let g = a.ternary::<0x66>(c, f);
    let h = a.ternary::<0xd2>(e, f);
    let i = e.ternary::<0x1e>(g, h);
    let j = e.ternary::<0x78>(g, h);
    let k = f.ternary::<0xe1>(i, j);
    [i, j, k, g]
}

#[inline(always)]
pub(super) fn s1<L: Logic>([a, b, c, d]: [L; 4]) -> [L; 4] {
    let e = a.ternary::<0xa6>(b, c);
    let f = a.ternary::<0x99>(d, e);
    let g = a.ternary::<0xb4>(b, d);
    let h = b.ternary::<0xd2>(d, g);
    let i = f.ternary::<0x36>(g, h);
    let j = e.ternary::<0x96>(h, i);
    let k = e.ternary::<0x2d>(i, j);
    [k, i, f, j]
}

#[inline(always)]
pub(super) fn s2<L: Logic>([a, b, c, d]: [L; 4]) -> [L; 4] {
    let e = a.ternary::<0x5a>(b, c);
    let f = a.ternary::<0x36>(b, d);
    let g = a.ternary::<0x6a>(c, d);
    let h = b.ternary::<0x96>(c, g);
    let i = b.ternary::<0x63>(e, g);
    let j = f.ternary::<0x39>(g, i);
    let k = f.ternary::<0x9c>(g, i);
    [h, j, k, i]
}

#[inline(always)]
pub(super) fn s3<L: Logic>([a, b, c, d]: [L; 4]) -> [L; 4] {
    let e = a.ternary::<0x6c>(b, d);
    let f = a.ternary::<0x9c>(d, e);
    let g = c.ternary::<0x36>(e, f);
    let h = b.ternary::<0xc6>(c, f);
    let i = a.ternary::<0x9a>(g, h);
    let j = a.ternary::<0x1e>(f, g);
    let k = f.ternary::<0xd2>(i, j);
    let l = a.ternary::<0x66>(i, j);
    [k, l, i, g]
}

#[inline(always)]
pub(super) fn s4<L: Logic>([a, b, c, d]: [L; 4]) -> [L; 4] {
    let e = a.ternary::<0x36>(c, d);
    let f = a.ternary::<0x69>(b, d);
    let g = b.ternary::<0x36>(d, f);
    let h = b.ternary::<0x96>(e, g);
    let i = f.ternary::<0x72>(g, h);
    let j = b.ternary::<0x36>(f, h);
    let k = e.ternary::<0x78>(f, i);
    [h, k, i, j]
}

#[inline(always)]
pub(super) fn s5<L: Logic>([a, b, c, d]: [L; 4]) -> [L; 4] {
    let e = a.ternary::<0xa9>(b, c);
    let f = a.ternary::<0x96>(b, d);
    let g = a.ternary::<0x9c>(e, f);
    let h = b.ternary::<0xa6>(f, g);
    let i = d.ternary::<0x36>(f, h);
    let j = e.ternary::<0x39>(f, h);
    let k = d.ternary::<0x1e>(e, g);
    [h, i, j, k]
}

#[inline(always)]
pub(super) fn s6<L: Logic>([a, b, c, d]: [L; 4]) -> [L; 4] {
    let e = a.ternary::<0x6c>(c, d);
    let f = a.ternary::<0x99>(b, e);
    let g = a.ternary::<0x72>(d, f);
    let h = a.ternary::<0x96>(b, d);
    let i = e.ternary::<0x65>(g, h);
    let j = e.ternary::<0xa6>(g, h);
    let k = e.ternary::<0xd2>(i, j);
    [i, f, j, k]
}

#[inline(always)]
pub(super) fn s7<L: Logic>([a, b, c, d]: [L; 4]) -> [L; 4] {
    let e = a.ternary::<0x1e>(c, d);
    let f = a.ternary::<0x96>(b, c);
    let g = b.ternary::<0xa6>(c, d);
    let h = e.ternary::<0x65>(f, g);
    let i = a.ternary::<0x6c>(f, g);
    let j = a.ternary::<0xea>(f, g);
    let k = a.ternary::<0x96>(b, j);
    let l = e.ternary::<0xa6>(i, j);
    [h, k, l, i]
}

#[inline(always)]
pub(super) fn inverse_s0<L: Logic>([a, b, c, d]: [L; 4]) -> [L; 4] {
    let e = a.ternary::<0x78>(b, d);
    let f = b.ternary::<0x87>(c, e);
    let g = c.ternary::<0x78>(e, f);
    let h = d.ternary::<0x96>(f, g);
    let i = e.ternary::<0x4b>(g, h);
    let j = f.ternary::<0xc6>(g, i);
    let k = f.ternary::<0xd2>(h, i);
    [i, j, h, k]
}

#[inline(always)]
pub(super) fn inverse_s1<L: Logic>([a, b, c, d]: [L; 4]) -> [L; 4] {
    let e = a.ternary::<0xb4>(b, d);
    let f = b.ternary::<0xd2>(c, e);
    let g = a.ternary::<0xd2>(b, d);
    let h = a.ternary::<0x66>(c, g);
    let i = e.ternary::<0x27>(f, h);
    let j = e.ternary::<0x1e>(f, h);
    let k = g.ternary::<0x2d>(i, j);
    [i, j, k, h]
}

#[inline(always)]
pub(super) fn inverse_s2<L: Logic>([a, b, c, d]: [L; 4]) -> [L; 4] {
    let e = a.ternary::<0x78>(b, d);
    let f = b.ternary::<0x56>(c, e);
    let g = b.ternary::<0xb4>(c, d);
    let h = c.ternary::<0xe1>(d, g);
    let i = a.ternary::<0x9c>(g, h);
    let j = a.ternary::<0xc6>(g, h);
    let k = f.ternary::<0x6c>(h, j);
    [f, i, j, k]
}

#[inline(always)]
pub(super) fn inverse_s3<L: Logic>([a, b, c, d]: [L; 4]) -> [L; 4] {
    let e = a.ternary::<0xb4>(b, c);
    let f = a.ternary::<0x66>(b, c);
    let g = d.ternary::<0x56>(e, f);
    let h = a.ternary::<0x56>(b, d);
    let i = e.ternary::<0xb4>(g, h);
    let j = d.ternary::<0x32>(e, f);
    let k = g.ternary::<0xa6>(h, j);
    let l = c.ternary::<0x96>(d, j);
    [g, k, l, i]
}

#[inline(always)]
pub(super) fn inverse_s4<L: Logic>([a, b, c, d]: [L; 4]) -> [L; 4] {
    let e = a.ternary::<0x56>(b, c);
    let f = a.ternary::<0x8a>(d, e);
    let g = b.ternary::<0x96>(d, f);
    let h = a.ternary::<0x78>(d, g);
    let i = e.ternary::<0x87>(g, h);
    let j = d.ternary::<0x96>(e, h);
    let k = h.ternary::<0x2d>(i, j);
    [i, g, k, j]
}

#[inline(always)]
pub(super) fn inverse_s5<L: Logic>([a, b, c, d]: [L; 4]) -> [L; 4] {
    let e = a.ternary::<0x9a>(b, c);
    let f = a.ternary::<0x6c>(c, d);
    let g = a.ternary::<0x9c>(b, e);
    let h = d.ternary::<0x6c>(e, g);
    let i = b.ternary::<0x93>(f, g);
    let j = b.ternary::<0x9c>(d, f);
    let k = a.ternary::<0x96>(b, j);
    let l = a.ternary::<0x6a>(i, j);
    [k, l, h, i]
}

#[inline(always)]
pub(super) fn inverse_s6<L: Logic>([a, b, c, d]: [L; 4]) -> [L; 4] {
    let e = a.ternary::<0x6c>(c, d);
    let f = a.ternary::<0x72>(d, e);
    let g = a.ternary::<0xa6>(c, d);
    let h = a.ternary::<0x99>(b, g);
    let i = e.ternary::<0x1e>(f, h);
    let j = b.ternary::<0x96>(f, i);
    let k = g.ternary::<0x78>(i, j);
    [j, h, k, i]
}

#[inline(always)]
pub(super) fn inverse_s7<L: Logic>([a, b, c, d]: [L; 4]) -> [L; 4] {
    let e = a.ternary::<0x36>(c, d);
    let f = a.ternary::<0x1e>(d, e);
    let g = b.ternary::<0xc9>(e, f);
    let h = b.ternary::<0x78>(c, f);
    let i = d.ternary::<0xa6>(g, h);
    let j = d.ternary::<0xd2>(f, g);
    let k = a.ternary::<0x66>(i, j);
    let l = f.ternary::<0xd2>(i, j);
    [g, i, k, l]
}

/// Computes S-box `number`, from 0 to 7.
pub(super) fn by_number(number: usize, words: [u32; 4]) -> [u32; 4] {
    [s0, s1, s2, s3, s4, s5, s6, s7][number](words)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The boxes as the designers print them.
    #[rustfmt::skip]
    const TABLES: [[usize; 16]; 8] = [
        [3, 8, 15, 1, 10, 6, 5, 11, 14, 13, 4, 2, 7, 0, 9, 12],
        [15, 12, 2, 7, 9, 0, 5, 10, 1, 11, 14, 8, 6, 13, 3, 4],
        [8, 6, 7, 9, 3, 12, 10, 15, 13, 1, 14, 4, 0, 11, 5, 2],
        [0, 15, 11, 8, 12, 9, 6, 3, 13, 1, 2, 4, 10, 7, 5, 14],
        [1, 15, 8, 3, 12, 0, 11, 6, 2, 5, 4, 10, 9, 14, 7, 13],
        [15, 5, 2, 11, 4, 10, 9, 12, 0, 3, 14, 8, 13, 6, 7, 1],
        [7, 2, 12, 5, 8, 4, 6, 11, 14, 9, 1, 15, 13, 3, 10, 0],
        [1, 13, 15, 0, 14, 8, 2, 11, 7, 4, 12, 10, 9, 3, 5, 6],
    ];

    /// What a circuit makes of the 16 inputs.
    fn table(circuit: fn([u32; 4]) -> [u32; 4]) -> [usize; 16] {
        let out = circuit([0xaaaa, 0xcccc, 0xf0f0, 0xff00]);
        core::array::from_fn(|x| (0..4).map(|bit| (out[bit] >> x & 1) as usize * (1 << bit)).sum())
    }

    #[test]
    fn circuits_are_the_tables() {
        let there = [s0, s1, s2, s3, s4, s5, s6, s7];
        let back = [inverse_s0, inverse_s1, inverse_s2, inverse_s3, inverse_s4, inverse_s5, inverse_s6, inverse_s7];
        for (i, expected) in TABLES.iter().enumerate() {
            assert_eq!(table(there[i]), *expected, "S{i}");
            let back = table(back[i]);
            assert!((0..16).all(|x| back[expected[x]] == x), "inverse of S{i}");
        }
    }
}
