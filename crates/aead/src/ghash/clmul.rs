//! GHASH by carry-less multiplication: many blocks are multiplied by as many powers of h, with one reduction per group.
//!
//! Karatsuba: three products per block. The operand of the middle product, low half xor high half, is formed for two
//! registers at once. Elements are stored byte-reversed and powers multiplied by x, so that a product of bit-reversed
//! operands needs no further shift (Gueron and Kounavis, "Intel carry-less multiplication instruction", 2010).

use core::fmt;

use super::{
    Ghash,
    field::{both_halves, reduce, times_x},
    fill::{Fill, PAD},
};
use crate::{
    sealed::Sealed,
    simd::{Block, Isa, Kernel, Outlined, Reg, Simd},
};

/// GHASH by carry-less multiplication, with `SLOTS` - 8 precomputed powers of h. More powers suit longer texts, fewer
/// suit keys that are used for one packet. `SLOTS` must be at least 44 and a multiple of 4; anything else does not
/// compile:
///
/// ```compile_fail
/// use sealwright::{Isa, ghash::{Clmul, Ghash}};
/// let _ = Clmul::<40>::new(Isa::best(), &[0; 16]);
/// ```
///
/// It is wiped when it is dropped, and cannot be wiped before: a hash under a key of zeros does not depend on the text.
///
/// ```compile_fail,E0599
/// use sealwright::{Isa, ghash::{Clmul, Ghash}};
/// use zeroize::Zeroize;
/// let mut key = <Clmul>::new(Isa::best(), &[7; 16]);
/// key.zeroize();
/// ```
#[derive(Clone)]
#[repr(align(64))]
pub struct Clmul<const SLOTS: usize = 76> {
    /// h^(SLOTS - 8) down to h, then zeros.
    powers: [Block; SLOTS],
    /// Low xor high half of the power in the same slot, then that of the power one register further.
    middles: [Block; SLOTS],
}
wipe_on_drop!(only Clmul<const SLOTS> { powers: [[0; 16]; SLOTS], middles: [[0; 16]; SLOTS] });

impl<const SLOTS: usize> fmt::Debug for Clmul<SLOTS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clmul").finish_non_exhaustive()
    }
}

/// A hash in progress: the hash of closed groups, and the products of the open group.
#[derive(Clone, Copy, Debug)]
pub struct Products<R> {
    hash: R,
    low: R,
    middle: R,
    high: R,
}

/// Powers of h from a certain slot on, and their middle operands.
#[derive(Clone, Copy)]
pub struct Powers<'a> {
    powers: &'a [Block],
    middles: &'a [Block],
}

impl fmt::Debug for Powers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Powers").finish_non_exhaustive()
    }
}

/// Adds two registers to a hash. In portable code this takes so many instructions that it is a separate function there.
struct Pair<'a, S: Simd> {
    key: Powers<'a>,
    sum: &'a mut Products<S::Reg>,
    at: usize,
    pair: [S::Reg; 2],
}

impl<S: Simd> Outlined<S> for Pair<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self, simd: S) {
        let Pair { key, sum, at, pair } = self;
        // Not with `map`: a function passed to it may be compiled without the instruction set.
        let (a, b) = (pair[0].reverse_bytes(), pair[1].reverse_bytes());
        let here = simd.load(key.powers[at..].as_flattened());
        let next = simd.load(key.powers[at + S::Reg::BLOCKS..].as_flattened());
        let middle = simd.load(key.middles[at..].as_flattened());
        let operand = both_halves(a, b);
        sum.low = sum.low ^ a.clmul::<0x00>(here) ^ b.clmul::<0x00>(next);
        sum.high = sum.high ^ a.clmul::<0x11>(here) ^ b.clmul::<0x11>(next);
        sum.middle = sum.middle ^ operand.clmul::<0x00>(middle) ^ operand.clmul::<0x11>(middle);
    }
}

/// Adds the first `count` blocks of one register.
struct Single<'a, S: Simd> {
    key: Powers<'a>,
    sum: &'a mut Products<S::Reg>,
    at: usize,
    one: S::Reg,
    count: usize,
}

