//! GHASH without tables: 128 shifts and conditional xors per block. The papers call it "0".

use core::fmt;

use super::{
    Ghash,
    serial::{Serial, serial, times_x},
};
use crate::{
    sealed::Sealed,
    simd::{Block, Isa},
};

/// GHASH bit by bit, constant time (the multiplication of SP 800-38D, algorithm 1, by masks).
///
/// ```
/// use sealwright::{Isa, ghash::{Bitwise, Ghash, Serial}};
///
/// let key = Bitwise::new(Isa::best(), &[7; 16]);
/// let hash = key.hash(b"header", b"attack at dawn");
/// assert_ne!(hash, key.hash(b"header", b"attack at dusk"));
/// ```
#[derive(Clone)]
pub struct Bitwise {
    h: u128,
}
wipe_on_drop!(only Bitwise { h: 0 });

impl fmt::Debug for Bitwise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bitwise").finish_non_exhaustive()
    }
}

impl Bitwise {
    #[inline(always)]
    fn times_h(&self, x: u128) -> u128 {
        let (mut product, mut power) = (0, self.h);
        for bit in (0..128).rev() {
            product ^= power & 0u128.wrapping_sub((x >> bit) & 1);
            power = times_x(power);
        }
        product
    }
}

impl Sealed for Bitwise {}
impl Ghash for Bitwise {
    const STATE_BYTES: usize = size_of::<Self>();
    const CONSTANT_TIME: bool = true;

    fn new(_: Isa, h: &Block) -> Self {
        Bitwise { h: u128::from_be_bytes(*h) }
    }
    serial!(times_h);
}

impl Serial for Bitwise {
    fn times(&self, x: u128) -> u128 {
        self.times_h(x)
    }
}
