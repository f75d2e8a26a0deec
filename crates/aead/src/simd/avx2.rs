//! 256-bit registers: AVX2, VAES, VPCLMULQDQ, and for single words BMI. Two blocks a register.

use core::{arch::x86_64::*, ops::Not};

use super::{Block, Kernel, Logic, Outlined, Reg, Simd, few};
use crate::sealed::Sealed;

/// Proof that the level's instructions exist.
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

/// Two blocks.
#[derive(Clone, Copy)]
pub(super) struct X2(__m256i);

/// Runs `kernel` at this level.
///
/// # Safety
/// The machine must have AVX2, VAES, VPCLMULQDQ, BMI1 and BMI2, and what the level below asks.
#[target_feature(enable = "avx2,vaes,vpclmulqdq,aes,pclmulqdq,ssse3,sse4.1,bmi1,bmi2")]
pub(super) unsafe fn run<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<_, 8>(Avx2(()))
}

/// Runs `part` at this level, not inlined.
#[target_feature(enable = "avx2,vaes,vpclmulqdq,aes,pclmulqdq,ssse3,sse4.1,bmi1,bmi2")]
#[inline(never)]
fn outlined<P: Outlined<Avx2>>(simd: Avx2, part: P) -> P::Output {
    part.run(simd)
}

impl Avx2 {
    #[inline(always)]
    fn both(self, lane: __m128i) -> X2 {
        // SAFETY: the token proves the level.
        X2(unsafe { _mm256_broadcastsi128_si256(lane) })
    }
}

impl Sealed for Avx2 {}
impl Simd for Avx2 {
    type Reg = X2;
    const AES: bool = true;

    order_barrier!(X2, ymm_reg, "avx2");

    #[inline(always)]
    fn outlined<P: Outlined<Self>>(self, part: P) -> P::Output {
        // SAFETY: the token proves the level.
        unsafe { outlined(self, part) }
    }
    #[inline(always)]
    fn zero(self) -> X2 {
        // SAFETY: the token proves the level.
        X2(unsafe { _mm256_setzero_si256() })
    }
    load!(X2, 32, _mm256_loadu_si256);
    #[inline(always)]
    fn load_partial(self, bytes: &[u8]) -> X2 {
        if bytes.len() >= 32 {
            return self.load(bytes);
        }
        let (low, high) = bytes.split_at(bytes.len().min(16));
        // SAFETY: the token proves the level.
        X2(unsafe { _mm256_set_m128i(few::load(high), few::load(low)) })
    }
    #[inline(always)]
    fn splat(self, block: &Block) -> X2 {
        // SAFETY: a block has 16 bytes; the token proves the level.
        self.both(unsafe { _mm_loadu_si128(block.as_ptr().cast()) })
    }
    #[inline(always)]
    fn gather<const ROWS: usize>(self, frames: &[&mut [Block; ROWS]], row: usize) -> X2 {
        let (a, b) = (frames[0][row].as_ptr(), frames[1][row].as_ptr());
        // SAFETY: a block has 16 bytes; the token proves the level.
        X2(unsafe { _mm256_loadu2_m128i(b.cast(), a.cast()) })
    }
    #[inline(always)]
    fn first(self, block: &Block) -> X2 {
        // SAFETY: a block has 16 bytes; the token proves the level.
        X2(unsafe { _mm256_zextsi128_si256(_mm_loadu_si128(block.as_ptr().cast())) })
    }
    #[inline(always)]
    fn splat_word(self, n: u32) -> X2 {
        // SAFETY: the token proves the level.
        self.both(unsafe { _mm_cvtsi32_si128(n as i32) })
    }
    #[inline(always)]
    fn splat_words(self, word: u32) -> X2 {
        // SAFETY: the token proves the level.
        X2(unsafe { _mm256_set1_epi32(word as i32) })
    }
    #[inline(always)]
    fn lane_numbers(self) -> X2 {
        // SAFETY: the token proves the level.
        X2(unsafe { _mm256_set_epi32(0, 0, 0, 1, 0, 0, 0, 0) })
    }
}

operators!(X2: BitXor bitxor _mm256_xor_si256, BitAnd bitand _mm256_and_si256, BitOr bitor _mm256_or_si256);

impl Sealed for X2 {}
impl Logic for X2 {}

impl Not for X2 {
    type Output = X2;
    #[inline(always)]
    fn not(self) -> X2 {
        // SAFETY: a register proves the level.
        X2(unsafe { _mm256_xor_si256(self.0, _mm256_set1_epi32(-1)) })
    }
}

