//! Bitsliced AES in constant time, for levels without AES instructions.
//!
//! Slice `k` holds bit `k` of every byte of four blocks. The bit of byte `4c + r` (column `c`, row `r`) of block `b` is
//! at position `16r + 4c + b`, so that ShiftRows rotates 16-bit groups and MixColumns rotates whole slices. `N` groups
//! of four blocks are processed side by side. A round is written for one group, in a loop over the groups which the
//! compiler vectorises. Only the portable level uses this module. It needs no instruction set to be enabled, so that
//! rounds may remain separate functions.

/// The eight slices of `4 * N` blocks.
#[derive(Clone, Copy)]
pub(crate) struct Slices<const N: usize>([[u64; N]; 8]);

/// The eight slices of four blocks.
type Group = [u64; 8];

/// The slices of one block, replicated in all four places of a group.
#[derive(Clone, Copy)]
pub(crate) struct Key(Group);

/// Puts the bytes of a column into every second byte of a word.
#[inline(always)]
fn spread(column: u32) -> u64 {
    let x = u64::from(column);
    let x = (x | (x << 16)) & 0x0000_ffff_0000_ffff;
    (x | (x << 8)) & 0x00ff_00ff_00ff_00ff
}

/// The inverse of [`spread`].
#[inline(always)]
fn gather(word: u64) -> u32 {
    let x = word & 0x00ff_00ff_00ff_00ff;
    let x = (x | (x >> 8)) & 0x0000_ffff_0000_ffff;
    (x | (x >> 16)) as u32
}

/// Transposes bits: bit `k` of byte `j` of word `w` moves to bit `8j + w` of word `k`. Its own inverse.
#[inline(always)]
fn transpose(words: &mut [u64; 8]) {
    const MASKS: [u64; 3] = [0x5555_5555_5555_5555, 0x3333_3333_3333_3333, 0x0f0f_0f0f_0f0f_0f0f];
    for (level, mask) in MASKS.into_iter().enumerate() {
        let step = 1 << level;
        for i in (0..8).filter(|i| i & step == 0) {
            let swap = ((words[i] >> step) ^ words[i + step]) & mask;
            words[i] ^= swap << step;
            words[i + step] ^= swap;
        }
    }
}

impl Key {
    /// The slices of the zero block.
    pub(crate) const ZERO: Key = Key([0; 8]);

    /// The slices of this block.
    #[inline(never)]
    pub(crate) fn new(block: &[u8; 16]) -> Self {
        let block = u128::from_le_bytes(*block);
        let column = |c: u32| (block >> (32 * c)) as u32;
        let mut slices = [0; 8];
        for (k, slice) in slices.iter_mut().enumerate() {
            // Bit k of each byte of a row is at the end of each of its four columns.
            let bits = |c: u32| column(c) >> k & 0x0101_0101;
            *slice = 15 * (spread(bits(0) | (bits(1) << 4)) | (spread(bits(2) | (bits(3) << 4)) << 8));
        }
        Key(slices)
    }
}

/// Applies a step to each group.
macro_rules! each {
    ($self:ident, $x:ident => $step:expr) => {
        for i in 0..N {
            let mut $x = [0; 8];
            for (x, slice) in $x.iter_mut().zip(&$self.0) {
                *x = slice[i];
            }
            $x = $step;
            for (x, slice) in $x.iter().zip(&mut $self.0) {
                slice[i] = *x;
            }
        }
    };
}

impl<const N: usize> Slices<N> {
    /// Slices of `N` groups, each of four blocks given as low and high halves.
    #[inline(never)]
    pub(crate) fn pack(groups: &[[[u64; 2]; 4]; N]) -> Self {
        let mut slices = [[0; N]; 8];
        for (n, group) in groups.iter().enumerate() {
            let mut words = [0; 8];
            for (b, [low, high]) in group.iter().enumerate() {
                words[b] = spread(*low as u32) | (spread(*high as u32) << 8);
                words[4 + b] = spread((*low >> 32) as u32) | (spread((*high >> 32) as u32) << 8);
            }
            transpose(&mut words);
            for (slice, word) in slices.iter_mut().zip(words) {
                slice[n] = word;
            }
        }
        Slices(slices)
    }

    /// The inverse of [`Slices::pack`].
    #[inline(never)]
    pub(crate) fn unpack(&self) -> [[[u64; 2]; 4]; N] {
        let mut groups = [[[0; 2]; 4]; N];
        for (n, group) in groups.iter_mut().enumerate() {
            let mut words = self.0.map(|slice| slice[n]);
            transpose(&mut words);
            for (b, block) in group.iter_mut().enumerate() {
                let (even, odd) = (words[b], words[4 + b]);
                block[0] = u64::from(gather(even)) | (u64::from(gather(odd)) << 32);
                block[1] = u64::from(gather(even >> 8)) | (u64::from(gather(odd >> 8)) << 32);
            }
        }
        groups
    }

