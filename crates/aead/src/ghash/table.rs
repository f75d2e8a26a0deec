//! GHASH with tables of multiples of h, as in software without carry-less multiplication (Shoup 1996; the GCM
//! specification, 4.1). Lookups depend on secrets: **variable time**, for studies only, as the suffix `_vartime` says.

use alloc::boxed::Box;
use core::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{
    Ghash,
    serial::{Serial, serial, times_x},
};
use crate::{
    sealed::Sealed,
    simd::{Block, Isa},
};

/// The multiples of `element` by every polynomial in the first `bits` coefficients; `N` = 2^bits.
fn multiples<const N: usize>(element: u128) -> [u128; N] {
    let mut row = [0; N];
    let (mut bit, mut power) = (N / 2, element);
    while bit > 0 {
        row[bit] = power;
        power = times_x(power);
        bit /= 2;
    }
    for i in 1..N {
        let low = i & i.wrapping_neg();
        row[i] = row[low] ^ row[i ^ low];
    }
    row
}

/// `element` times x^n.
fn shifted(element: u128, n: usize) -> u128 {
    (0..n).fold(element, |power, _| times_x(power))
}

/// The reductions of the `N` polynomials that are shifted out when an element is multiplied by x^bits.
const fn remainders<const N: usize>() -> [u128; N] {
    let mut table = [0; N];
    let mut i = 0;
    while i < N {
        let mut element = i as u128;
        let mut bit = 1;
        while bit < N {
            element = times_x(element);
            bit *= 2;
        }
        table[i] = element;
        i += 1;
    }
    table
}

static REMAINDERS_4: [u128; 16] = remainders();
static REMAINDERS_8: [u128; 256] = remainders();

macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $field:ident: $type:ty = $new:expr; $($multiply:tt)* }) => {
        $(#[$doc])*
        #[allow(non_camel_case_types, reason = "the suffix warns wherever the type is named")]
        #[derive(Clone)]
        pub struct $name {
            $field: Box<$type>,
        }

        impl Drop for $name {
            fn drop(&mut self) {
                self.$field.zeroize();
            }
        }
        impl ZeroizeOnDrop for $name {}

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        impl $name {
            #[inline]
            $($multiply)*
        }

        impl Sealed for $name {}
        impl Ghash for $name {
            const STATE_BYTES: usize = size_of::<$type>();
            const CONSTANT_TIME: bool = false;

            fn new(_: Isa, h: &Block) -> Self {
                let new: fn(u128) -> $type = $new;
                $name { $field: Box::new(new(u128::from_be_bytes(*h))) }
            }
            serial!(times_h);
        }

        impl Serial for $name {
            #[inline]
            fn times(&self, x: u128) -> u128 {
                self.times_h(x)
            }
        }
    };
}

table! {
    /// 256 bytes: the 16 multiples of h by four bits; 32 steps per block.
    Table256_vartime {
        row: [u128; 16] = multiples;
        fn times_h(&self, x: u128) -> u128 {
            let mut product = 0u128;
            for at in 0..32 {
                product = (product >> 4) ^ REMAINDERS_4[(product & 15) as usize];
                product ^= self.row[(x >> (4 * at)) as usize & 15];
            }
            product
        }
    }
}

table! {
    /// 4 KiB: the 256 multiples of h by eight bits; 16 steps per block.
    Table4k_vartime {
        row: [u128; 256] = multiples;
        fn times_h(&self, x: u128) -> u128 {
            let mut product = 0u128;
            for at in 0..16 {
                product = (product >> 8) ^ REMAINDERS_8[(product & 255) as usize];
                product ^= self.row[(x >> (8 * at)) as usize & 255];
            }
            product
        }
    }
}

table! {
    /// 8 KiB: 16 multiples for each of the 32 positions of four bits; no shifts.
    Table8k_vartime {
        rows: [[u128; 16]; 32] = |h| core::array::from_fn(|place| multiples(shifted(h, 124 - 4 * place)));
        fn times_h(&self, x: u128) -> u128 {
            self.rows.iter().enumerate().fold(0, |sum, (at, row)| sum ^ row[(x >> (4 * at)) as usize & 15])
        }
    }
}

table! {
    /// 64 KiB: 256 multiples for each of the 16 positions of eight bits; no shifts.
    Table64k_vartime {
        rows: [[u128; 256]; 16] = |h| core::array::from_fn(|place| multiples(shifted(h, 120 - 8 * place)));
        fn times_h(&self, x: u128) -> u128 {
            self.rows.iter().enumerate().fold(0, |sum, (at, row)| sum ^ row[(x >> (8 * at)) as usize & 255])
        }
    }
}
