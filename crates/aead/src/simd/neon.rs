//! 128-bit registers: NEON with the AES and PMULL instructions of ARMv8. One block a register.

use core::{arch::aarch64::*, ops::Not};

use super::{Block, Kernel, Logic, Outlined, Reg, Simd, few};
use crate::sealed::Sealed;

/// Proof that the level's instructions exist.
#[derive(Clone, Copy)]
pub(super) struct Neon(());

/// One block.
#[derive(Clone, Copy)]
pub(super) struct X1(uint8x16_t);

/// Runs `kernel` at this level.
///
/// # Safety
/// The machine must have NEON, AES and PMULL.
#[target_feature(enable = "neon,aes")]
pub(super) unsafe fn run<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<_, 8>(Neon(()))
}

/// Runs `part` at this level, not inlined.
#[target_feature(enable = "neon,aes")]
#[inline(never)]
fn outlined<P: Outlined<Neon>>(simd: Neon, part: P) -> P::Output {
    part.run(simd)
}

impl Sealed for Neon {}
impl Simd for Neon {
    type Reg = X1;
    const AES: bool = true;

    /// No barrier: the instruction for a round adds the key of the previous round, and an instruction in between would
    /// require a separate addition.
    #[inline(always)]
    fn order_barrier(self, _: [&mut X1; 2], _: [&mut X1; 3]) {}

    #[inline(always)]
    fn zero(self) -> X1 {
        // SAFETY: the token proves the level.
        X1(unsafe { vdupq_n_u8(0) })
    }
    one_block_token!(X1);
    load!(X1, 16, vld1q_u8);
    #[inline(always)]
    fn splat_word(self, n: u32) -> X1 {
        // SAFETY: the token proves the level.
        X1(unsafe { vreinterpretq_u8_u32(vsetq_lane_u32::<0>(n, vdupq_n_u32(0))) })
    }
    #[inline(always)]
    fn splat_words(self, word: u32) -> X1 {
        // SAFETY: the token proves the level.
        X1(unsafe { vreinterpretq_u8_u32(vdupq_n_u32(word)) })
    }
}

operators!(X1: BitXor bitxor veorq_u8, BitAnd bitand vandq_u8, BitOr bitor vorrq_u8);

impl Sealed for X1 {}
impl Logic for X1 {}

impl Not for X1 {
    type Output = X1;
    #[inline(always)]
    fn not(self) -> X1 {
        // SAFETY: a register proves the level.
        X1(unsafe { vmvnq_u8(self.0) })
    }
}

/// Intrinsics of wider lanes on registers of bytes: four words, or two halves.
macro_rules! words {
    ($intrinsic:ident($($x:expr),*)) => { vreinterpretq_u8_u32($intrinsic($(vreinterpretq_u32_u8($x)),*)) };
}
macro_rules! halves {
    ($intrinsic:ident($($x:expr),*)) => { vreinterpretq_u8_u64($intrinsic($(vreinterpretq_u64_u8($x)),*)) };
}

/// The indices of a block's bytes, from the last to the first.
static REVERSED: Block = [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0];

impl Reg for X1 {
    one_block_register!(Neon, X1);
    store!(16, vst1q_u8);
    #[inline(always)]
    fn rotate32<const N: i32>(self) -> X1 {
        // SAFETY: a register proves the level. A shift up by less than nothing is one down.
        let down = unsafe { vshlq_u32(vreinterpretq_u32_u8(self.0), vdupq_n_s32(N - 32)) };
        // SAFETY: likewise.
        self.shift32::<N>() | X1(unsafe { vreinterpretq_u8_u32(down) })
    }
    #[inline(always)]
    fn rotate_words(self) -> X1 {
        self.rotate32::<24>()
    }
    #[inline(always)]
    fn shift_up<const N: i32>(self) -> X1 {
        /// The last bytes of zero, followed by the first of `x`.
        macro_rules! window {
            ($($n:literal $rest:literal),*) => {
                match N {
                    0 => self,
                    // SAFETY: a register proves the level.
                    $($n => X1(unsafe { vextq_u8::<$rest>(vdupq_n_u8(0), self.0) }),)*
                    _ => Neon(()).zero(),
                }
            };
        }
        window!(1 15, 2 14, 3 13, 4 12, 5 11, 6 10, 7 9, 8 8, 9 7, 10 6, 11 5, 12 4, 13 3, 14 2, 15 1)
    }
    #[inline(always)]
    fn clmul<const H: i32>(self, other: X1) -> X1 {
        // SAFETY: a register proves the level.
        unsafe {
            let (x, y) = (vreinterpretq_p64_u8(self.0), vreinterpretq_p64_u8(other.0));
            X1(vreinterpretq_u8_p128(match H {
                0x00 => vmull_p64(vgetq_lane_p64::<0>(x), vgetq_lane_p64::<0>(y)),
                0x01 => vmull_p64(vgetq_lane_p64::<1>(x), vgetq_lane_p64::<0>(y)),
                0x10 => vmull_p64(vgetq_lane_p64::<0>(x), vgetq_lane_p64::<1>(y)),
                _ => vmull_high_p64(x, y),
            }))
        }
    }

    // The AES instructions add a key first. They are passed zero, and the key is added afterwards; the compiler knows
    // that the next round can add it.
    methods! { X1:
        add32(self, other) = words!(vaddq_u32(self.0, other.0));
        words_down(self) = vextq_u8::<4>(self.0, self.0);
        words_up(self) = vextq_u8::<12>(self.0, self.0);
        reverse_bytes(self) = vqtbl1q_u8(self.0, vld1q_u8(REVERSED.as_ptr()));
        swap_halves(self) = vextq_u8::<8>(self.0, self.0);
        unpack_low(self, other) = halves!(vzip1q_u64(self.0, other.0));
        unpack_high(self, other) = halves!(vzip2q_u64(self.0, other.0));
        unpack_low_words(self, other) = words!(vzip1q_u32(self.0, other.0));
        unpack_high_words(self, other) = words!(vzip2q_u32(self.0, other.0));
        splat_last_word(self) = vreinterpretq_u8_u32(vdupq_laneq_u32::<3>(vreinterpretq_u32_u8(self.0)));
        aesenc(self, key) = veorq_u8(vaesmcq_u8(vaeseq_u8(self.0, vdupq_n_u8(0))), key.0);
        aesenclast(self, key) = veorq_u8(vaeseq_u8(self.0, vdupq_n_u8(0)), key.0);
        aesdec(self, key) = veorq_u8(vaesimcq_u8(vaesdq_u8(self.0, vdupq_n_u8(0))), key.0);
        aesdeclast(self, key) = veorq_u8(vaesdq_u8(self.0, vdupq_n_u8(0)), key.0);
        aesimc(self) = vaesimcq_u8(self.0);
    }
    immediates! { X1:
        shift32<N>(self) = vreinterpretq_u8_u32(vshlq_n_u32::<N>(vreinterpretq_u32_u8(self.0)));
    }
}
