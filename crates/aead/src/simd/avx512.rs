//! 512-bit registers: AVX-512 F, BW, DQ, VL, VAES, VPCLMULQDQ. Four blocks a register.

use core::{arch::x86_64::*, ops::Not};

use super::{Block, Kernel, Logic, Outlined, Reg, Simd};
use crate::sealed::Sealed;

/// Proof that the level's instructions exist.
#[derive(Clone, Copy)]
pub(super) struct Avx512(());

/// Four blocks.
#[derive(Clone, Copy)]
pub(super) struct X4(__m512i);

/// Runs `kernel` at this level.
///
/// # Safety
/// The machine must have AVX-512 F, BW, DQ, VL and IFMA, and what the levels below ask.
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx2,vaes,vpclmulqdq,aes,pclmulqdq,ssse3,sse4.1,bmi1,bmi2"
)]
pub(super) unsafe fn run<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<_, 16>(Avx512(()))
}

/// Runs `part` at this level, not inlined.
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx2,vaes,vpclmulqdq,aes,pclmulqdq,ssse3,sse4.1,bmi1,bmi2"
)]
#[inline(never)]
fn outlined<P: Outlined<Avx512>>(simd: Avx512, part: P) -> P::Output {
    part.run(simd)
}

/// A mask of the first `bytes` of 64 bytes.
#[inline(always)]
fn first_bytes(bytes: usize) -> __mmask64 {
    // SAFETY: the level has BMI2.
    unsafe { _bzhi_u64(!0, bytes.min(64) as u32) }
}

impl Avx512 {
    /// The proof that the machine has this level.
    ///
    /// # Safety
    /// Same as [`run`].
    #[cfg(feature = "drbg")]
    #[inline]
    pub(super) unsafe fn new() -> Avx512 {
        Avx512(())
    }

    #[inline(always)]
    fn all(self, lane: __m128i) -> X4 {
        // SAFETY: the token proves the level.
        X4(unsafe { _mm512_broadcast_i32x4(lane) })
    }
}

/// Lane `i` of register `j` becomes lane `j` of register `i`.
#[inline(always)]
pub(super) fn transpose_lanes([a, b, c, d]: [X4; 4]) -> [X4; 4] {
    // SAFETY: registers prove the level.
    unsafe {
        let (ab_even, ab_odd) = (_mm512_shuffle_i64x2::<0x88>(a.0, b.0), _mm512_shuffle_i64x2::<0xdd>(a.0, b.0));
        let (cd_even, cd_odd) = (_mm512_shuffle_i64x2::<0x88>(c.0, d.0), _mm512_shuffle_i64x2::<0xdd>(c.0, d.0));
        [
            X4(_mm512_shuffle_i64x2::<0x88>(ab_even, cd_even)),
            X4(_mm512_shuffle_i64x2::<0x88>(ab_odd, cd_odd)),
            X4(_mm512_shuffle_i64x2::<0xdd>(ab_even, cd_even)),
            X4(_mm512_shuffle_i64x2::<0xdd>(ab_odd, cd_odd)),
        ]
    }
}

impl Sealed for Avx512 {}
impl Simd for Avx512 {
    type Reg = X4;
    const AES: bool = true;
    const MASKS: bool = true;
    const WIDE: bool = true;

    order_barrier!(X4, zmm_reg, "avx512f");

