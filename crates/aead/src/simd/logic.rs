//! Any bitwise function of three inputs: one instruction at the AVX-512 level, few gates elsewhere.

use core::ops::{BitAnd, BitOr, BitXor, Not};

use crate::sealed::Sealed;

/// Words whose bits are processed in parallel.
///
/// ```
/// use sealwright::simd::Logic;
///
/// const MAJORITY: i32 = 0b1110_1000; // bit 4x + 2y + z: two of three are set
/// assert_eq!(0b0011_u32.ternary::<MAJORITY>(0b0101, 0b1001), 0b0001);
/// ```
pub trait Logic:
    Sealed + Copy + BitXor<Output = Self> + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self>
{
    /// Bit 4x + 2y + z of `TABLE` for the bits x of `self`, y and z.
    #[inline(always)]
    fn ternary<const TABLE: i32>(self, y: Self, z: Self) -> Self {
        match const { cheapest_choice(TABLE) } {
            0 => choose::<TABLE, 0, _>(self, y, z),
            1 => choose::<TABLE, 1, _>(y, self, z),
            _ => choose::<TABLE, 2, _>(z, self, y),
        }
    }
}

impl Sealed for u32 {}
impl Logic for u32 {}

/// The two functions of the other inputs between which input `BY` (0, 1, 2 for x, y, z) of a table selects.
const fn halves(table: i32, by: u32) -> [i32; 2] {
    let (mut halves, mut at) = ([0; 2], [0; 2]);
    let mut i = 0;
    while i < 8 {
        let side = ((i >> (2 - by)) & 1) as usize;
        halves[side] |= ((table >> i) & 1) << at[side];
        at[side] += 1;
        i += 1;
    }
    halves
}

/// The number of gates of a function of two bits. And-not counts as one.
const fn gates(table: i32) -> i32 {
    match table {
        0 | 10 | 12 | 15 => 0,
        2..=6 | 8 | 14 => 1,
        _ => 2,
    }
}

/// The input to select by that takes the fewest gates in [`choose`].
const fn cheapest_choice(table: i32) -> u32 {
    let (mut best, mut least) = (0, i32::MAX);
    let mut by = 0;
    while by < 3 {
        let [zero, one] = halves(table, by);
        let difference = gates(zero ^ one);
        let cost = match (zero, one) {
            _ if zero == one => gates(zero),
            _ if zero ^ one == 15 => gates(zero) + 1,
            (0, _) => gates(one) + 1,
            (_, 0 | 15) => gates(zero) + 1,
            (15, _) => gates(one) + 2,
            _ if gates(zero) <= gates(one) => gates(zero) + difference + 2,
            _ => gates(one) + difference + 2,
        };
        if cost < least {
            (best, least) = (by, cost);
        }
        by += 1;
    }
    best
}

/// Selects between two functions of `y` and `z` by `x`. All conditions are constants.
#[inline(always)]
fn choose<const TABLE: i32, const BY: u32, L: Logic>(x: L, y: L, z: L) -> L {
    const fn zero(table: i32, by: u32) -> i32 {
        halves(table, by)[0]
    }
    const fn one(table: i32, by: u32) -> i32 {
        halves(table, by)[1]
    }
    if const { zero(TABLE, BY) == one(TABLE, BY) } {
        two::<TABLE, BY, 0, _>(y, z)
    } else if const { zero(TABLE, BY) ^ one(TABLE, BY) == 15 } {
        x ^ two::<TABLE, BY, 0, _>(y, z)
    } else if const { zero(TABLE, BY) == 0 } {
        x & two::<TABLE, BY, 1, _>(y, z)
    } else if const { one(TABLE, BY) == 0 } {
        !x & two::<TABLE, BY, 0, _>(y, z)
    } else if const { one(TABLE, BY) == 15 } {
        x | two::<TABLE, BY, 0, _>(y, z)
    } else if const { zero(TABLE, BY) == 15 } {
        !x | two::<TABLE, BY, 1, _>(y, z)
    } else if const { gates(zero(TABLE, BY)) <= gates(one(TABLE, BY)) } {
        two::<TABLE, BY, 0, _>(y, z) ^ (x & two::<TABLE, BY, 2, _>(y, z))
    } else {
        two::<TABLE, BY, 1, _>(y, z) ^ (!x & two::<TABLE, BY, 2, _>(y, z))
    }
}

/// A function of two bits: the one that input `BY` of `TABLE` selects when it is `OF`; if `OF` is 2, the xor of both.
#[inline(always)]
fn two<const TABLE: i32, const BY: u32, const OF: usize, L: Logic>(y: L, z: L) -> L {
    const fn table(table: i32, by: u32, of: usize) -> i32 {
        let halves = halves(table, by);
        if of < 2 { halves[of] } else { halves[0] ^ halves[1] }
    }
    match const { table(TABLE, BY, OF) } {
        0 => y & !y,
        1 => !(y | z),
        2 => !y & z,
        3 => !y,
        4 => y & !z,
        5 => !z,
        6 => y ^ z,
        7 => !(y & z),
        8 => y & z,
        9 => !(y ^ z),
        10 => z,
        11 => !(y & !z),
        12 => y,
        13 => !(!y & z),
        14 => y | z,
        _ => y | !y,
    }
}

#[cfg(test)]
mod tests {
    use super::Logic;
    use crate::simd::{Isa, Kernel, Reg, Simd};

    /// Every input of three bits, and what a table makes of them.
    const INPUTS: [u32; 3] = [0xf0f0_f0f0, 0xcccc_cccc, 0xaaaa_aaaa];

    fn word<const TABLE: i32>() -> u32 {
        INPUTS[0].ternary::<TABLE>(INPUTS[1], INPUTS[2])
    }

    struct Register<const TABLE: i32>;
    impl<const TABLE: i32> Kernel for Register<TABLE> {
        type Output = [u8; 16];
        #[inline(always)]
        fn run<S: Simd, const W: usize>(self, simd: S) -> [u8; 16] {
            let [x, y, z] = INPUTS.map(|input| simd.splat_words(input));
            x.ternary::<TABLE>(y, z).first_block()
        }
    }

    macro_rules! tables {
        ($($high:literal)*) => {
            $( tables!(@ $high: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15); )*
        };
        (@ $high:literal: $($low:literal)*) => {
            $({
                const TABLE: i32 = 16 * $high + $low;
                assert_eq!(word::<TABLE>(), TABLE as u32 * 0x0101_0101, "table {TABLE}");
                for isa in Isa::available() {
                    assert_eq!(isa.run(Register::<TABLE>), [TABLE as u8; 16], "table {TABLE} at {isa}");
                }
            })*
        };
    }

    #[test]
    fn every_table() {
        tables!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    }
}
