//! Reads a byte past the end of its memory: a planted fault for the address sanitizer. `cargo xtask sanitize` starts
//! it.

use std::hint::black_box;

fn main() {
    let memory: Vec<u8> = (0..40).collect();
    // SAFETY: not sound, on purpose: only the test of the sanitizer runs this.
    let behind = unsafe { black_box(memory.as_ptr()).add(black_box(memory.len())).read() };
    black_box(behind);
}
