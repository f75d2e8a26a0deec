//! Registers of 128-bit blocks, and the entry points of the instruction-set levels. **The only module with `unsafe`.**
//!
//! A computation is written once as a [`Kernel`] over the traits [`Simd`] and [`Reg`]; [`Isa::run`] compiles it for the
//! instruction set of this machine. Kernels are safe code:
//!
//! * A [`Simd`] token is made only in this module, after the instructions were detected: [`Isa`] is opaque, and
//!   `Isa::run` enters a level only with an `Isa` that detection returned.
//! * A register can be made only from a token.
//! * So the holder of a token or of a register has proof that the instructions exist, and every method is safe to call.
//!
//! What remains to be checked in this module is what the intrinsics themselves require: pointers in bounds. Every load
//! and store first asserts the length of its slice; in kernels these lengths are constants, and the checks are
//! optimised away.
//!
//! Rules for kernels: everything in [`Reg`] is `#[inline(always)]`, and kernels take **values, never closures**. A
//! closure that is not inlined would be compiled without the instruction set, and every register operation in it would
//! become a call, which was 50 times slower when measured. A check searches the release binary's symbol table for such
//! calls.
//!
//! ```
//! use sealwright::simd::{Block, Isa, Kernel, Reg, Simd};
//!
//! /// One round of AES on every block of a buffer, each level with as many blocks at a time as its register has.
//! struct Round<'a>(&'a mut [u8], &'a Block);
//! impl Kernel for Round<'_> {
//!     type Output = ();
//!     #[inline(always)]
//!     fn run<S: Simd, const W: usize>(self, simd: S) {
//!         let key = simd.splat(self.1);
//!         for chunk in self.0.chunks_mut(S::Reg::BYTES) {
//!             simd.load_partial(chunk).aesenc(key).store_partial(chunk);
//!         }
//!     }
//! }
//!
//! let (mut best, mut portable) = ([1; 160], [1; 160]);
//! Isa::best().run(Round(&mut best, &[7; 16]));
//! "portable".parse::<Isa>()?.run(Round(&mut portable, &[7; 16]));
//! assert_eq!(best, portable);
//! # Ok::<(), sealwright::UnknownIsaError>(())
//! ```

#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
#[macro_use]
mod macros;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub(crate) mod bitslice;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod few;
mod isa;
mod logic;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
mod portable;
#[cfg(feature = "research")]
pub(crate) mod sha;
#[cfg(feature = "drbg")]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only lanes and `research` compress"))]
pub(crate) mod sha_constants;
#[cfg(feature = "drbg")]
pub(crate) mod sha_lanes;
#[cfg(feature = "research")]
mod sha_plain;
#[cfg(target_arch = "x86_64")]
mod sse;
mod unknown;
#[cfg(feature = "chacha")]
mod words;

pub use isa::{Isa, UnknownIsaError};
pub use logic::Logic;
pub(crate) use unknown::{unknown, verdict};
#[cfg(feature = "chacha")]
pub(crate) use words::Words;

use crate::sealed::Sealed;

/// Why methods have no code at most levels.
const NOT_WIDE: &str = "only kernels that ask for a wide level call this";

/// A block of 16 bytes: the block size of every cipher here, and one lane of a register.
pub type Block = [u8; 16];

/// Prefetches the cache lines of `place`, without waiting for them.
///
/// ```
/// use sealwright::simd::prefetch;
///
/// let records = vec![[7_u8; 128]; 64];
/// let mut sum = 0;
/// for (i, record) in records.iter().enumerate() {
///     if let Some(later) = records.get(i + 4) {
///         prefetch(later); // it comes while this one is worked on
///     }
///     sum += u64::from(record[0]);
/// }
/// assert_eq!(sum, 64 * 7);
/// ```
#[inline(always)]
pub fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..size_of::<T>().div_ceil(64) {
        // SAFETY: every x86-64 has the instruction, which reads nothing and faults at no address.
        unsafe {
            core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(
                core::ptr::from_ref(place).cast::<i8>().wrapping_add(64 * line),
            );
        }
    }
    #[cfg(target_arch = "aarch64")]
    for line in 0..size_of::<T>().div_ceil(64) {
        let line = core::ptr::from_ref(place).cast::<u8>().wrapping_add(64 * line);
        // SAFETY: every aarch64 has the instruction, which reads nothing and faults at no address.
        unsafe { core::arch::asm!("prfm pldl1keep, [{}]", in(reg) line, options(nostack, preserves_flags, readonly)) };
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = place;
}