    /// AddRoundKey, each group with its own key.
    #[inline(always)]
    pub(crate) fn add(&mut self, key: &Self) {
        for (x, key) in self.0.as_flattened_mut().iter_mut().zip(key.0.as_flattened()) {
            *x ^= key;
        }
    }

    /// AddRoundKey.
    #[inline(never)]
    pub(crate) fn add_key(&mut self, key: &Key) {
        each!(self, x => plus(x, key.0));
    }

    /// A round: SubBytes, ShiftRows, MixColumns, AddRoundKey.
    #[inline(never)]
    pub(crate) fn round(&mut self, key: &Key) {
        each!(self, x => plus(mix_columns(shift_rows::<false>(sub_bytes(x))), key.0));
    }

    /// The last round, without MixColumns.
    #[inline(never)]
    pub(crate) fn last_round(&mut self, key: &Key) {
        each!(self, x => plus(shift_rows::<false>(sub_bytes(x)), key.0));
    }

    /// A round of the equivalent inverse cipher (FIPS 197, 5.3.5).
    #[inline(never)]
    pub(crate) fn inverse_round(&mut self, key: &Key) {
        each!(self, x => plus(inverse_mix_columns(inverse_sub_bytes(shift_rows::<true>(x))), key.0));
    }

    /// The last round of the equivalent inverse cipher.
    #[inline(never)]
    pub(crate) fn inverse_last_round(&mut self, key: &Key) {
        each!(self, x => plus(inverse_sub_bytes(shift_rows::<true>(x)), key.0));
    }

    /// SubBytes.
    #[inline(never)]
    pub(crate) fn sub_bytes(&mut self) {
        each!(self, x => sub_bytes(x));
    }

    /// ShiftRows.
    #[inline(never)]
    pub(crate) fn shift_rows(&mut self) {
        each!(self, x => shift_rows::<false>(x));
    }

    /// MixColumns.
    #[inline(never)]
    pub(crate) fn mix_columns(&mut self) {
        each!(self, x => mix_columns(x));
    }

    /// InvSubBytes.
    #[inline(never)]
    pub(crate) fn inverse_sub_bytes(&mut self) {
        each!(self, x => inverse_sub_bytes(x));
    }

    /// InvShiftRows.
    #[inline(never)]
    pub(crate) fn inverse_shift_rows(&mut self) {
        each!(self, x => shift_rows::<true>(x));
    }

    /// InvMixColumns.
    #[inline(never)]
    pub(crate) fn inverse_mix_columns(&mut self) {
        each!(self, x => inverse_mix_columns(x));
    }
}

#[inline(always)]
fn plus(mut x: Group, y: Group) -> Group {
    for (x, y) in x.iter_mut().zip(y) {
        *x ^= y;
    }
    x
}

/// Each row replaced by the row `ROWS` below it: rows are 16 bits apart.
#[inline(always)]
fn rows_up<const ROWS: u32>(mut x: Group) -> Group {
    for x in &mut x {
        *x = x.rotate_right(16 * ROWS);
    }
    x
}

/// Row `r` rotated by `r` columns of four bits, to the left (`INVERSE`: to the right).
#[inline(always)]
fn shift_rows<const INVERSE: bool>(mut x: Group) -> Group {
    // Rows 2 and 3 by two columns, then rows 1 and 3 by one or three.
    const HALVES: u64 = 0x00ff_00ff_0000_0000;
    const EVEN: u64 = 0x0000_ffff_0000_ffff;
    let (right, left, high) = if INVERSE { (12, 4, 0x000f_0000_000f_0000) } else { (4, 12, 0x0fff_0000_0fff_0000) };
    for x in &mut x {
        let swap = (*x ^ (*x >> 8)) & HALVES;
        *x ^= swap ^ (swap << 8);
        *x = (*x & EVEN) | ((*x >> right) & high) | ((*x << left) & !EVEN & !high);
    }
    x
}

/// Every byte times x in GF(2^8).
#[inline(always)]
fn times_x([a, b, c, d, e, f, g, h]: Group) -> Group {
    [h, a ^ h, b, c ^ h, d ^ h, e, f, g]
}

/// MixColumns: 2a(r) + 3a(r+1) + a(r+2) + a(r+3).
#[inline(always)]
fn mix_columns(x: Group) -> Group {
    let below = rows_up::<1>(x);
    let sum = plus(x, below);
    plus(plus(times_x(sum), below), rows_up::<2>(sum))
}

/// InvMixColumns: MixColumns of a(r) + 4(a(r) + a(r+2)).
#[inline(always)]
fn inverse_mix_columns(x: Group) -> Group {
    mix_columns(plus(x, times_x(times_x(plus(x, rows_up::<2>(x))))))
}

