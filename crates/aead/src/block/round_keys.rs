//! The sources of AES round keys: expanded in advance, or computed during encryption (FIPS 197, 5.2).

use core::fmt;

use crate::{
    sealed::Sealed,
    simd::{Block, Isa, Kernel, Reg, Simd},
};

/// The round keys of one AES key, each replicated in every lane.
///
/// ```
/// use sealwright::block::{Expanded, OnTheFly, RoundKeys};
///
/// // What a server of a million clients with AES-256 keeps: all round keys, or the key alone.
/// assert_eq!(<Expanded<15>>::STATE_BYTES * 1_000_000, 240_000_000);
/// assert_eq!(<OnTheFly<32>>::STATE_BYTES * 1_000_000, 32_000_000);
/// assert_eq!(<OnTheFly<32>>::ROUNDS, 14);
/// ```
pub trait RoundKeys: Sealed + Send + Sync {
    /// Number of rounds: 10, 12 or 14.
    const ROUNDS: usize;
    /// Bytes stored for a key.
    const STATE_BYTES: usize;
    /// The state from which the next round key is computed.
    type Carry<R: Reg>: Copy;

    /// Whether round keys are in memory, so that [`RoundKeys::at`] can be used.
    const AT_HAND: bool = false;

    /// Round key `round`, in any order, if [`RoundKeys::AT_HAND`].
    #[inline(always)]
    fn at<S: Simd>(&self, simd: S, _round: usize) -> S::Reg {
        simd.zero()
    }
    /// The state before round key 0.
    fn start<S: Simd>(&self, simd: S) -> Self::Carry<S::Reg>;
    /// Round key `round`; to be called in order from 0.
    fn key<S: Simd>(&self, simd: S, round: usize, carry: &mut Self::Carry<S::Reg>) -> S::Reg;
}

/// All round keys in memory: 11, 13 or 15 of them for AES-128, AES-192, AES-256.
///
/// ```
/// use sealwright::{Isa, block::{Expanded, aes::Aes}, mode::ctr};
///
/// let isa = Isa::best();
/// let cipher = Aes::<Expanded<11>>::new(isa, &[7; 16]); // `Aes128` for short
/// let mut text = *b"attack at dawn";
/// ctr::apply(isa, &cipher, &[0; 16], &mut text);
/// ```
#[derive(Clone)]
#[repr(align(16))]
pub struct Expanded<const KEYS: usize>([Block; KEYS]);
wipe_on_drop!(Expanded<const KEYS> { 0: [[0; 16]; KEYS] });

/// The key alone, of 16, 24 or 32 bytes; round keys are computed during encryption, in every lane.
///
/// ```
/// use sealwright::{Isa, block::aes::{Aes128, Aes128OnTheFly}, mode::ctr};
///
/// let isa = Isa::best();
/// let (mut kept, mut computed) = ([0; 64], [0; 64]);
/// ctr::apply(isa, &Aes128::new(isa, &[7; 16]), &[0; 16], &mut kept);
/// ctr::apply(isa, &Aes128OnTheFly::new(&[7; 16]), &[0; 16], &mut computed); // 16 bytes kept instead of 176
/// assert_eq!(kept, computed);
/// ```
#[derive(Clone)]
#[repr(align(16))]
pub struct OnTheFly<const BYTES: usize>([u8; BYTES]);
wipe_on_drop!(OnTheFly<const BYTES> { 0: [0; BYTES] });

/// Round keys of the equivalent inverse cipher (FIPS 197, 5.3.5), in the order in which they are used.
///
/// ```
/// # #[cfg(feature = "ocb")] {
/// use sealwright::{Isa, block::aes::BothWays, mode::ecb};
///
/// let isa = Isa::best();
/// let cipher = BothWays::<15>::new(isa, &[7; 32]); // AES-256 with its `InverseKeys`
/// let mut block = [1; 16];
/// ecb::decrypt(isa, &cipher, &mut block);
/// ecb::encrypt(isa, &cipher, &mut block);
/// assert_eq!(block, [1; 16]);
/// # }
/// ```
#[derive(Clone)]
#[repr(align(16))]
pub struct InverseKeys<const KEYS: usize>([Block; KEYS]);
wipe_on_drop!(InverseKeys<const KEYS> { 0: [[0; 16]; KEYS] });