impl<S: Simd> Outlined<S> for Single<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self, simd: S) {
        let Single { key, sum, at, one, count } = self;
        let x = one.reverse_bytes();
        let power = simd.load(key.powers[at..].as_flattened());
        let middle = simd.load(key.middles[at..].as_flattened());
        sum.low = sum.low ^ x.clmul_first::<0x00>(power, count);
        sum.high = sum.high ^ x.clmul_first::<0x11>(power, count);
        sum.middle = sum.middle ^ (x ^ x.swap_halves()).clmul_first::<0x00>(middle, count);
    }
}

/// Slots for 8 and for 20 powers, for the key of one short message: clearing and wiping the usual table would take a
/// quarter of the message's time.
pub(crate) const FEW: usize = 8 + PAD;
pub(crate) const SOME: usize = 20 + PAD;

impl<const SLOTS: usize> Clmul<SLOTS> {
    /// A table of zeros.
    #[inline(always)]
    pub(crate) fn empty() -> Self {
        // With fewer powers than blocks in a batch, the first blocks would have none.
        const { assert!(SLOTS >= 44 && SLOTS.is_multiple_of(4), "36 powers of h or more, and a multiple of four") };
        Self::zeros()
    }

    /// The same for a few powers, for a hash without batches.
    #[inline(always)]
    pub(crate) fn zeros() -> Self {
        Clmul { powers: [[0; 16]; SLOTS], middles: [[0; 16]; SLOTS] }
    }

    /// Fills the table for the key `h`, for hashes of at most `blocks` blocks.
    pub(crate) fn refill(&mut self, isa: Isa, h: &Block, blocks: usize) {
        struct Of<'a, const SLOTS: usize>(&'a Block, &'a mut Clmul<SLOTS>, usize);
        impl<const SLOTS: usize> Kernel for Of<'_, SLOTS> {
            type Output = ();
            #[inline(always)]
            fn run<S: Simd, const W: usize>(self, simd: S) {
                self.1.fill(simd, simd.splat(self.0), self.2);
            }
        }
        isa.run(Of(h, self, blocks));
    }

    /// The same for a key `h` that is in every lane.
    #[inline(always)]
    pub(crate) fn fill<S: Simd>(&mut self, simd: S, h: S::Reg, blocks: usize) {
        self.fill_kept(simd, times_x(simd, h.reverse_bytes()), blocks);
    }

    /// The same for a key in the stored form, which is also the form of POLYVAL's key.
    #[inline(always)]
    pub(crate) fn fill_kept<S: Simd>(&mut self, simd: S, h: S::Reg, blocks: usize) {
        simd.outlined(Fill { h, wanted: blocks, powers: &mut self.powers, middles: &mut self.middles });
    }

    /// A hash that continues from `hash`, with no group open.
    #[cfg(feature = "pieces")]
    #[inline(always)]
    pub(crate) fn resume<S: Simd>(&self, simd: S, hash: &Block) -> Products<S::Reg> {
        Products { hash: simd.first(hash).reverse_bytes(), ..self.start(simd) }
    }
}

impl<const SLOTS: usize> Sealed for Clmul<SLOTS> {}
impl<const SLOTS: usize> Ghash for Clmul<SLOTS> {
    const STATE_BYTES: usize = size_of::<Self>();
    const CONSTANT_TIME: bool = true;
    const GROUP: usize = SLOTS - PAD;
    type Sum<R: Reg> = Products<R>;
    type Key<'a> = Powers<'a>;

    fn new(isa: Isa, h: &Block) -> Self {
        let mut table = Self::empty();
        table.refill(isa, h, SLOTS);
        table
    }

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> Products<S::Reg> {
        let zero = simd.zero();
        Products { hash: zero, low: zero, middle: zero, high: zero }
    }