    #[inline(always)]
    fn outlined<P: Outlined<Self>>(self, part: P) -> P::Output {
        // SAFETY: the token proves the level.
        unsafe { outlined(self, part) }
    }
    #[inline(always)]
    fn zero(self) -> X4 {
        // SAFETY: the token proves the level.
        X4(unsafe { _mm512_setzero_si512() })
    }
    load!(X4, 64, _mm512_loadu_si512);
    #[inline(always)]
    fn load_partial(self, bytes: &[u8]) -> X4 {
        // SAFETY: the mask lets no byte beyond the slice be touched; the token proves the level.
        X4(unsafe { _mm512_maskz_loadu_epi8(first_bytes(bytes.len()), bytes.as_ptr().cast()) })
    }
    #[inline(always)]
    fn load_block_partial(self, bytes: &[u8]) -> X4 {
        // SAFETY: the mask lets no byte beyond the slice be touched, nor one behind the first 16; the token proves the
        // level.
        X4(unsafe {
            let block = _mm_maskz_loadu_epi8(first_bytes(bytes.len()) as u16, bytes.as_ptr().cast());
            _mm512_zextsi128_si512(block)
        })
    }
    #[inline(always)]
    fn splat(self, block: &Block) -> X4 {
        // SAFETY: a block has 16 bytes; the token proves the level.
        self.all(unsafe { _mm_loadu_si128(block.as_ptr().cast()) })
    }
    #[inline(always)]
    fn gather<const ROWS: usize>(self, frames: &[&mut [Block; ROWS]], row: usize) -> X4 {
        let frames = &frames[..4];
        let (a, b) = (frames[0][row].as_ptr(), frames[1][row].as_ptr());
        let (c, d) = (frames[2][row].as_ptr(), frames[3][row].as_ptr());
        // SAFETY: a block has 16 bytes; the token proves the level.
        X4(unsafe {
            let low = _mm256_loadu2_m128i(b.cast(), a.cast());
            let high = _mm256_loadu2_m128i(d.cast(), c.cast());
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
        })
    }
    /// Loads whole registers, one per frame, and transposes them: one instruction loads what would take four.
    #[inline(always)]
    fn gather4<const ROWS: usize>(self, frames: &[&mut [Block; ROWS]], row: usize) -> [X4; 4] {
        let mut registers = [self.zero(); 4];
        for (register, frame) in registers.iter_mut().zip(&frames[..4]) {
            *register = self.load(frame[row..row + 4].as_flattened());
        }
        transpose_lanes(registers)
    }
    #[inline(always)]
    fn first(self, block: &Block) -> X4 {
        // SAFETY: a block has 16 bytes; the token proves the level.
        X4(unsafe { _mm512_zextsi128_si512(_mm_loadu_si128(block.as_ptr().cast())) })
    }
    #[inline(always)]
    fn splat_word(self, n: u32) -> X4 {
        // SAFETY: the token proves the level.
        self.all(unsafe { _mm_cvtsi32_si128(n as i32) })
    }
    #[inline(always)]
    fn splat_words(self, word: u32) -> X4 {
        // SAFETY: the token proves the level.
        X4(unsafe { _mm512_set1_epi32(word as i32) })
    }
    #[inline(always)]
    fn lane_numbers(self) -> X4 {
        // SAFETY: the token proves the level.
        X4(unsafe { _mm512_set_epi32(0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0) })
    }
}

operators!(X4: BitXor bitxor _mm512_xor_si512, BitAnd bitand _mm512_and_si512, BitOr bitor _mm512_or_si512);

impl Sealed for X4 {}
impl Logic for X4 {
    #[inline(always)]
    fn ternary<const TABLE: i32>(self, y: X4, z: X4) -> X4 {
        // SAFETY: a register proves the level.
        X4(unsafe { _mm512_ternarylogic_epi32::<TABLE>(self.0, y.0, z.0) })
    }
}

#[cfg(feature = "drbg")]
impl X4 {
    /// Shifts each 32-bit word right by `N` bits.
    #[inline(always)]
    pub(super) fn shift_down32<const N: u32>(self) -> X4 {
        // SAFETY: a register proves the level.
        X4(unsafe { _mm512_srli_epi32::<N>(self.0) })
    }
}

impl Not for X4 {
    type Output = X4;
    #[inline(always)]
    fn not(self) -> X4 {
        // SAFETY: a register proves the level.
        X4(unsafe { _mm512_xor_si512(self.0, _mm512_set1_epi32(-1)) })
    }
}

/// The same byte shuffle in every lane.
macro_rules! shuffle {
    ($reg:expr, $($byte:literal),*) => {
        _mm512_shuffle_epi8($reg, _mm512_broadcast_i32x4(_mm_set_epi8($($byte),*)))
    };
}

impl Reg for X4 {
    const BLOCKS: usize = 4;

    store!(64, _mm512_storeu_si512);
    #[inline(always)]
    fn shift32<const N: i32>(self) -> X4 {
        // SAFETY: a register proves the level.
        X4(unsafe { _mm512_sllv_epi32(self.0, _mm512_set1_epi32(N)) })
    }
    #[inline(always)]
    fn store_partial(self, bytes: &mut [u8]) {
        // SAFETY: the mask lets no byte beyond the slice be touched; a register proves the level.
        unsafe { _mm512_mask_storeu_epi8(bytes.as_mut_ptr().cast(), first_bytes(bytes.len()), self.0) }
    }
    #[inline(always)]
    fn keep(self, bytes: usize) -> X4 {
        // SAFETY: a register proves the level.
        X4(unsafe { _mm512_maskz_mov_epi8(first_bytes(bytes), self.0) })
    }
    #[inline(always)]
    fn replace_lane(self, lane: usize, other: X4) -> X4 {
        let halves = (3u32 << (2 * lane.min(4))) as u8;
        // SAFETY: a register proves the level.
        X4(unsafe { _mm512_mask_mov_epi64(self.0, halves, other.0) })
    }
    #[inline(always)]
    fn scatter<const ROWS: usize>(self, frames: &mut [&mut [Block; ROWS]], row: usize) {
        let [a, b, c, d, ..] = frames else { panic!("a frame a lane") };
        let (a, b) = (a[row].as_mut_ptr(), b[row].as_mut_ptr());
        let (c, d) = (c[row].as_mut_ptr(), d[row].as_mut_ptr());
        // SAFETY: a block has 16 bytes; a register proves the level.
        unsafe {
            _mm256_storeu2_m128i(b.cast(), a.cast(), _mm512_castsi512_si256(self.0));
            _mm256_storeu2_m128i(d.cast(), c.cast(), _mm512_extracti64x4_epi64::<1>(self.0));
        }
    }
    #[inline(always)]
    fn scatter4<const ROWS: usize>(rows: [X4; 4], frames: &mut [&mut [Block; ROWS]], row: usize) {
        for (register, frame) in transpose_lanes(rows).into_iter().zip(&mut frames[..4]) {
            register.store(frame[row..row + 4].as_flattened_mut());
        }
    }
    #[inline(always)]
    fn first_block(self) -> Block {
        let mut block = [0; 16];
        // SAFETY: a block has 16 bytes; a register proves the level.
        unsafe { _mm_storeu_si128(block.as_mut_ptr().cast(), _mm512_castsi512_si128(self.0)) };
        block
    }