/// The same byte shuffle in both lanes.
macro_rules! shuffle {
    ($reg:expr, $($byte:literal),*) => {
        _mm256_shuffle_epi8($reg, _mm256_broadcastsi128_si256(_mm_set_epi8($($byte),*)))
    };
}

impl Reg for X2 {
    const BLOCKS: usize = 2;

    store!(32, _mm256_storeu_si256);
    rotate32!(X2, __m256i, ymm_reg, "avx2", _mm256_srl_epi32);
    #[inline(always)]
    fn store_partial(self, bytes: &mut [u8]) {
        if bytes.len() >= 32 {
            return self.store(bytes);
        }
        let n = bytes.len().min(16);
        let (low, high) = bytes.split_at_mut(n);
        // SAFETY: a register proves the level.
        unsafe {
            few::store(_mm256_castsi256_si128(self.0), low);
            few::store(_mm256_extracti128_si256::<1>(self.0), high);
        }
    }
    #[inline(always)]
    fn keep(self, bytes: usize) -> X2 {
        self & Avx2(()).load(&few::KEEP[32 - bytes.min(32)..])
    }
    #[inline(always)]
    fn replace_lane(self, lane: usize, other: X2) -> X2 {
        // SAFETY: a register proves the level.
        X2(unsafe {
            let there = _mm256_cmpeq_epi64(_mm256_set_epi64x(1, 1, 0, 0), _mm256_set1_epi64x(lane as i64));
            _mm256_blendv_epi8(self.0, other.0, there)
        })
    }
    #[inline(always)]
    fn scatter<const ROWS: usize>(self, frames: &mut [&mut [Block; ROWS]], row: usize) {
        let (a, b) = (frames[0][row].as_mut_ptr(), frames[1][row].as_mut_ptr());
        // SAFETY: a block has 16 bytes; a register proves the level.
        unsafe { _mm256_storeu2_m128i(b.cast(), a.cast(), self.0) }
    }
    #[inline(always)]
    fn first_block(self) -> Block {
        let mut block = [0; 16];
        // SAFETY: a block has 16 bytes; a register proves the level.
        unsafe { _mm_storeu_si128(block.as_mut_ptr().cast(), _mm256_castsi256_si128(self.0)) };
        block
    }

    methods! { X2:
        fold(self) = _mm256_xor_si256(self.0, _mm256_zextsi128_si256(_mm256_extracti128_si256::<1>(self.0)));
        replace_last(self, other) = _mm256_blend_epi32::<0xf0>(self.0, other.0);
        last_lane(self) = _mm256_zextsi128_si256(_mm256_extracti128_si256::<1>(self.0));
        add32(self, other) = _mm256_add_epi32(self.0, other.0);
        words_down(self) = _mm256_shuffle_epi32::<0x39>(self.0);
        words_up(self) = _mm256_shuffle_epi32::<0x93>(self.0);
        reverse_bytes(self) = shuffle!(self.0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        swap_halves(self) = _mm256_shuffle_epi32::<0x4e>(self.0);
        unpack_low(self, other) = _mm256_unpacklo_epi64(self.0, other.0);
        unpack_high(self, other) = _mm256_unpackhi_epi64(self.0, other.0);
        unpack_low_words(self, other) = _mm256_unpacklo_epi32(self.0, other.0);
        unpack_high_words(self, other) = _mm256_unpackhi_epi32(self.0, other.0);
        splat_last_word(self) = _mm256_shuffle_epi32::<0xff>(self.0);
        rotate_words(self) = shuffle!(self.0, 12, 15, 14, 13, 8, 11, 10, 9, 4, 7, 6, 5, 0, 3, 2, 1);
        aesenc(self, key) = _mm256_aesenc_epi128(self.0, key.0);
        aesenclast(self, key) = _mm256_aesenclast_epi128(self.0, key.0);
        aesdec(self, key) = _mm256_aesdec_epi128(self.0, key.0);
        aesdeclast(self, key) = _mm256_aesdeclast_epi128(self.0, key.0);
        // There is no wide InvMixColumns: a last encryption round undoes everything in a decryption round except
        // InvMixColumns.
        aesimc(self) = {
            let zero = _mm256_setzero_si256();
            _mm256_aesdec_epi128(_mm256_aesenclast_epi128(self.0, zero), zero)
        };
    }
    immediates! { X2:
        shift32<N>(self) = _mm256_slli_epi32::<N>(self.0);
        shift_up<N>(self) = _mm256_bslli_epi128::<N>(self.0);
        clmul<H>(self, other) = _mm256_clmulepi64_epi128::<H>(self.0, other.0);
    }
}
