//! Poly1305 (RFC 8439, section 2.5), a polynomial in r modulo 2^130 - 5: block by block with two words per number, or
//! in registers, many blocks side by side, with limbs of 44, 44 and 42 bits per number.

use crate::simd::{Block, Reg, Simd, unknown};

/// The bits of the two lower limbs, and of the highest.
const LIMB: u64 = (1 << 44) - 1;
const HIGHEST: u64 = (1 << 42) - 1;
/// The most blocks side by side.
const LANES: usize = 8;

/// The sum so far, and the key.
pub(super) struct Poly1305 {
    h: [u64; 3],
    r: [u64; 2],
    s: [u64; 2],
}
wipe_on_drop!(Poly1305 { h: [0; 3], r: [0; 2], s: [0; 2] });

/// A block as two words.
#[inline(always)]
fn words(block: &Block) -> [u64; 2] {
    let (words, _) = block.as_chunks();
    [u64::from_le_bytes(words[0]), u64::from_le_bytes(words[1])]
}

/// A number below 2^131 as three limbs.
#[inline(always)]
fn limbs([low, middle, high]: [u64; 3]) -> [u64; 3] {
    [low & LIMB, ((low >> 44) | (middle << 20)) & LIMB, (middle >> 24) | (high << 40)]
}

/// A sum of products that is less than 2^128. Builds with overflow checks then have no branch that depends on the
/// values.
#[inline(always)]
fn wide<const N: usize>(x: [u64; N], y: [u64; N]) -> u128 {
    let mut sum = 0u128;
    for (x, y) in x.into_iter().zip(y) {
        sum = sum.wrapping_add(u128::from(x).wrapping_mul(u128::from(y)));
    }
    sum
}

/// The square of a number of three limbs, each at most a few bits longer than it has to be.
#[inline(always)]
fn square([a, b, c]: [u64; 3]) -> [u64; 3] {
    // 2^132 is congruent to 20.
    let c20 = c.wrapping_mul(20);
    let low = wide([a, b << 1], [a, c20]);
    let middle = wide([a << 1, c], [b, c20]).wrapping_add(low >> 44);
    let high = wide([a << 1, b], [c, b]).wrapping_add(middle >> 44);
    let low = (low as u64 & LIMB).wrapping_add(((high >> 42) as u64).wrapping_mul(5));
    [low & LIMB, (middle as u64 & LIMB).wrapping_add(low >> 44), high as u64 & HIGHEST]
}

impl Poly1305 {
    /// Under the one-time key `r`, `s`.
    #[inline(always)]
    pub(super) fn new(r: &Block, s: &Block) -> Self {
        let [low, high] = words(r);
        Poly1305 { h: [0; 3], r: [low & 0x0fff_fffc_0fff_ffff, high & 0x0fff_fffc_0fff_fffc], s: words(s) }
    }

    /// Adds a number and multiplies the sum by r.
    #[inline(always)]
    fn add(&mut self, [low, middle, high]: [u64; 3]) {
        let [r0, r1] = self.r;
        let sum = u128::from(self.h[0]).wrapping_add(u128::from(low));
        let h0 = sum as u64;
        let sum = u128::from(self.h[1]).wrapping_add(u128::from(middle)).wrapping_add(sum >> 64);
        let h1 = sum as u64;
        let h2 = self.h[2].wrapping_add(high).wrapping_add((sum >> 64) as u64);
        // r1 is a multiple of four. 2^130 is congruent to 5, so 2^128 times r1 is 5/4 of r1.
        let s1 = r1.wrapping_add(r1 >> 2);
        let d0 = wide([h0, h1], [r0, s1]);
        // h2 is at most 12, so its products have no second word.
        let d1 = wide([h0, h1], [r1, r0]).wrapping_add(u128::from(h2.wrapping_mul(s1))).wrapping_add(d0 >> 64);
        let d2 = h2.wrapping_mul(r0).wrapping_add((d1 >> 64) as u64);
        let sum = u128::from(d0 as u64).wrapping_add(u128::from((d2 & !3).wrapping_add(d2 >> 2)));
        let next = u128::from(d1 as u64).wrapping_add(sum >> 64);
        // Unknown, as compilers would not add the next carry to it by one instruction.
        self.h = [sum as u64, next as u64, unknown((d2 & 3).wrapping_add((next >> 64) as u64))];
    }

