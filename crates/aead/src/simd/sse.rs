//! 128-bit registers: SSE4.1, AES-NI, PCLMULQDQ. One block a register.

use core::{arch::x86_64::*, ops::Not};

use super::{Block, Kernel, Logic, Outlined, Reg, Simd, few};
use crate::sealed::Sealed;

/// Proof that the level's instructions exist.
#[derive(Clone, Copy)]
pub(super) struct Sse(());

/// One block.
#[derive(Clone, Copy)]
pub(super) struct X1(__m128i);

/// Runs `kernel` at this level.
///
/// # Safety
/// The machine must have AES-NI, PCLMULQDQ, SSSE3 and SSE4.1.
#[target_feature(enable = "aes,pclmulqdq,ssse3,sse4.1")]
pub(super) unsafe fn run<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<_, 8>(Sse(()))
}

/// Runs `part` at this level, not inlined.
#[target_feature(enable = "aes,pclmulqdq,ssse3,sse4.1")]
#[inline(never)]
fn outlined<P: Outlined<Sse>>(simd: Sse, part: P) -> P::Output {
    part.run(simd)
}

impl Sealed for Sse {}
impl Simd for Sse {
    type Reg = X1;
    const AES: bool = true;

    /// No barrier: eight blocks, three sums and a key occupy all sixteen registers, so that any fixed order causes
    /// spills.
    #[inline(always)]
    fn order_barrier(self, _: [&mut X1; 2], _: [&mut X1; 3]) {}

    #[inline(always)]
    fn zero(self) -> X1 {
        // SAFETY: the token proves the level.
        X1(unsafe { _mm_setzero_si128() })
    }
    one_block_token!(X1);
    load!(X1, 16, _mm_loadu_si128);
    #[inline(always)]
    fn splat_word(self, n: u32) -> X1 {
        // SAFETY: the token proves the level.
        X1(unsafe { _mm_cvtsi32_si128(n as i32) })
    }
    #[inline(always)]
    fn splat_words(self, word: u32) -> X1 {
        // SAFETY: the token proves the level.
        X1(unsafe { _mm_set1_epi32(word as i32) })
    }
}

operators!(X1: BitXor bitxor _mm_xor_si128, BitAnd bitand _mm_and_si128, BitOr bitor _mm_or_si128);

impl Sealed for X1 {}
impl Logic for X1 {}

impl Not for X1 {
    type Output = X1;
    #[inline(always)]
    fn not(self) -> X1 {
        // SAFETY: a register proves the level.
        X1(unsafe { _mm_xor_si128(self.0, _mm_set1_epi32(-1)) })
    }
}

impl Reg for X1 {
    one_block_register!(Sse, X1);
    store!(16, _mm_storeu_si128);
    rotate32!(X1, __m128i, xmm_reg, "sse4.1", _mm_srl_epi32);

    methods! { X1:
        add32(self, other) = _mm_add_epi32(self.0, other.0);
        words_down(self) = _mm_shuffle_epi32::<0x39>(self.0);
        words_up(self) = _mm_shuffle_epi32::<0x93>(self.0);
        reverse_bytes(self) = _mm_shuffle_epi8(self.0, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
        swap_halves(self) = _mm_shuffle_epi32::<0x4e>(self.0);
        unpack_low(self, other) = _mm_unpacklo_epi64(self.0, other.0);
        unpack_high(self, other) = _mm_unpackhi_epi64(self.0, other.0);
        unpack_low_words(self, other) = _mm_unpacklo_epi32(self.0, other.0);
        unpack_high_words(self, other) = _mm_unpackhi_epi32(self.0, other.0);
        splat_last_word(self) = _mm_shuffle_epi32::<0xff>(self.0);
        rotate_words(self) = _mm_shuffle_epi8(self.0, _mm_set_epi8(12, 15, 14, 13, 8, 11, 10, 9, 4, 7, 6, 5, 0, 3, 2, 1));
        aesenc(self, key) = _mm_aesenc_si128(self.0, key.0);
        aesenclast(self, key) = _mm_aesenclast_si128(self.0, key.0);
        aesdec(self, key) = _mm_aesdec_si128(self.0, key.0);
        aesdeclast(self, key) = _mm_aesdeclast_si128(self.0, key.0);
        aesimc(self) = _mm_aesimc_si128(self.0);
    }
    immediates! { X1:
        shift32<N>(self) = _mm_slli_epi32::<N>(self.0);
        shift_up<N>(self) = _mm_slli_si128::<N>(self.0);
        clmul<H>(self, other) = _mm_clmulepi64_si128::<H>(self.0, other.0);
    }
}