    #[inline(always)]
    fn key(&self, left: usize, count: usize) -> Powers<'_> {
        let slots = Self::GROUP - left..Self::GROUP - left + count + PAD;
        Powers { powers: &self.powers[slots.clone()], middles: &self.middles[slots] }
    }

    #[inline(always)]
    fn pair<S: Simd>(simd: S, key: Powers<'_>, sum: &mut Products<S::Reg>, at: usize, pair: [S::Reg; 2], _: usize) {
        let pair = Pair::<S> { key, sum, at, pair };
        if S::AES { pair.run(simd) } else { simd.outlined(pair) }
    }

    #[inline(always)]
    fn single<S: Simd>(simd: S, key: Powers<'_>, sum: &mut Products<S::Reg>, at: usize, one: S::Reg, count: usize) {
        let single = Single::<S> { key, sum, at, one, count };
        if S::AES { single.run(simd) } else { simd.outlined(single) }
    }

    #[inline(always)]
    fn order_barrier<S: Simd>(simd: S, sum: &mut Products<S::Reg>, blocks: [&mut S::Reg; 2]) {
        simd.order_barrier(blocks, [&mut sum.low, &mut sum.middle, &mut sum.high]);
    }

    #[inline(always)]
    fn window(&self, left: usize, count: usize) -> Powers<'_> {
        let start = Self::GROUP - left;
        Powers { powers: &self.powers[start..start + count], middles: &self.middles[start..start + count] }
    }

    #[inline(always)]
    fn enter<S: Simd>(&self, simd: S, sum: &mut Products<S::Reg>, blocks: usize) {
        let power = simd.first(&self.powers[Self::GROUP - blocks]);
        let middle = simd.first(&self.middles[Self::GROUP - blocks]);
        sum.low = sum.low ^ sum.hash.clmul_first::<0x00>(power, 1);
        sum.high = sum.high ^ sum.hash.clmul_first::<0x11>(power, 1);
        sum.middle = sum.middle ^ (sum.hash ^ sum.hash.swap_halves()).clmul_first::<0x00>(middle, 1);
    }

    const LANES: bool = Self::GROUP >= 64;

    #[inline(always)]
    fn turn<S: Simd>(simd: S, key: Powers<'_>, sum: &mut Products<S::Reg>) {
        let (power, middle) = (simd.splat(&key.powers[0]), simd.splat(&key.middles[0]));
        let hash = reduce(simd, sum.low, sum.middle ^ sum.low ^ sum.high, sum.high, S::Reg::BLOCKS);
        sum.low = hash.clmul::<0x00>(power);
        sum.high = hash.clmul::<0x11>(power);
        sum.middle = (hash ^ hash.swap_halves()).clmul::<0x00>(middle);
    }

    #[inline(always)]
    fn finish_open<S: Simd>(simd: S, sum: &Products<S::Reg>) -> S::Reg {
        if S::AES {
            // In each lane separately: one fold at the end instead of three before.
            let middle = sum.middle ^ sum.low ^ sum.high;
            return reduce(simd, sum.low, middle, sum.high, S::Reg::BLOCKS).fold().reverse_bytes();
        }
        let (low, middle, high) = (sum.low.fold(), sum.middle.fold(), sum.high.fold());
        reduce(simd, low, middle ^ low ^ high, high, 1).reverse_bytes()
    }

    #[inline(always)]
    fn close<S: Simd>(&self, simd: S, sum: &mut Products<S::Reg>, blocks: usize) {
        // The hash so far is added to the group's first block. Its product is computed last, so that no other product
        // of the group depends on the previous group.
        let power = simd.first(&self.powers[Self::GROUP - blocks]);
        let middle = simd.first(&self.middles[Self::GROUP - blocks]);
        let low = (sum.low ^ sum.hash.clmul_first::<0x00>(power, 1)).fold();
        let high = (sum.high ^ sum.hash.clmul_first::<0x11>(power, 1)).fold();
        let middle = sum.middle ^ (sum.hash ^ sum.hash.swap_halves()).clmul_first::<0x00>(middle, 1);
        sum.hash = reduce(simd, low, middle.fold() ^ low ^ high, high, 1);
        (sum.low, sum.middle, sum.high) = (simd.zero(), simd.zero(), simd.zero());
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, _: S, sum: &Products<S::Reg>) -> S::Reg {
        sum.hash.reverse_bytes()
    }
}