    #[inline(always)]
    fn add_low52(self, x: X4, y: X4) -> X4 {
        // SAFETY: registers prove the level.
        X4(unsafe { _mm512_madd52lo_epu64(self.0, x.0, y.0) })
    }
    #[inline(always)]
    fn add_high52(self, x: X4, y: X4) -> X4 {
        // SAFETY: registers prove the level.
        X4(unsafe { _mm512_madd52hi_epu64(self.0, x.0, y.0) })
    }
    #[inline(always)]
    fn shift_down64<const N: u32>(self) -> X4 {
        // SAFETY: a register proves the level.
        X4(unsafe { _mm512_srli_epi64::<N>(self.0) })
    }
    #[inline(always)]
    fn shift_up64<const N: u32>(self) -> X4 {
        // SAFETY: a register proves the level.
        X4(unsafe { _mm512_slli_epi64::<N>(self.0) })
    }

    methods! { X4:
        fold(self) = {
            let two = _mm256_xor_si256(_mm512_castsi512_si256(self.0), _mm512_extracti64x4_epi64::<1>(self.0));
            let one = _mm_xor_si128(_mm256_castsi256_si128(two), _mm256_extracti128_si256::<1>(two));
            _mm512_zextsi128_si512(one)
        };
        replace_last(self, other) = _mm512_mask_mov_epi64(self.0, 0xc0, other.0);
        last_lane(self) = _mm512_zextsi128_si512(_mm512_extracti32x4_epi32::<3>(self.0));
        add32(self, other) = _mm512_add_epi32(self.0, other.0);
        add64(self, other) = _mm512_add_epi64(self.0, other.0);
        words_down(self) = _mm512_shuffle_epi32::<0x39>(self.0);
        words_up(self) = _mm512_shuffle_epi32::<0x93>(self.0);
        reverse_bytes(self) = shuffle!(self.0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        swap_halves(self) = _mm512_shuffle_epi32::<0x4e>(self.0);
        unpack_low(self, other) = _mm512_unpacklo_epi64(self.0, other.0);
        unpack_high(self, other) = _mm512_unpackhi_epi64(self.0, other.0);
        unpack_low_words(self, other) = _mm512_unpacklo_epi32(self.0, other.0);
        unpack_high_words(self, other) = _mm512_unpackhi_epi32(self.0, other.0);
        splat_last_word(self) = _mm512_shuffle_epi32::<0xff>(self.0);
        rotate_words(self) = shuffle!(self.0, 12, 15, 14, 13, 8, 11, 10, 9, 4, 7, 6, 5, 0, 3, 2, 1);
        aesenc(self, key) = _mm512_aesenc_epi128(self.0, key.0);
        aesenclast(self, key) = _mm512_aesenclast_epi128(self.0, key.0);
        aesdec(self, key) = _mm512_aesdec_epi128(self.0, key.0);
        aesdeclast(self, key) = _mm512_aesdeclast_epi128(self.0, key.0);
        // There is no wide InvMixColumns: a last encryption round undoes everything in a decryption round except
        // InvMixColumns.
        aesimc(self) = {
            let zero = _mm512_setzero_si512();
            _mm512_aesdec_epi128(_mm512_aesenclast_epi128(self.0, zero), zero)
        };
    }
    immediates! { X4:
        rotate32<N>(self) = _mm512_rol_epi32::<N>(self.0);
        shift_up<N>(self) = _mm512_bslli_epi128::<N>(self.0);
        clmul<H>(self, other) = _mm512_clmulepi64_epi128::<H>(self.0, other.0);
    }
}