    /// Adds whole blocks.
    #[inline(always)]
    pub(super) fn whole(&mut self, bytes: &[u8]) {
        for block in bytes.as_chunks().0 {
            let [low, high] = words(block);
            self.add([low, high, 1]);
        }
    }

    /// Adds whole blocks and, if there is a partial last one, that block padded with zeros.
    #[inline(always)]
    pub(super) fn padded<S: Simd>(&mut self, simd: S, bytes: &[u8]) {
        let (blocks, rest) = bytes.as_chunks::<16>();
        self.whole(blocks.as_flattened());
        if !rest.is_empty() {
            let [low, high] = words(&simd.load_block_partial(rest).first_block());
            self.add([low, high, 1]);
        }
    }

    /// Adds the lengths of associated data and text, and returns the tag. By reference, as a copy would wait for the sum
    /// that was just stored.
    #[inline(always)]
    pub(super) fn tag(&mut self, ad: usize, text: usize) -> Block {
        self.add([ad as u64, text as u64, 1]);
        let [h0, h1, h2] = self.h;
        // Subtracts 2^130 - 5, unless the result would be negative.
        let sum = u128::from(h0).wrapping_add(5);
        let next = u128::from(h1).wrapping_add(sum >> 64);
        let all = 0u64.wrapping_sub(h2.wrapping_add((next >> 64) as u64) >> 2);
        let low = (h0 & !all) | (sum as u64 & all);
        let high = (h1 & !all) | (next as u64 & all);
        let s = u128::from(self.s[0]) | (u128::from(self.s[1]) << 64);
        (u128::from(low) | (u128::from(high) << 64)).wrapping_add(s).to_le_bytes()
    }
}

/// Polynomials evaluated side by side, one in each 64-bit half of a register.
pub(super) struct Lanes<R> {
    h: [R; 3],
    /// r to the power of the number of lanes, and of twice that number.
    powers: [Power<R>; 2],
}

/// A power of r: its limbs, and 20 times its two higher limbs.
struct Power<R>([R; 3], [R; 2]);

impl<R: Reg> Power<R> {
    #[inline(always)]
    fn new<S: Simd<Reg = R>>(simd: S, [a, b, c]: [u64; 3]) -> Self {
        Power(
            [words_of(simd, a), words_of(simd, b), words_of(simd, c)],
            [words_of(simd, b.wrapping_mul(20)), words_of(simd, c.wrapping_mul(20))],
        )
    }
}

/// Whether a level has registers for which this is worthwhile.
#[inline(always)]
pub(super) const fn has_lanes<S: Simd>() -> bool {
    S::WIDE
}

/// Bytes of one block in each lane.
#[inline(always)]
pub(super) const fn group<S: Simd>() -> usize {
    2 * S::Reg::BYTES
}

/// The blocks of a group as limbs, each with the padding bit set. In each register, the blocks of the group's first and
/// second half alternate.
#[inline(always)]
fn load<S: Simd>(simd: S, group: &[u8]) -> [S::Reg; 3] {
    let (a, b) = (simd.load(group), simd.load(&group[S::Reg::BYTES..]));
    let (low, high) = (a.unpack_low(b), a.unpack_high(b));
    let mask = words_of(simd, LIMB);
    [
        low & mask,
        (low.shift_down64::<44>() | high.shift_up64::<20>()) & mask,
        high.shift_down64::<24>() | words_of(simd, 1 << 40),
    ]
}

/// The same number in every 64-bit half.
#[inline(always)]
fn words_of<S: Simd>(simd: S, number: u64) -> S::Reg {
    simd.splat(&(u128::from(number) | u128::from(number) << 64).to_le_bytes())
}

/// Sums of products without carries: the low 52 bits of each, and the rest.
struct Sums<R> {
    low: [R; 3],
    high: [R; 3],
}