/// InvSubBytes: SubBytes between two inverses of its affine map, because inversion is its own inverse.
#[inline(always)]
fn inverse_sub_bytes(x: Group) -> Group {
    inverse_affine(sub_bytes(inverse_affine(x)))
}

/// The inverse of the affine map of FIPS 197, 5.1.1.
#[inline(always)]
fn inverse_affine(x: Group) -> Group {
    let mut mapped = [0; 8];
    for (i, mapped) in mapped.iter_mut().enumerate() {
        *mapped = x[(i + 2) % 8] ^ x[(i + 5) % 8] ^ x[(i + 7) % 8];
    }
    mapped[0] = !mapped[0];
    mapped[2] = !mapped[2];
    mapped
}

/// SubBytes: the circuit of 113 gates of Boyar and Peralta, "A small depth-16 circuit for the AES S-box" (2012) and its
/// predecessor of 2010, with their names.
#[rustfmt::skip]
#[inline(always)]
fn sub_bytes(x: Group) -> Group {
    let [x7, x6, x5, x4, x3, x2, x1, x0] = x;
    // Into the tower field
    let (y14, y13, y9, y8, t0) = (x3 ^ x5, x0 ^ x6, x0 ^ x3, x0 ^ x5, x1 ^ x2);
    let y1 = t0 ^ x7;
    let (y4, y12, y2, y5) = (y1 ^ x3, y13 ^ y14, y1 ^ x0, y1 ^ x6);
    let (y3, t1) = (y5 ^ y8, x4 ^ y12);
    let (y15, y20) = (t1 ^ x5, t1 ^ x1);
    let (y6, y10, y11) = (y15 ^ x7, y15 ^ t0, y20 ^ y9);
    let (y7, y17, y19, y16) = (x7 ^ y11, y10 ^ y11, y10 ^ y8, t0 ^ y11);
    let (y21, y18) = (y13 ^ y16, x0 ^ y16);
    // Inversion
    let t2 = y12 & y15;
    let (t4, t6) = ((y3 & y6) ^ t2, (y4 & x7) ^ t2);
    let t7 = y13 & y16;
    let (t9, t11) = ((y5 & y1) ^ t7, (y2 & y7) ^ t7);
    let t12 = y9 & y11;
    let (t14, t16) = ((y14 & y17) ^ t12, (y8 & y10) ^ t12);
    let (t21, t22) = (t4 ^ t14 ^ y20, t6 ^ t16 ^ y19);
    let (t23, t24) = (t9 ^ t14 ^ y21, t11 ^ t16 ^ y18);
    let (t25, t26) = (t21 ^ t22, t21 & t23);
    let t27 = t24 ^ t26;
    let t29 = (t25 & t27) ^ t22;
    let (t30, t31) = (t23 ^ t24, t22 ^ t26);
    let t33 = (t31 & t30) ^ t24;
    let (t34, t35) = (t23 ^ t33, t27 ^ t33);
    let t36 = t24 & t35;
    let (t37, t38) = (t36 ^ t34, t27 ^ t36);
    let t39 = t29 & t38;
    let t40 = t25 ^ t39;
    let (t41, t42, t43, t44) = (t40 ^ t37, t29 ^ t33, t29 ^ t40, t33 ^ t37);
    let t45 = t42 ^ t41;
    let (z0, z1, z2, z3, z4, z5) = (t44 & y15, t37 & y6, t33 & x7, t43 & y16, t40 & y1, t29 & y7);
    let (z6, z7, z8, z9, z10, z11) = (t42 & y11, t45 & y17, t41 & y10, t44 & y12, t37 & y3, t33 & y4);
    let (z12, z13, z14, z15, z16, z17) = (t43 & y13, t40 & y5, t29 & y2, t42 & y9, t45 & y14, t41 & y8);
    // Back, with the affine map
    let (t46, t47, t48, t49) = (z15 ^ z16, z10 ^ z11, z5 ^ z13, z9 ^ z10);
    let (t50, t51, t52, t53) = (z2 ^ z12, z2 ^ z5, z7 ^ z8, z0 ^ z3);
    let (t54, t55, t56, t57) = (z6 ^ z7, z16 ^ z17, z12 ^ t48, t50 ^ t53);
    let (t58, t59, t60, t61) = (z4 ^ t46, z3 ^ t54, t46 ^ t57, z14 ^ t57);
    let (t62, t63, t64) = (t52 ^ t58, t49 ^ t58, z4 ^ t59);
    let (t65, t66) = (t61 ^ t62, z1 ^ t63);
    let (s0, s6, s7, t67) = (t59 ^ t63, !(t56 ^ t62), !(t48 ^ t60), t64 ^ t65);
    let (s3, s4, s5) = (t53 ^ t66, t51 ^ t66, t47 ^ t65);
    let (s1, s2) = (!(t64 ^ s3), !(t55 ^ t67));
    [s7, s6, s5, s4, s3, s2, s1, s0]
}
