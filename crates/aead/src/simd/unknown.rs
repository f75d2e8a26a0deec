//! Values that are opaque to the compiler: numbers, and the one result that a comparison of secrets reveals.

/// Returns `number`, but opaque to the compiler, which can then neither skip computing it nor branch before it is
/// known. Unlike `core::hint::black_box` it stays in a register.
#[inline(always)]
pub(crate) fn unknown(mut number: u64) -> u64 {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: the `asm` contains no instruction.
    unsafe {
        core::arch::asm!("/* {} */", inout(reg) number, options(pure, nomem, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        number = core::hint::black_box(number);
    }
    number
}

/// Returns `genuine`, with the branch on it made here: the one branch on the result of a comparison of secrets, which
/// is public. After it, the result is defined on both paths, so that the test for constant time exempts this function
/// only (`crates/probes/verdict.supp`).
///
/// Both paths produce a number that is opaque to the compiler. If one of them were a constant, the branch would be
/// merged with the caller's, and valgrind would attribute it to the caller.
#[inline(always)]
pub(crate) fn verdict(genuine: bool) -> bool {
    let decided = if genuine { unknown(1) } else { unknown_otherwise(0) };
    decided == 1
}

/// Like [`unknown`], but different code to the compiler, which therefore does not merge the two.
#[inline(always)]
fn unknown_otherwise(mut number: u64) -> u64 {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: the `asm` contains no instruction.
    unsafe {
        core::arch::asm!("/* not {} */", inout(reg) number, options(pure, nomem, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        number = core::hint::black_box(number);
    }
    number
}