/// A computation written once, specialised for each instruction set.
///
/// ```
/// use sealwright::simd::{Isa, Kernel, Simd};
///
/// struct Lanes;
/// impl Kernel for Lanes {
///     type Output = usize;
///     #[inline(always)]
///     fn run<S: Simd, const W: usize>(self, _: S) -> usize {
///         W * <S::Reg as sealwright::simd::Reg>::BLOCKS // blocks of a batch
///     }
/// }
/// assert_eq!("portable".parse::<Isa>()?.run(Lanes), 32);
/// # Ok::<(), sealwright::UnknownIsaError>(())
/// ```
pub trait Kernel {
    /// What it computes.
    type Output;
    /// Computes with the registers of `simd`, preferably in batches of `W` of them.
    fn run<S: Simd, const W: usize>(self, simd: S) -> Self::Output;
}

/// A part of a kernel that is compiled as a separate function ([`Simd::outlined`]).
///
/// ```
/// use sealwright::simd::{Isa, Kernel, Outlined, Reg, Simd};
///
/// struct Twice<R>(R);
/// impl<S: Simd> Outlined<S> for Twice<S::Reg> {
///     type Output = S::Reg;
///     #[inline(always)]
///     fn run(self, _: S) -> S::Reg {
///         self.0.add32(self.0)
///     }
/// }
/// struct Four;
/// impl Kernel for Four {
///     type Output = u8;
///     #[inline(always)]
///     fn run<S: Simd, const W: usize>(self, simd: S) -> u8 {
///         let two = simd.outlined(Twice(simd.splat_words(1)));
///         simd.outlined(Twice(two)).first_block()[0] // the same function, called twice
///     }
/// }
/// assert_eq!(Isa::best().run(Four), 4);
/// ```
pub trait Outlined<S: Simd> {
    /// What it computes.
    type Output;
    /// Computes with the registers of `simd`.
    fn run(self, simd: S) -> Self::Output;
}

/// A counter block: a nonce of twelve bytes followed by a counter of zero.
///
/// The nonce is read as three words of four bytes. Nonces are assembled from a prefix of four bytes and a counter of
/// eight, or the reverse, and a load that spans several recent stores stalls until these have reached the cache, and so
/// until the message before is finished. The compiler would merge the loads, unless they are volatile.
#[inline(always)]
pub(crate) fn counter_zero(nonce: &[u8]) -> u128 {
    #[repr(C, packed)]
    #[derive(Clone, Copy)]
    struct Word(u32);
    let at = nonce[..12].as_ptr().cast::<Word>();
    // SAFETY: there are twelve bytes, and `Word` has no alignment.
    let [a, b, c] = unsafe { [at.read_volatile(), at.add(1).read_volatile(), at.add(2).read_volatile()] };
    let [a, b, c] = [a, b, c].map(|word| u128::from(u32::from_le(word.0)));
    a | (b << 32) | (c << 64)
}

/// Proof that an instruction set exists, and the constructor of its registers.
///
/// ```
/// use sealwright::simd::{Isa, Kernel, Reg, Simd};
///
/// /// The counter blocks of a text, from `0` on.
/// struct Counters<'a>(&'a mut [u8]);
/// impl Kernel for Counters<'_> {
///     type Output = ();
///     #[inline(always)]
///     fn run<S: Simd, const W: usize>(self, simd: S) {
///         let (mut counter, step) = (simd.lane_numbers(), simd.splat_word(S::Reg::BLOCKS as u32));
///         for blocks in self.0.chunks_mut(S::Reg::BYTES) {
///             counter.store_partial(blocks);
///             counter = counter.add32(step);
///         }
///     }
/// }
/// let mut blocks = [0; 16 * 20];
/// Isa::best().run(Counters(&mut blocks));
/// assert_eq!(blocks[16 * 19], 19);
/// ```
pub trait Simd: Sealed + Copy {
    /// The register type of this level.
    type Reg: Reg;
    /// Whether this level has instructions for AES rounds. If not, a whole bitsliced cipher is faster than single
    /// rounds.
    const AES: bool;
    /// Whether masked loads and stores of a part of a register are as fast as those of the whole.
    const MASKS: bool = false;
    /// Whether the level has 32 registers of four blocks.
    const WIDE: bool = false;

