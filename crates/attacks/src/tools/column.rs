//! Search for the four key bytes of one column with the sums of the Square attack.
//!
//! For each guess of the four bytes, 256 texts are decrypted through one and a half rounds. To do 2^32 guesses in
//! seconds, the first byte of each sum is computed for many guesses of the last byte at once, with the inverse S-box of
//! the processor's AES instructions; the other three are checked for the remaining guesses.

use core::ops::BitXor;

use sealwright::{
    Block, Isa,
    simd::{Kernel, Reg, Simd},
};

use super::aes::{BOXES, INVERSE_MIX, shifted, times};

/// Four bytes of the key.
pub(crate) type Guess = [u8; 4];

/// For each text and each value of one key byte: the byte that it contributes to a row.
type Row = Vec<[u8; 256]>;

/// For each byte, a block filled with it.
const SAME: [Block; 256] = {
    let mut blocks = [[0; 16]; 256];
    let mut byte = 0;
    while byte < 256 {
        blocks[byte] = [byte as u8; 16];
        byte += 1;
    }
    blocks
};

/// One column's texts, as tables.
pub(crate) struct Column {
    isa: Isa,
    /// Contributions by row of the column and byte of the key, each indexed by key byte, then text; the last byte in
    /// the first row is in `last`.
    rows: [[Row; 4]; 4],
    /// The last byte in the first row: by text, then key.
    last: Row,
    /// The round key after InvMixColumns.
    constants: [u8; 4],
}

impl Column {
    /// The column whose four ciphertext bytes are these, for 256 texts, with the round key in front of it.
    pub(crate) fn new(isa: Isa, texts: &[[u8; 4]], round_key: [u8; 4]) -> Column {
        let factor = |row: usize, j: usize| INVERSE_MIX[(4 + j - row) % 4];
        let byte =
            |row, j, key: usize, text: usize| times(factor(row, j), BOXES.back[usize::from(texts[text][j]) ^ key]);
        let table = |row, j| (0..256).map(|key| core::array::from_fn(|text| byte(row, j, key, text))).collect();
        Column {
            isa,
            rows: core::array::from_fn(|row| core::array::from_fn(|j| table(row, j))),
            last: (0..256).map(|text| core::array::from_fn(|key| byte(0, 3, key, text))).collect(),
            constants: core::array::from_fn(|row| (0..4).fold(0, |sum, j| sum ^ times(factor(row, j), round_key[j]))),
        }
    }

    /// The guesses with this first byte, and this second one if it is known, whose four sums are zero.
    pub(crate) fn search(&self, first: u8, second: Option<u8>) -> Vec<Guess> {
        let seconds = second.map_or(0..=255, |second| second..=second);
        let mut found = Vec::new();
        for second in seconds {
            let start =
                sum(&[&self.rows[0][0][usize::from(first)], &self.rows[0][1][usize::from(second)]], self.constants[0]);
            for (third, fourth) in self.isa.run(Sums { column: self, start: &start }) {
                let guess = [first, second, third, fourth];
                if (1..4).all(|row| self.is_balanced(row, guess)) {
                    found.push(guess);
                }
            }
        }
        found
    }

    /// Whether a row sums to zero.
    fn is_balanced(&self, row: usize, guess: Guess) -> bool {
        let tables: [&[u8; 256]; 4] = core::array::from_fn(|j| &self.rows[row][j][usize::from(guess[j])]);
        sum(&tables, self.constants[row]).iter().fold(0, |sum, &byte| sum ^ BOXES.back[usize::from(byte)]) == 0
    }
}

#[inline(always)]
fn sum(tables: &[&[u8; 256]], constant: u8) -> [u8; 256] {
    let mut sum = [constant; 256];
    for table in tables {
        for (sum, byte) in sum.iter_mut().zip(*table) {
            *sum ^= byte;
        }
    }
    sum
}

/// For each byte of a block, the position from which InvShiftRows takes it.
const UNSHIFTED: [u8; 16] = {
    let mut from = [0; 16];
    let mut at = 0;
    while at < 16 {
        from[shifted(at)] = at as u8;
        at += 1;
    }
    from
};

/// The first row's sum, for every third and fourth byte: those where it is zero.
struct Sums<'a> {
    column: &'a Column,
    start: &'a [u8; 256],
}

impl Kernel for Sums<'_> {
    type Output = Vec<(u8, u8)>;

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) -> Self::Output {
        let mut found = Vec::new();
        let zero = simd.zero();
        let width = <S::Reg as Reg>::BYTES;
        for third in 0..=255u8 {
            let texts = sum(&[self.start, &self.column.rows[0][2][usize::from(third)]], 0);
            let mut sums = [0; 256];
            // Four vector registers at a time, each byte of which is one guess of the fourth byte.
            for at in (0..256).step_by(4 * width) {
                let mut sum = [zero; 4];
                for (&text, keys) in texts.iter().zip(&self.column.last) {
                    let text = simd.splat(&SAME[usize::from(text)]);
                    for (i, sum) in sum.iter_mut().enumerate() {
                        // The instruction also applies InvShiftRows, which moves the bytes in a fixed way.
                        let byte = text.bitxor(simd.load(&keys[at + i * width..])).aesdeclast(zero);
                        *sum = sum.bitxor(byte);
                    }
                }
                for (i, sum) in sum.into_iter().enumerate() {
                    sum.store(&mut sums[at + i * width..]);
                }
            }
            for (place, &sum) in sums.iter().enumerate() {
                if sum == 0 {
                    found.push((third, (place as u8 & 0xf0) | UNSHIFTED[place % 16]));
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use sealwright::Isa;

    use super::Column;

    #[test]
    fn every_level_finds_the_same() {
        let texts: Vec<[u8; 4]> = (0..256u32).map(|i| (i * i).wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let best = Column::new(Isa::best(), &texts, [1, 2, 3, 4]);
        let slow = |third: u8, fourth: u8| best.is_balanced(0, [5, 6, third, fourth]);
        let start = super::sum(&[&best.rows[0][0][5], &best.rows[0][1][6]], best.constants[0]);
        let expected: Vec<(u8, u8)> =
            (0..=255).flat_map(|a| (0..=255).map(move |b| (a, b))).filter(|&(a, b)| slow(a, b)).collect();
        for isa in Isa::available() {
            let mut found = isa.run(super::Sums { column: &best, start: &start });
            found.sort_unstable();
            assert_eq!(found, expected, "{isa}");
        }
    }
}