macro_rules! hidden {
    ($($type:ident<$n:ident>),*) => {
        $(impl<const $n: usize> fmt::Debug for $type<$n> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($type)).finish_non_exhaustive()
            }
        })*
    };
}
hidden!(Expanded<KEYS>, OnTheFly<BYTES>, InverseKeys<KEYS>);

impl<const KEYS: usize> Sealed for Expanded<KEYS> {}
impl<const KEYS: usize> RoundKeys for Expanded<KEYS> {
    const ROUNDS: usize = KEYS - 1;
    const STATE_BYTES: usize = 16 * KEYS;
    type Carry<R: Reg> = ();
    const AT_HAND: bool = true;

    #[inline(always)]
    fn at<S: Simd>(&self, simd: S, round: usize) -> S::Reg {
        simd.splat(&self.0[round])
    }

    #[inline(always)]
    fn start<S: Simd>(&self, _: S) {}
    #[inline(always)]
    fn key<S: Simd>(&self, simd: S, round: usize, (): &mut ()) -> S::Reg {
        simd.splat(&self.0[round])
    }
}

impl<const KEYS: usize> Expanded<KEYS> {
    /// From round keys that were expanded before.
    pub(crate) fn of(blocks: &[Block; KEYS]) -> Self {
        Expanded(*blocks)
    }

    /// The round keys, in order.
    pub(crate) fn blocks(&self) -> &[Block; KEYS] {
        &self.0
    }

    /// The same, to replace some.
    pub(crate) fn blocks_mut(&mut self) -> &mut [Block; KEYS] {
        &mut self.0
    }

    /// Without keys; [`Expanded::expand`] computes them.
    #[inline(always)]
    pub(crate) fn empty() -> Self {
        Expanded([[0; 16]; KEYS])
    }

    /// Expands the keys that `schedule` computes.
    pub(crate) fn new<K: RoundKeys>(isa: Isa, schedule: &K) -> Self {
        let mut keys = Self::empty();
        keys.expand(isa, schedule);
        keys
    }

    /// The same in place.
    #[inline]
    pub(crate) fn expand<K: RoundKeys>(&mut self, isa: Isa, schedule: &K) {
        struct Expand<'a, K>(&'a K, &'a mut [Block]);
        impl<K: RoundKeys> Kernel for Expand<'_, K> {
            type Output = ();
            #[inline(always)]
            fn run<S: Simd, const W: usize>(self, simd: S) {
                fill(simd, self.0, self.1);
            }
        }
        isa.run(Expand(schedule, &mut self.0));
    }

    /// The same within a kernel.
    #[inline(always)]
    pub(crate) fn fill<S: Simd, K: RoundKeys>(&mut self, simd: S, schedule: &K) {
        fill(simd, schedule, &mut self.0);
    }
}

/// Writes the round keys that `schedule` computes into `keys`.
#[inline(always)]
fn fill<S: Simd, K: RoundKeys>(simd: S, schedule: &K, keys: &mut [Block]) {
    let mut carry = schedule.start(simd);
    for (round, key) in keys.iter_mut().enumerate() {
        *key = schedule.key(simd, round, &mut carry).first_block();
    }
}

impl<const KEYS: usize> InverseKeys<KEYS> {
    /// Without keys; [`InverseKeys::invert`] computes them.
    pub(crate) fn empty() -> Self {
        InverseKeys([[0; 16]; KEYS])
    }

    /// The round keys of the inverse of `forward`.
    pub(crate) fn new(isa: Isa, forward: &Expanded<KEYS>) -> Self {
        let mut keys = Self::empty();
        keys.invert(isa, forward);
        keys
    }

    /// The same in place.
    pub(crate) fn invert(&mut self, isa: Isa, forward: &Expanded<KEYS>) {
        /// One kernel for all key sizes.
        struct Invert<'a>(&'a [Block], &'a mut [Block]);
        impl Kernel for Invert<'_> {
            type Output = ();
            #[inline(always)]
            fn run<S: Simd, const W: usize>(self, simd: S) {
                let last = self.0.len() - 1;
                for (i, (key, forward)) in self.1.iter_mut().zip(self.0.iter().rev()).enumerate() {
                    let outer = i == 0 || i == last;
                    *key = if outer { *forward } else { simd.splat(forward).aesimc().first_block() };
                }
            }
        }
        isa.run(Invert(&forward.0, &mut self.0));
    }

    /// Key `round` of the inverse cipher, in every lane.
    #[inline(always)]
    pub(crate) fn key<S: Simd>(&self, simd: S, round: usize) -> S::Reg {
        simd.splat(&self.0[round])
    }
}

