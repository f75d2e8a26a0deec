//! Reads a byte behind the end of its memory: a fault for the address sanitizer to see. `cargo xtask sanitize` starts it.

use std::hint::black_box;

fn main() {
    let memory: Vec<u8> = (0..40).collect();
    // SAFETY: not sound, and meant so: nothing but the test of the sanitizer runs this.
    let behind = unsafe { black_box(memory.as_ptr()).add(black_box(memory.len())).read() };
    black_box(behind);
}