    /// An order barrier, which computes nothing: instructions that compute these registers stay before it, and those
    /// that read them stay after it. Without it, compilers move a whole cipher before the work that was written between
    /// its rounds.
    fn order_barrier(self, x: [&mut Self::Reg; 2], y: [&mut Self::Reg; 3]);
    /// Runs a part of a kernel as a function that is not inlined: for large parts that many kernels share.
    fn outlined<P: Outlined<Self>>(self, part: P) -> P::Output;
    /// A register of zeros.
    fn zero(self) -> Self::Reg;
    /// Loads the first [`Reg::BYTES`] of `bytes`, which must have at least that many.
    fn load(self, bytes: &[u8]) -> Self::Reg;
    /// Loads all of `bytes`, at most [`Reg::BYTES`], followed by zeros.
    fn load_partial(self, bytes: &[u8]) -> Self::Reg;
    /// Loads at most 16 bytes into the first lane, followed by zeros. A masked load of a whole register would wait for
    /// stores to neighbouring bytes.
    #[inline(always)]
    fn load_block_partial(self, bytes: &[u8]) -> Self::Reg {
        self.load_partial(bytes)
    }
    /// One block in every lane.
    fn splat(self, block: &Block) -> Self::Reg;
    /// Block `row` of as many frames as a register has lanes, one per lane.
    fn gather<const ROWS: usize>(self, frames: &[&mut [Block; ROWS]], row: usize) -> Self::Reg;
    /// Four rows from `row` on, each as from [`gather`](Self::gather).
    #[inline(always)]
    fn gather4<const ROWS: usize>(self, frames: &[&mut [Block; ROWS]], row: usize) -> [Self::Reg; 4] {
        let mut rows = [self.zero(); 4];
        for (i, register) in rows.iter_mut().enumerate() {
            *register = self.gather(frames, row + i);
        }
        rows
    }
    /// One block in the first lane, zero in the others.
    fn first(self, block: &Block) -> Self::Reg;
    /// The 32-bit word `n` at the start of every lane, zero elsewhere.
    fn splat_word(self, n: u32) -> Self::Reg;
    /// The same 32-bit word everywhere.
    fn splat_words(self, word: u32) -> Self::Reg;
    /// The lane's index as a 32-bit word at the start of every lane, zero elsewhere.
    fn lane_numbers(self) -> Self::Reg;
}

/// One register: [`Reg::BLOCKS`] lanes of 128 bits. Byte 0 of a lane is the first in memory.
///
/// ```
/// use sealwright::simd::{Isa, Kernel, Reg, Simd};
///
/// /// The xor of all blocks of a text.
/// struct Parity<'a>(&'a [u8]);
/// impl Kernel for Parity<'_> {
///     type Output = [u8; 16];
///     #[inline(always)]
///     fn run<S: Simd, const W: usize>(self, simd: S) -> [u8; 16] {
///         let mut sum = simd.zero();
///         for blocks in self.0.chunks(S::Reg::BYTES) {
///             sum = sum ^ simd.load_partial(blocks);
///         }
///         sum.fold().first_block()
///     }
/// }
/// assert_eq!(Isa::best().run(Parity(&[5; 16 * 7])), [5; 16]);
/// ```
pub trait Reg: Logic {
    /// Blocks of 16 bytes in a register.
    const BLOCKS: usize;
    /// Bytes in a register.
    const BYTES: usize = Self::BLOCKS * 16;

    /// Writes the register to the first [`Reg::BYTES`] of `bytes`, which must have at least that many.
    fn store(self, bytes: &mut [u8]);
    /// Writes the start of the register to `bytes`, as many bytes as it has.
    fn store_partial(self, bytes: &mut [u8]);
    /// Keeps the first `bytes` bytes of the register and zeroes the rest.
    fn keep(self, bytes: usize) -> Self;
    /// Writes each lane to block `row` of the corresponding frame.
    fn scatter<const ROWS: usize>(self, frames: &mut [&mut [Block; ROWS]], row: usize);
    /// Writes four rows from `row` on, each like [`scatter`](Self::scatter).
    #[inline(always)]
    fn scatter4<const ROWS: usize>(rows: [Self; 4], frames: &mut [&mut [Block; ROWS]], row: usize) {
        for (i, register) in rows.into_iter().enumerate() {
            register.scatter(frames, row + i);
        }
    }
    /// The block in the first lane.
    fn first_block(self) -> Block;
    /// The xor of all lanes, in the first lane; the other lanes are unspecified.
    fn fold(self) -> Self;
    /// This register with the last lane taken from `other`.
    fn replace_last(self, other: Self) -> Self;
    /// The last lane, in the first lane; the other lanes are unspecified.
    fn last_lane(self) -> Self;
    /// This register with lane `lane` taken from `other`; unchanged if there is no such lane.
    fn replace_lane(self, lane: usize, other: Self) -> Self;

