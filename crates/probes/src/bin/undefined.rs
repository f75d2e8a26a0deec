//! Decides by a byte that nobody wrote: a fault for the memory sanitizer to see. `cargo xtask sanitize memory` starts it.

use std::{hint::black_box, process::exit};

fn main() {
    let mut memory: Vec<u8> = Vec::with_capacity(black_box(40));
    memory.push(1);
    // SAFETY: not sound, and meant so: nothing but the test of the sanitizer runs this.
    let unwritten = unsafe { black_box(memory.as_ptr()).add(black_box(20)).read() };
    exit(i32::from(black_box(unwritten) > 7) * 3);
}
