//! Marks for valgrind's memcheck: a secret is marked as undefined, and memcheck reports each branch and each address
//! that depends on it. Outside of valgrind the marks do nothing.
//!
//! The requests are those of valgrind's public headers `valgrind.h` and `memcheck.h`: numbers in a block of six words,
//! announced by instructions that do nothing on a processor.

/// `VALGRIND_RUNNING_ON_VALGRIND`.
const RUNNING: usize = 0x1001;
/// `VALGRIND_COUNT_ERRORS`.
const COUNT_ERRORS: usize = 0x1201;
/// `VALGRIND_MAKE_MEM_UNDEFINED`: the tool's letters M and C, then 1.
const UNDEFINED: usize = 0x4d43_0001;
/// `VALGRIND_MAKE_MEM_DEFINED`.
const DEFINED: usize = 0x4d43_0002;

#[cfg(target_arch = "x86_64")]
fn request(number: usize, a: usize, b: usize) -> usize {
    let words = [number, a, b, 0, 0, 0];
    let mut result = 0_usize;
    // SAFETY: the rotations of rdi add up to 128 bits and `xchg rbx, rbx` changes nothing, so a processor runs through;
    // valgrind knows the sequence, reads the six words at rax, and puts its answer into rdx.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            inout("rdx") result,
            in("rax") &raw const words,
        );
    }
    result
}

#[cfg(not(target_arch = "x86_64"))]
fn request(_: usize, _: usize, _: usize) -> usize {
    0
}

/// Whether valgrind runs this program.
pub fn watched() -> bool {
    request(RUNNING, 0, 0) > 0
}

/// How many errors valgrind has found so far, without suppressed ones.
pub fn errors() -> usize {
    request(COUNT_ERRORS, 0, 0)
}

/// Marks these bytes as secret.
pub fn secret(bytes: &[u8]) {
    request(UNDEFINED, bytes.as_ptr() as usize, bytes.len());
}

/// Marks these bytes as public, as what is sent is.
pub fn public(bytes: &[u8]) {
    request(DEFINED, bytes.as_ptr() as usize, bytes.len());
}

/// Bytes that are marked as secret.
pub fn hidden(len: usize, seed: u8) -> Vec<u8> {
    let bytes: Vec<u8> = (0..len).map(|i| (i as u8).wrapping_mul(37).wrapping_add(seed)).collect();
    secret(&bytes);
    bytes
}
