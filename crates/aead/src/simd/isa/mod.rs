//! The instruction-set levels: which of them this machine has, and how a kernel is run at one.

use alloc::vec::Vec;
use core::{fmt, str::FromStr};
#[cfg(feature = "std")]
use std::sync::OnceLock;

#[cfg(feature = "drbg")]
use super::sha_lanes::Lanes;
use super::{Kernel, portable::Portable};
#[cfg(feature = "research")]
use super::{
    sha::{self, Hashing},
    sha_plain,
};

/// An instruction-set level that this machine has.
///
/// ```
/// use sealwright::Isa;
///
/// assert!(Isa::available().contains(&Isa::best()));
/// assert_eq!("portable".parse::<Isa>()?, Isa::available()[0]); // every machine has it
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The environment variable `SEALWRIGHT_ISA` can lower the level that [`Isa::best`] returns, never raise it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Isa(Level);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Level {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Sse,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    Neon,
}

#[cfg(target_arch = "x86_64")]
const LEVELS: &[Level] = &[Level::Portable, Level::Sse, Level::Avx2, Level::Avx512];
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
const LEVELS: &[Level] = &[Level::Portable, Level::Neon];
#[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))))]
const LEVELS: &[Level] = &[Level::Portable];

/// Whether the machine has all these instruction sets: detected at run time, or without `std` known at compile time.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
macro_rules! has {
    ($($feature:tt),*) => {{
        #[cfg(all(feature = "std", target_arch = "x86_64"))]
        let all = true $(&& std::is_x86_feature_detected!($feature))*;
        #[cfg(all(feature = "std", target_arch = "aarch64"))]
        let all = true $(&& std::arch::is_aarch64_feature_detected!($feature))*;
        #[cfg(not(feature = "std"))]
        let all = true $(&& cfg!(target_feature = $feature))*;
        all
    }};
}

/// A set of instruction sets, one bit each.
#[derive(Clone, Copy)]
struct Sets(u16);

impl Sets {
    const NONE: Sets = Sets(0);

    /// Whether it contains all of `others`.
    #[inline]
    fn have(self, others: Sets) -> bool {
        self.0 & others.0 == others.0
    }
}

/// Assigns a bit to each instruction set, and defines which of them this machine and its operating system have and
/// which each level needs.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
macro_rules! sets {
    ($($set:ident = $feature:tt at $bit:literal),*; $($level:ident needs $($needed:ident)|*;)*) => {
        impl Sets {
            $(const $set: Sets = Sets(1 << $bit);)*
            #[cfg(test)]
            const ALL: &[(&str, Sets)] = &[$(($feature, Sets::$set)),*];

            fn here() -> Sets {
                Sets(0 $(| if has!($feature) { Sets::$set.0 } else { 0 })*)
            }
        }

        impl Level {
            /// The instruction sets that the level's registers use.
            const fn needs(self) -> Sets {
                match self {
                    Level::Portable => Sets::NONE,
                    $(Level::$level => Sets(0 $(| Sets::$needed.0)*),)*
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
sets! {
    AES = "aes" at 0, PCLMULQDQ = "pclmulqdq" at 1, SSSE3 = "ssse3" at 2, SSE41 = "sse4.1" at 3, AVX2 = "avx2" at 4, VAES = "vaes" at 5,
    VPCLMULQDQ = "vpclmulqdq" at 6, AVX512F = "avx512f" at 7, AVX512BW = "avx512bw" at 8, AVX512DQ = "avx512dq" at 9,
    AVX512VL = "avx512vl" at 10, AVX512IFMA = "avx512ifma" at 11, BMI1 = "bmi1" at 12, BMI2 = "bmi2" at 13;
    Sse needs AES | PCLMULQDQ | SSSE3 | SSE41;
    Avx2 needs AES | PCLMULQDQ | SSSE3 | SSE41 | AVX2 | VAES | VPCLMULQDQ | BMI1 | BMI2;
    Avx512 needs AES | PCLMULQDQ | SSSE3 | SSE41 | AVX2 | VAES | VPCLMULQDQ | AVX512F | AVX512BW | AVX512DQ | AVX512VL | AVX512IFMA | BMI1 |
        BMI2;
}
// The system reports `aes` and `pmull` separately; to the compiler, `aes` includes both.
#[cfg(all(target_arch = "aarch64", target_endian = "little", feature = "std"))]
sets! { NEON = "neon" at 0, AES = "aes" at 1, PMULL = "pmull" at 2; Neon needs NEON | AES | PMULL; }
#[cfg(all(target_arch = "aarch64", target_endian = "little", not(feature = "std")))]
sets! { NEON = "neon" at 0, AES = "aes" at 1; Neon needs NEON | AES; }

#[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))))]
impl Sets {
    fn here() -> Sets {
        Sets::NONE
    }
}
#[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))))]
impl Level {
    const fn needs(self) -> Sets {
        Sets::NONE
    }
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Level::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Level::Sse => "sse",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => "avx512",
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Level::Neon => "neon",
        }
    }
}

/// The levels that a machine with these instruction sets has.
fn levels(here: Sets) -> impl Iterator<Item = Level> {
    LEVELS.iter().copied().filter(move |level| here.have(level.needs()))
}

/// The best level of this machine.
fn detect() -> Level {
    levels(Sets::here()).max().unwrap_or(Level::Portable)
}

/// The value of `place`, computed if there is none yet.
#[cfg(feature = "std")]
#[inline]
fn once<T: Copy>(place: &OnceLock<T>, compute: impl FnOnce() -> T) -> T {
    // Computed outside `get_or_init`: a process that is forked while it runs would wait for it forever.
    place.get().copied().unwrap_or_else(|| {
        let value = compute();
        *place.get_or_init(|| value)
    })
}

impl Isa {
    /// The names of all levels, including those of other architectures.
    pub const NAMES: &'static [&'static str] = &["portable", "sse", "avx2", "avx512", "neon"];

    /// The names of the levels of this architecture, whether or not this machine has them.
    pub fn names() -> impl Iterator<Item = &'static str> {
        LEVELS.iter().map(|level| level.name())
    }

    /// The best level of this machine, or the one to which `SEALWRIGHT_ISA` lowers it. An unknown name has no effect.
    /// Without the feature `std`: the best level that the program was compiled for.
    pub fn best() -> Isa {
        #[cfg(feature = "std")]
        {
            static BEST: OnceLock<Isa> = OnceLock::new();
            once(&BEST, || {
                let asked = std::env::var("SEALWRIGHT_ISA").ok();
                let asked = LEVELS.iter().copied().find(|level| Some(level.name()) == asked.as_deref());
                Isa(asked.map_or(detect(), |level| level.min(detect())))
            })
        }
        #[cfg(not(feature = "std"))]
        Isa(detect())
    }

    /// Every level up to [`Isa::best`], the slowest first.
    pub fn available() -> Vec<Isa> {
        levels(Sets::here()).map(Isa).filter(|&isa| isa <= Isa::best()).collect()
    }

    /// `portable`, `sse`, `avx2`, `avx512` or `neon`.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// This level; in place of `avx512`, the level below it with registers of half the size, which every machine with
    /// `avx512` has.
    #[cfg(any(feature = "gcm", feature = "raw"))]
    #[inline]
    pub(crate) fn without_wide(self) -> Isa {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => Isa(Level::Avx2),
            level => Isa(level),
        }
    }

    /// Whether this is `avx2`, whose registers hold two blocks.
    #[cfg(feature = "gcm")]
    #[inline]
    pub(crate) fn has_pairs(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        let pairs = self.0 == Level::Avx2;
        #[cfg(not(target_arch = "x86_64"))]
        let pairs = false;
        pairs
    }

    /// An upper bound in bytes on the stack frames of GCM's and OCB's kernels. In an optimised build, 9 KiB were
    /// observed at `portable`, 5 at `avx512`, 2 at `sse` and `avx2`; in test builds, more than 4 at these two.
    #[cfg(all(any(feature = "gcm", feature = "ocb"), feature = "std"))]
    #[inline]
    pub(crate) fn kernel_frames(self) -> usize {
        match self.0 {
            Level::Portable => 16 << 10,
            #[cfg(target_arch = "x86_64")]
            Level::Sse | Level::Avx2 | Level::Avx512 => 8 << 10,
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Level::Neon => 8 << 10,
        }
    }

    /// Runs `kernel` with the instructions of this level.
    #[inline]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self.0 {
            Level::Portable => portable(kernel),
            // SAFETY: an `Isa` of these levels comes only from `levels`, above, for this machine.
            #[cfg(target_arch = "x86_64")]
            Level::Sse => unsafe { super::sse::run(kernel) },
            // SAFETY: likewise.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { super::avx2::run(kernel) },
            // SAFETY: likewise.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { super::avx512::run(kernel) },
            // SAFETY: likewise.
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Level::Neon => unsafe { super::neon::run(kernel) },
        }
    }
}

