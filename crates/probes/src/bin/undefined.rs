//! Branches on an uninitialized byte: a planted fault for the memory sanitizer. `cargo xtask sanitize memory` starts
//! it.

use std::{hint::black_box, process::exit};

fn main() {
    let mut memory: Vec<u8> = Vec::with_capacity(black_box(40));
    memory.push(1);
    // SAFETY: not sound, on purpose: only the test of the sanitizer runs this.
    let unwritten = unsafe { black_box(memory.as_ptr()).add(black_box(20)).read() };
    exit(i32::from(black_box(unwritten) > 7) * 3);
}
