//! Four 32-bit words side by side, in the vectors that every processor of an architecture has: SSE2 on x86-64, NEON on
//! aarch64. For code of the level `portable` in which compilers find no vectors by themselves.

#[cfg(not(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little")
)))]
use plain as vectors;
pub(crate) use vectors::Words;

/// Calls intrinsics that need no detection.
#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little")
))]
macro_rules! always {
    ($called:expr) => {
        // SAFETY: the build is for processors that have the instructions, and values are all that is given.
        unsafe { $called }
    };
}

impl Words {
    /// Transposes a square of four times four words.
    #[inline(always)]
    pub(crate) fn transposed([a, b, c, d]: [Words; 4]) -> [Words; 4] {
        let ([ab, ab_high], [cd, cd_high]) = (a.zip(b), c.zip(d));
        let ([first, second], [third, fourth]) = (ab.halves(cd), ab_high.halves(cd_high));
        [first, second, third, fourth]
    }
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod vectors {
    use core::arch::x86_64::*;

    /// Four words.
    #[derive(Clone, Copy)]
    pub(crate) struct Words(__m128i);

    impl Words {
        pub(crate) const VECTORS: bool = true;

        #[inline(always)]
        pub(crate) fn new(words: [u32; 4]) -> Self {
            let [a, b, c, d] = words.map(u32::cast_signed);
            Words(always!(_mm_set_epi32(d, c, b, a)))
        }
        #[inline(always)]
        pub(crate) fn add(self, other: Self) -> Self {
            Words(always!(_mm_add_epi32(self.0, other.0)))
        }
        /// The xor of both, each word rotated left by `N` bits; `M` is `32 - N`.
        #[inline(always)]
        pub(crate) fn xor_rotate<const N: i32, const M: i32>(self, other: Self) -> Self {
            Words(always!({
                let x = _mm_xor_si128(self.0, other.0);
                _mm_or_si128(_mm_slli_epi32::<N>(x), _mm_srli_epi32::<M>(x))
            }))
        }
        /// A word of each in turn: those of the low halves, then those of the high halves.
        #[inline(always)]
        pub(super) fn zip(self, other: Self) -> [Self; 2] {
            always!([_mm_unpacklo_epi32(self.0, other.0), _mm_unpackhi_epi32(self.0, other.0)]).map(Words)
        }
        /// The low halves of both, and the high halves.
        #[inline(always)]
        pub(super) fn halves(self, other: Self) -> [Self; 2] {
            always!([_mm_unpacklo_epi64(self.0, other.0), _mm_unpackhi_epi64(self.0, other.0)]).map(Words)
        }
        /// The words in order, little endian.
        #[inline(always)]
        pub(crate) fn bytes(self) -> [u8; 16] {
            let halves = always!([_mm_cvtsi128_si64(self.0), _mm_cvtsi128_si64(_mm_unpackhi_epi64(self.0, self.0))]);
            let [low, high] = halves.map(|half| u128::from(half.cast_unsigned()));
            (low | high << 64).to_le_bytes()
        }
    }
}

#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod vectors {
    use core::arch::aarch64::*;

    /// Four words.
    #[derive(Clone, Copy)]
    pub(crate) struct Words(uint32x4_t);

    impl Words {
        pub(crate) const VECTORS: bool = true;

        #[inline(always)]
        pub(crate) fn new([a, b, c, d]: [u32; 4]) -> Self {
            let (low, high) = (u64::from(a) | u64::from(b) << 32, u64::from(c) | u64::from(d) << 32);
            Words(always!(vcombine_u32(vcreate_u32(low), vcreate_u32(high))))
        }
        #[inline(always)]
        pub(crate) fn add(self, other: Self) -> Self {
            Words(always!(vaddq_u32(self.0, other.0)))
        }
        /// The xor of both, each word rotated left by `N` bits; `M` is `32 - N`.
        #[inline(always)]
        pub(crate) fn xor_rotate<const N: i32, const M: i32>(self, other: Self) -> Self {
            Words(always!({
                let x = veorq_u32(self.0, other.0);
                vsriq_n_u32::<M>(vshlq_n_u32::<N>(x), x)
            }))
        }
        /// A word of each in turn: those of the low halves, then those of the high halves.
        #[inline(always)]
        pub(super) fn zip(self, other: Self) -> [Self; 2] {
            always!([vzip1q_u32(self.0, other.0), vzip2q_u32(self.0, other.0)]).map(Words)
        }
        /// The low halves of both, and the high halves.
        #[inline(always)]
        pub(super) fn halves(self, other: Self) -> [Self; 2] {
            let [x, y] = always!([vreinterpretq_u64_u32(self.0), vreinterpretq_u64_u32(other.0)]);
            always!([vreinterpretq_u32_u64(vzip1q_u64(x, y)), vreinterpretq_u32_u64(vzip2q_u64(x, y))]).map(Words)
        }
        /// The words in order, little endian.
        #[inline(always)]
        pub(crate) fn bytes(self) -> [u8; 16] {
            let [low, high] = always!({
                let halves = vreinterpretq_u64_u32(self.0);
                [vgetq_lane_u64::<0>(halves), vgetq_lane_u64::<1>(halves)]
            });
            (u128::from(low) | u128::from(high) << 64).to_le_bytes()
        }
    }
}