impl<R: Reg> Sums<R> {
    #[inline(always)]
    fn add_product(&mut self, [a, b, c]: [R; 3], Power([r, s, t], [s20, t20]): &Power<R>) {
        let rows = [[(a, *r), (b, *t20), (c, *s20)], [(a, *s), (b, *r), (c, *t20)], [(a, *t), (b, *s), (c, *r)]];
        for ((low, high), row) in self.low.iter_mut().zip(&mut self.high).zip(rows) {
            for (x, y) in row {
                (*low, *high) = (low.add_low52(x, y), high.add_high52(x, y));
            }
        }
    }

    /// The sums as limbs of little more than 44, 44 and 42 bits. The rest of a product has a weight of 2^8 in the next
    /// limb, that of the last limb 2^10 above 2^130, which is congruent to 5.
    #[inline(always)]
    fn carried<S: Simd<Reg = R>>(self, simd: S) -> [R; 3] {
        let Sums { low: [a, b, c], high: [d, e, f] } = self;
        let mask = words_of(simd, LIMB);
        let b = b.add64(d.shift_up64::<8>()).add64(a.shift_down64::<44>());
        let c = c.add64(e.shift_up64::<8>()).add64(b.shift_down64::<44>());
        let over = f.shift_up64::<10>().add64(c.shift_down64::<42>());
        let a = (a & mask).add64(over).add64(over.shift_up64::<2>());
        [a & mask, (b & mask).add64(a.shift_down64::<44>()), c & words_of(simd, HIGHEST)]
    }
}

impl<R: Reg> Lanes<R> {
    /// Continues from `poly` with the first group.
    #[inline(always)]
    pub(super) fn new<S: Simd<Reg = R>>(simd: S, poly: &Poly1305, group: &[u8]) -> Self {
        let mut power = limbs([poly.r[0], poly.r[1], 0]);
        // The number of lanes is a power of two.
        for _ in 0..(2 * R::BLOCKS).ilog2() {
            power = square(power);
        }
        let powers = [Power::new(simd, power), Power::new(simd, square(power))];
        let mut h = load(simd, group);
        for (h, limb) in h.iter_mut().zip(limbs(poly.h)) {
            *h = h.add64(simd.first(&u128::from(limb).to_le_bytes()));
        }
        Lanes { h, powers }
    }

    /// Adds whole groups.
    #[inline(always)]
    pub(super) fn add<S: Simd<Reg = R>>(&mut self, simd: S, groups: &[u8]) {
        let mut pairs = groups.chunks_exact(2 * group::<S>());
        for pair in &mut pairs {
            let (first, second) = pair.split_at(group::<S>());
            let mut sums = Sums { low: load(simd, second), high: [simd.zero(); 3] };
            sums.add_product(load(simd, first), &self.powers[0]);
            sums.add_product(self.h, &self.powers[1]);
            self.h = sums.carried(simd);
        }
        if !pairs.remainder().is_empty() {
            let mut sums = Sums { low: load(simd, pairs.remainder()), high: [simd.zero(); 3] };
            sums.add_product(self.h, &self.powers[0]);
            self.h = sums.carried(simd);
        }
    }

