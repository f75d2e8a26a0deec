//! Plain Rust, in constant time if integer multiplication is, on any machine: the reference for the other levels. A
//! register has four blocks, which bitsliced AES needs. Operations of more than a few gates per word are separate
//! functions: such a register is in memory anyway, and kernels with eight of them compile in half the time.

use core::ops::{BitAnd, BitOr, BitXor, Not};

use super::{Block, Logic, Outlined, Reg, Simd, bitslice::Slices};
use crate::sealed::Sealed;

/// The token, which requires no instruction set.
#[derive(Clone, Copy)]
pub(super) struct Portable(());

impl Portable {
    pub(super) fn new() -> Self {
        Portable(())
    }
}

/// Four blocks, each as its low and high half, little endian.
#[derive(Clone, Copy)]
pub(super) struct P4([[u64; 2]; 4]);

/// The halves of a block.
#[inline(always)]
fn halves(block: &[u8]) -> [u64; 2] {
    let half = |at: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&block[at..at + 8]);
        u64::from_le_bytes(bytes)
    };
    [half(0), half(8)]
}

impl Sealed for Portable {}
impl Simd for Portable {
    type Reg = P4;
    const AES: bool = false;

    #[inline(always)]
    fn order_barrier(self, _: [&mut P4; 2], _: [&mut P4; 3]) {}

    #[inline(never)]
    fn outlined<P: Outlined<Self>>(self, part: P) -> P::Output {
        part.run(self)
    }
    #[inline(always)]
    fn zero(self) -> P4 {
        P4([[0; 2]; 4])
    }
    #[inline(always)]
    fn load(self, bytes: &[u8]) -> P4 {
        let mut lanes = [[0; 2]; 4];
        for (lane, block) in lanes.iter_mut().zip(bytes[..64].chunks_exact(16)) {
            *lane = halves(block);
        }
        P4(lanes)
    }
    #[inline(never)]
    fn load_partial(self, bytes: &[u8]) -> P4 {
        let mut padded = [0; 64];
        padded[..bytes.len()].copy_from_slice(bytes);
        self.load(&padded)
    }
    #[inline(always)]
    fn splat(self, block: &Block) -> P4 {
        P4([halves(block); 4])
    }
    #[inline(always)]
    fn gather<const ROWS: usize>(self, frames: &[&mut [Block; ROWS]], row: usize) -> P4 {
        let mut lanes = [[0; 2]; 4];
        for (lane, frame) in lanes.iter_mut().zip(frames) {
            *lane = halves(&frame[row]);
        }
        P4(lanes)
    }
    #[inline(always)]
    fn first(self, block: &Block) -> P4 {
        P4([halves(block), [0; 2], [0; 2], [0; 2]])
    }
    #[inline(always)]
    fn splat_word(self, n: u32) -> P4 {
        P4([[u64::from(n), 0]; 4])
    }
    #[inline(always)]
    fn splat_words(self, word: u32) -> P4 {
        P4([[u64::from(word) | (u64::from(word) << 32); 2]; 4])
    }
    #[inline(always)]
    fn lane_numbers(self) -> P4 {
        P4([[0, 0], [1, 0], [2, 0], [3, 0]])
    }
}

impl P4 {
    #[inline(always)]
    fn map(self, f: impl Fn(u64) -> u64) -> P4 {
        P4(self.0.map(|lane| lane.map(&f)))
    }
    #[inline(always)]
    fn zip(mut self, other: P4, f: impl Fn(u64, u64) -> u64) -> P4 {
        for (x, y) in self.0.as_flattened_mut().iter_mut().zip(other.0.as_flattened()) {
            *x = f(*x, *y);
        }
        self
    }
    #[inline(always)]
    fn lanes(mut self, other: P4, f: impl Fn([u64; 2], [u64; 2]) -> [u64; 2]) -> P4 {
        for (x, y) in self.0.iter_mut().zip(other.0) {
            *x = f(*x, y);
        }
        self
    }
    #[inline(always)]
    fn words(self, f: impl Fn(u32) -> u32) -> P4 {
        self.map(|half| u64::from(f(half as u32)) | (u64::from(f((half >> 32) as u32)) << 32))
    }
    #[inline(always)]
    fn sliced(self, f: impl Fn(&mut Slices<1>)) -> P4 {
        let mut slices = Slices::pack(&[self.0]);
        f(&mut slices);
        P4(slices.unpack()[0])
    }
}

impl BitXor for P4 {
    type Output = P4;
    #[inline(always)]
    fn bitxor(self, other: P4) -> P4 {
        self.zip(other, |x, y| x ^ y)
    }
}
impl BitAnd for P4 {
    type Output = P4;
    #[inline(always)]
    fn bitand(self, other: P4) -> P4 {
        self.zip(other, |x, y| x & y)
    }
}
impl BitOr for P4 {
    type Output = P4;
    #[inline(always)]
    fn bitor(self, other: P4) -> P4 {
        self.zip(other, |x, y| x | y)
    }
}
impl Sealed for P4 {}
impl Logic for P4 {}
impl Not for P4 {
    type Output = P4;
    #[inline(always)]
    fn not(self) -> P4 {
        self.map(|x| !x)
    }
}