#[cfg(any(
    test,
    not(any(
        all(target_arch = "x86_64", target_feature = "sse2"),
        all(target_arch = "aarch64", target_feature = "neon", target_endian = "little")
    ))
))]
mod plain {
    /// Four words.
    #[derive(Clone, Copy)]
    pub(crate) struct Words([u32; 4]);

    impl Words {
        pub(crate) const VECTORS: bool = false;

        #[inline(always)]
        pub(crate) fn new(words: [u32; 4]) -> Self {
            Words(words)
        }
        #[inline(always)]
        pub(crate) fn add(self, Words([a, b, c, d]): Self) -> Self {
            let Words([w, x, y, z]) = self;
            Words([w.wrapping_add(a), x.wrapping_add(b), y.wrapping_add(c), z.wrapping_add(d)])
        }
        /// The xor of both, each word rotated left by `N` bits; `M` is `32 - N`.
        #[inline(always)]
        pub(crate) fn xor_rotate<const N: i32, const M: i32>(self, Words([a, b, c, d]): Self) -> Self {
            let Words([w, x, y, z]) = self;
            Words([w ^ a, x ^ b, y ^ c, z ^ d].map(|word| word.rotate_right(M.cast_unsigned())))
        }
        /// A word of each in turn: those of the low halves, then those of the high halves.
        #[inline(always)]
        pub(super) fn zip(self, Words([a, b, c, d]): Self) -> [Self; 2] {
            let Words([w, x, y, z]) = self;
            [Words([w, a, x, b]), Words([y, c, z, d])]
        }
        /// The low halves of both, and the high halves.
        #[inline(always)]
        pub(super) fn halves(self, Words([a, b, c, d]): Self) -> [Self; 2] {
            let Words([w, x, y, z]) = self;
            [Words([w, x, a, b]), Words([y, z, c, d])]
        }
        /// The words in order, little endian.
        #[inline(always)]
        pub(crate) fn bytes(self) -> [u8; 16] {
            let mut bytes = [0; 16];
            for (bytes, word) in bytes.chunks_exact_mut(4).zip(self.0) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
            bytes
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation gives what it gives word by word.
    #[test]
    fn vectors_are_the_words() {
        const { assert!(!plain::Words::VECTORS) };
        let mut state = 1_u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state ^ state >> 15
        };
        for _ in 0..100 {
            let (x, y) = ([(); 4].map(|()| random()), [(); 4].map(|()| random()));
            let (here, there) = ((Words::new(x), Words::new(y)), (plain::Words::new(x), plain::Words::new(y)));
            macro_rules! same {
                ($(|$a:ident, $b:ident| $made:expr),*) => {
                    $(
                        let all = { let ($a, $b) = here; $made.map(Words::bytes) };
                        assert_eq!(all, { let ($a, $b) = there; $made.map(plain::Words::bytes) });
                    )*
                };
            }
            same!(
                |a, b| [a, b],
                |a, b| [a.add(b), b.add(a)],
                |a, b| [a.xor_rotate::<16, 16>(b), a.xor_rotate::<12, 20>(b)],
                |a, b| [a.xor_rotate::<8, 24>(b), a.xor_rotate::<7, 25>(b)],
                |a, b| a.zip(b),
                |a, b| a.halves(b)
            );
        }
    }

    #[test]
    fn transposed_words_have_changed_places() {
        let rows = [0, 1, 2, 3].map(|row| [0, 1, 2, 3].map(|column| 10 * row + column));
        let columns = [0, 1, 2, 3].map(|column| Words::new([0, 1, 2, 3].map(|row| 10 * row + column)).bytes());
        assert_eq!(Words::transposed(rows.map(Words::new)).map(Words::bytes), columns);
    }
}
