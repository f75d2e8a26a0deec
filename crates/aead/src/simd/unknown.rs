//! What compilers must not look into: numbers, and the one answer that a comparison of secrets gives away.

/// The same number, of which compilers know nothing: so they cannot leave out what it took to compute, or branch before it is known. Unlike
/// `core::hint::black_box` it stays in its register.
#[inline(always)]
pub(crate) fn unknown(mut number: u64) -> u64 {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: no instruction is there.
    unsafe {
        core::arch::asm!("/* {} */", inout(reg) number, options(pure, nomem, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        number = core::hint::black_box(number);
    }
    number
}

/// The same answer, decided here: the one branch on what a comparison of secrets says, which everybody may know. Behind it the answer is
/// defined on each way, so that the test of constant time passes over this function only (`crates/probes/verdict.supp`).
///
/// Both ways make a number of which compilers know nothing. If one were a constant, its branch would lead to where the caller's leads, and
/// valgrind takes two branches to one place for one, of the caller.
#[inline(always)]
pub(crate) fn verdict(genuine: bool) -> bool {
    let decided = if genuine { unknown(1) } else { unknown_otherwise(0) };
    decided == 1
}

/// As [`unknown`], and other code to compilers: they do not make one of both.
#[inline(always)]
fn unknown_otherwise(mut number: u64) -> u64 {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: no instruction is there.
    unsafe {
        core::arch::asm!("/* not {} */", inout(reg) number, options(pure, nomem, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        number = core::hint::black_box(number);
    }
    number
}