/// The carry-less product of two words. Integer products of every fourth bit leave three bits of room for carries,
/// which the masks then remove. That is enough for 15 terms, so the last four bits of `x` are added separately.
#[inline(always)]
fn clmul(x: u64, y: u64) -> [u64; 2] {
    const EVERY_FOURTH: u128 = 0x1111_1111_1111_1111_1111_1111_1111_1111;
    let every_fourth = |x: u64| [0, 1, 2, 3].map(|k| x & (EVERY_FOURTH as u64) << k);
    let (xs, ys) = (every_fourth(x & (u64::MAX >> 4)), every_fourth(y));
    let mut product = 0;
    for k in 0..4 {
        let mut sum = 0;
        for i in 0..4 {
            sum ^= u128::from(xs[i]) * u128::from(ys[(4 + k - i) % 4]);
        }
        product |= sum & (EVERY_FOURTH << k);
    }
    for bit in 60..64 {
        product ^= u128::from(y & 0u64.wrapping_sub((x >> bit) & 1)) << bit;
    }
    [product as u64, (product >> 64) as u64]
}

/// The carry-less products of the first `lanes` of four pairs of words; zero for the others.
#[inline(never)]
fn clmul_lanes(x: &[u64; 4], y: &[u64; 4], lanes: usize) -> [[u64; 2]; 4] {
    let mut products = [[0; 2]; 4];
    for i in 0..lanes.min(4) {
        products[i] = clmul(x[i], y[i]);
    }
    products
}

/// The low 32-bit words of both, the one of `y` above.
#[inline(always)]
fn interleave(x: u64, y: u64) -> u64 {
    u64::from(x as u32) | (y << 32)
}

impl Reg for P4 {
    const BLOCKS: usize = 4;

    #[inline(always)]
    fn store(self, bytes: &mut [u8]) {
        for (bytes, half) in bytes[..64].chunks_exact_mut(8).zip(self.0.as_flattened()) {
            bytes.copy_from_slice(&half.to_le_bytes());
        }
    }
    #[inline(never)]
    fn store_partial(self, bytes: &mut [u8]) {
        let mut whole = [0; 64];
        self.store(&mut whole);
        let n = bytes.len();
        bytes.copy_from_slice(&whole[..n]);
    }
    #[inline(never)]
    fn keep(self, bytes: usize) -> P4 {
        let mut whole = [0; 64];
        self.store(&mut whole);
        whole[bytes.min(64)..].fill(0);
        Portable(()).load(&whole)
    }
    #[inline(always)]
    fn scatter<const ROWS: usize>(self, frames: &mut [&mut [Block; ROWS]], row: usize) {
        let mut blocks = [[0; 16]; 4];
        self.store(blocks.as_flattened_mut());
        for (frame, block) in frames.iter_mut().zip(blocks) {
            frame[row] = block;
        }
    }
    #[inline(always)]
    fn first_block(self) -> Block {
        let mut block = [0; 16];
        block[..8].copy_from_slice(&self.0[0][0].to_le_bytes());
        block[8..].copy_from_slice(&self.0[0][1].to_le_bytes());
        block
    }
    #[inline(never)]
    fn fold(self) -> P4 {
        let [a, b, c, d] = self.0;
        P4([[a[0] ^ b[0] ^ c[0] ^ d[0], a[1] ^ b[1] ^ c[1] ^ d[1]], [0; 2], [0; 2], [0; 2]])
    }
    #[inline(always)]
    fn replace_last(mut self, other: P4) -> P4 {
        self.0[3] = other.0[3];
        self
    }
    #[inline(always)]
    fn last_lane(self) -> P4 {
        P4([self.0[3], [0; 2], [0; 2], [0; 2]])
    }
    #[inline(always)]
    fn replace_lane(mut self, lane: usize, other: P4) -> P4 {
        if let Some(mine) = self.0.get_mut(lane) {
            *mine = other.0[lane];
        }
        self
    }