    /// Adds up all lanes, as the new value of `poly`.
    #[inline(always)]
    pub(super) fn join(self, poly: &mut Poly1305) {
        let mut rows = [[0; 8 * LANES]; 3];
        for (row, limb) in rows.iter_mut().zip(self.h) {
            limb.store(row);
        }
        poly.h = [0; 3];
        for block in 0..2 * R::BLOCKS {
            let lane = 2 * (block % R::BLOCKS) + block / R::BLOCKS;
            let [a, b, c] = [0, 1, 2].map(|row: usize| u128::from(u64::from_le_bytes(rows[row].as_chunks().0[lane])));
            let (low, over) = a.wrapping_add(b << 44).overflowing_add(c << 88);
            poly.add([low as u64, (low >> 64) as u64, ((c >> 40) as u64).wrapping_add(u64::from(over))]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Isa, Kernel};

    /// All bits of the key that may be set.
    const R: Block = [0xff; 16];

    /// The tag of whole blocks, with lanes where the level has them.
    struct Tag<'a>(&'a Block, &'a [u8]);
    impl Kernel for Tag<'_> {
        type Output = Block;
        #[inline(always)]
        fn run<S: Simd, const W: usize>(self, simd: S) -> Block {
            let mut poly = Poly1305::new(self.0, &[0; 16]);
            let mut rest = self.1;
            if has_lanes::<S>() && rest.len() >= group::<S>() {
                // A block before the lanes.
                let (alone, groups) = rest.split_at(16 * usize::from(rest.len() % group::<S>() >= 16));
                poly.whole(alone);
                let (groups, behind) = groups.split_at(groups.len() / group::<S>() * group::<S>());
                let (first, groups) = groups.split_at(group::<S>());
                let mut lanes = Lanes::new(simd, &poly, first);
                lanes.add(simd, groups);
                lanes.join(&mut poly);
                rest = behind;
            }
            poly.padded(simd, rest);
            poly.tag(0, 0)
        }
    }

    /// A number below 2^130 - 5 and another one's sum, as the low 128 bits and those above.
    fn sum(x: (u128, u128), y: (u128, u128)) -> (u128, u128) {
        let (low, over) = x.0.overflowing_add(y.0);
        let high = x.1 + y.1 + u128::from(over);
        let (less, fits) = low.overflowing_add(5);
        if high + u128::from(fits) >= 4 { (less, high + u128::from(fits) - 4) } else { (low, high) }
    }

    /// The same, bit by bit.
    fn slow(r: &Block, blocks: &[u8]) -> Block {
        let r = u128::from_le_bytes(*r) & 0x0fff_fffc_0fff_fffc_0fff_fffc_0fff_ffff;
        let mut h = (0, 0);
        for block in blocks.as_chunks().0.iter().map(|block| (u128::from_le_bytes(*block), 1)).chain([(0, 1)]) {
            let mut power = sum(h, block);
            h = (0, 0);
            for bit in 0..128 {
                if r >> bit & 1 == 1 {
                    h = sum(h, power);
                }
                power = sum(power, power);
            }
        }
        h.0.to_le_bytes()
    }

    #[test]
    fn is_the_polynomial() {
        let keys = [R, [0; 16], [1; 16], *b"a key of 16 byte", [0x80; 16]];
        for isa in Isa::available() {
            for r in &keys {
                for len in [0, 1, 2, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40, 64] {
                    for byte in [0xff, 0, 0xfb, 1, 0x55] {
                        let mut blocks = vec![byte; 16 * len];
                        assert_eq!(isa.run(Tag(r, &blocks)), slow(r, &blocks), "{isa}: {len} blocks of {byte}");
                        for (i, block) in blocks.chunks_mut(16).enumerate() {
                            block[i % 16] = i as u8;
                        }
                        assert_eq!(isa.run(Tag(r, &blocks)), slow(r, &blocks), "{isa}: {len} blocks");
                    }
                }
            }
        }
    }

    /// Under r = 1 the hash is a sum, so that it can be led to what random texts do not meet: sums in [2^130 - 5,
    /// 2^130), from which the modulus is subtracted at last, and a carry out of the second word.
    #[test]
    fn rare_carries() {
        let r = 1_u128.to_le_bytes();
        let (ones, zeros) = ([0xff; 16], [0; 16]);
        for (blocks, tag) in [(&[ones, zeros][..], 4), (&[ones; 3], 2)] {
            let tag = u128::to_le_bytes(tag);
            assert_eq!(slow(&r, blocks.as_flattened()), tag);
            for isa in Isa::available() {
                assert_eq!(isa.run(Tag(&r, blocks.as_flattened())), tag, "{isa}");
            }
        }
        // With groups before them, where the level has lanes
        for isa in Isa::available() {
            for len in 0..=66 {
                for end in [&[ones, zeros][..], &[ones; 3]] {
                    let blocks = [&vec![zeros; len][..], end].concat();
                    assert_eq!(
                        isa.run(Tag(&r, blocks.as_flattened())),
                        slow(&r, blocks.as_flattened()),
                        "{isa}: {len}"
                    );
                }
            }
        }
    }
}