/// Runs `kernel` without special instructions. A function of its own: inlined, its registers would be saved by every
/// level.
#[inline(never)]
fn portable<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<_, 8>(Portable::new())
}

#[cfg(feature = "drbg")]
impl Isa {
    /// Sixteen hashes side by side, if the level has registers for them.
    #[inline]
    pub(crate) fn lanes(self) -> Option<Lanes> {
        #[cfg(target_arch = "x86_64")]
        if self.0 >= Level::Avx512 {
            // SAFETY: an `Isa` of this level comes only from `levels`, above, for this machine.
            return Some(Lanes(unsafe { super::avx512::Avx512::new() }));
        }
        None
    }
}

#[cfg(feature = "research")]
impl Isa {
    /// Whether RKC hashes with SHA instructions at this level: if this machine has them, from `sse` on.
    ///
    /// ```
    /// use sealwright::Isa;
    ///
    /// assert!(!"portable".parse::<Isa>()?.has_sha());
    /// # Ok::<(), sealwright::UnknownIsaError>(())
    /// ```
    #[inline]
    pub fn has_sha(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self.0 >= Level::Sse && has!("sha");
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    /// Runs `kernel` with the SHA instructions, if this machine has them and the level may use them.
    #[inline]
    pub(crate) fn hash<K: Hashing>(self, kernel: K) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        if self.has_sha() {
            // SAFETY: SHA was just detected, the rest with the level.
            return unsafe { sha::by_instructions(kernel) };
        }
        sha_plain::run(kernel)
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Isa({self})")
    }
}

/// There is no level with this name, or this machine does not have it.
///
/// ```
/// use sealwright::Isa;
///
/// let error = "avx1024".parse::<Isa>().unwrap_err();
/// assert!(error.to_string().contains("it has portable"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownIsaError;

impl fmt::Display for UnknownIsaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an instruction-set level of this machine; it has")?;
        for (i, isa) in Isa::available().iter().enumerate() {
            write!(f, "{}{isa}", if i == 0 { " " } else { ", " })?;
        }
        Ok(())
    }
}
impl core::error::Error for UnknownIsaError {}

impl FromStr for Isa {
    type Err = UnknownIsaError;
    fn from_str(name: &str) -> Result<Self, UnknownIsaError> {
        Isa::available().into_iter().find(|isa| isa.name() == name).ok_or(UnknownIsaError)
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