    #[inline(always)]
    fn add32(self, other: P4) -> P4 {
        const LOW: u64 = 0xffff_ffff;
        self.zip(other, |x, y| ((x & LOW).wrapping_add(y & LOW) & LOW) | ((x >> 32).wrapping_add(y >> 32) << 32))
    }
    #[inline(always)]
    fn words_down(self) -> P4 {
        P4(self.0.map(|[low, high]| [(low >> 32) | (high << 32), (high >> 32) | (low << 32)]))
    }
    #[inline(always)]
    fn reverse_bytes(self) -> P4 {
        P4(self.0.map(|[low, high]| [high.swap_bytes(), low.swap_bytes()]))
    }
    #[inline(always)]
    fn swap_halves(self) -> P4 {
        P4(self.0.map(|[low, high]| [high, low]))
    }
    #[inline(always)]
    fn unpack_low(self, other: P4) -> P4 {
        self.lanes(other, |x, y| [x[0], y[0]])
    }
    #[inline(always)]
    fn unpack_high(self, other: P4) -> P4 {
        self.lanes(other, |x, y| [x[1], y[1]])
    }
    #[inline(never)]
    fn unpack_low_words(self, other: P4) -> P4 {
        self.lanes(other, |x, y| [interleave(x[0], y[0]), interleave(x[0] >> 32, y[0] >> 32)])
    }
    #[inline(never)]
    fn unpack_high_words(self, other: P4) -> P4 {
        self.lanes(other, |x, y| [interleave(x[1], y[1]), interleave(x[1] >> 32, y[1] >> 32)])
    }
    #[inline(always)]
    fn rotate32<const N: i32>(self) -> P4 {
        self.words(|word| word.rotate_left(N as u32))
    }
    #[inline(always)]
    fn shift32<const N: i32>(self) -> P4 {
        self.words(|word| word << N)
    }
    #[inline(never)]
    fn shift_up<const N: i32>(self) -> P4 {
        P4(self.0.map(|[low, high]| {
            let lane = (u128::from(low) | (u128::from(high) << 64)) << (8 * N);
            [lane as u64, (lane >> 64) as u64]
        }))
    }
    #[inline(never)]
    fn splat_last_word(self) -> P4 {
        P4(self.0.map(|[_, high]| [(high >> 32) | (high & 0xffff_ffff_0000_0000); 2]))
    }
    #[inline(always)]
    fn rotate_words(self) -> P4 {
        self.words(|word| word.rotate_right(8))
    }
    #[inline(always)]
    fn clmul<const H: i32>(self, other: P4) -> P4 {
        self.clmul_first::<H>(other, 4)
    }
    #[inline(always)]
    fn clmul_first<const H: i32>(self, other: P4, lanes: usize) -> P4 {
        let (mine, theirs) = ((H & 1) as usize, ((H >> 4) & 1) as usize);
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        let (x, y) = ([a[mine], b[mine], c[mine], d[mine]], [e[theirs], f[theirs], g[theirs], h[theirs]]);
        P4(clmul_lanes(&x, &y, lanes))
    }

    #[inline(never)]
    fn aesenc(self, key: P4) -> P4 {
        let round = |state: &mut Slices<1>| {
            state.sub_bytes();
            state.shift_rows();
            state.mix_columns();
        };
        self.sliced(round) ^ key
    }
    #[inline(never)]
    fn aesenclast(self, key: P4) -> P4 {
        let round = |state: &mut Slices<1>| {
            state.sub_bytes();
            state.shift_rows();
        };
        self.sliced(round) ^ key
    }
    #[inline(never)]
    fn aesdec(self, key: P4) -> P4 {
        let round = |state: &mut Slices<1>| {
            state.inverse_shift_rows();
            state.inverse_sub_bytes();
            state.inverse_mix_columns();
        };
        self.sliced(round) ^ key
    }
    #[inline(never)]
    fn aesdeclast(self, key: P4) -> P4 {
        let round = |state: &mut Slices<1>| {
            state.inverse_shift_rows();
            state.inverse_sub_bytes();
        };
        self.sliced(round) ^ key
    }
    #[inline(never)]
    fn aesimc(self) -> P4 {
        self.sliced(Slices::inverse_mix_columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bit_by_bit(x: u64, y: u64) -> [u64; 2] {
        let product = (0..64).fold(0, |sum, bit| sum ^ if x >> bit & 1 == 1 { u128::from(y) << bit } else { 0 });
        [product as u64, (product >> 64) as u64]
    }

    #[test]
    fn products_carry_nothing() {
        let mut words: Vec<u64> = (0..64).flat_map(|bit| [1 << bit, u64::MAX << bit, u64::MAX >> bit]).collect();
        words.extend([0, 0x1111_1111_1111_1111, 0x8888_8888_8888_8888, 0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210]);
        for &x in &words {
            for &y in &words {
                assert_eq!(clmul(x, y), bit_by_bit(x, y), "{x:x} times {y:x}");
            }
        }
        let (x, y) = ([1, 2, 3, u64::MAX], [5, u64::MAX, 7, u64::MAX]);
        for lanes in 0..=4 {
            let products = clmul_lanes(&x, &y, lanes);
            for i in 0..4 {
                assert_eq!(products[i], if i < lanes { bit_by_bit(x[i], y[i]) } else { [0; 2] });
            }
        }
    }
}
