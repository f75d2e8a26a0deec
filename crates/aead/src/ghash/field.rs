//! The field of GHASH in registers: elements are stored byte-reversed, times x.

use crate::simd::{Block, Outlined, Reg, Simd};

/// x^128 mod the polynomial, and x^64, in reversed bits: the constant of both folding steps.
const FOLD: Block = [0, 0, 0, 0, 0, 0, 0, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0];

/// Reduces a product of 256 bits in each of the first `lanes` lanes.
#[inline(always)]
pub(super) fn reduce<S: Simd>(simd: S, low: S::Reg, middle: S::Reg, high: S::Reg, lanes: usize) -> S::Reg {
    let zero = simd.zero();
    let fold = simd.splat(&FOLD);
    let low = low ^ zero.unpack_low(middle);
    let high = high ^ middle.unpack_high(zero);
    let low = low.swap_halves() ^ low.clmul_first::<0x00>(fold, lanes);
    high ^ low.swap_halves() ^ low.clmul_first::<0x00>(fold, lanes)
}

/// The polynomial of the field, bits reversed.
const POLYNOMIAL: Block = 0xc200_0000_0000_0000_0000_0000_0000_0001u128.to_le_bytes();

/// Low xor high half of `x` in the low half of each lane, of `y` in the high one.
#[inline(always)]
pub(super) fn both_halves<R: Reg>(x: R, y: R) -> R {
    x.unpack_low(y) ^ x.unpack_high(y)
}

/// `h` in the stored form, times x, in every lane: a bit shifted out of one word enters the next, and a bit shifted out
/// of the lane is replaced by the polynomial.
#[inline(always)]
pub(super) fn times_x<S: Simd>(simd: S, h: S::Reg) -> S::Reg {
    let turned = h.rotate32::<1>();
    let carries = turned & simd.splat_words(1);
    let polynomial = simd.splat(&POLYNOMIAL);
    // All ones plus the carry is 0 in the words of a lane with a carry, and all ones in the others.
    let kept = polynomial & carries.splat_last_word().add32(simd.splat_words(u32::MAX));
    turned ^ carries ^ carries.shift_up::<4>() ^ polynomial ^ kept
}

/// A factor that is used for many products, in every lane.
#[derive(Clone, Copy)]
pub(super) struct Factor<R> {
    /// The element.
    whole: R,
    /// The element times x^-64, so that both halves of the other factor need only one folding step.
    shifted: R,
}

impl<R: Reg> Factor<R> {
    #[inline(always)]
    pub(super) fn new<S: Simd<Reg = R>>(simd: S, whole: R) -> Self {
        Factor { whole, shifted: fold_once(simd, whole) }
    }

    /// `x` times this, lane by lane.
    #[inline(always)]
    pub(super) fn times<S: Simd<Reg = R>>(&self, simd: S, x: R) -> R {
        let product = Product(*self, x);
        if S::AES { product.run(simd) } else { simd.outlined(product) }
    }
}

/// A product with a factor. A separate function in portable code, as adding two registers to a hash is.
struct Product<R>(Factor<R>, R);

impl<S: Simd> Outlined<S> for Product<S::Reg> {
    type Output = S::Reg;

    #[inline(always)]
    fn run(self, simd: S) -> S::Reg {
        let Product(Factor { whole, shifted }, x) = self;
        let low = x.clmul::<0x01>(whole) ^ x.clmul::<0x00>(shifted);
        let high = x.clmul::<0x11>(whole) ^ x.clmul::<0x10>(shifted);
        high ^ fold_once(simd, low)
    }
}

/// Each lane times x^-64. A separate function, like [`Product`].
struct Folded<R>(R);

impl<S: Simd> Outlined<S> for Folded<S::Reg> {
    type Output = S::Reg;

    #[inline(always)]
    fn run(self, simd: S) -> S::Reg {
        self.0.swap_halves() ^ self.0.clmul::<0x00>(simd.splat(&FOLD))
    }
}

#[inline(always)]
fn fold_once<S: Simd>(simd: S, x: S::Reg) -> S::Reg {
    if S::AES { Folded(x).run(simd) } else { simd.outlined(Folded(x)) }
}