    /// Adds 32-bit little-endian words.
    fn add32(self, other: Self) -> Self;
    /// Adds 64-bit little-endian halves. Like the next four, only for [`Simd::WIDE`] levels.
    #[inline(always)]
    fn add64(self, _other: Self) -> Self {
        unreachable!("{NOT_WIDE}")
    }
    /// Adds to each 64-bit half the low 52 bits of the product of the low 52 bits of the halves of `x` and `y`.
    #[inline(always)]
    fn add_low52(self, _x: Self, _y: Self) -> Self {
        unreachable!("{NOT_WIDE}")
    }
    /// The same with the high 52 bits of the product.
    #[inline(always)]
    fn add_high52(self, _x: Self, _y: Self) -> Self {
        unreachable!("{NOT_WIDE}")
    }
    /// Shifts each 64-bit half right by `N` bits.
    #[inline(always)]
    fn shift_down64<const N: u32>(self) -> Self {
        unreachable!("{NOT_WIDE}")
    }
    /// Shifts each 64-bit half left by `N` bits.
    #[inline(always)]
    fn shift_up64<const N: u32>(self) -> Self {
        unreachable!("{NOT_WIDE}")
    }
    /// Rotates the 32-bit words of each lane by one place: each moves down, the first becomes the last.
    fn words_down(self) -> Self;
    /// Rotates the 32-bit words of each lane by one place: each moves up, the last becomes the first.
    #[inline(always)]
    fn words_up(self) -> Self {
        self.words_down().swap_halves()
    }
    /// Reverses the bytes of each lane.
    fn reverse_bytes(self) -> Self;
    /// Swaps the 64-bit halves of each lane.
    fn swap_halves(self) -> Self;
    /// The low halves of `self` and `other`, lane by lane.
    fn unpack_low(self, other: Self) -> Self;
    /// The high halves of `self` and `other`, lane by lane.
    fn unpack_high(self, other: Self) -> Self;
    /// The first two 32-bit words of `self` and of `other`, alternating, lane by lane.
    fn unpack_low_words(self, other: Self) -> Self;
    /// The last two 32-bit words of `self` and of `other`, alternating, lane by lane.
    fn unpack_high_words(self, other: Self) -> Self;
    /// Rotates each 32-bit word left by `N` bits.
    fn rotate32<const N: i32>(self) -> Self;
    /// Shifts each 32-bit word left by `N` bits.
    fn shift32<const N: i32>(self) -> Self;
    /// Shifts each lane up by `N` bytes: byte `i` moves to `i + N`.
    fn shift_up<const N: i32>(self) -> Self;
    /// Copies the last 32-bit word of each lane to every word of the lane.
    fn splat_last_word(self) -> Self;
    /// Rotates each 32-bit word so that its second byte comes first (RotWord of FIPS 197).
    fn rotate_words(self) -> Self;

    /// Carry-less product of one half of each lane with one half of the other's: `H` = 0x00 low, low; 0x11 high, high;
    /// 0x01 high half of `self`, low of `other`; 0x10 low half of `self`, high of `other`.
    fn clmul<const H: i32>(self, other: Self) -> Self;
    /// The same if only the first `lanes` lanes can be nonzero: a level without the instruction skips the others.
    #[inline(always)]
    fn clmul_first<const H: i32>(self, other: Self, _lanes: usize) -> Self {
        self.clmul::<H>(other)
    }

    /// One AES round with the round key `key`: ShiftRows, SubBytes, MixColumns, AddRoundKey (FIPS 197, 5.1).
    fn aesenc(self, key: Self) -> Self;
    /// The last AES round, without MixColumns.
    fn aesenclast(self, key: Self) -> Self;
    /// One round of the equivalent inverse cipher (FIPS 197, 5.3.5).
    fn aesdec(self, key: Self) -> Self;
    /// The last round of the equivalent inverse cipher.
    fn aesdeclast(self, key: Self) -> Self;
    /// InvMixColumns, for the keys of the equivalent inverse cipher.
    fn aesimc(self) -> Self;
}