impl<const BYTES: usize> OnTheFly<BYTES> {
    /// Stores the key unexpanded.
    pub(crate) fn new(key: &[u8; BYTES]) -> Self {
        OnTheFly(*key)
    }

    /// 16 bytes of the key.
    #[inline(always)]
    fn block<S: Simd>(&self, simd: S, at: usize) -> S::Reg {
        let mut block = [0; 16];
        let n = (BYTES - at).min(16);
        block[16 - n..].copy_from_slice(&self.0[at..at + n]);
        simd.splat(&block)
    }
}

/// Round constant `i`, from 0: x^i in GF(2^8).
pub(super) const RCON: [u8; 10] = [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36];

/// SubWord of the last word of each lane, rotated first if `ROTATE`, xor `constant`; the result is in every word of the
/// lane.
#[inline(always)]
pub(super) fn sub_last_word<S: Simd, const ROTATE: bool>(simd: S, key: S::Reg, constant: u8) -> S::Reg {
    let word = key.splat_last_word();
    let word = if ROTATE { word.rotate_words() } else { word };
    let mut constants = [0; 16];
    for column in constants.chunks_exact_mut(4) {
        column[0] = constant;
    }
    // All columns are equal, so that ShiftRows does nothing.
    word.aesenclast(simd.splat(&constants))
}

/// Each word xor all words before it in its lane.
#[inline(always)]
pub(super) fn prefix_xor<R: Reg>(key: R) -> R {
    let key = key ^ key.shift_up::<4>();
    key ^ key.shift_up::<8>()
}

impl Sealed for OnTheFly<16> {}
impl RoundKeys for OnTheFly<16> {
    const ROUNDS: usize = 10;
    const STATE_BYTES: usize = 16;
    type Carry<R: Reg> = R;

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> S::Reg {
        self.block(simd, 0)
    }
    #[inline(always)]
    fn key<S: Simd>(&self, simd: S, round: usize, last: &mut S::Reg) -> S::Reg {
        if round > 0 {
            *last = prefix_xor(*last) ^ sub_last_word::<S, true>(simd, *last, RCON[round - 1]);
        }
        *last
    }
}

impl Sealed for OnTheFly<24> {}
impl RoundKeys for OnTheFly<24> {
    const ROUNDS: usize = 12;
    const STATE_BYTES: usize = 24;
    /// Six words of the schedule: the first four, and the last two in the high half, above zeros.
    type Carry<R: Reg> = [R; 2];

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> [S::Reg; 2] {
        [self.block(simd, 0), self.block(simd, 16)]
    }
    #[inline(always)]
    fn key<S: Simd>(&self, simd: S, round: usize, words: &mut [S::Reg; 2]) -> S::Reg {
        let [four, two] = *words;
        if round == 0 {
            return four;
        }
        // Three round keys correspond to two steps of the schedule.
        if round % 3 != 2 {
            let step = round - 1 - round / 3;
            let next = prefix_xor(four) ^ sub_last_word::<S, true>(simd, two, RCON[step]);
            let tail = two ^ two.shift_up::<4>() ^ next.splat_last_word();
            *words = [next, simd.zero().unpack_high(tail)];
        }
        let [next, tail] = *words;
        match round % 3 {
            0 => next,
            1 => two.swap_halves().unpack_low(next),
            _ => next.unpack_high(tail),
        }
    }
}

impl Sealed for OnTheFly<32> {}
impl RoundKeys for OnTheFly<32> {
    const ROUNDS: usize = 14;
    const STATE_BYTES: usize = 32;
    /// The last two round keys, the older first.
    type Carry<R: Reg> = [R; 2];

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> [S::Reg; 2] {
        [self.block(simd, 0), self.block(simd, 16)]
    }
    #[inline(always)]
    fn key<S: Simd>(&self, simd: S, round: usize, pair: &mut [S::Reg; 2]) -> S::Reg {
        if round < 2 {
            return pair[round];
        }
        let word = if round.is_multiple_of(2) {
            sub_last_word::<S, true>(simd, pair[1], RCON[round / 2 - 1])
        } else {
            sub_last_word::<S, false>(simd, pair[1], 0)
        };
        *pair = [pair[1], prefix_xor(pair[0]) ^ word];
        pair[1]
    }
}
