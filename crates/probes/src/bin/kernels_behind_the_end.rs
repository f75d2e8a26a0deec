//! Gives a kernel one byte more than there is: a planted fault that the address sanitizer reports only if the kernels
//! are compiled with it, since no other code accesses that byte. `cargo xtask sanitize` starts it with the name of a
//! level, and a word for the access that goes too far; without arguments it prints the levels.

use std::{env, hint::black_box, slice};

use sealwright::{Isa, Suite};

/// Whole registers at every level, and steps of every kernel.
const LEN: usize = 2048;

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let [level, what] = &words[..] else {
        Isa::available().iter().for_each(|isa| println!("{isa}"));
        return;
    };
    let isa = Isa::available().into_iter().find(|isa| isa.name() == level).expect("a level of this machine");
    let aead = Suite::Aes256Gcm.aead_at(isa, &[7; 32]).expect("a key of 32 bytes");
    let mut text = vec![1_u8; LEN - 1];
    let mut ad = vec![2_u8; LEN];
    if what == "ad" {
        (text, ad) = (ad, text);
    }
    // SAFETY: not sound, on purpose: only the test of the sanitizer runs this.
    let (text, ad) = unsafe {
        (
            slice::from_raw_parts_mut(black_box(text.as_mut_ptr()), LEN),
            slice::from_raw_parts(black_box(ad.as_ptr()), LEN),
        )
    };
    let _ = black_box(aead.seal_in_place(&[3; 12], ad, text).expect("a text of 2 KiB"));
}
